"""Early stopping: which rows are held out, when a fit stops, and what it returns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split

from cgens import CGEnsClassifier, CGEnsRegressor, generate_columns
from cgens.inspection import check_certificate
from cgens.masters import Hinge, LeastSquares, Logistic
from cgens.masters.held_out import HeldOut
from cgens.types import Status
from cgens.weak_learners import Stump, Tree
from tests.integration.small_data import topics
from tests.models import FAMILIES, PLAIN, answer, assert_same_model, data_of, make

STOP = {"early_stopping": True, "n_iter_no_change": 3, "n_estimators": 60}
X, Y = load_breast_cancer(return_X_y=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", PLAIN)
def test_every_loss(name):
    A, y = data_of(name)
    model = make(name, **{**STOP, "C": "scale"}).fit(A, y)
    losses = model.validation_losses_
    assert len(losses) == model.n_iter_ <= 60
    assert model.n_columns_ == np.argmin(losses) + 1
    assert len(model.trace_) == model.n_iter_ + 2, "the empty master, the rounds, and the solve on all rows"
    assert len(list(model.staged_predict(A))) == model.n_columns_
    certificate = model.certificate_
    assert certificate.scope == "pool"
    assert certificate.relative_gap <= model.tol
    assert certificate.status in (Status.STOPPED, Status.MAX_COLUMNS, Status.OPTIMAL)
    assert check_certificate(model, A, y).problems == ()
    if certificate.status is Status.STOPPED:
        assert len(losses) == 60 or len(losses) >= model.n_columns_ + 3


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
def test_every_family(family, loss):
    A, y = X[:200], Y[:200]
    model = CGEnsClassifier(FAMILIES[family], loss=loss, random_state=0, n_jobs=1, **{**STOP, "n_estimators": 15})
    model.fit(A, y)
    assert 1 <= model.n_columns_ == np.argmin(model.validation_losses_) + 1
    assert check_certificate(model, A, y).problems == ()


def test_weights_are_those_of_a_fit_to_all_rows():
    model = CGEnsClassifier(loss="logistic", **STOP).fit(X, Y)
    H = model.ensemble_.respond(X)
    restricted = Logistic(model.C_).begin(2.0 * Y[:, None] - 1.0, np.ones(len(Y)), 1)
    for column in H.T:
        restricted.add(column.copy())
    best = restricted.solve(1e-9, lambda: False)
    assert model.certificate_.primal == pytest.approx(best.primal, rel=model.tol)
    assert model.certificate_.primal >= best.primal * (1 - 1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_given_validation_rows(loss):
    """They are not trained on, and the losses are those on these rows."""
    A, A_val, y, y_val = train_test_split(X, np.array(["benign", "malign"])[Y], random_state=0)
    weight = np.random.default_rng(0).random(len(y_val))
    model = CGEnsClassifier(loss=loss, **STOP, store_history=True)
    model.fit(A, y, X_val=A_val, y_val=y_val, sample_weight_val=weight)
    target = np.where(y_val == "malign", 1.0, -1.0)
    stages = list(model.staged_decision_function(A_val))[:-1]
    for found, decision in zip(model.validation_losses_, stages, strict=False):
        losses = np.logaddexp(0, -target * decision) if loss == "logistic" else np.maximum(0, 1 - target * decision)
        assert found == pytest.approx(np.average(losses, weights=weight), rel=1e-4)
    assert model.n_columns_ == np.argmin(model.validation_losses_) + 1


def test_the_loss_of_the_logistic_loss_is_the_log_loss():
    A, A_val, y, y_val = train_test_split(*load_wine(return_X_y=True), random_state=0)
    model = CGEnsClassifier(loss="logistic", **STOP).fit(A, y, X_val=A_val, y_val=y_val)
    *_, last = model.staged_predict_proba(A_val)
    assert model.validation_losses_.min() == pytest.approx(log_loss(y_val, last), rel=0.05)


def test_a_fit_that_does_not_stop_is_a_plain_fit():
    """With validation rows of one's own, and a loss that still falls."""
    A, y = load_diabetes(return_X_y=True)
    options = {"weak_learner": "stump", "n_estimators": 8, "loss": "squared"}
    stopped = CGEnsRegressor(early_stopping=True, **options).fit(A, y, X_val=A, y_val=y)
    assert_same_model(stopped, CGEnsRegressor(**options).fit(A, y), A)


@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
def test_the_order_of_rows_does_not_matter(loss, rng):
    weight = rng.integers(1, 4, len(Y)).astype(float)
    order = rng.permutation(len(Y))
    one = CGEnsClassifier(loss=loss, **STOP).fit(X, Y, weight)
    other = CGEnsClassifier(loss=loss, **STOP, n_jobs=2).fit(X[order], Y[order], weight[order])
    assert_same_model(one, other, X)
    assert np.array_equal(one.validation_losses_, other.validation_losses_)


def held_out(A, y, fraction):
    """Return the plan of a fit and its validation rows."""
    model = CGEnsClassifier(early_stopping=True, validation_fraction=fraction)
    plan = model._plan(A, y, None)
    return plan, model._validation(plan)


@pytest.mark.parametrize("fraction", [0.05, 0.3])
def test_each_class_is_held_out_in_proportion(fraction):
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(1000, 3)), rng.choice([0, 1, 2], p=[0.9, 0.08, 0.02], size=1000)
    plan, validation = held_out(A, y, fraction)
    held = [np.sum(np.all(validation.target == code, axis=1)) for code in plan.coding.codes]
    assert held == [max(1, round(fraction * np.sum(y == number))) for number in range(3)]
    assert validation.weight.sum() + validation.training_weight.sum() == pytest.approx(len(y))


def test_copies_of_a_row_can_be_separated():
    """As in the folds of a search: otherwise no row of a table with few distinct rows could be judged."""
    A, y = np.repeat(np.arange(4.0), 50)[:, None], np.tile([0, 0, 0, 1, 1], 40)
    _, validation = held_out(A, y, 0.2)
    assert np.all(validation.training_weight > 0)
    assert validation.training_weight.sum() == pytest.approx(160)


@pytest.mark.parametrize("name", ["multilabel", "multioutput"])
def test_several_outputs_with_given_rows(name):
    A, y = data_of(name)
    model = make(name, **STOP).fit(A[:60], y[:60], X_val=A[60:], y_val=y[60:])
    assert model.n_columns_ == np.argmin(model.validation_losses_) + 1
    assert answer(model, A).shape == y.shape


def test_class_weights_count_in_the_validation_loss():
    A, A_val, y, y_val = train_test_split(X, Y, random_state=0)
    options = {**STOP, "loss": "logistic", "n_estimators": 3, "C": 0.1}
    plain = CGEnsClassifier(**options).fit(A, y, sample_weight=np.where(y, 5.0, 1.0), X_val=A_val, y_val=y_val)
    weighted = CGEnsClassifier(**options, class_weight={0: 1.0, 1: 5.0}).fit(A, y, X_val=A_val, y_val=y_val)
    own = CGEnsClassifier(**options).fit(
        A, y, np.where(y, 5.0, 1.0), X_val=A_val, y_val=y_val, sample_weight_val=np.where(y_val, 5.0, 1.0)
    )
    assert np.allclose(weighted.validation_losses_, own.validation_losses_)
    assert not np.allclose(plain.validation_losses_, own.validation_losses_)


def test_warm_start_goes_on():
    model = CGEnsClassifier(loss="logistic", warm_start=True, early_stopping=True, n_iter_no_change=2, n_estimators=300)
    model.fit(X, Y)
    before = model.ensemble_.learners
    model.set_params(n_iter_no_change=30).fit(X, Y)
    assert model.ensemble_.learners[: len(before)] == before
    assert check_certificate(model, X, Y).problems == ()


