"""The paper's two algorithms implemented literally, for comparison with the library.

Literally means: constant initial duals, before anything is solved; an absolute tolerance epsilon as stopping
criterion; and a search over all of H in each round, including the columns that are already selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens import CGEnsClassifier
from cgens.coding import ClassCoding
from cgens.masters import Hinge, LeastSquares
from cgens.types import AnyArray, Column, Duals, Floats, MasterSolution, Sample
from cgens.weak_learners import Stump
from evaluation.splits import Split, paper_loss
from experiments.experiment import Effort, Experiment, Fit, Method
from experiments.splits import multiclass_split, published_split

BINARY = ("banana", "breast_cancer", "diabetes", "heart", "thyroid", "titanic")
MULTICLASS = ("wine", "iris", "glass", "vehicle")
C_TIMES_ROWS = 30.0
EPSILON = 1e-2
ALL_STUMPS = Stump(max_bins=None)  # all thresholds, instead of 256 bins per feature
TOL = 1e-8  # relative gap of each solve: the claims are about optimal duals


@dataclass(frozen=True)
class LiteralProblem:
    """Features, encoded labels, the master problem of the algorithm, and its initial duals."""

    X: AnyArray
    target: Floats  # (m, l)
    master: Hinge | LeastSquares
    initial_duals: Floats  # signed, (m, l)


@dataclass(frozen=True)
class LiteralRound:
    """One round of the algorithm: the duals, the column found with them, and the solution with that column."""

    duals: Floats  # signed, shape (m, l)
    before: MasterSolution | None  # None in the first round
    column: Column  # with a positive price
    after: MasterSolution


class LiteralModel:
    """The ensemble that the algorithms return: sum_j w_j h_j + b, decoded."""

    def __init__(self, columns: list[Column], solution: MasterSolution, coding: ClassCoding) -> None:
        self.columns, self.solution, self.coding = columns, solution, coding

    def predict(self, X: AnyArray) -> AnyArray:
        """Return the predicted labels."""
        responses = np.array([column.learner.respond(X) for column in self.columns], dtype=float)
        decision = responses.T @ self.solution.weights + self.solution.intercept
        return self.coding.decode(decision)


def algorithm1(split: Split) -> LiteralProblem:
    """Return the problem of Algorithm 1: hinge loss, initial alpha = C / 2."""
    target, C = _encoded_labels(split), C_TIMES_ROWS / len(split.y)
    return LiteralProblem(split.X, target, Hinge(C), target * C / 2)


def algorithm2(split: Split) -> LiteralProblem:
    """Return the problem of Algorithm 2: least squares, initial U = C / 2, a positive constant."""
    target, C = _encoded_labels(split), C_TIMES_ROWS / len(split.y)
    return LiteralProblem(split.X, target, LeastSquares(C), np.full(target.shape, C / 2))


def literal_rounds(problem: LiteralProblem, max_rounds: int, repeats: bool) -> Iterator[LiteralRound]:
    """Run an algorithm until no |price| reaches epsilon.

    With `repeats` the search is over all of H, as the paper states the algorithms; without, selected columns are
    excluded.
    """
    weight = np.ones(len(problem.target))
    master = problem.master.begin(problem.target, weight, n_threads=1)
    sample = Sample(problem.X, np.arange(len(weight)), weight)
    pricer = ALL_STUMPS.begin(sample, np.random.default_rng(0), n_threads=1)
    duals, solution, keys = Duals(problem.initial_duals), None, set()
    for _ in range(max_rounds):
        column = pricer.price(duals, set() if repeats else keys, "max").column
        if column is None or abs(column.price) < EPSILON:
            return
        master.add(column.response)
        before, solution = solution, master.solve(TOL, lambda: False)
        yield LiteralRound(duals.array, before, column, solution)
        duals = solution.duals
        keys.add(column.learner.key)


def _literal(algorithm: Callable[[Split], LiteralProblem]) -> Method:
    """Return the method that runs an algorithm literally and stores when it first selects a column again."""

    def fit(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
        columns, keys, first_repeat, solution = [], set(), None, None
        for step in literal_rounds(algorithm(split), effort.max_rounds, repeats=True):
            if first_repeat is None and step.column.learner.key in keys:
                first_repeat = len(columns) + 1
            keys.add(step.column.learner.key)
            columns.append(step.column)
            solution = step.after
        if solution is None:
            raise ValueError(
                f"No stump has a |price| of at least {EPSILON}: the algorithm stops before its first round."
            )
        labels = np.unique(split.y)
        model = LiteralModel(columns, solution, ClassCoding.simplex(labels))
        counts = {"columns": len(columns), "distinct": len(keys), "first_repeat": first_repeat}
        return Fit(model, {**counts, "primal": solution.primal})

    return fit


def _library(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    """Fit the library's estimator on the same problem: it starts from a solved problem and repeats no column."""
    model = CGEnsClassifier(
        ALL_STUMPS,
        loss=paper_loss(split.y),
        C=C_TIMES_ROWS / len(split.y),
        n_estimators=effort.max_rounds,
        tol=TOL,
        pricing="max",
        n_jobs=effort.threads,
    ).fit(split.X, split.y)
    params = {"columns": model.n_columns_, "distinct": model.n_columns_, "primal": model.certificate_.primal}
    return Fit(model, params)


def _encoded_labels(split: Split) -> Floats:
    labels, indices = np.unique(split.y, return_inverse=True)
    return ClassCoding.simplex(labels).encode(indices)


LITERAL = Experiment(
    name="literal",
    title="Algorithm 1, implemented literally: initial alpha = C / 2, absolute epsilon, "
    "search over all of H in each round",
    datasets=lambda effort: BINARY,
    methods={"CGEns": _library, "CGEns literal": _literal(algorithm1)},
    split=published_split,
    runs=lambda dataset: 1,
)
LITERAL_SLS = Experiment(
    name="literal-sls",
    title="Algorithm 2, implemented literally: constant initial U, absolute epsilon, "
    "search over all of H in each round",
    datasets=lambda effort: MULTICLASS,
    methods={"CGEns-SLS": _library, "CGEns-SLS literal": _literal(algorithm2)},
    split=multiclass_split,
    runs=lambda dataset: 1,
)
