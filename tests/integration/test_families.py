"""Every family of weak learners in every estimator: what holds for stumps holds for all of them."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.types import Duals, Sample
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, Stump, Tree
from tests.contract.cosines import Cosines
from tests.integration.small_data import noisy
from tests.models import BOOSTERS, FAMILIES, STAGE_WISE, answer, data_of, make
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP

NAMES = {"stump": Stump, "perceptron": Perceptron, "fourier": Fourier, "tree": Tree, "box": Box, "linear": Linear}
TASKS = ["binary", "multiclass", "multioutput"]


@cache
def _fitted(name, family):
    return make(name, weak_learner=FAMILIES.get(family, family)).fit(*data_of(name))


def fitted(name, family):
    return (copy.deepcopy(_fitted(name, family)), *data_of(name))


def fit(family, X=None, y=None, **options):
    options = {"n_estimators": 10, "random_state": 0, "n_jobs": 1, **options}
    return CGEnsClassifier(family, **options).fit(*(noisy() if X is None else (X, y)))


def rounding(model, X):
    """Return by how much two sums of the same responses may differ: responses of scaled inputs may be large."""
    largest = np.abs(model.ensemble_.respond(X).astype(float)) @ np.abs(model.ensemble_.weights)
    return 10 * CLOSED_FORM * (1 + largest.max() + np.abs(model.ensemble_.intercept).sum())


def assert_sound(model, X, y):
    assert 1 <= model.n_columns_ <= 10
    assert np.all(np.isfinite(answer(model, X)))
    assert model.predict(X).shape == y.shape
    assert not np.any(model.trace_.relative_gap < -NEGATIVE_GAP)
    bound = model.certificate_.full_relative_gap
    assert bound is None or bound >= -NEGATIVE_GAP
    staged = getattr(model, "staged_decision_function", model.staged_predict)
    stages = list(staged(X))
    assert len(stages) == model.n_columns_
    assert np.allclose(stages[-1], answer(model, X), rtol=0, atol=rounding(model, X))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", {**NAMES, **FAMILIES})
def test_the_model_is_sound(family, task):
    model, X, y = fitted(task, family)
    assert_sound(model, X, y)
    assert model.certificate_.relative_gap <= model.tol
    assert check_certificate(model, X, y).problems == ()
    one_by_one = np.concatenate([answer(model, row[None]) for row in X[:8]])
    assert np.allclose(one_by_one, answer(model, X)[:8], rtol=0, atol=rounding(model, X))


def pairs():
    """Return every booster with some of the families, and in slow tests with the others; every family occurs."""
    for number, name in enumerate(BOOSTERS):
        for turn, family in enumerate({**NAMES, **FAMILIES}):
            yield pytest.param(name, family, marks=() if (turn - number) % len(BOOSTERS) < 2 else pytest.mark.slow)


@pytest.mark.parametrize(("name", "family"), [*pairs()])
def test_boosting_is_sound(name, family):
    """Iris is easy: only few rows are misclassified, whereas chance misclassifies two thirds."""
    model, X, y = fitted(name, family)
    assert_sound(model, X, y)
    if name not in STAGE_WISE:
        assert model.certificate_.relative_gap <= model.tol
    if y.ndim == 1:
        assert model.score(X, y) > (0.6 if y.max() == 2 else 0.7)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_its_class_with_default_parameters(name):
    named, made = fitted("binary", name), fit(NAMES[name](), loss="hinge")
    assert made.decision_function(named[1]).tobytes() == named[0].decision_function(named[1]).tobytes()


def test_a_family_of_the_user():
    X, y = noisy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = fit(Cosines(n_candidates=200, gamma=0.1), X, y, C=1.0, n_estimators=60)
    assert model.score(X, y) > 0.8
    assert model.certificate_.scope == "pool"
    assert model.certificate_.relative_gap <= model.tol
    fresh, again, other = (fit(Cosines(fresh=True), X, y, random_state=seed) for seed in (0, 0, 1))
    assert fresh.certificate_.scope == "restricted"
    assert fresh.bound_duals_ is None
    assert check_certificate(fresh, X, y).agrees
    assert np.array_equal(again.decision_function(X), fresh.decision_function(X))
    assert not np.array_equal(other.decision_function(X), fresh.decision_function(X))


@pytest.mark.parametrize(
    "grid",
    [
        {"weak_learner__gamma": [0.01, "scale", [0.1, 1.0]], "C": [0.1, 1.0]},
        {"weak_learner": ["stump", "tree", Box(n_candidates=50), Cosines(gamma=0.1), ["stump", "linear"]]},
    ],
    ids=["width of cosines", "families"],
)
def test_grid_search(grid):
    model = CGEnsClassifier(Fourier(n_candidates=50), n_estimators=8, random_state=0, n_jobs=1)
    search = GridSearchCV(model, grid, cv=2).fit(*noisy())
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    for name, best in search.best_params_.items():
        assert repr(search.best_estimator_.get_params()[name]) == repr(best)
    assert model.weak_learner.gamma == "scale"


CHOSEN = {
    "Fourier": Fourier(n_candidates=50),
    "Fourier, learned": Fourier(learn=True),
    "Tree": "tree",
    "list": ["stump", (Fourier(n_candidates=50), [0, 1])],
}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_search_for_c_and_the_number_of_columns(kind, name):
    X, y = data_of(kind)
    options = {"weak_learner": CHOSEN[name], "n_estimators": 10}
    search = make(f"search, {kind}", Cs=2, cv=2, **options).fit(X, y)
    assert np.all(np.isfinite(search.scores_))
    assert search.best_score_ > (0.2 if kind == "regression" else 0.6)
    plain = make(kind, **{**options, **search.best_params_}).fit(X, y)
    assert answer(plain, X).tobytes() == answer(search, X).tobytes()
    if name == "list":  # as its certificate
        assert search.family_shares_ == plain.family_shares_


@pytest.mark.parametrize("family", ["perceptron", "fourier"])
def test_columns_are_learned_again_for_every_colouring(family):
    """What was learned for the bit of an earlier round is of little use for this one."""
    model, X, y = fitted("AdaBoost.ECC", family)
    pool = NAMES[family](learn=False)
    pricer = pool.begin(Sample(X, np.arange(len(X)), np.ones(len(X))), np.random.default_rng(0), 1)
    for k in range(1, 7):
        duals = clone(model).set_params(n_estimators=k).fit(X, y).duals_
        available = pricer.price(Duals(duals[:, None]), set(), "max").largest_price()
        assert model.trace_.price[k + 1] >= 0.25 * available, f"round {k + 1}"


@pytest.mark.parametrize("name", BOOSTERS)
def test_family_shares_in_boosting(name):
    model = make(name, weak_learner=["stump", "linear"]).fit(*data_of(name))
    assert set(model.family_shares_) == {"stump", "linear"}
    assert sum(model.family_shares_.values()) == pytest.approx(1.0, rel=CLOSED_FORM)
