"""Table 1: decision stumps on the thirteen binary data sets."""

from __future__ import annotations

from evaluation.splits import IDA_SETS
from experiments.experiment import Experiment
from experiments.methods import adaboost, cgens, kernel_svm, lpboost
from experiments.splits import published_split

TABLE1 = Experiment(
    name="table1",
    title="Table 1: decision stumps and the stump kernel, thirteen binary data sets",
    datasets=lambda effort: IDA_SETS,
    methods={"AdaBoost": adaboost(), "LPBoost": lpboost(), "SVM": kernel_svm("stump"), "CGEns": cgens()},
    split=published_split,
    runs=lambda dataset: 5,
)
