"""The paper's two algorithms to the letter, beside the library.

To the letter means: duals of one size at the start, before anything is solved; an end by an absolute epsilon; a search
over all of H in every round, columns of the working set included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import Split
from cgens import CGEnsClassifier
from cgens.coding import ClassCoding
from cgens.masters import Hinge, LeastSquares
from cgens.types import AnyArray, Column, Duals, Floats, MasterSolution, Sample
from cgens.weak_learners import Stump
from experiments.experiment import Effort, Experiment, Fit
from experiments.splits import multiclass_split, published_split

BINARY = ("banana", "breast_cancer", "diabetes", "heart", "thyroid", "titanic")
MANY_CLASSES = ("wine", "iris", "glass", "vehicle")
TOTAL_C = 30.0  # C times the number of rows
EPSILON = 1e-2
ALL_STUMPS = Stump(max_bins=None)  # the best of all, not of 256 a feature
TOL = 1e-8  # of the solves: what is claimed is claimed of optimal duals


@dataclass(frozen=True)
class LiteralProblem:
    """Rows, coded labels, the master of the algorithm, and the duals that it starts from."""

    X: AnyArray
    target: Floats  # (m, l)
    master: Hinge | LeastSquares
    start: Floats  # signed duals, (m, l)


@dataclass(frozen=True)
class LiteralRound:
    """A turn of the algorithm: what is priced, the column that the search found, and the solution with it."""

    duals: Floats  # signed, shape (m, l)
    before: MasterSolution | None  # None at the start, where nothing is solved yet
    column: Column  # with a positive price
    after: MasterSolution


class LiteralModel:
    """What the algorithms give: sum_j w_j h_j + b, decoded."""

    def __init__(self, columns: list[Column], solution: MasterSolution, coding: ClassCoding, labels: AnyArray) -> None:
        self.columns, self.solution, self.coding, self.labels = columns, solution, coding, labels

    def predict(self, X: AnyArray) -> AnyArray:
        """Return the label of each row."""
        responses = np.array([column.learner.respond(X) for column in self.columns], dtype=float)
        decision = responses.T @ self.solution.weights + self.solution.intercept
        return self.labels[self.coding.decode(decision)]


def algorithm1(split: Split) -> LiteralProblem:
    """Return the problem of Algorithm 1: hinge loss, alpha = C / 2 at the start."""
    target, C = _coded(split), TOTAL_C / len(split.y)
    return LiteralProblem(split.X, target, Hinge(C), target * C / 2)


def algorithm2(split: Split) -> LiteralProblem:
    """Return the problem of Algorithm 2: least squares, U = C / 2, a positive constant, at the start."""
    target, C = _coded(split), TOTAL_C / len(split.y)
    return LiteralProblem(split.X, target, LeastSquares(C), np.full(target.shape, C / 2))


def literal_rounds(problem: LiteralProblem, max_rounds: int, repeats: bool) -> Iterator[LiteralRound]:
    """Run an algorithm until no price reaches epsilon.

    With `repeats` the search is over all of H, as the algorithms say, columns of the working set included; else over
    the others.
    """
    weight = np.ones(len(problem.target))
    master = problem.master.begin(problem.target, weight, n_threads=1)
    sample = Sample(problem.X, np.arange(len(weight)), weight)
    pricer = ALL_STUMPS.begin(sample, np.random.default_rng(0), n_threads=1)
    duals, solution, keys = Duals(problem.start), None, set()
    for _ in range(max_rounds):
        found = pricer.price(duals, set() if repeats else keys, "max").column
        if found is None or abs(found.score) < EPSILON:
            return
        column = found.oriented()
        master.add(column.response)
        before, solution = solution, master.solve(TOL, lambda: False)
        yield LiteralRound(duals.array, before, column, solution)
        duals = solution.duals
        keys.add(column.learner.key)


def _literal(algorithm: Any) -> Any:
    """Return the method that runs an algorithm to the letter, and tells where it comes back to a column it has."""

    def fit(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
        columns, keys, first_repeat, solution = [], set(), None, None
        for turn in literal_rounds(algorithm(split), effort.most_rounds, repeats=True):
            if first_repeat is None and turn.column.learner.key in keys:
                first_repeat = len(columns) + 1
            keys.add(turn.column.learner.key)
            columns.append(turn.column)
            solution = turn.after
        if solution is None:
            raise ValueError(
                f"No stump has a price of {EPSILON} at the start: the algorithm ends before its first round."
            )
        labels = np.unique(split.y)
        model = LiteralModel(columns, solution, ClassCoding.simplex(len(labels)), labels)
        counts = {"columns": len(columns), "distinct": len(keys), "first_repeat": first_repeat}
        return Fit(model, {**counts, "primal": solution.primal})

    return fit


def _library(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    """Run the library's loop on the same problem: from the solved empty master, never back to a column it has."""
    model = CGEnsClassifier(
        ALL_STUMPS,
        C=TOTAL_C / len(split.y),
        n_estimators=effort.most_rounds,
        tol=TOL,
        pricing="max",
        n_jobs=effort.threads,
    ).fit(split.X, split.y)
    params = {"columns": model.n_columns_, "distinct": model.n_columns_, "primal": model.certificate_.primal}
    return Fit(model, params)


def _coded(split: Split) -> Floats:
    labels, numbers = np.unique(split.y, return_inverse=True)
    return ClassCoding.simplex(len(labels)).encode(numbers)


LITERAL = Experiment(
    name="literal",
    title="Algorithm 1 to the letter: alpha = C / 2 at the start, an absolute epsilon, all of H at every round",
    datasets=lambda effort: BINARY,
    methods={"CGEns": _library, "CGEns literal": _literal(algorithm1)},
    split=published_split,
    runs=lambda dataset: 1,
)
LITERAL_SLS = Experiment(
    name="literal-sls",
    title="Algorithm 2 to the letter: a constant U at the start, an absolute epsilon, all of H at every round",
    datasets=lambda effort: MANY_CLASSES,
    methods={"CGEns-SLS": _library, "CGEns-SLS literal": _literal(algorithm2)},
    split=multiclass_split,
    runs=lambda dataset: 1,
)
