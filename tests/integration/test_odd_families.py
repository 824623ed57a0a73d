"""Odd tables for the families: a sound model, a warning, or a refusal in one sentence."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from cgens import CGEnsClassifierCV
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, SklearnLearner, Stump, Tree
from tests.integration.family_fits import X, Y, assert_refused, fit

WILD = X * np.array([1e4, 1, 1, 1, 1, 1])

FAMILIES = {
    "stump": Stump(),
    "perceptron": Perceptron(100),
    "perceptron, learned": Perceptron(learn=True),
    "fourier": Fourier(n_candidates=100),
    "fourier, learned": Fourier(learn=True),
    "fourier, fresh": Fourier(n_candidates=50, pool="fresh", learn=False),
    "tree": Tree(4, min_samples_leaf=2),
    "box": Box(n_candidates=50),
    "linear": Linear(),
    "sklearn": SklearnLearner(DecisionTreeClassifier(max_depth=2)),
    "list": [Stump(), Fourier(n_candidates=50)],
}
ROTATED = ["perceptron", "perceptron, learned", "fourier", "fourier, learned", "fourier, fresh"]


def warnings_of(act):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(warning.message) for warning in caught]


# --- features of other scales


@pytest.mark.parametrize("name", ROTATED)
def test_features_of_wildly_different_scale_are_warned_of_once(name):
    (message,) = warnings_of(lambda: fit(FAMILIES[name], WILD))
    family = name.partition(",")[0].capitalize()
    assert re.search(rf"{family}: feature 0 .*2e\+04.*standardize=True.*StandardScaler", message)


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("n_large", [1, 2, 3])
def test_one_small_feature_of_a_few_is_enough_and_the_large_one_is_named(name, n_large):
    """Two columns of a table, years and money: the years would not count at all."""
    table = X[:, : n_large + 1] * np.append(np.full(n_large, 1e4), 1.0)
    frame = pd.DataFrame(table, columns=[*"abc"[:n_large], "years"])
    (message,) = warnings_of(lambda: fit(FAMILIES[name], frame))
    assert re.search(rf"feature '[abc]' .*1 of {n_large + 1} features", message)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in (*ROTATED, "list")])
def test_families_for_which_scales_do_not_matter_are_silent(name):
    assert warnings_of(lambda: fit(FAMILIES[name], WILD)) == []


@pytest.mark.parametrize("family", [Fourier(standardize=True), Perceptron(standardize=True)], ids=repr)
def test_standardised_families_are_silent(family):
    assert warnings_of(lambda: fit(family, WILD)) == []


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("scale", [1.0, 1 / 16])
def test_images_are_no_reason_for_a_warning(name, scale):
    """Pixels at the border hardly vary, and some never do."""
    images, digits = load_digits(return_X_y=True)
    assert warnings_of(lambda: fit(FAMILIES[name], scale * images[:300], digits[:300], n_estimators=2)) == []


@pytest.mark.parametrize("name", ROTATED)
def test_constant_features_are_no_reason_for_a_warning(name):
    assert warnings_of(lambda: fit(FAMILIES[name], np.column_stack([X, np.zeros((90, 20)), np.ones((90, 3))]))) == []


def test_the_warning_counts_features_as_the_table_does():
    (message,) = warnings_of(lambda: fit([("fourier", [3, 0, 4])], WILD))
    assert "feature 0 " in message


def test_a_search_warns_once_too():
    search = CGEnsClassifierCV(Fourier(n_candidates=50), Cs=2, n_estimators=5, cv=3, random_state=0, n_jobs=1)
    assert len(warnings_of(lambda: search.fit(WILD, Y))) == 1


def test_a_feature_far_from_zero_is_as_good_as_near_it(rng):
    """A year among standardised features: distances do not change, so the cosines should not either, or say so."""
    X = rng.normal(size=(600, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] > 0
    family, years = Fourier(learn=False), X + np.array([2000.0, 0, 0, 0])
    near = fit(family, X[:300], y[:300], n_estimators=60).score(X[300:], y[300:])
    messages = warnings_of(lambda: fit(family, years[:300], y[:300], n_estimators=60))
    far = fit(family, years[:300], y[:300], n_estimators=60).score(years[300:], y[300:])
    assert far > near - 0.1 or messages


@pytest.mark.parametrize("scale", [1e40, 1e-40, 1e200, 1e-200])
@pytest.mark.parametrize("name", ["fourier", "perceptron", "linear", "box", "tree"])
def test_extreme_values_give_a_model_or_a_sentence(name, scale):
    """Not an error of linear algebra, nor a constant model that blames constant features."""
    try:
        messages = warnings_of(lambda: fit(FAMILIES[name], scale * X))
    except ValueError as error:
        assert name in str(error).lower()  # noqa: PT017 (either is fine)
    else:
        assert messages == []


# --- odd tables


@pytest.mark.parametrize("name", FAMILIES)
def test_only_constant_features_give_a_constant_model_and_a_warning(name):
    constant = np.full((60, 3), 2.5)
    messages = warnings_of(lambda: fit(FAMILIES[name], constant, np.arange(60) % 3 == 0))
    assert len(messages) == 1
    assert "constant" in messages[0]


ODD_TABLES = {
    "some constant features": lambda rng: (np.column_stack([np.zeros(90), X, np.full(90, 1e9)]), Y),
    "one feature": lambda rng: (X[:, :1], Y),
    "more features than rows": lambda rng: (rng.normal(size=(30, 200)), np.arange(30) % 2),
    "far more features than rows": lambda rng: (rng.normal(size=(50, 1200)), np.arange(50) % 2),
    "two rows": lambda rng: (np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]),
    "zeros and ones": lambda rng: ((X > 0).astype(float), Y),
    "copies of a feature": lambda rng: (np.repeat(X[:, :1], 4, axis=1), Y),
}


@pytest.mark.parametrize("table", ODD_TABLES)
@pytest.mark.parametrize("name", FAMILIES)
def test_odd_tables_give_a_sound_model(name, table, rng):
    odd, y = ODD_TABLES[table](rng)
    family = Tree(4, min_samples_leaf=1) if name == "tree" else FAMILIES[name]
    model = fit(family, odd, y)
    assert model.n_columns_ >= 1
    assert np.all(np.isfinite(model.decision_function(odd)))
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("name", FAMILIES)
def test_sparse_rows_are_refused(name):
    assert_refused(TypeError, "(?i)sparse.*toarray", lambda: fit(FAMILIES[name], sparse.csr_matrix(X)))
