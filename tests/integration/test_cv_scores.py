"""Cross-validation: the score of every fold, C and number of columns equals that of a model fitted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    make_scorer,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from cgens import CGEnsRegressor, path
from cgens.coding import simplex_codes
from cgens.masters import Hinge, LeastSquares
from cgens.sample_order import SampleOrder
from cgens.table import Table
from cgens.weak_learners import Stump
from tests.integration.small_data import topics
from tests.integration.test_cv import PATIENTS, TUMOURS, WINES, classify, regress
from tests.models import assert_same_model
from tests.tolerances import CLOSED_FORM


class ByHand:
    """The paths of a fold, computed without the search: one for each C that columns were generated with."""

    def __init__(self, model, master, X, target, k, weight, pricing="gain"):
        train, self.test = model.folds_[k]
        own = np.zeros(len(X))
        own[train] = weight[train]
        order = SampleOrder.of(Table.of(X), np.ascontiguousarray(target), own, 1)
        options = {"sample_weight": order.weight, "rows": order.rows, "tol": 3e-3, "pricing": pricing}
        stages, target = model.stages_.tolist(), target[order.rows]
        self.paths = [
            path(master(own_c), Stump(), X, target, [C], stages=stages, **options)
            for C, own_c in zip(model.Cs_, model.column_Cs_, strict=True)
        ]

    def decisions(self, X):
        """Yield the decisions of all values of C for one stage after the other."""
        for parts in zip(*(found.decisions(X) for found in self.paths), strict=True):
            yield [part[0] for part in parts]


CODES = simplex_codes(3)


def of_predictions(metric, **options):
    """Return a score of decisions between three classes."""
    return lambda y, decision, weight: metric(y, (decision @ CODES.T).argmax(axis=1), **options)


def accuracy_squared(y, labels):
    return np.mean(y == labels) ** 2


def accuracy(y, decision, weight):
    return np.mean((decision[:, 0] > 0) == y)


def area(y, decision, weight):
    return roc_auc_score(y, decision[:, 0])


def ties(y, decision):
    """Return the share of pairs whose order is a question of rounding."""
    above, below = decision[y > 0], decision[y == 0]
    difference = np.abs(above - below.T)
    return np.mean((difference > 0) & (difference < CLOSED_FORM))


def squared_error(y, decision, weight):
    return -mean_squared_error(y, decision, sample_weight=weight)


def largest_error(y, decision, weight):
    return -np.abs(y - decision[:, 0]).max()


def scorer_without_weights(model, X, y):
    return -np.abs(y - model.predict(X)).max()


#: Data with the target of the master, scoring, the master, and the score by hand.
CLASSES = (*WINES, CODES[WINES[1]])
SIGNS = (*TUMOURS, np.where(TUMOURS[1] > 0, 1.0, -1.0)[:, None])
REGRESSION = (*PATIENTS, PATIENTS[1][:, None])
SCORES = {
    "accuracy by default": (CLASSES, None, LeastSquares, of_predictions(accuracy_score)),
    "accuracy": (CLASSES, "accuracy", LeastSquares, of_predictions(accuracy_score)),
    "balanced": (CLASSES, "balanced_accuracy", LeastSquares, of_predictions(balanced_accuracy_score)),
    "f1": (CLASSES, "f1_macro", LeastSquares, of_predictions(f1_score, average="macro")),
    "custom": (CLASSES, make_scorer(accuracy_squared), LeastSquares, of_predictions(accuracy_squared)),
    "hinge": (SIGNS, None, Hinge, accuracy),
    "area, hinge": (SIGNS, "roc_auc", Hinge, area),
    "area, least squares": (SIGNS, "roc_auc", LeastSquares, area),
    "squared error with weights": (REGRESSION, "neg_mean_squared_error", LeastSquares, squared_error),
    "scorer that ignores weights": (REGRESSION, "neg_max_error", LeastSquares, largest_error),
    "custom scorer that ignores weights": (REGRESSION, scorer_without_weights, LeastSquares, largest_error),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_every_fold_by_hand(name, rng):
    (X, y, target), scoring, master, score = SCORES[name]
    if "weights" in name:
        weight = rng.integers(1, 4, len(y)).astype(float)
        model = regress(X, y, weight, scoring=scoring)
    else:
        weight = np.ones(len(y))
        # The hinge loss has one C: several are solved one after the other, each to a tolerance.
        options = {"loss": "hinge", "Cs": 1} if master is Hinge else {"loss": "least_squares"}
        model = classify(X, y, scoring=scoring, **options)
    for k in range(3):
        found = ByHand(model, master, X, target, k, weight, "max" if master is Hinge else "gain")
        test = found.test
        for s, decisions in enumerate(found.decisions(X[test])):
            scores = [score(y[test], decision, weight[test]) for decision in decisions]
            slack = [ties(y[test], decision) if score is area else 0.0 for decision in decisions]
            assert np.all(np.abs(model.scores_[k, :, s] - scores) <= CLOSED_FORM * (1 + np.abs(scores)) + slack)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_scores_of_a_fold_by_ridge_regression(n_outputs, rng):
    """Every C and number of columns solved by scikit-learn."""
    X, y = PATIENTS
    target = np.column_stack([y, 50 * X[:, 2] + y])[:, :n_outputs]
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = regress(X, target, weight)
    for k, (train, _) in enumerate(model.folds_):
        found = ByHand(model, LeastSquares, X, target, k, weight)
        test = found.test
        for c, C in enumerate(model.Cs_):
            H = found.paths[c].ensemble.respond(X).astype(float)
            for s, stage in enumerate(model.stages_):
                ridge = Ridge(alpha=1 / C).fit(H[train, :stage], target[train], sample_weight=weight[train])
                expected = r2_score(target[test], ridge.predict(H[test, :stage]), sample_weight=weight[test])
                assert model.scores_[k, c, s] == pytest.approx(expected, rel=CLOSED_FORM)


def test_the_path_equals_plain_fits():
    """One search serves all values of C: with its own C, the models are those of the plain estimator."""
    X, y = PATIENTS
    model = regress(cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))])
    middle = sorted(model.Cs_)[1]
    for stage, score in zip(model.stages_, model.scores_[0, list(model.Cs_).index(middle)], strict=True):
        plain = CGEnsRegressor(C=middle, n_estimators=int(stage)).fit(X[::2], y[::2])
        assert plain.score(X[1::2], y[1::2]) == pytest.approx(score, rel=CLOSED_FORM)


def test_the_default_scores_of_regression_and_multilabel():
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
    assert len(seen) >= 27  # once for every fold, C and number of columns, and again if columns are generated again
    assert all(entry[1] == ["a", "b", "c"] for entry in seen)
    assert all(entry[2] == (len(test), 3) for entry, (_, test) in zip(seen[:27:9], model.folds_, strict=True))
    assert np.allclose(model.scores_, classify().scores_, rtol=0, atol=CLOSED_FORM)
