"""Table 3: decision stumps on multiclass data sets."""

from __future__ import annotations

from dataclasses import replace

from cgens.baselines import AdaBoostECCClassifier, AdaBoostMHClassifier
from cgens.datasets import data_folders
from experiments.experiment import Cell, Effort, Experiment, Method
from experiments.methods import cgens_sls, multiboost, untuned
from experiments.splits import multiclass_split

SMALL = ("wine", "iris", "glass", "vehicle", "dna", "vowel", "segment")
LARGE = ("mnist", "usps", "pendigits", "scene15_gist", "cifar10_gist")
#: Not publicly available; included if the data folder has NAME.npz with X (n, d) and y (n,).
UNAVAILABLE = ("pascal07", "labelme", "sun")
#: On these, parameters are selected on the first run and used in all runs.
SELECTED_ONCE = (*LARGE, *UNAVAILABLE)


def _datasets(effort: Effort) -> tuple[str, ...]:
    files = {path.stem for folder in data_folders() for path in folder.glob("*.npz")}
    provided = tuple(name for name in UNAVAILABLE if name in files)
    return (*SMALL, *(("mnist",) if effort.quick else LARGE), *provided)


def _depends_on(cell: Cell) -> Cell | None:
    return replace(cell, run=0) if cell.dataset in SELECTED_ONCE and cell.run > 0 else None


METHODS: dict[str, Method] = {
    "AdaBoost.ECC": untuned(AdaBoostECCClassifier),
    "AdaBoost.MH": untuned(AdaBoostMHClassifier),
    "MultiBoost": multiboost,
    "CGEns-SLS": cgens_sls(pricing="max"),
    "CGEns-SLS gain": cgens_sls(pricing="gain"),
}


TABLE3 = Experiment(
    name="table3",
    title="Table 3: decision stumps, multiclass data sets",
    datasets=_datasets,
    methods=METHODS,
    split=multiclass_split,
    runs=lambda dataset: 10 if dataset in SMALL else 1 if dataset == "cifar10_gist" else 5,
    depends_on=_depends_on,
)
