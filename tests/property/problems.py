"""Random small problems with all kinds of targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Problem:
    X: np.ndarray  # numbers, or objects: also text and gaps
    y: np.ndarray
    weight: np.ndarray
    seed: int

    @property
    def numbers(self) -> np.ndarray:
        """The rows as numbers, from which targets are made: gaps are 0, and text counts by its length."""
        if self.X.dtype != object:
            return np.nan_to_num(self.X)
        return np.array([[len(own) if isinstance(own, str) else own or 0.0 for own in row] for row in self.X.tolist()])

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed + 1)


@st.composite
def problems(draw: st.DrawFn, most_rows: int = 60) -> Problem:
    """Return rows with ties and repetitions (small integers) or without (normal), and weights of 1 to 4."""
    seed = draw(st.integers(0, 10_000))
    n, d = draw(st.integers(4, most_rows)), draw(st.integers(1, 5))
    n_values = draw(st.sampled_from([2, 3, 10, None]))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if n_values is None else rng.integers(0, n_values, size=(n, d)).astype(np.float64)
    y = (X[:, 0] + rng.normal(scale=0.7, size=n) > X[:, 0].mean()).astype(int)
    y[:2] = [0, 1]
    return Problem(X, y, rng.integers(1, 5, n).astype(np.float64), seed)


def larger_problem(seed: int, n: int = 70) -> Problem:
    """Return rows with ties and repetitions, in five features of different kinds."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)).round(1), rng.integers(-3, 4, size=(n, 2)), rng.normal(size=n)])
    X[n // 2 : n // 2 + 5] = X[:5]
    score = X[:, 0] + np.sin(X[:, 2]) * X[:, 1] + 0.5 * rng.normal(size=n)
    return Problem(X, (score > np.median(score)).astype(int), rng.integers(1, 4, n).astype(np.float64), seed)


def with_gaps(problem: Problem) -> Problem:
    """Return the problem with gaps in some columns, and with another unit for one of them."""
    X = np.where(
        problem.rng.random(problem.X.shape) < 0.3 * (np.arange(problem.X.shape[1]) % 2 == 0), np.nan, problem.X
    )
    X[:, -1] *= 1000.0
    return replace(problem, X=X)


def with_categories(problem: Problem) -> Problem:
    """Return the problem with gaps, and with every other column as text: levels are rounded numbers, some rare."""
    X = with_gaps(problem).X
    objects = np.where(np.isnan(X), None, X)
    for column in range(0, X.shape[1], 2):
        objects[:, column] = [
            None if own is None else "x" * abs(round(own)) + f"{own:.0f}" for own in objects[:, column]
        ]
    return replace(problem, X=objects)


costs = st.sampled_from(["scale", 0.01, 0.7, 20.0])


def target_of(problem: Problem, kind: str) -> np.ndarray:
    """Return a target of this kind that depends on the features."""
    score = problem.numbers.sum(axis=1) + problem.rng.normal(scale=0.7, size=len(problem.y))
    ranks = score.argsort().argsort()
    counts = np.round(score) + problem.y  # few distinct values, so that rows repeat together with their target
    return {
        "binary": lambda: problem.y,
        "multiclass": lambda: ranks * 4 // len(ranks),
        "multilabel": lambda: np.column_stack([problem.y, ranks % 2, 2 * ranks < len(ranks)]).astype(int),
        "regression": lambda: counts if problem.seed % 2 else score,
        "counts": lambda: np.abs(counts),
        "multioutput": lambda: np.column_stack([counts, np.cos(problem.numbers[:, 0]) + problem.y]),
    }[kind]()
