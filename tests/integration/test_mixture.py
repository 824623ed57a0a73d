"""Several families in one model: their columns, their shares, and the certificate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, Stump, Tree
from tests.integration.small_data import noisy
from tests.models import assert_same_model
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, RESPONSE

X, Y = noisy()
COLUMNS = ["age", "size", "depth", "width", "weight", "speed"]
FRAME = pd.DataFrame(X, columns=COLUMNS)


def fit(family, X=X, y=Y, **options):
    options = {"n_estimators": 20, "random_state": 0, "n_jobs": 1, **options}
    return CGEnsClassifier(family, **options).fit(X, y)


def regress(family, X, y, **options):
    return CGEnsRegressor(family, **{"n_estimators": 60, "random_state": 0, "n_jobs": 1, **options}).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_a_list_is_a_mixture(loss):
    listed = fit(["stump", Fourier(n_candidates=100), ("linear", [0, 1])], loss=loss)
    for families in ([Stump(), Fourier(n_candidates=100), (Linear(), [0, 1])], listed.weak_learner):
        mixed = fit(Mixture(families), loss=loss)
        assert_same_model(listed, mixed, X)
        assert listed.family_shares_ == mixed.family_shares_


def test_a_list_of_one_is_that_family():
    mixed, plain = fit(["stump"], C=0.05), fit("stump", C=0.05)
    assert [own.learner for own in mixed.ensemble_.learners] == list(plain.ensemble_.learners)
    assert mixed.ensemble_.weights.tobytes() == plain.ensemble_.weights.tobytes()
    assert mixed.certificate_ == plain.certificate_
    assert mixed.family_shares_ == {"stump": 1.0}
    assert not hasattr(plain, "family_shares_")


def test_families_are_named_after_their_class_and_numbered_if_it_occurs_twice():
    model = fit([Fourier(0.1, 50), "stump", Fourier(1.0, 50), Tree(3), (Box(n_candidates=50), [0])])
    assert list(model.family_shares_) == ["fourier-1", "stump", "fourier-2", "tree", "box"]
    for own in model.ensemble_.learners:
        assert f"{own.name.split('-')[0]}learner" == type(own.learner).__name__.lower()
    H = np.column_stack([own.respond(X) for own in model.ensemble_.learners])
    assert np.array_equal(H, model.ensemble_.respond(X))


def test_each_family_has_its_own_random_numbers():
    """Otherwise two families of the same class would draw the same candidates."""
    model = fit([Fourier(0.1, 30, learn=False), Fourier(0.1, 30, learn=False)], n_estimators=100)
    thetas = {own.learner.theta.tobytes() for own in model.ensemble_.learners}
    assert len(thetas) == model.n_columns_ == 60


def test_shares_are_those_of_the_last_fit():
    model = fit(["stump", "linear"])
    model.set_params(weak_learner="stump").fit(X, Y)
    assert not hasattr(model, "family_shares_")
    model.set_params(weak_learner=["tree", "linear"]).fit(X, Y)
    assert list(model.family_shares_) == ["tree", "linear"]


@pytest.fixture
def uniform(rng):
    return rng.uniform(-1, 1, size=(400, 4))


SIGNALS = {
    "stump": lambda X: np.sign(X[:, 0] - 0.2) + np.sign(X[:, 1] + 0.5),
    "linear": lambda X: X[:, 0] - 2 * X[:, 1] + X[:, 3],
    "fourier": lambda X: np.cos(4 * X[:, 0] + 4 * X[:, 1]),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_the_family_that_fits_the_signal_has_the_largest_share(name, uniform):
    """With a C so large that few columns suffice: with a small one, many stumps are a cheaper line than one column."""
    families = ["stump", "linear", Fourier(8.0, learn=False)]
    shares = regress(families, uniform, SIGNALS[name](uniform), C=10.0, n_estimators=30).family_shares_
    assert sum(shares.values()) == pytest.approx(1, abs=CLOSED_FORM)
    assert min(shares.values()) >= 0
    assert shares[name] > 0.8


def test_a_constant_model_has_no_shares():
    with pytest.warns(UserWarning, match="constant"):
        model = fit(["stump", "linear"], np.ones((10, 3)), np.arange(10) % 2)
    assert model.family_shares_ == {"stump": 0.0, "linear": 0.0}


def test_shares_are_those_of_the_decision(uniform):
    y = SIGNALS["stump"](uniform) + SIGNALS["fourier"](uniform)
    model = regress(["stump", Fourier(8.0, 300, learn=False)], uniform, y)
    H, weights = model.ensemble_.respond(uniform).astype(float), model.ensemble_.weights[:, 0]
    names = np.array([own.name for own in model.ensemble_.learners])
    spread = np.array([np.std(H[:, names == name] @ weights[names == name]) for name in ("stump", "fourier")])
    assert list(model.family_shares_.values()) == pytest.approx((spread / spread.sum()).tolist(), rel=CLOSED_FORM)


def half_step_half_smooth(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 6))
    steps, smooth = np.sign(X[:, 0] - 0.2) + np.sign(X[:, 1] + 0.3), 2 * np.sin(3 * (X[:, 2] + X[:, 3]))
    return X, steps + smooth + 0.2 * rng.normal(size=n_rows)


def test_a_mixture_is_better_than_each_family_alone():
    X, y = half_step_half_smooth(500, 0)
    new = half_step_half_smooth(2000, 1)
    stump, fourier = Stump(), Fourier(learn=False)
    alone = max(regress(family, X, y, C=0.03, n_estimators=100).score(*new) for family in (stump, fourier))
    mixed = regress([stump, fourier], X, y, C=0.03, n_estimators=100)
    assert 1 - mixed.score(*new) < 0.8 * (1 - alone)
    assert min(mixed.family_shares_.values()) > 0.3
    informed = regress([(stump, [0, 1]), (fourier, [2, 3])], X, y, C=0.03, n_estimators=100)
    assert 1 - informed.score(*new) < 0.2 * (1 - alone)


def five_groups(n_rows, seed):
    """Return 3, 4, 5, 6 and 7 features on different scales; the second, third and fifth group determine the class.

    As in the paper's experiment on PASCAL.
    """
    rng = np.random.default_rng(seed)
    scales = [1.0, 10.0, 0.1, 3.0, 100.0]
    groups = [rng.normal(size=(n_rows, 3 + k)) for k in range(5)]
    score = np.sin(2 * groups[1][:, 0]) + np.abs(groups[2][:, 0]) + groups[4][:, :2].prod(axis=1)
    ends = np.cumsum([3 + k for k in range(5)])
    columns = [list(range(end - 3 - k, end)) for k, end in enumerate(ends.tolist())]
    return np.hstack([scale * own for scale, own in zip(scales, groups, strict=True)]), score > 0.8, columns


def test_five_groups_of_features():
    X, y, columns = five_groups(600, 0)
    X_test, y_test, _ = five_groups(2000, 1)
    family = Fourier(n_candidates=200, n_inputs=[1, 2], standardize=True, learn=False)
    model = fit([(clone(family), own) for own in columns], X, y, n_estimators=100)
    assert list(model.family_shares_) == [f"fourier-{k}" for k in (1, 2, 3, 4, 5)]
    first, second, third, fourth, fifth = model.family_shares_.values()
    assert min(second, third, fifth) > max(first, fourth)
    assert model.certificate_.scope == "pool"
    assert model.certificate_.n_candidates == 1000
    together = fit(Fourier(standardize=True, learn=False), X, y, n_estimators=100).score(X_test, y_test)
    alone = max(fit([(family, own)], X, y, n_estimators=100).score(X_test, y_test) for own in columns)
    assert model.score(X_test, y_test) > max(alone, together) + 0.03


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["size", "speed"], [1, 5]),
        (["speed", "size"], [5, 1]),
        (["size", "speed"], [-5, -1]),
        ("size", 1),
        (("size", "speed"), np.array([1, 5])),
        (pd.Index(["size", "speed"]), range(1, 6, 4)),
        (["size", "depth"], slice(1, 3)),
        (["size", 5], [1, 5]),
        (COLUMNS, None),
    ],
    ids=str,
)
def test_columns_by_name_or_by_number(names, numbers):
    named = fit([("stump", names), (Fourier(n_candidates=50), names)], FRAME)
    numbered = fit([("stump", numbers), (Fourier(n_candidates=50), numbers)])
    assert named.decision_function(FRAME).tobytes() == numbered.decision_function(X).tobytes()
    assert named.certificate_.primal == numbered.certificate_.primal


def test_names_follow_the_data_frame():
    """If another fit has the columns in another order, the same names stand for other numbers and the same model."""
    family = [("stump", ["size"]), (Fourier(n_candidates=50, learn=False), ["age", "speed"])]
    turned = FRAME[COLUMNS[::-1]]
    model, other = fit(family, FRAME, loss="least_squares"), fit(family, turned, loss="least_squares")
    assert np.allclose(other.decision_function(turned), model.decision_function(FRAME), rtol=0, atol=RESPONSE)
    assert np.array_equal(model.predict(turned), model.predict(FRAME)), "columns are found by their names"
    with pytest.raises(ValueError, match="lacks the column 'age'"):
        model.predict(turned.drop(columns="age"))


def test_columns_of_no_family_do_not_matter(rng):
    families = [("stump", [0, 2]), (Fourier(n_candidates=100, learn=False), [2, 3]), ("linear", [3]), (Tree(4), [3])]
    changed = X.copy()
    changed[:, [1, 4, 5]] = rng.normal(size=(len(X), 3))
    model = fit(families, n_estimators=40)
    assert model.decision_function(changed).tobytes() == model.decision_function(X).tobytes()
    model, other = (fit(families[:3], own, loss="least_squares") for own in (X, changed))
    assert np.allclose(other.decision_function(X), model.decision_function(X), rtol=0, atol=RESPONSE)


def test_each_family_sees_only_its_columns(rng):
    model = fit([("stump", [0, 1]), (Fourier(n_candidates=100), [2, 3])], n_estimators=40)
    changed = X.copy()
    changed[:, :2] = rng.normal(size=(len(X), 2))
    before, after = model.ensemble_.respond(X), model.ensemble_.respond(changed)
    for own, same in zip(model.ensemble_.learners, np.all(before == after, axis=0), strict=True):
        assert own.name == ("fourier" if same else "stump")
    assert len(model.family_shares_) == 2


def test_a_family_on_some_columns_is_the_family_on_a_smaller_table():
    narrow = fit([(Box(n_candidates=50), None), "linear"], X[:, [1, 4]], loss="least_squares")
    wide = fit([(Box(n_candidates=50), [1, 4]), ("linear", [1, 4])], loss="least_squares")
    assert np.allclose(wide.decision_function(X), narrow.decision_function(X[:, [1, 4]]), rtol=0, atol=RESPONSE)


def test_parameters_of_the_families():
    mixture = Mixture([Stump(), (Fourier(0.1), [0, 1]), Tree(3), Tree(5)])
    params = mixture.get_params()
    assert params["fourier__gamma"] == 0.1
    assert (params["tree-1__max_leaf_nodes"], params["tree-2__max_leaf_nodes"]) == (3, 5)
    assert params["stump"] is mixture.families[0]
    assert set(mixture.get_params(deep=False)) == {"families"}


def test_setting_a_parameter_does_not_change_the_list_that_was_passed():
    families = [Stump(), (Fourier(0.1), [0, 1])]
    mixture = Mixture(families).set_params(fourier__gamma=0.5, stump__max_bins=8)
    assert families[1][0].gamma == 0.1
    assert families[0].max_bins == 256
    assert mixture.families[1][0].gamma == 0.5
    assert mixture.families[1][1] == [0, 1]
    assert mixture.families[0].max_bins == 8
    mixture.set_params(fourier=Linear())
    assert list(fit(mixture).family_shares_) == ["stump", "linear"]
    assert mixture.families[1][1] == [0, 1], "a family that replaces another one keeps its columns"
    assert mixture.set_params(families=families).families is families


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match=r"'tree__leaves'.*'stump'.*'fourier'"):
        Mixture([Stump(), Fourier()]).set_params(tree__leaves="sign")
    with pytest.raises(ValueError, match="width"):
        Mixture([Stump(), Fourier()]).set_params(fourier__width=1)


def test_grid_search_over_a_family_of_a_mixture():
    mixture = Mixture([Stump(), (Fourier(n_candidates=50), [0, 1])])
    model = CGEnsClassifier(mixture, n_estimators=8, random_state=0, n_jobs=1)
    grid = {"weak_learner__fourier__gamma": [0.01, 1.0], "weak_learner__stump__max_bins": [4, 16]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    best = search.best_estimator_.weak_learner.get_params()
    assert best["fourier__gamma"] == search.best_params_["weak_learner__fourier__gamma"]
    assert len({round(score, 12) for score in search.cv_results_["mean_test_score"]}) > 1
    assert model.get_params()["weak_learner__fourier__gamma"] == "scale"


POOLS = [Stump(8), Fourier(n_candidates=40, learn=False), Perceptron(40, learn=False), Box(n_candidates=40), Linear()]


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_the_pool_of_a_mixture_is_the_sum_of_its_pools(loss):
    model = fit(POOLS, loss=loss)
    own = [fit(family, loss=loss).certificate_.n_candidates for family in POOLS]
    assert model.certificate_.scope == "pool"
    assert model.certificate_.n_candidates == sum(own)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP
