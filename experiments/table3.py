"""Table 3: many classes, stumps."""

from __future__ import annotations

from dataclasses import replace
from os.path import isfile  # Path's own raises where there are no rights

from cgens.datasets import data_folders
from experiments.experiment import Cell, Effort, Experiment, Method
from experiments.methods import adaboost_ecc, adaboost_mh, cgens_sls, multiboost
from experiments.splits import multiclass_split

SMALL = ("wine", "iris", "glass", "vehicle", "dna", "vowel", "segment")
LARGE = ("mnist", "usps", "pendigits", "scene15_gist", "cifar10_gist")
#: Not to be had: NAME.npz with X (n, d) and y (n,) in the data folder brings them into the table.
ABSENT = ("pascal07", "labelme", "sun")
#: Parameters of these are chosen once, on the first run.
CHOSEN_ONCE = (*LARGE, *ABSENT)


def _datasets(effort: Effort) -> tuple[str, ...]:
    brought = tuple(name for name in ABSENT if any(isfile(folder / f"{name}.npz") for folder in data_folders()))
    return (*SMALL, *(("mnist",) if effort.quick else LARGE), *brought)


def _after(cell: Cell) -> Cell | None:
    return replace(cell, run=0) if cell.dataset in CHOSEN_ONCE and cell.run > 0 else None


METHODS: dict[str, Method] = {
    "AdaBoost.ECC": adaboost_ecc,
    "AdaBoost.MH": adaboost_mh,
    "MultiBoost": multiboost,
    "CGEns-SLS": cgens_sls(pricing="max"),
    "CGEns-SLS gain": cgens_sls(pricing="gain"),
}


TABLE3 = Experiment(
    name="table3",
    title="Table 3: many classes, stumps",
    datasets=_datasets,
    methods=METHODS,
    split=multiclass_split,
    runs=lambda dataset: 10 if dataset in SMALL else 1 if dataset == "cifar10_gist" else 5,
    after=_after,
)