def test_it_works_in_a_grid_search():
    search = GridSearchCV(CGEnsClassifier(**STOP), {"validation_fraction": [0.1, 0.3]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.9


def test_ctrl_c_keeps_the_rounds():
    def press(state):
        if state.n_columns == 5:
            raise KeyboardInterrupt

    model = CGEnsClassifier(**STOP).set_callbacks(press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)


def test_a_class_missing_in_y_val_is_a_warning():
    with pytest.warns(UserWarning, match=r"y_val has no rows of class 1\b"):
        CGEnsClassifier(**STOP).fit(X, Y, X_val=X[Y == 0], y_val=Y[Y == 0])


THREE = topics()[1]


@pytest.mark.parametrize(
    ("options", "given", "pattern"),
    [
        ({"validation_fraction": 0.0}, {}, r"validation_fraction.*0\.0"),
        ({"validation_fraction": 1}, {}, r"validation_fraction.*\b1\b"),
        ({"validation_fraction": "some"}, {}, r"validation_fraction.*'some'"),
        ({"n_iter_no_change": 0}, {}, r"n_iter_no_change.*\b0\b"),
        ({"early_stopping": "yes"}, {}, r"early_stopping.*'yes'"),
        ({"early_stopping": False}, {"X_val": X, "y_val": Y}, r"X_val.*early_stopping=True"),
        ({}, {"X_val": X}, r"X_val and y_val.*together"),
        ({}, {"y_val": Y}, r"X_val and y_val.*together"),
        ({}, {"X_val": X[:, :3], "y_val": Y}, r"3 features.*30 features"),
        ({}, {"X_val": X[:5], "y_val": Y}, r"\b5\b.*569|569.*\b5\b"),
        ({}, {"X_val": X, "y_val": Y + 1}, r"y_val has the label 2\b"),
        ({}, {"X_val": X[:100], "y_val": THREE}, r"y_val is an indicator matrix.*one label per row"),
        ({}, {"sample_weight_val": Y}, r"sample_weight_val needs X_val"),
        ({"early_stopping": False}, {"sample_weight_val": Y}, r"sample_weight_val.*early_stopping=True"),
        ({}, {"X_val": X, "y_val": Y, "sample_weight_val": 0.0 * Y}, r"(?i)weight"),
        ({}, {"X_val": np.where(X[3, 3] == X, np.inf, X), "y_val": Y}, r"X_val.*inf.*row 3, column 3"),
    ],
)
def test_invalid_validation_of_a_classifier(options, given, pattern):
    model = CGEnsClassifier(**{**STOP, "n_estimators": 3, **options})
    with pytest.raises(ValueError, match=pattern):
        model.fit(X, Y, **given)
    assert not hasattr(model, "ensemble_")


@pytest.mark.parametrize(
    ("options", "y_val", "pattern"),
    [
        ({}, np.ones((50, 2)), r"y_val has the shape \(50, 2\)"),
        ({"loss": "poisson"}, -np.ones(50), r"y_val must be >= 0.*'poisson'.*-1"),
        ({}, np.full(50, np.nan), r"NaN"),
    ],
)
def test_invalid_validation_of_a_regressor(options, y_val, pattern):
    A, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=pattern):
        CGEnsRegressor(**STOP, **options).fit(A, y, X_val=A[:50], y_val=y_val)


def test_noise_gives_the_constant_model():
    """If no round lowers the validation loss, none is kept."""
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    A_val, y_val = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)
    with pytest.warns(UserWarning, match=r"No round lowered the loss on the validation rows.*constant"):
        model = CGEnsClassifier(loss="logistic", **STOP).fit(A, y, X_val=A_val, y_val=y_val)
    assert model.n_columns_ == 0
    assert np.min(model.validation_losses_) > log_loss(y_val, model.predict_proba(A_val))


