"""check_certificate confirms correct models and rejects tampered ones."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.row_duals import RowDuals
from cgens.types import Status
from cgens.weak_learners import Stump
from tests.integration.small_data import SMALL_DATA, flowers, noisy
from tests.models import LEAST_SQUARES, PLAIN, data_of, fitted, make
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP, POOL_SLACK


def plain(X, y, rng):
    return X, y, None


def with_copies(X, y, rng):
    rows = rng.integers(0, len(y), 2 * len(y))
    return X[rows], y[rows], None


def with_real_weights(X, y, rng):
    return X, y, rng.random(len(y)) + 0.01


def with_zero_weights(X, y, rng):
    weight = rng.integers(0, 3, len(y)).astype(float)
    weight[np.unique(y, axis=0, return_index=True)[1]] = 1.0  # one of each class stays
    return X, y, weight


def with_copies_and_weights(X, y, rng):
    X, y, _ = with_copies(X, y, rng)
    return with_zero_weights(X, y, rng)


def with_gaps_and_categories(X, y, rng):
    """Return objects: the first column has gaps, the second is a category with rare levels, the third one with gaps."""
    rows = X.astype(object)
    codes = np.round(3 * (X[:, 1:3] - X[:, 1:3].mean(axis=0)) / X[:, 1:3].std(axis=0)).astype(int)
    rows[:, 1:3] = np.char.add("level ", codes.astype(str))
    rows[:, [0, 2]] = np.where(rng.random((len(X), 2)) < 0.2, None, rows[:, [0, 2]])
    return rows, y, None


def with_gaps_categories_and_weights(X, y, rng):
    return with_zero_weights(*with_gaps_and_categories(*with_copies(X, y, rng)[:2], rng)[:2], rng)


SAMPLES = [
    *[plain, with_copies, with_real_weights, with_copies_and_weights],
    *[with_gaps_and_categories, with_gaps_categories_and_weights],
]
OPTIONS = {
    "large C": {"C": 10.0, "tol": 1e-6},
    "tiny C": {"C": 1e-6},
    "eight bins": {"weak_learner": Stump(max_bins=8)},
    "every midpoint": {"weak_learner": Stump(max_bins=None)},
    "one column": {"n_estimators": 1},
}
every_plain_model = pytest.mark.parametrize("name", PLAIN)


def fit_and_check(name, X, y, weight=None, **options):
    model = make(name, **options).fit(X, y, sample_weight=weight)
    check, certificate = check_certificate(model, X, y, weight), model.certificate_
    assert check.problems == ()
    assert check.agrees
    for value in ("primal", "dual", "full_lower_bound"):
        assert getattr(check, value) == pytest.approx(getattr(certificate, value), rel=CLOSED_FORM)
    assert check.n_candidates == certificate.n_candidates
    assert certificate.scope == "pool"
    assert certificate.relative_gap == (certificate.primal - certificate.dual) / certificate.primal <= model.tol
    gap = (certificate.primal - certificate.full_lower_bound) / certificate.primal
    assert certificate.full_relative_gap == gap >= -NEGATIVE_GAP
    assert not np.any(model.trace_.relative_gap < -NEGATIVE_GAP)
    return model


@pytest.mark.parametrize("sample", SAMPLES)
@every_plain_model
def test_agrees_for_every_sample(name, sample, rng):
    fit_and_check(name, *sample(*data_of(name), rng))


@pytest.mark.parametrize("option", OPTIONS)
@every_plain_model
def test_agrees_for_every_option(name, option, rng):
    fit_and_check(name, *with_copies_and_weights(*data_of(name), rng), **OPTIONS[option])


@every_plain_model
@pytest.mark.parametrize("sample", [plain, with_gaps_and_categories])
def test_agrees_at_the_end_of_the_pool(name, sample, rng):
    """No column is missing: the lower bound of the pool meets the objective."""
    X, y, _ = sample(*data_of(name), rng)
    model = fit_and_check(name, X[:, :3], y, C=0.1, tol=1e-6, n_estimators=100_000)
    assert model.certificate_.status is Status.OPTIMAL
    assert model.certificate_.full_relative_gap <= model.tol + POOL_SLACK


@pytest.mark.parametrize("class_weight", [{0: 3.0, 1: 0.5}, {1: 0.1}, "balanced", {2: 0.0}])
@pytest.mark.parametrize(
    "name", ["binary", "binary, least squares", "multiclass", "multiclass, max", "multiclass, hinge"]
)
def test_agrees_with_class_weights(name, class_weight, rng):
    X, y, weight = with_zero_weights(*data_of(name), rng)
    if class_weight != {2: 0.0} or y.max() == 2:
        fit_and_check(name, X, y, weight, class_weight=class_weight)


@pytest.mark.parametrize("C", ["scale", 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("data", SMALL_DATA)
def test_agrees_on_all_data(data, C):
    fit_and_check("binary", *SMALL_DATA[data](), C=C, n_estimators=40)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [3.0, 8.0]])
def test_agrees_with_other_labels(labels):
    X, y = noisy()
    fit_and_check("binary", X, np.array(labels)[y], class_weight={labels[1]: 2.0})


def test_agrees_with_other_arrays():
    X, y = noisy()
    fit_and_check("binary", X.astype(np.float32), y)
    fit_and_check("binary", X.tolist(), y.tolist())


@pytest.mark.parametrize("heavy", [1e6, 1e9, 1e12, 1e15])
def test_classes_of_very_different_weight_have_no_negative_gap(heavy):
    X, y = noisy()
    weight = np.ones(len(y))
    weight[0] = heavy
    model = CGEnsClassifier(loss="hinge", n_estimators=20).fit(X, y, sample_weight=weight)
    # The rounding of 1 - y F is multiplied by C s_i: at most 16 times it may show.
    slack = 16 * np.finfo(float).eps * model.C_ * heavy / model.certificate_.primal
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP - slack)
    assert check_certificate(model, X, y, weight).agrees


@pytest.mark.parametrize("C", [1e-9, 1e-6, 1e-3])
def test_a_tiny_c_converges_fast(C, rng):
    X = rng.normal(size=(300, 4))
    model = CGEnsClassifier(C=C, n_estimators=10, tol=1e-6).fit(X, X[:, 0] + 0.5 * rng.normal(size=300) > 0)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.trace_.n_iter.sum() < 2000


class Tampered:
    """An ensemble in which some members were replaced after the fit."""

    def __init__(self, ensemble, **changes):
        self.ensemble = ensemble
        vars(self).update(changes)

    def __getattr__(self, name):
        return getattr(self.ensemble, name)


def change_weights(model):
    weights = model.ensemble_.weights.copy()
    weights[0] *= 1.001
    model.ensemble_ = Tampered(model.ensemble_, weights=weights)


def change_intercept(model):
    model.ensemble_ = Tampered(model.ensemble_, intercept=1.01 * model.ensemble_.intercept + 0.01)


def change_learner(model):
    first, *others = model.ensemble_.learners
    learners = (replace(first, threshold=first.threshold + 1.0), *others)

    def respond(X, n_threads=1):
        return np.column_stack([learner.respond(X) for learner in learners])

    model.ensemble_ = Tampered(model.ensemble_, learners=learners, respond=respond)


def set_duals(model, name, duals):
    """Replace the duals of a fitted model, shape (n,)."""
    setattr(model, name, RowDuals(np.arange(len(duals)), duals[:, None], len(duals), derivable=False))


def change_duals(model):
    set_duals(model, "_duals", model.duals_ * 1.01)


def unbalance_one_row(model):
    duals = model.duals_
    duals[np.argmax(np.abs(duals))] *= 0.5
    set_duals(model, "_duals", duals)


def swap_duals(model):
    """Still balanced and in their box, but on other rows: the dual value changes."""
    duals = model.duals_
    rows = np.flatnonzero(duals > 0)
    duals[rows] = np.roll(duals[rows], 1)
    assert not np.array_equal(duals, model.duals_)
    set_duals(model, "_duals", duals)


def reshape_bound_duals(model):
    """Scaling alone would change nothing: the bound is the best over all scales of its duals."""
    rng = np.random.default_rng(0)
    duals = model.bound_duals_
    for own in (np.flatnonzero(duals > 0)[::2], np.flatnonzero(duals < 0)[::2]):
        duals[own] *= rng.permutation(np.linspace(0.2, 0.9, len(own)))
    duals[duals > 0] *= min(1.0, -duals[duals < 0].sum() / duals[duals > 0].sum())
    duals[duals < 0] *= min(1.0, -duals[duals > 0].sum() / duals[duals < 0].sum())
    set_duals(model, "_bound_duals", duals)


def change_bound_model(name):
    """The residuals of another model prove another bound."""

    def change(model):
        model.trace_ = replace(model.trace_, **{name: 1.01 * getattr(model.trace_, name) + 0.01})

    return change


def change_cost(model):
    model.C_ = model.C_ * 0.5


def change_certificate(name, change):
    def tamper(model):
        model.certificate_ = replace(model.certificate_, **{name: change(getattr(model.certificate_, name))})

    return tamper


TAMPERINGS = {
    "weights": change_weights,
    "intercept": change_intercept,
    "learner": change_learner,
    "C": change_cost,
    "primal": change_certificate("primal", lambda value: value * 0.999),
    "dual": change_certificate("dual", lambda value: value * 1.001),
    "relative gap": change_certificate("relative_gap", lambda value: value + 1e-6),
    "n_candidates": change_certificate("n_candidates", lambda value: value + 1),
    "largest price": change_certificate("max_price", lambda value: value * 0.9),
    "bound of the pool": change_certificate("full_lower_bound", lambda value: value * 1.001),
    "gap of the pool": change_certificate("full_relative_gap", lambda value: value / 2),
}
HINGE_TAMPERINGS = {
    "duals": change_duals,
    "unbalanced duals": unbalance_one_row,
    "swapped duals": swap_duals,
    "bound duals": reshape_bound_duals,
}
LEAST_SQUARES_TAMPERINGS = {"weights of the bound": change_bound_model("bound_weights")}


@pytest.mark.parametrize(
    "name", ["binary", "binary, least squares", "multiclass, max", "regression, max", "multioutput"]
)
def test_rejects_tampering(name):
    for what, tamper in {
        **TAMPERINGS,
        **(LEAST_SQUARES_TAMPERINGS if name in LEAST_SQUARES else HINGE_TAMPERINGS),
    }.items():
        model, X, y = fitted(name)
        tamper(model)
        check = check_certificate(model, X, y)
        assert not check.agrees, what
        assert all(problem.endswith(".") for problem in check.problems)


@every_plain_model
def test_rejects_other_data(name):
    model, X, y = fitted(name)
    assert check_certificate(model, X, y[::-1]).problems
    assert check_certificate(model, X[::-1], y).problems
    assert check_certificate(model, X, y, np.arange(1.0, len(y) + 1)).problems


def test_the_best_model_of_a_search_is_checked():
    X, y = flowers()
    names = np.array(["a", "b", "c"])[y]
    search = make("search, multiclass", class_weight="balanced").fit(X, names)
    assert check_certificate(search, X, names[:, None]).problems == ()


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("n_rows", [500, 5000])
def test_a_pickle_is_small_whatever_the_rows_and_still_proves_its_certificate(n_classes, n_rows, rng):
    """Duals of least squares follow from the decisions; the hinge loss keeps those that are not 0."""
    X = rng.normal(size=(n_rows, 12))
    y = np.searchsorted(np.linspace(-2, 2, n_classes + 1)[1:-1], X[:, :5].sum(axis=1) + rng.normal(size=n_rows))
    for loss in ("least_squares", "hinge") if n_classes == 2 else ("least_squares",):
        content = pickle.dumps(CGEnsClassifier(loss=loss, n_estimators=100).fit(X, y))
        model = pickle.loads(content)
        assert check_certificate(model, X, y).agrees
        n_duals = 0 if loss == "least_squares" else np.count_nonzero(model.duals_)
        assert len(content) < 30_000 + 2 * 16 * n_duals
