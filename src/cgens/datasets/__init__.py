"""Data sets: loaded from a folder, bundled with scikit-learn, generated, or downloaded from OpenML."""

from cgens.datasets.dataset import Dataset
from cgens.datasets.folder import data_folders
from cgens.datasets.generators import make_disc, make_ringnorm, make_two_spirals, make_twonorm, make_waveform
from cgens.datasets.loading import load
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
    "make_ringnorm",
    "make_two_spirals",
    "make_twonorm",
    "make_waveform",
]