def test_a_warm_start_keeps_what_it_had():
    first = CGEnsClassifier("stump", n_estimators=30).fit(X[:400], Y[:400])
    before = first.ensemble_.learners
    options = {"warm_start": True, "early_stopping": True, "n_iter_no_change": 2, "n_estimators": 60}
    model = first.set_params(**options).fit(X[:400], Y[:400], X_val=X[400:], y_val=Y[400:])
    assert model.n_columns_ >= 30
    assert model.ensemble_.learners[:30] == before


def test_rows_of_weight_0_do_not_count():
    """Not even if their loss is infinite."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 3))
    y = rng.poisson(np.exp(A[:, 0]))
    options = {"loss": "poisson", "weak_learner": "linear", **STOP}
    once = CGEnsRegressor(**options).fit(A[:200], y[:200], X_val=A[200:], y_val=y[200:])
    X_val, y_val = np.vstack([A[200:], [[1e5, -1e5, 1e5]]]), np.append(y[200:], 1)
    weight = np.append(np.ones(100), 0.0)
    model = CGEnsRegressor(**options).fit(A[:200], y[:200], X_val=X_val, y_val=y_val, sample_weight_val=weight)
    assert np.array_equal(model.validation_losses_, once.validation_losses_)
    with pytest.raises(ValueError, match=r"infinite after every round"), np.errstate(over="ignore"):
        CGEnsRegressor(**STOP).fit(A[:200], y[:200], X_val=A[:1], y_val=[1e300])


def test_targets_beyond_single_precision():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 3))
    y = A[:, 0] + 0.1 * rng.normal(size=300)
    small, large = (
        CGEnsRegressor(**STOP).fit(A[:200], factor * y[:200], X_val=A[200:], y_val=factor * y[200:])
        for factor in (1.0, 2.0**140)
    )
    assert np.allclose(large.validation_losses_[:20] / 2.0**280, small.validation_losses_[:20], rtol=1e-4, atol=0)
    assert large.score(A, 2.0**140 * y) > 0.95


def test_a_class_with_one_row_cannot_be_held_out():
    y = np.zeros(len(X), dtype=int)
    y[7] = 1
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1 would hold out all 1 rows of class 1.*X_val"):
        CGEnsClassifier(**STOP).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CGEnsClassifier(**STOP).fit(X, y, X_val=X, y_val=y)


@pytest.mark.parametrize("master", [Hinge(0.1), LeastSquares(0.1), Logistic(0.1)], ids=lambda own: own.name)
@pytest.mark.parametrize("family", [Stump(), Tree(4)], ids=lambda own: type(own).__name__)
@pytest.mark.parametrize("rule", ["max", "gain"])
def test_held_out_rows_do_not_count(master, family, rule):
    """The model is that of a fit to the other rows, if the family has the same candidates there."""
    if rule not in master.rules:
        pytest.skip("the loss has no such rule")
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, (200, 6)).astype(float)  # few values: the same thresholds for any part of the rows
    y = np.where(A[:, 0] + A[:, 1] * A[:, 2] + rng.normal(size=200) > 2.5, 1.0, -1.0)
    weight = rng.integers(0, 3, 200).astype(float)
    kept = weight > 0
    options = {"max_columns": 12, "pricing": rule, "rng": np.random.default_rng(1)}
    found, trace = generate_columns(HeldOut(master, weight), family, A, y, **options)
    assert len(found) == 12
    assert not trace.duals[~kept].any()
    if isinstance(family, Tree):  # whose leaves count all rows
        return
    options["rng"] = np.random.default_rng(1)
    expected, direct = generate_columns(master, family, A[kept], y[kept], sample_weight=weight[kept], **options)
    assert found.learners == expected.learners
    assert np.allclose(found.weights, expected.weights, rtol=0, atol=1e-9)
    assert trace.certificate.full_lower_bound == pytest.approx(direct.certificate.full_lower_bound, rel=1e-9)
