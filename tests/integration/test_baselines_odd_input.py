"""Odd input of the rivals gets a sound model, or a warning that says what is odd."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cgens.baselines import LPBoostClassifier, MultiBoostClassifier
from cgens.types import Status
from tests.integration.rivals import BINARY, FLOWERS, STAGE_WISE
from tests.integration.short_rivals import (
    ON_THE_LOOP,
    RIVALS,
    X,
    Y,
    every_on_the_loop,
    every_rival,
    fit,
)
from tests.tolerances import CLOSED_FORM, TIGHT


@every_rival
def test_some_constant_features(rival):
    wide = np.column_stack([np.zeros(90), X, np.full(90, 7.0)])
    model = fit(rival, wide)
    assert np.all(np.isfinite(model.decision_function(wide)))
    if rival in ON_THE_LOOP:
        assert model.feature_importances_[[0, -1]].tolist() == [0.0, 0.0]
        assert model.certificate_.n_candidates == fit(rival).certificate_.n_candidates
    if rival in STAGE_WISE:
        assert np.allclose(model.decision_function(wide), fit(rival).decision_function(X), rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize(("heavier", "weight"), [(0, None), (1, None), (1, [1.0, 1.0, 1.0, 9.0])])
@every_on_the_loop
def test_constant_features_give_a_constant_model(rival, heavier, weight):
    """And the warning says which one it is."""
    y = np.array([0, 0, 0, 1]) if heavier == 0 or weight is not None else np.array([1, 1, 1, 0])
    rows = np.full((4, 3), 2.5)
    with pytest.warns(UserWarning, match="constant") as caught:
        model = fit(rival, rows, y, weight)
    assert len(caught) == 1
    assert model.n_columns_ == 0
    assert len(set(model.predict(rows))) == 1
    assert np.all(np.isfinite(model.decision_function(rows)))
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    assert len(list(model.staged_predict(rows))) == 1
    if "the heavier class" in str(caught[0].message):
        assert model.predict(rows).tolist() == [heavier] * 4


@every_on_the_loop
def test_warnings_point_at_the_line_that_fits(rival):
    with pytest.warns(UserWarning, match="constant") as caught:
        clone(RIVALS[rival]).fit(np.ones((4, 1)), [0, 1, 0, 1])
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("rival", "options", "word"), [("LPBoost", {"C": 1e-3}, r"\bC\b"), ("MultiBoost", {"nu": 10.0}, r"\bnu\b")]
)
def test_a_penalty_that_leaves_nothing_says_so(rival, options, word):
    """There are weak learners, but none is worth its price: neither constant features nor few rows are to blame."""
    with pytest.warns(UserWarning, match=word):
        model = fit(rival, **options)
    assert model.n_columns_ == 0


@every_rival
def test_one_row_a_class(rival):
    rows = np.array([[0.0, 5.0], [1.0, 5.0]])
    model = fit(rival, rows, ["a", "b"])
    assert model.predict(rows).tolist() == ["a", "b"]
    assert np.all(np.isfinite(model.decision_function(rows)))


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("rival", [name for name in RIVALS if name not in BINARY])
def test_every_row_its_own_class(rival, rng):
    rows = rng.normal(size=(9, 4))
    options = {"n_estimators": 200} if rival in ON_THE_LOOP else {"C": 1e4}
    model = fit(rival, rows, np.arange(9), **options)
    assert model.decision_function(rows).shape == (9, 9)
    assert np.array_equal(model.predict(rows), np.arange(9))


@every_rival
def test_more_features_than_rows(rival, rng):
    rows, y = rng.normal(size=(12, 300)), np.arange(12) % 2
    options = {"n_estimators": 50} if rival in ON_THE_LOOP else {"C": 100.0}
    model = fit(rival, rows, y, **options)
    assert np.all(np.isfinite(model.decision_function(rows)))
    assert model.score(rows, y) == 1.0


@every_on_the_loop
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_extreme_values(rival, scale, rng):
    """Linear programs have many solutions, and which one is found depends on the order of the rows: not its value."""
    rows = rng.integers(-5, 6, size=(60, 3)).astype(float)
    y = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    plain, scaled = (fit(rival, own, y, n_estimators=100) for own in (rows, rows * scale))
    rel = 2 * plain.tol if rival == "MultiBoost" else TIGHT
    assert scaled.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=rel)
    if rival in STAGE_WISE:
        assert np.array_equal(scaled.predict(rows * scale), plain.predict(rows))


@every_on_the_loop
def test_weights_of_very_different_size(rival, rng):
    model = fit(rival, weight=10.0 ** rng.uniform(-6, 6, 90))
    assert np.all(np.isfinite(model.decision_function(X)))
    assert model.certificate_.dual <= model.certificate_.primal


@every_on_the_loop
@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_of_the_weights_does_not_matter(rival, factor):
    """C = "scale" is divided by the total weight; all other losses are means."""
    plain, scaled = fit(rival), fit(rival, weight=np.full(90, factor))
    assert scaled.ensemble_.learners == plain.ensemble_.learners
    assert np.allclose(scaled.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", ["dual", "primal", "ipm"])
@pytest.mark.parametrize("nu", [None, 0.3])
def test_a_solver_that_stops_early(solver, nu):
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* not tol=0\.001: raise max_iter \(1\) or tol"):
        model = LPBoostClassifier(nu=nu, solver=solver, max_iter=1, n_estimators=30).fit(X, Y)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.certificate_.relative_gap > model.tol
    assert model.certificate_.dual <= model.certificate_.primal
    assert model.n_columns_ >= 1
    assert np.all(np.isfinite(model.decision_function(X)))
    assert len(list(model.staged_predict(X))) == model.n_columns_


def test_multiboost_that_does_not_get_there():
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* not tol=1e-300: raise nu \(0\.001\) or tol"):
        model = MultiBoostClassifier(tol=1e-300, n_estimators=3).fit(*FLOWERS)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.score(*FLOWERS) > 0.9


@every_on_the_loop
def test_no_warning_on_the_way(rival):
    """Nothing divides by zero or overflows without a word from the library."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(rival, n_estimators=60)
        fit(rival, X[:, :1] > 0, n_estimators=60)


def test_columns_that_all_weigh_nothing_are_told_of():
    """By chance alone no combination of a few stumps has a margin for most rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    with pytest.warns(UserWarning, match=r"All 5 columns have the weight 0 .*nu \(0.05\) or n_estimators too small"):
        model = LPBoostClassifier(nu=0.05, n_estimators=5).fit(X, y)
    assert not model.ensemble_.weights.any()
