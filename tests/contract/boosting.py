"""Problems for stage-wise masters, and the rounds of one."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.types import Status
from tests.tolerances import CLOSED_FORM

N_ROUNDS = 12
#: `minimize_scalar` knows a minimum to the square root of the machine's precision only.
SCALAR = 1e-6


def never() -> bool:
    return False


def boosting_problem(rng):
    """Return inputs, weights of rows, and responses of +-1 that have something to do with the inputs."""
    X = rng.normal(size=(80, 4))
    H = np.where(X[:, rng.integers(0, 4, N_ROUNDS)] > rng.normal(scale=0.5, size=N_ROUNDS), 1, -1).astype(np.int8)
    return X, rng.integers(1, 5, 80) / 2.0, H


def labels_of(X, rng, n_outputs):
    """Return labels of +-1, shape (m, l), in any combination: several may be 1, or none."""
    noise = rng.normal(size=(len(X), n_outputs))
    return np.where(X @ rng.normal(size=(X.shape[1], n_outputs)) + noise > 0, 1.0, -1.0)


def classes_of(X, rng, n_classes):
    """Return numbers of classes; each occurs."""
    noisy = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=len(X))
    return np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)


def one_of(own, n_classes):
    return 2.0 * np.eye(n_classes)[own] - 1.0


def boosted(live, H):
    """Return the solution before the first column, and after each."""
    solutions = [live.solve(1e-3, never)]
    for column in H.T:
        live.add(column)
        solutions.append(live.solve(1e-3, never))
    return solutions


def assert_stages(solutions, stages):
    """The first solution is that of the empty master."""
    assert len(solutions) == len(stages) + 1
    weights = np.zeros((0, len(stages[0].weights)))
    for solution, stage in zip(solutions[1:], stages, strict=True):
        weights = np.vstack([weights, stage.weights])
        scale = CLOSED_FORM * np.abs(weights).max()
        assert np.allclose(solution.weights, weights, rtol=0, atol=scale)
        assert np.allclose(solution.intercept, stage.intercept, rtol=0, atol=scale)
        assert np.allclose(solution.duals.array, stage.duals, rtol=0, atol=CLOSED_FORM)
        assert solution.primal == pytest.approx(stage.loss, rel=CLOSED_FORM)
        assert solution.dual == 0.0
        assert solution.column_cost == 0.0
        assert solution.status is Status.OPTIMAL
