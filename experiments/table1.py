"""Table 1: stumps on the thirteen binary sets."""

from __future__ import annotations

from benchmarks.data import IDA_SETS
from experiments.experiment import Experiment
from experiments.methods import adaboost, cgens, kernel_svm, lpboost
from experiments.splits import published_split

TABLE1 = Experiment(
    name="table1",
    title="Table 1: stumps, and the stump kernel, on thirteen binary sets",
    datasets=lambda effort: IDA_SETS,
    methods={"AdaBoost": adaboost(), "LPBoost": lpboost(), "SVM": kernel_svm("stump"), "CGEns": cgens()},
    split=published_split,
    runs=lambda dataset: 5,
)
