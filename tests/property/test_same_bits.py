"""Row weights count as copies, and row order, threads, SIMD level, memory layout and dtype change no bit.

Of every estimator that generates columns, with every family of weak learners.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgens import _core
from cgens.weak_learners import Stump
from tests.models import (
    BOOSTERS,
    FAMILIES,
    HINGE,
    MODELS,
    ON_THE_LOOP,
    OTHER_FORMS,
    PLAIN,
    VARIANTS,
    assert_same_model,
    make,
)
from tests.property.problems import costs, larger_problem, problems, target_of, with_categories, with_gaps
from tests.tolerances import CLOSED_FORM

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of constant models, and of masters not solved

#: Families with the hinge loss of one output, and with least squares of several.
OF_FAMILIES = [f"{task}: {family}" for family in FAMILIES for task in ("binary", "multiclass")]
IN_TURN = [name for k, name in enumerate(OF_FAMILIES) if k % 4 in (0, 3)]
OF_STUMPS = [*ON_THE_LOOP, *OTHER_FORMS]

bins = st.sampled_from([256, None, 3])
of_stumps = pytest.mark.parametrize("name", OF_STUMPS)
few = settings(max_examples=2)


def prepare(name, problem, **options):
    """Return a function that fits this model, and the problem's target; with stumps unless a family is named."""
    name, _, family = name.partition(": ")
    options = {"n_estimators": 3, "weak_learner": FAMILIES[family], **options} if family else options

    def fit(X, y, weight=None, **more):
        return make(name, **{**options, **more}).fit(X, y, sample_weight=weight)

    return fit, target_of(problem, MODELS[name][1])


def assert_same(one, other, X, rows=slice(None)):
    assert_same_model(one, other, X)
    assert np.array_equal(one.duals_[rows], other.duals_)
    assert np.array_equal(one.trace_.primal, other.trace_.primal)
    assert np.array_equal(one.trace_.full_lower_bound, other.trace_.full_lower_bound, equal_nan=True)
    if hasattr(one, "C_"):
        assert one.C_ == other.C_


def check_copies(name, problem, **options):
    fit, y = prepare(name, problem, **options)
    copies = np.repeat(np.arange(len(y)), problem.weight.astype(int))
    weighted, repeated = fit(problem.X, y, problem.weight), fit(problem.X[copies], y[copies])
    assert_same_model(weighted, repeated, problem.X)
    if name in PLAIN:
        together = np.zeros_like(weighted.duals_)
        np.add.at(together, copies, repeated.duals_)
        assert np.allclose(together, weighted.duals_, rtol=CLOSED_FORM, atol=CLOSED_FORM * np.abs(together).max())


def check_order(name, problem, **options):
    """Weights that are not integers, whose sums round differently in another order."""
    fit, y = prepare(name, problem, **options)
    order, weight = problem.rng.permutation(len(y)), problem.weight * problem.rng.random(len(y))
    straight, shuffled = fit(problem.X, y, weight), fit(problem.X[order], y[order], weight[order])
    assert_same(straight, shuffled, problem.X, order)
    if hasattr(straight, "feature_importances_"):
        assert np.array_equal(straight.feature_importances_, shuffled.feature_importances_)


def check_zero_weights(name, problem, **options):
    fit, y = prepare(name, problem, **options)
    weight = np.where(problem.rng.random(len(y)) < 0.3, 0.0, problem.weight)
    weight[np.unique(y, axis=0, return_index=True)[1]] = 1.0  # one of each class stays
    kept = weight > 0
    with_them, without = fit(problem.X, y, weight), fit(problem.X[kept], y[kept], weight[kept])
    assert_same(with_them, without, problem.X, kept)
    assert not with_them.duals_[~kept].any()


def check_machine(name, problem, **options):
    """Two threads, and every lower SIMD level."""
    fit, y = prepare(name, problem, **options)
    plain = fit(problem.X, y, problem.weight)
    assert_same(plain, fit(problem.X, y, problem.weight, n_jobs=2), problem.X)
    for level in _core.simd_levels()[:-1]:
        _core.force_simd_level(level)
        assert _core.simd_level() == level
        assert_same(plain, fit(problem.X, y, problem.weight), problem.X)


def check_memory(name, problem, **options):
    """X in Fortran order and float32, or with strides and read-only; the input is not changed."""
    fit, y = prepare(name, problem, **options)
    single = problem.X.astype(np.float32)
    X = single.astype(np.float64)
    given = X.copy(), y.copy(), problem.weight.copy()
    plain = fit(*given)
    plain.predict(given[0])
    same = zip(given, (X, y, problem.weight), strict=True)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in same)
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::-2, ::-3] = X
    wide.flags.writeable = False
    for same in (np.asfortranarray(single), wide[::-2, ::-3]):
        assert_same(plain, fit(same, np.repeat(y, 2, axis=0)[::2], np.repeat(problem.weight, 2)[::2]), X)
        assert plain.predict(same).tobytes() == plain.predict(X).tobytes()


CHECKS = {
    "copies": check_copies,
    "order": check_order,
    "zero weights": check_zero_weights,
    "machine": check_machine,
    "memory": check_memory,
}
every_check = pytest.mark.parametrize("check", CHECKS)


@every_check
@settings(max_examples=25)
@given(problem=problems(), C=costs, max_bins=bins, class_weight=st.sampled_from([None, "balanced", {0: 0.1, 1: 0.3}]))
def test_stumps_with_the_hinge_loss(check, problem, C, max_bins, class_weight, restore_simd_level):
    CHECKS[check]("binary", problem, C=C, weak_learner=Stump(max_bins), class_weight=class_weight)


