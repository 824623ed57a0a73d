"""Data sets: loaded from a folder, bundled with scikit-learn, generated, or downloaded from OpenML.

`load` and most generators return arrays of numbers; `load_table` and `make_mixed` return pandas data frames of mixed
types, and need pandas, the extra ``cgens[tables]``.
"""

from cgens.datasets.dataset import Dataset
from cgens.datasets.folder import data_folders
from cgens.datasets.generators import make_disc, make_ringnorm, make_two_spirals, make_twonorm, make_waveform
from cgens.datasets.loading import load
from cgens.datasets.mixed import make_mixed
from cgens.datasets.openml import fetch
from cgens.datasets.table_dataset import TableDataset
from cgens.datasets.tables import load_table

__all__ = [
    "Dataset",
    "TableDataset",
    "data_folders",
    "fetch",
    "load",
    "load_table",
    "make_disc",
    "make_mixed",
    "make_ringnorm",
    "make_two_spirals",
    "make_twonorm",
    "make_waveform",
]
