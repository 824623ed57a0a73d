"""Every family of weak learners: row order, copies, threads and layout change no bit, and units change no model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, Stump, Tree
from tests.property.problems import assert_same_model
from tests.tolerances import CLOSED_FORM, RESPONSE, SAME_OPTIMUM, TIGHT

FAMILIES = {
    "fourier": Fourier(n_candidates=80, learn=False),
    "fourier, sparse": Fourier(["median", 0.3], 80, n_inputs=[1, 2], standardize=True, learn=False),
    "fourier, orthogonal": Fourier("median", 80, orthogonal=True, learn=False),
    "fourier, fresh": Fourier(n_candidates=40, pool="fresh", learn=False),
    "fourier, learned": Fourier(learn=True),
    "fourier, learned, sparse": Fourier(n_inputs=2, standardize=True, learn=True),
    "fourier, either": Fourier(n_candidates=80),
    "perceptron": Perceptron(80, learn=False),
    "perceptron, fresh": Perceptron(40, pool="fresh", standardize=True, learn=False),
    "perceptron, learned": Perceptron(learn=True),
    "perceptron, learned, sparse": Perceptron(n_inputs=[1, 3], standardize=True, learn=True),
    "tree": Tree(4, min_samples_leaf=5),
    "tree, signs": Tree(5, leaves="sign", min_samples_leaf=5, max_bins=16),
    "box": Box(n_candidates=80),
    "box, fresh": Box([1, 2, 3], 40, pool="fresh"),
    "linear": Linear(),
    "mixture": Mixture([Stump(), (Fourier(n_candidates=40, learn=False), [0, 2]), Tree(3), Linear()]),
    "mixture, learned": Mixture([(Perceptron(learn=True), [1, 2, 3]), Fourier(learn=True), Box(n_candidates=30)]),
}
LOSSES = ["hinge", "least_squares"]
CALM = settings(max_examples=4)

pytestmark = pytest.mark.filterwarnings("ignore:No weak learner tells the")


@dataclass(frozen=True)
class Rows:
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    rng: np.random.Generator


def make_rows(seed, loss, n=120):
    """Return rows with ties and repetitions; two classes for the hinge loss, else three."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)).round(1), rng.integers(-3, 4, size=(n, 2)), rng.normal(size=n)])
    X[n // 2 : n // 2 + 5] = X[:5]
    score = X[:, 0] + np.sin(X[:, 2]) * X[:, 1] + 0.5 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, [0.5] if loss == "hinge" else [0.3, 0.6]), score)
    return Rows(X, y, rng.integers(1, 4, n).astype(float), rng)


def fit(name, loss, X, y, weight=None, **options):
    options = {"n_estimators": 8, "random_state": 3, "n_jobs": 1, **options}
    return CGEnsClassifier(clone(FAMILIES[name]), loss=loss, **options).fit(X, y, sample_weight=weight)


families = pytest.mark.parametrize("name", FAMILIES)
losses = pytest.mark.parametrize("loss", LOSSES)
seeds = st.integers(0, 1000)


@families
@losses
@given(seed=seeds)
@CALM
def test_weights_are_copies(name, loss, seed):
    rows = make_rows(seed, loss)
    copies = np.repeat(np.arange(len(rows.y)), rows.weight.astype(int))
    weighted = fit(name, loss, rows.X, rows.y, rows.weight)
    assert_same_model(weighted, fit(name, loss, rows.X[copies], rows.y[copies]), rows.X)


@families
@losses
@given(seed=seeds)
@CALM
def test_row_order_does_not_matter(name, loss, seed):
    rows = make_rows(seed, loss)
    order = rows.rng.permutation(len(rows.y))
    weight = rows.weight * rows.rng.random(len(rows.y))
    straight = fit(name, loss, rows.X, rows.y, weight)
    shuffled = fit(name, loss, rows.X[order], rows.y[order], weight[order])
    assert_same_model(straight, shuffled, rows.X)
    assert np.array_equal(straight.duals_[order], shuffled.duals_)


@families
@losses
def test_rows_of_zero_weight_are_not_there(name, loss):
    rows = make_rows(1, loss)
    weight = np.where(rows.rng.random(len(rows.y)) < 0.3, 0.0, rows.weight)
    kept = weight > 0
    with_them = fit(name, loss, rows.X, rows.y, weight)
    assert_same_model(with_them, fit(name, loss, rows.X[kept], rows.y[kept], weight[kept]), rows.X)


@families
@losses
def test_precision_and_layout_of_x_do_not_matter(name, loss):
    """Where float32 holds the numbers as they are."""
    rows = make_rows(2, loss)
    X = rows.X.astype(np.float32)
    model = fit(name, loss, X.astype(np.float64), rows.y)
    for other in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert_same_model(model, fit(name, loss, other, rows.y), X.astype(np.float64))


