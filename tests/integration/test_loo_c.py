"""``C="auto"`` is the C of the least leave-one-out error of ridge regression over the whole pool."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cgens import CGEnsClassifier, Checkpoint
from cgens.estimators import _loo_c
from cgens.estimators._loo_c import FACTORS
from cgens.inspection import check_certificate
from cgens.masters import Huber
from cgens.masters.least_squares import LeastSquares, Squared
from cgens.selection import copies_of, loo
from cgens.types import Duals, Sample
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, Pool, Stump, StumpLearner
from cgens.weak_learners.search.candidates import distinct_rows
from cgens.weak_learners.search.pool_columns import columns_of_pool
from tests.integration.mixed_data import mixed, score_of
from tests.models import MODELS, answer, assert_same_model, make
from tests.property.problems import larger_problem, target_of
from tests.reference.naive_loo import naive_left_out_residuals
from tests.tolerances import CLOSED_FORM

FAMILIES = {
    "stump": Stump(6),
    "box": Box(n_candidates=50),
    "fourier": Fourier(n_candidates=30, learn=False),
    "sparse cosines": Fourier(n_candidates=30, draw="sparse"),
    "perceptron": Perceptron(n_candidates=30, learn=False),
    "linear": Linear(),
    "given": Pool([StumpLearner(f, threshold) for f in range(4) for threshold in (-1.0, -0.3, 0.1, 0.6)]),
    "mixture": [Stump(4), (Fourier(n_candidates=20, learn=False), [0, 4])],
}
TASKS = (
    "binary",
    "binary, balanced",
    "multiclass",
    "multiclass, softmax",
    "multilabel, logistic",
    "regression",
    "multioutput",
)


def whole_pool(plan):
    """Return the distinct responses of all candidates."""
    sample = Sample(plan.data.X, plan.order.rows, plan.weight)
    pricer = plan.family.begin(sample, np.random.default_rng(plan.seed), 1)
    pools = [own.pool() for own in pricer.pricers] if hasattr(pricer, "pricers") else [pricer.pool()]
    if hasattr(pricer, "pricers"):
        pools = [[pricer.learner(number, learner) for learner in own] for number, own in enumerate(pools)]
    columns = []
    for own in pools:
        responses = np.array([learner.respond(sample.matrix()) for learner in own])
        columns.append(responses[distinct_rows(responses, len(sample))].T.astype(float))
    return np.hstack(columns)


def naive_factor(plan, squared):
    """Return the best multiple of the default C, by a fit of the whole pool for each row that is left out.

    Of the model with all columns; with fewer, C is larger.
    """
    columns, target, weight = whole_pool(plan), plan.target, plan.weight
    classes = hasattr(plan.coding, "classes") or hasattr(plan.coding, "n_labels")
    if not classes:
        mean = weight @ target / weight.sum()
        target = (target - mean) / np.sqrt(weight @ (target - mean) ** 2 / weight.sum())
    default = squared.default_c(plan.family, target, weight)
    X = plan.data.X.matrix()[plan.order.rows]
    shared = np.array([sum(np.array_equal(own, row, equal_nan=True) for own in X) > 1 for row in X])
    copies = copies_of(plan.order.weight)  # class weights make no copies
    few = np.sum(copies - 1) <= 0.1 * np.sum(copies)
    unit = weight / np.where(few | shared, copies, 1.0)
    criteria = []
    for factor in FACTORS:
        residuals = naive_left_out_residuals(columns, target, weight, 1 / (default * factor), unit)
        square = weight @ np.sum(residuals**2, axis=1) / weight.sum()
        wrong = 1.0
        if classes:
            differs = plan.coding.decode(target - residuals) != plan.coding.invert(target)
            rows = differs if differs.ndim == 1 else differs.mean(axis=1)
            wrong = max(weight @ rows / weight.sum(), 0.5 / len(rows))
        criteria.append(square * wrong)
    return FACTORS[int(np.argmin(criteria))] * max(1.0, columns.shape[1] / plan.max_columns) ** 0.75


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", TASKS)
def test_c_is_the_best_of_one_fit_per_row(family, name):
    problem = larger_problem(TASKS.index(name) + 1, 40)
    y = target_of(problem, MODELS[name][1])
    options = {"weak_learner": FAMILIES[family], "n_estimators": 12}
    model = make(name, C="auto", **options).fit(problem.X, y, problem.weight)
    default = make(name, **options).fit(problem.X, y, problem.weight)
    squared = Squared() if MODELS[name][1] in ("regression", "multioutput") else LeastSquares()
    factor = naive_factor(default._plan(problem.X, y, problem.weight), squared)
    found = model.C_ / default.C_
    assert found == pytest.approx(factor)
    assert model.master_.C == model.C_
    assert check_certificate(model, problem.X, y, problem.weight).problems == ()
    assert_same_model(model, make(name, C=model.C_, **options).fit(problem.X, y, problem.weight), problem.X)


@pytest.mark.parametrize("loss", ["huber", "poisson", "quantile", "epsilon_insensitive", Huber(delta=2.0)])
def test_other_losses_use_the_multiple_of_the_squared_loss(loss):
    problem = larger_problem(0)
    y = np.abs(target_of(problem, "regression"))
    factors = [
        make("regression", C="auto", loss=own).fit(problem.X, y).C_ / make("regression", loss=own).fit(problem.X, y).C_
        for own in ("squared", loss)
    ]
    assert factors[1] == pytest.approx(factors[0])


def test_tables_with_gaps_and_categories_and_sparse_rows():
    X = mixed(120)
    y = score_of(X) > 0
    for family in ("stump", "linear", Fourier(n_candidates=40, learn=False), Box(n_candidates=40)):
        model = CGEnsClassifier(family, C="auto", n_estimators=10, random_state=0).fit(X, y)
        assert model.C_ > 0
    numbers = larger_problem(2).X * (np.random.default_rng(0).random((70, 5)) < 0.4)
    y = numbers.sum(axis=1) > 0
    for family in ("stump", "linear"):
        dense, stored = (
            CGEnsClassifier(family, C="auto", n_estimators=10).fit(rows, y)
            for rows in (numbers, sparse.csr_array(numbers))
        )
        ratio = stored.C_ / dense.C_
        assert ratio == pytest.approx(1.0)
        assert np.allclose(answer(stored, numbers), answer(dense, numbers), atol=CLOSED_FORM)


@pytest.mark.parametrize("family", [Stump(), Fourier(n_candidates=1500, learn=False)])
def test_columns_stand_for_a_larger_pool(family):
    """At the same penalty, a part of a pool has about the same decisions as all of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    target = np.sin(2 * X[:, :1]) + 0.3 * rng.normal(size=(200, 1))
    pricer = family.begin(Sample(X, np.arange(200), np.ones(200)), rng, 1)
    every, some = (columns_of_pool(pricer, most) for most in (10_000, 200))
    n_candidates = pricer.price(Duals(target - target.mean()), {}.keys(), "max").n_candidates
    assert some.columns.shape[1] == 200
    assert every.columns.shape[1] == every.n_candidates == some.n_candidates == n_candidates
    whole, part = (loo(own.columns, target, None, [100.0]).decisions for own in (every, some))
    assert np.std(whole - part) < 0.4 * np.std(whole)


