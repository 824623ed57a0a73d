"""Table 2: cosines and perceptrons on the thirteen binary sets, beside their kernels."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.data import IDA_SETS
from cgens.weak_learners import Perceptron
from experiments.experiment import Experiment
from experiments.methods import (
    adaboost,
    cgens,
    cgens_fourier,
    cgens_own_sigma,
    kernel_svm,
    lpboost,
    random_fourier,
)
from experiments.splits import published_split

#: "We did not optimize the weak learner's parameters. Instead, we sample 2000 pairs, and then pick the one": from one
#: pool, or anew in each round.
DRAWN_PERCEPTRON = Perceptron(n_candidates=2000, learn=False)
FRESH_PERCEPTRON = Perceptron(n_candidates=2000, learn=False, pool="fresh")
_WITH_THE_SVMS_WIDTH = ("RFF", "CGEns", "CGEns fresh", "CGEns learned", "CGEns mixture")

TABLE2_FOURIER = Experiment(
    name="table2-fourier",
    title="Table 2, left: cosines, and the Gaussian kernel, on thirteen binary sets",
    datasets=lambda effort: IDA_SETS,
    methods={
        "SVM": kernel_svm("rbf"),
        "RFF": random_fourier,
        "CGEns": cgens_fourier(learn=False),
        "CGEns fresh": cgens_fourier(learn=False, pool="fresh"),
        "CGEns own sigma": cgens_own_sigma,
        "CGEns learned": cgens_fourier(learn=True),
        "CGEns mixture": cgens_fourier(mix=("stump", Perceptron()), learn=False),
    },
    split=published_split,
    runs=lambda dataset: 5,
    after=lambda cell: replace(cell, method="SVM") if cell.method in _WITH_THE_SVMS_WIDTH else None,
)

TABLE2_PERCEPTRON = Experiment(
    name="table2-perceptron",
    title="Table 2, right: perceptrons, and the perceptron kernel, on thirteen binary sets",
    datasets=lambda effort: IDA_SETS,
    methods={
        "AdaBoost": adaboost(DRAWN_PERCEPTRON),
        "LPBoost": lpboost(DRAWN_PERCEPTRON),
        "SVM": kernel_svm("perceptron"),
        "CGEns": cgens(DRAWN_PERCEPTRON, all_columns=True),
        "AdaBoost fresh": adaboost(FRESH_PERCEPTRON),
        "CGEns fresh": cgens(FRESH_PERCEPTRON, all_columns=True),
        "CGEns learned": cgens(Perceptron(), all_columns=True),
    },
    split=published_split,
    runs=lambda dataset: 5,
)
