"""Cross-validation: the score of every fold, C and number of columns is that of a model found by hand."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer, mean_squared_error, r2_score, roc_auc_score

from cgens import CGEnsClassifier, CGEnsRegressor, path
from cgens.coding import simplex_codes
from cgens.masters import Hinge, LeastSquares
from cgens.sample_order import SampleOrder
from cgens.weak_learners import Stump
from tests.integration.small_data import topics
from tests.integration.test_cv import PATIENTS, TUMOURS, WINES, classify, regress
from tests.models import assert_same_model
from tests.tolerances import CLOSED_FORM


class ByHand:
    """The paths of a fold, found without the search: one for each C that columns were found with."""

    def __init__(self, model, master, X, target, k, weight=None, pricing="gain"):
        train, self.test = model.folds_[k]
        own = np.zeros(len(X))
        own[train] = 1.0 if weight is None else weight[train]
        order = SampleOrder.of(X, np.ascontiguousarray(target), own, 1)
        options = {"sample_weight": order.weight, "rows": order.rows, "tol": 3e-3, "pricing": pricing}
        stages, target = model.columns_.tolist(), target[order.rows]
        self.paths = [
            path(master(own_c), Stump(), X, target, [C], stages=stages, **options)
            for C, own_c in zip(model.Cs_, model.column_Cs_, strict=True)
        ]

    def decisions(self, X):
        """Yield the decisions of all values of C for one stage after the other."""
        for parts in zip(*(found.decisions(X) for found in self.paths), strict=True):
            yield [part[0] for part in parts]


def test_scores_of_a_fold_by_hand():
    X, y = WINES
    model = classify()
    codes = simplex_codes(3)
    for k in range(3):
        found = ByHand(model, LeastSquares, X, codes[y], k)
        for s, decisions in enumerate(found.decisions(X[found.test])):
            scores = [np.mean((decision @ codes.T).argmax(axis=1) == y[found.test]) for decision in decisions]
            assert np.allclose(model.scores_[k, :, s], scores, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_scores_of_a_fold_by_naive_solves(n_outputs, rng):
    """Every C and number of columns solved on its own, by scikit-learn."""
    X, y = PATIENTS
    target = np.column_stack([y, 50 * X[:, 2] + y])[:, :n_outputs]
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = regress(X, target, weight)
    for k, (train, _) in enumerate(model.folds_):
        found = ByHand(model, LeastSquares, X, target, k, weight)
        for c, C in enumerate(model.Cs_):
            H = found.paths[c].ensemble.respond(X).astype(float)
            for s, stage in enumerate(model.columns_):
                ridge = Ridge(alpha=1 / C).fit(H[train, :stage], target[train], sample_weight=weight[train])
                expected = r2_score(
                    target[found.test], ridge.predict(H[found.test, :stage]), sample_weight=weight[found.test]
                )
                assert model.scores_[k, c, s] == pytest.approx(expected, rel=CLOSED_FORM)


def test_scores_of_a_fold_by_hand_with_the_hinge_loss():
    X, y = TUMOURS
    model = classify(X, y)
    for k in range(3):
        found = ByHand(model, Hinge, X, np.where(y > 0, 1.0, -1.0)[:, None], k, pricing="max")
        for s, decisions in enumerate(found.decisions(X[found.test])):
            scores = [np.mean((decision[:, 0] > 0) == y[found.test]) for decision in decisions]
            assert np.allclose(model.scores_[k, :, s], scores, rtol=0, atol=CLOSED_FORM)


def test_the_path_is_what_plain_fits_find():
    """One search serves all values of C: at the C it was made with, the models are those of the plain estimator."""
    X, y = PATIENTS
    model = regress(cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))])
    middle = sorted(model.Cs_)[1]
    for stage, score in zip(model.columns_, model.scores_[0, list(model.Cs_).index(middle)], strict=True):
        plain = CGEnsRegressor(C=middle, n_estimators=int(stage)).fit(X[::2], y[::2])
        assert plain.score(X[1::2], y[1::2]) == pytest.approx(score, rel=CLOSED_FORM)


SCORINGS = ["accuracy", "balanced_accuracy", "f1_macro", make_scorer(lambda y, found: np.mean(y == found) ** 2)]


@pytest.mark.parametrize("scoring", SCORINGS, ids=str)
def test_scorers_of_classes(scoring):
    X, y = WINES
    model = classify(scoring=scoring)
    scorer, codes = get_scorer(scoring), simplex_codes(3)
    found = ByHand(model, LeastSquares, X, codes[y], 0)

    class Answer(CGEnsClassifier):
        classes_ = np.arange(3)
        decision = None

        def predict(self, X):
            return (self.decision @ codes.T).argmax(axis=1)

    for s, decisions in enumerate(found.decisions(X[found.test])):
        for c, decision in enumerate(decisions):
            answer = Answer()
            answer.decision = decision
            assert model.scores_[0, c, s] == pytest.approx(
                scorer(answer, X[found.test], y[found.test]), rel=CLOSED_FORM
            )


def test_accuracy_is_the_default():
    assert_same_model(classify(), classify(scoring="accuracy"), WINES[0])
    assert_same_model(regress(), regress(scoring="r2"), PATIENTS[0])
    X, y = topics()
    assert_same_model(classify(X, y), classify(X, y, scoring="accuracy"), X)


def test_a_callable_gets_a_model_that_predicts():
    X, y = WINES
    seen = []

    def score(model, X_test, y_test):
        seen.append((type(model.predict(X_test)), model.classes_.tolist(), model.decision_function(X_test).shape))
        return np.mean(model.predict(X_test) == y_test)

    model = classify(X, np.array(list("abc"))[y], scoring=score)
    assert len(seen) >= 27  # once for every fold, C and number of columns, and again where columns are found again
    assert all(entry[1] == ["a", "b", "c"] for entry in seen)
    assert all(entry[2] == (len(test), 3) for entry, (_, test) in zip(seen[:27:9], model.folds_, strict=True))
    assert np.allclose(model.scores_, classify().scores_, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_area_under_the_curve(loss):
    X, y = TUMOURS
    # One C of the hinge loss: several are solved one from the other, each to a tolerance.
    model = classify(X, y, scoring="roc_auc", loss=loss, Cs=1 if loss == "hinge" else 3)
    master, pricing = {"hinge": (Hinge, "max"), "least_squares": (LeastSquares, "gain")}[loss]
    found = ByHand(model, master, X, np.where(y > 0, 1.0, -1.0)[:, None], 1, pricing=pricing)
    for s, decisions in enumerate(found.decisions(X[found.test])):
        areas = [roc_auc_score(y[found.test], decision[:, 0]) for decision in decisions]
        assert np.allclose(model.scores_[1, :, s], areas, rtol=0, atol=CLOSED_FORM)


def test_squared_error_with_weights(rng):
    X, y = PATIENTS
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = regress(weight=weight, scoring="neg_mean_squared_error")
    found = ByHand(model, LeastSquares, X, y[:, None], 2, weight)
    for s, decisions in enumerate(found.decisions(X[found.test])):
        errors = [
            -mean_squared_error(y[found.test], decision[:, 0], sample_weight=weight[found.test])
            for decision in decisions
        ]
        assert np.allclose(model.scores_[2, :, s], errors, rtol=CLOSED_FORM, atol=0)
    assert model.best_score_ < 0


def test_a_scorer_that_knows_no_weights(rng):
    """Asked without them, or one sentence that says so."""
    weight = rng.integers(1, 4, len(PATIENTS[1])).astype(float)
    with suppress(ValueError):
        assert np.isfinite(regress(weight=weight, scoring="neg_max_error").best_score_)
    with suppress(ValueError):
        model = regress(weight=weight, scoring=lambda model, X, y: -np.abs(y - model.predict(X)).mean())
        assert np.isfinite(model.best_score_)