def test_large_data_is_sampled(monkeypatch):
    """The choice on a part of rows and columns is near that on all of them."""
    problem = larger_problem(5, 400)
    chosen = []
    for most_rows, most_columns in ((3000, 1000), (150, 1000), (3000, 60), (150, 60)):
        monkeypatch.setattr(_loo_c, "MOST_ROWS", most_rows)
        monkeypatch.setattr(_loo_c, "MOST_COLUMNS", most_columns)
        models = [
            CGEnsClassifier(C="auto", n_estimators=5, random_state=seed, n_jobs=n_jobs).fit(problem.X, problem.y)
            for seed, n_jobs in ((0, 1), (0, 2))
        ]
        assert models[0].C_ == models[1].C_
        chosen.append(models[0].C_)
    assert max(chosen) / min(chosen) < 10


def test_the_seed_does_not_matter_for_small_pools_that_are_not_random():
    problem = larger_problem(0)
    assert len({CGEnsClassifier(C="auto", random_state=s).fit(problem.X, problem.y).C_ for s in (0, 1, None)}) == 1


def test_constant_features_leave_the_default():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    with pytest.warns(UserWarning, match="constant"):
        model = CGEnsClassifier(C="auto").fit(X, y)
    with pytest.warns(UserWarning, match="constant"):
        assert model.C_ == CGEnsClassifier("stump").fit(X, y).C_


def test_a_warm_start_chooses_again():
    problem = larger_problem(0, 120)
    model = CGEnsClassifier(C="auto", n_estimators=5, warm_start=True).fit(problem.X[:30], problem.y[:30])
    model.set_params(n_estimators=9).fit(problem.X, problem.y)
    assert model.C_ == CGEnsClassifier(C="auto", n_estimators=9).fit(problem.X, problem.y).C_
    assert model.n_columns_ == 9


def test_early_stopping_keeps_the_choice_on_all_rows():
    problem = larger_problem(0, 120)
    plain = CGEnsClassifier(C="auto").fit(problem.X, problem.y)
    stopped = CGEnsClassifier(C="auto", early_stopping=True, n_iter_no_change=3).fit(problem.X, problem.y)
    assert stopped.C_ == plain.C_
    assert stopped.n_columns_ < plain.n_columns_


def test_a_checkpoint_goes_on_with_the_same_c(tmp_path):
    """Also without a seed: the pool, and with it the choice, is that of the interrupted fit."""
    problem = larger_problem(0, 120)
    family = Fourier(n_candidates=60, learn=False)

    def make_model(seed):
        return CGEnsClassifier(family, C="auto", n_estimators=12, random_state=seed)

    def crash(state):
        if len(state.learners) == 6:
            raise RuntimeError

    checkpoint = Checkpoint(tmp_path / "fit", every_seconds=1e-9)
    for seed in (3, None):
        np.random.seed(0)
        whole = make_model(seed).fit(problem.X, problem.y)
        np.random.seed(0)
        with pytest.raises(RuntimeError):
            make_model(seed).set_params(checkpoint=checkpoint).set_callbacks(crash).fit(problem.X, problem.y)
        with pytest.raises(ValueError, match="n_estimators"):  # C depends on it
            make_model(seed).set_params(checkpoint=checkpoint, n_estimators=20).fit(problem.X, problem.y)
        resumed = make_model(seed).set_params(checkpoint=checkpoint).fit(problem.X, problem.y)
        assert_same_model(resumed, whole, problem.X)
        assert resumed.C_ == whole.C_
