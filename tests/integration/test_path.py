"""`cgens.path`: its arguments, how it stops, and simultaneous searches."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from cgens import CGEnsRegressorCV, path
from cgens.masters import Hinge, LeastSquares
from cgens.weak_learners import Stump

X = np.random.default_rng(0).normal(size=(80, 4))
Y = X[:, 0] + X[:, 1] ** 2
SIGNS = np.where(np.median(Y) < Y, 1.0, -1.0)


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_a_callback_that_stops_keeps_the_columns():
    found = path(LeastSquares(0.1), Stump(), X, Y, [0.1, 1.0], stages=[1, 9], callback=lambda r: r.n_columns >= 3)
    assert found.stages == (1, 3)


@pytest.mark.parametrize("master", [LeastSquares, Hinge])
def test_an_interruption_is_raised(master, monkeypatch):
    """While columns are generated, and while the problems of all values of C are solved."""
    solve_path, begun = master.solve_path, []
    monkeypatch.setattr(master, "solve_path", lambda *arguments: begun.append(1) or solve_path(*arguments))
    for poll in (lambda: True, lambda: bool(begun)):
        with pytest.raises(KeyboardInterrupt):
            path(master(0.1), Stump(), X, SIGNS, [0.1], stages=[5], interrupted=poll)
    assert begun == [1]


def test_integers_and_lists_are_converted():
    whole = np.round(10 * X)
    first = path(LeastSquares(0.1), Stump(), whole.astype(int), Y.tolist(), [0.1], stages=[5], sample_weight=[2.0] * 80)
    second = path(LeastSquares(0.1), Stump(), whole, Y, [0.1], stages=[5], sample_weight=np.full(80, 2.0))
    assert np.array_equal(first.solutions[0][0][0], second.solutions[0][0][0])


def test_no_columns():
    found = path(LeastSquares(0.1), Stump(), np.ones((6, 2)), np.arange(6.0), [0.1, 1.0], stages=[1, 4])
    assert found.stages == (0,)
    assert [np.ptp(decision) for decision in found.decisions(np.zeros((3, 2)))] == [0.0]


@pytest.mark.parametrize(
    ("parameter", "value"), [("Cs", []), ("Cs", [-1.0]), ("stages", []), ("stages", [3, 2]), ("stages", [0, 2])]
)
def test_bad_grids_are_refused(parameter, value):
    with pytest.raises(ValueError, match=rf"{parameter}.*{re.escape(str(value))}"):
        path(LeastSquares(1.0), Stump(), X, Y, **{"Cs": [1.0], "stages": [1], parameter: value})


def test_a_problem_that_does_not_converge_is_reported_with_its_gap():
    with pytest.warns(ConvergenceWarning, match=r"gap.*1e\+14"):
        path(Hinge(1e12, max_sweeps=3), Stump(), X, SIGNS, [1e8, 1e14], stages=[5, 20])


def test_the_order_of_the_values_of_c_does_not_matter():
    up = path(Hinge(0.1), Stump(), X, SIGNS, [0.01, 0.1, 1.0], stages=[3, 8])
    down = path(Hinge(0.1), Stump(), X, SIGNS, [1.0, 0.1, 0.01], stages=[3, 8])
    for one, other in zip(up.solutions, down.solutions[::-1], strict=True):
        assert all(np.array_equal(a[0], b[0]) for a, b in zip(one, other, strict=True))


def test_simultaneous_searches_restore_the_threads_of_blas():
    before = blas_threads()
    jobs = [threading.Thread(target=lambda: CGEnsRegressorCV(n_estimators=10, Cs=3).fit(X, Y)) for _ in range(3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert blas_threads() == before


def test_n_columns_counts_the_columns_that_exist():
    model = CGEnsRegressorCV(stages="paper").fit(np.arange(80.0)[:, None] % 3, np.arange(80.0) % 3 + 0.1 * Y)
    assert model.n_columns_ == len(model.ensemble_) == 2
    assert model.best_params_["n_estimators"] == 25


def test_an_error_of_a_scorer_is_raised():
    def scorer(model, X, y, sample_weight=None):
        raise TypeError("a mistake")

    with pytest.raises(TypeError, match="a mistake"):
        CGEnsRegressorCV(n_estimators=5, scoring=scorer).fit(X, Y, np.arange(1.0, 81.0))