@families
@losses
def test_threads_do_not_matter(name, loss):
    """Rows enough for several blocks, also of an ascent."""
    rows = make_rows(3, loss, n=4500)
    one = fit(name, loss, rows.X, rows.y, n_estimators=4)
    for n_jobs in (2, 3):
        two = fit(name, loss, rows.X, rows.y, n_estimators=4, n_jobs=n_jobs)
        assert [own.key for own in one.ensemble_.learners] == [own.key for own in two.ensemble_.learners]
        assert_same_model(one, two, rows.X)


@families
@losses
def test_the_same_seed_is_the_same_model(name, loss):
    rows = make_rows(4, loss)
    model = fit(name, loss, rows.X, rows.y)
    assert_same_model(model, fit(name, loss, rows.X, rows.y), rows.X)
    other = fit(name, loss, rows.X, rows.y, random_state=4)
    assert (model.ensemble_.learners == other.ensemble_.learners) == (name == "linear")


#: Families that measure features in their own units; what is learned on drawn halves of the rows is left out, for rows
#: of another content come in another order.
UNITS = {
    "fourier": Fourier(n_candidates=80, standardize=True, learn=False),
    "fourier, sparse": Fourier(["scale", 0.3], 80, n_inputs=[1, 2], standardize=True, learn=False),
    "perceptron": Perceptron(80, standardize=True, learn=False),
    "linear": Linear(),
    "mixture": Mixture([(Fourier(n_candidates=40, standardize=True, learn=False), [0, 2]), Linear()]),
}


def in_other_units(X, seed):
    return X * np.random.default_rng(seed).uniform(0.01, 100.0, X.shape[1])


@pytest.mark.parametrize("name", UNITS)
@given(seed=seeds)
@CALM
def test_units_of_standardized_features_do_not_matter(name, seed):
    rows = make_rows(seed, "least_squares")
    model = CGEnsClassifier(UNITS[name], loss="least_squares", n_estimators=8, random_state=3, n_jobs=1)
    decisions = [clone(model).fit(X, rows.y).decision_function(X) for X in (rows.X, in_other_units(rows.X, seed))]
    assert np.allclose(*decisions, rtol=0, atol=RESPONSE * np.abs(decisions[0]).max())


@pytest.mark.parametrize("name", UNITS)
def test_units_do_not_matter_to_the_optimum_of_a_pool(name):
    """The hinge loss is solved loosely between rounds, so that rows in another order may lead another way there."""
    rows = make_rows(5, "hinge")
    family = clone(UNITS[name])
    params = {key: 6 for key in family.get_params() if key.endswith("n_candidates")}
    family.set_params(**params)
    model = CGEnsClassifier(family, C=0.1, n_estimators=100, tol=TIGHT, random_state=3, n_jobs=1)
    plain, scaled = (clone(model).fit(X, rows.y).certificate_ for X in (rows.X, in_other_units(rows.X, 5)))
    assert plain.n_candidates == scaled.n_candidates
    assert plain.primal == pytest.approx(scaled.primal, rel=SAME_OPTIMUM + RESPONSE)


#: Families of thresholds on single features.
THRESHOLDS = {
    "stump": Stump(),
    "tree": Tree(4, min_samples_leaf=5),
    "tree, signs": Tree(4, leaves="sign", min_samples_leaf=5),
    "box": Box(n_candidates=80),
    "box, fresh": Box([1, 2], 40, pool="fresh"),
}


def splits_of(learner):
    """Return the features and thresholds of a learner, those of a leaf left out."""
    features = np.atleast_1d(learner.feature if hasattr(learner, "feature") else learner.features)
    thresholds = np.atleast_1d(learner.threshold if hasattr(learner, "threshold") else learner.thresholds)
    return features[features >= 0], thresholds[features >= 0]


@pytest.mark.parametrize("name", THRESHOLDS)
@given(seed=seeds)
@CALM
def test_thresholds_scale_with_their_features(name, seed):
    """By powers of two, so that no midpoint is rounded; targets are numbers, so that no two splits are equally good."""
    rows = make_rows(seed, "least_squares")
    target = rows.y + rows.rng.normal(size=len(rows.y))
    powers = 2.0 ** rows.rng.integers(-20, 20, rows.X.shape[1])
    model = CGEnsRegressor(THRESHOLDS[name], n_estimators=8, random_state=3, n_jobs=1)
    plain, scaled = clone(model).fit(rows.X, target), clone(model).fit(rows.X * powers, target)
    for one, other in zip(plain.ensemble_.learners, scaled.ensemble_.learners, strict=True):
        features, thresholds = splits_of(one)
        assert np.array_equal(features, splits_of(other)[0])
        assert np.array_equal(thresholds * powers[features], splits_of(other)[1])
    predicted = plain.predict(rows.X), scaled.predict(rows.X * powers)
    assert np.allclose(*predicted, rtol=0, atol=(RESPONSE if name == "tree" else CLOSED_FORM) * np.abs(target).max())