@every_check
@of_stumps
@few
@given(problem=problems(), C=costs, max_bins=bins)
def test_every_estimator(name, check, problem, C, max_bins, restore_simd_level):
    CHECKS[check](name, problem, C=C, weak_learner=Stump(max_bins))


@pytest.mark.parametrize(
    ("name", "check"),
    [(name, check) for name in OF_FAMILIES for check in CHECKS if check in ("copies", "order") or name in IN_TURN],
)
def test_every_family(name, check, restore_simd_level):
    CHECKS[check](name, larger_problem(list(CHECKS).index(check)))


#: Families whose pool does not depend on the labels.
POOLED = [
    name for name in FAMILIES if name.startswith(("stump", "box, pool", "linear")) or name.endswith((" pool", " draws"))
]


@pytest.mark.parametrize("check", [check for check in CHECKS if check != "memory"])
@pytest.mark.parametrize("task", ["binary", "multiclass, softmax", "multioutput"])
@pytest.mark.parametrize("family", POOLED)
def test_c_by_leave_one_out(family, task, check, restore_simd_level):
    CHECKS[check](f"{task}: {family}", larger_problem(list(CHECKS).index(check)), C="auto")


#: X with gaps, or also with categories, of which there are no copies in other types of numbers.
TABLES = {"gaps": with_gaps, "categories": with_categories}
OF_TABLES = [(table, check) for table in TABLES for check in CHECKS if (table, check) != ("categories", "memory")]


@pytest.mark.parametrize(("table", "check"), OF_TABLES)
@pytest.mark.parametrize("name", ["binary", "multiclass, softmax"])
@settings(max_examples=5)
@given(problem=problems(), C=costs, max_bins=bins)
def test_stumps_on_tables(name, table, check, problem, C, max_bins, restore_simd_level):
    CHECKS[check](name, TABLES[table](problem), C=C, weak_learner=Stump(max_bins))


@pytest.mark.parametrize(
    ("name", "table", "check"),
    [
        (name, table, check)
        for number, name in enumerate(OF_FAMILIES)
        for turn, (table, check) in enumerate(OF_TABLES)
        if "scikit-learn" not in name and (check in ("copies", "order") or (number + turn) % 3 == 0)
    ],
)
def test_every_family_on_tables(name, table, check, restore_simd_level):
    CHECKS[check](name, TABLES[table](larger_problem(list(CHECKS).index(check))))


@pytest.mark.parametrize("name", [name for name in OF_STUMPS if name == "multiclass, max" or name not in VARIANTS])
def test_threads_on_a_larger_table(name, rng):
    """Small problems use one thread. Here every parallel region has work for three."""
    problem = larger_problem(3, 6000)
    wide = np.round(rng.normal(size=(6000, 25)), 1) * (rng.random((6000, 25)) < 0.8)
    problem = replace(problem, X=np.hstack([problem.X, wide]))
    fit, y = prepare(name, problem, n_estimators=60 if name in PLAIN else 6)
    one, three = (fit(problem.X, y, problem.weight, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert_same(one, three, problem.X)


@pytest.mark.parametrize("name", [*IN_TURN, *(f"{name}: tree, four leaves" for name in BOOSTERS)])
def test_threads_of_families_on_a_larger_table(name):
    """With enough rows for several blocks, also of an ascent."""
    problem = larger_problem(3, 4500)
    fit, y = prepare(name, problem, n_estimators=3)
    one, three = (fit(problem.X, y, problem.weight, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert_same(one, three, problem.X)


def test_the_best_simd_level_is_the_default():
    levels = _core.simd_levels()
    assert levels[0] == "baseline"
    assert _core.simd_level() == levels[-1]


@pytest.mark.parametrize("name", [*HINGE, *BOOSTERS])
@few
@given(problem=problems(), power=st.sampled_from([-40, -3, 1, 10, 40]))
def test_the_scale_of_the_weights_does_not_matter(name, problem, power):
    """A power of two, so that nothing is rounded: the default C is divided by it."""
    fit, y = prepare(name, problem)
    plain, scaled = fit(problem.X, y, problem.weight), fit(problem.X, y, problem.weight * 2.0**power)
    assert_same_model(plain, scaled, problem.X)
    if hasattr(plain, "C_"):
        assert scaled.C_ * 2.0**power == plain.C_


@pytest.mark.parametrize("name", PLAIN)
@few
@given(problem=problems(), C=st.sampled_from([0.1, 5.0]))
def test_only_the_product_of_weights_and_c_matters(name, problem, C):
    fit, y = prepare(name, problem)
    by_weight, by_cost = fit(problem.X, y, problem.weight * 4, C=C), fit(problem.X, y, problem.weight, C=4 * C)
    assert_same_model(by_weight, by_cost, problem.X)


@few
@given(problem=problems(), dtype=st.sampled_from([np.int8, np.int64, np.uint16, np.float16, np.bool_]))
def test_other_number_types_are_converted(problem, dtype):
    fit, y = prepare("binary", problem)
    X = np.abs(problem.X).round().astype(dtype)
    assert_same_model(fit(X, y), fit(X.astype(np.float64), y), X.astype(np.float64))


def test_both_zeros_are_the_same_value(rng):
    X = rng.integers(-1, 2, size=(40, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=40) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_model(make("binary").fit(X, y), make("binary").fit(np.where(X == 0, -0.0, X), y), X)
