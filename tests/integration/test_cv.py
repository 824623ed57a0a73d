"""Cross-validation of C and of the number of columns: the scores, the choice, and what they must not depend on."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer, mean_squared_error, r2_score, roc_auc_score
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor, CGEnsRegressorCV, path
from cgens.coding import simplex_codes
from cgens.inspection import check_certificate
from cgens.masters import Hinge, LeastSquares
from cgens.sample_order import SampleOrder
from cgens.weak_learners import Stump
from tests.contract.cosines import Cosines
from tests.tolerances import CLOSED_FORM, INTERRUPT_SECONDS

WINES = load_wine(return_X_y=True)
TUMOURS = tuple(part[:150] for part in load_breast_cancer(return_X_y=True))
PATIENTS = tuple(part[:150] for part in load_diabetes(return_X_y=True))
TOPICS = make_multilabel_classification(n_samples=100, n_features=6, n_classes=3, random_state=3)

# A search of every kind, and data for it.
KINDS = {
    "classes": (CGEnsClassifierCV(), WINES),
    "classes, max": (CGEnsClassifierCV(pricing="max"), WINES),
    "two classes": (CGEnsClassifierCV(), TUMOURS),
    "two classes, least squares": (CGEnsClassifierCV(loss="least_squares"), TUMOURS),
    "one against the rest": (CGEnsClassifierCV(loss="hinge"), WINES),
    "labels": (CGEnsClassifierCV(), TOPICS),
    "labels, hinge": (CGEnsClassifierCV(loss="hinge"), TOPICS),
    "numbers": (CGEnsRegressorCV(), PATIENTS),
    "several numbers": (CGEnsRegressorCV(), (PATIENTS[0], np.column_stack([PATIENTS[1], PATIENTS[0][:, 2]]))),
}
SMALL = {"Cs": 3, "n_estimators": 12, "columns": [2, 5, 12], "cv": 3, "n_jobs": 1}


@pytest.fixture(params=KINDS)
def kind(request):
    """Return a small search and its data."""
    estimator, (X, y) = KINDS[request.param]
    return clone(estimator).set_params(**SMALL), X, y


def classify(X=WINES[0], y=WINES[1], weight=None, **options):
    return CGEnsClassifierCV(**{**SMALL, **options}).fit(X, y, sample_weight=weight)


def regress(X=PATIENTS[0], y=PATIENTS[1], weight=None, **options):
    return CGEnsRegressorCV(**{**SMALL, **options}).fit(X, y, sample_weight=weight)


def assert_same_choice(first, second, X):
    assert first.best_params_ == second.best_params_
    assert np.allclose(first.scores_, second.scores_, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    assert first.predict(X).tobytes() == second.predict(X).tobytes()


def test_results_as_scikit_learn_has_them(kind):
    search, X, y = kind
    model = search.fit(X, y)
    results = model.cv_results_
    assert model.scores_.shape == (3, 3, 3)
    assert model.Cs_.shape == model.columns_.shape == (3,)
    splits = [f"split{k}_test_score" for k in range(3)]
    summary = ["mean_test_score", "std_test_score", "rank_test_score"]
    assert list(results) == ["param_C", "param_n_estimators", "params", *splits, *summary]
    assert all(len(values) == 9 for values in results.values())
    for k, name in enumerate(splits):
        assert np.array_equal(results[name], model.scores_[k].ravel())
    stacked = np.array([results[name] for name in splits])
    assert np.allclose(results["mean_test_score"], stacked.mean(axis=0), rtol=0, atol=CLOSED_FORM)
    assert np.allclose(results["std_test_score"], stacked.std(axis=0), rtol=0, atol=CLOSED_FORM)
    for number, params in enumerate(results["params"]):
        assert params == {"C": results["param_C"][number], "n_estimators": results["param_n_estimators"][number]}
        assert params["C"] == model.Cs_[number // 3]
        assert params["n_estimators"] == model.columns_[number % 3]
    better = results["mean_test_score"][:, None] > results["mean_test_score"]
    assert np.array_equal(results["rank_test_score"], 1 + better.sum(axis=0))


def test_the_best_is_chosen(kind):
    search, X, y = kind
    model = search.fit(X, y)
    mean = model.cv_results_["mean_test_score"]
    assert model.best_params_ == {"C": model.C_, "n_estimators": model.n_columns_}
    assert model.best_params_ == model.cv_results_["params"][model.best_index_]
    assert model.best_score_ == pytest.approx(mean.max(), rel=CLOSED_FORM)
    as_good = [p for p, m in zip(model.cv_results_["params"], mean, strict=True) if m == mean.max()]
    assert model.best_params_ == min(as_good, key=lambda p: (p["n_estimators"], p["C"]))


def test_the_best_estimator_is_a_plain_fit(kind):
    search, X, y = kind
    model = search.fit(X, y)
    family = CGEnsClassifier if isinstance(search, CGEnsClassifierCV) else CGEnsRegressor
    assert type(model.best_estimator_) is family
    options = {"loss": search.loss, "pricing": search.pricing, "n_jobs": 1}
    plain = family(C=model.C_, n_estimators=model.n_columns_, **options).fit(X, y)
    assert plain.get_params() == model.best_estimator_.get_params()
    assert plain.certificate_ == model.certificate_
    assert plain.ensemble_.learners == model.ensemble_.learners
    assert plain.predict(X).tobytes() == model.predict(X).tobytes()
    assert [s.tobytes() for s in plain.staged_predict(X)] == [s.tobytes() for s in model.staged_predict(X)]
    assert np.array_equal(plain.feature_importances_, model.feature_importances_)
    assert model.n_features_in_ == X.shape[1]
    assert model.score(X, y) == plain.score(X, y)
    assert check_certificate(model.best_estimator_, X, y).problems == ()
    if family is CGEnsClassifier:
        assert plain.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert np.array_equal(model.classes_, plain.classes_)


def by_hand(model, master, X, target, k, weight=None, pricing="gain"):
    """Return the path of a fold, found without the search, and the fold's test rows."""
    train, test = model.folds_[k]
    own = np.zeros(len(X))
    own[train] = 1.0 if weight is None else weight[train]
    order = SampleOrder.of(X, np.ascontiguousarray(target), own, 1)
    stages = model.columns_.tolist()
    found = path(
        master(sorted(model.Cs_)[len(model.Cs_) // 2]), Stump(), X, target[order.rows], model.Cs_.tolist(),
        stages=stages, sample_weight=order.weight, rows=order.rows, tol=3e-3, pricing=pricing,
    )  # fmt: skip
    return found, test


def test_scores_of_a_fold_by_hand():
    X, y = WINES
    model = classify()
    codes = simplex_codes(3)
    for k in range(3):
        found, test = by_hand(model, LeastSquares, X, codes[y], k)
        for s, decisions in enumerate(found.decisions(X[test])):
            scores = [np.mean((decision @ codes.T).argmax(axis=1) == y[test]) for decision in decisions]
            assert np.allclose(model.scores_[k, :, s], scores, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_scores_of_a_fold_by_naive_solves(n_outputs, rng):
    """Every C and number of columns solved on its own, by scikit-learn."""
    X, y = PATIENTS
    target = np.column_stack([y, 50 * X[:, 2] + y])[:, :n_outputs]
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = regress(X, target, weight)
    for k, (train, _) in enumerate(model.folds_):
        found, test = by_hand(model, LeastSquares, X, target, k, weight)
        H = found.ensemble.respond(X).astype(float)
        for c, C in enumerate(model.Cs_):
            for s, stage in enumerate(model.columns_):
                ridge = Ridge(alpha=1 / C).fit(H[train, :stage], target[train], sample_weight=weight[train])
                expected = r2_score(target[test], ridge.predict(H[test, :stage]), sample_weight=weight[test])
                assert model.scores_[k, c, s] == pytest.approx(expected, rel=CLOSED_FORM)


def test_scores_of_a_fold_by_hand_with_the_hinge_loss():
    X, y = TUMOURS
    model = classify(X, y)
    for k in range(3):
        found, test = by_hand(model, Hinge, X, np.where(y > 0, 1.0, -1.0)[:, None], k, pricing="max")
        for s, decisions in enumerate(found.decisions(X[test])):
            scores = [np.mean((decision[:, 0] > 0) == y[test]) for decision in decisions]
            assert np.allclose(model.scores_[k, :, s], scores, rtol=0, atol=CLOSED_FORM)


def test_the_path_is_what_plain_fits_find():
    """One search serves all values of C: at the C it was made with, the models are those of the plain estimator."""
    X, y = PATIENTS
    model = regress(cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))])
    middle = sorted(model.Cs_)[1]
    for stage, score in zip(model.columns_, model.scores_[0, list(model.Cs_).index(middle)], strict=True):
        plain = CGEnsRegressor(C=middle, n_estimators=int(stage)).fit(X[::2], y[::2])
        assert plain.score(X[1::2], y[1::2]) == pytest.approx(score, rel=CLOSED_FORM)


def test_columns():
    assert classify(columns="paper", n_estimators=500, cv=2, Cs=1).columns_.tolist() == [25, 50, 100, 250, 500]
    assert classify(columns="paper", n_estimators=60, cv=2, Cs=1).columns_.tolist() == [25, 50, 60]
    assert classify(columns="paper").columns_.tolist() == [12]
    assert classify(columns="staged").columns_.tolist() == [5, 6, 7, 8, 9, 10, 11, 12]
    assert classify(columns="staged", n_estimators=3).columns_.tolist() == [3]
    assert classify(columns=[9, 3, 9, np.int64(1)]).columns_.tolist() == [1, 3, 9]
    assert classify(columns=range(1, 4)).columns_.tolist() == [1, 2, 3]
    many = classify(columns="staged", n_estimators=300, cv=2, Cs=1).columns_
    assert len(many) == 25
    assert many[[0, -1]].tolist() == [5, 300]


def test_more_columns_than_there_are():
    """Where no more are found, larger numbers have the score of what there is."""
    X, y = WINES[0][:, :1].round(), WINES[1]
    model = classify(X, y, columns=[2, 100, 200], n_estimators=200)
    assert np.array_equal(model.scores_[..., 1], model.scores_[..., 2])
    assert model.n_columns_ in (2, 100)
    assert model.best_estimator_.n_columns_ < 20


def test_costs():
    middle = classify(Cs=1).Cs_[0]
    assert middle == CGEnsClassifier().fit(*WINES).C_
    assert np.allclose(classify(Cs=3).Cs_, [middle / 3, middle, middle * 3], rtol=CLOSED_FORM, atol=0)
    assert np.allclose(classify(Cs=4).Cs_, [middle / 3, middle, middle * 3, middle * 9], rtol=CLOSED_FORM, atol=0)
    assert len(CGEnsClassifierCV(n_estimators=5, cv=2).fit(*WINES).Cs_) == 7
    assert classify(Cs=[0.3, 0.01]).Cs_.tolist() == [0.3, 0.01]
    assert classify(Cs=np.array([0.3, 0.01])).Cs_.tolist() == [0.3, 0.01]
    assert classify(Cs=(c for c in [0.5])).Cs_.tolist() == [0.5]
    assert classify(Cs=["scale", 1]).Cs_.tolist() == [middle, 1.0]


def test_the_order_of_costs_does_not_matter():
    X, _ = WINES
    up, down = classify(Cs=[0.01, 0.1, 1.0]), classify(Cs=[1.0, 0.1, 0.01])
    assert up.best_params_ == down.best_params_
    assert np.allclose(up.scores_, down.scores_[:, ::-1], rtol=0, atol=CLOSED_FORM)
    assert up.predict(X).tobytes() == down.predict(X).tobytes()


BAD = {
    "columns = 'all'": ({"columns": "all"}, r"columns.*'all'"),
    "columns = 7": ({"columns": 7}, r"columns.*\b7\b"),
    "columns = None": ({"columns": None}, r"columns.*None"),
    "columns = []": ({"columns": []}, r"columns.*\[\]"),
    "columns = [0]": ({"columns": [0]}, r"columns.*\b0\b"),
    "columns = [2.5]": ({"columns": [2.5]}, r"columns.*2\.5"),
    "columns = ['a']": ({"columns": ["a"]}, r"columns.*'a'"),
    "columns beyond n_estimators": ({"columns": [5, 13]}, r"columns.*n_estimators=12.*13"),
    "Cs = 0": ({"Cs": 0}, r"Cs.*\b0\b"),
    "Cs = 2.5": ({"Cs": 2.5}, r"Cs.*2\.5"),
    "Cs = 'scale'": ({"Cs": "scale"}, r"Cs.*'scale'"),
    "Cs = None": ({"Cs": None}, r"Cs.*None"),
    "Cs = True": ({"Cs": True}, r"Cs.*True"),
    "Cs = []": ({"Cs": []}, r"Cs.*empty"),
    "Cs = [-1]": ({"Cs": [0.1, -1]}, r"C .*-1"),
    "Cs = [NaN]": ({"Cs": [np.nan]}, r"C .*nan"),
    "Cs = [1e300]": ({"Cs": [1e300]}, r"C .*1e\+300"),
    "cv = 0": ({"cv": 0}, r"cv.*\b0\b"),
    "cv = 1": ({"cv": 1}, r"cv=1\b"),
    "cv = -3": ({"cv": -3}, r"cv.*-3"),
    "cv = 2.5": ({"cv": 2.5}, r"cv.*2\.5"),
    "cv = 'five'": ({"cv": "five"}, r"cv.*five"),
    "cv = []": ({"cv": []}, r"cv|fold|split"),
    "cv without test rows": ({"cv": [(np.arange(100), np.arange(0))]}, r"fold.*test"),
    "cv without training rows": ({"cv": [(np.arange(0), np.arange(100))]}, r"fold.*train"),
    "scoring": ({"scoring": "beauty"}, r"'beauty'"),
    "scoring is NaN": ({"scoring": lambda model, X, y: np.nan}, r"(?i)scor.*nan"),
    "n_estimators = 0": ({"n_estimators": 0}, r"n_estimators.*\b0\b"),
    "tol = 0": ({"tol": 0}, r"tol.*\b0\b"),
    "n_jobs = 0": ({"n_jobs": 0}, r"n_jobs.*\b0\b"),
    "loss": ({"loss": "logarithmic"}, r"loss.*'logarithmic'"),
    "pricing": ({"pricing": "cheap"}, r"pricing.*'cheap'"),
    "pricing for the hinge loss": ({"pricing": "gain", "loss": "hinge"}, r"pricing='gain'.*hinge"),
    "max_bins": ({"weak_learner": Stump(1)}, r"max_bins.*\b1\b"),
    "random_state": ({"random_state": "seed"}, r"'seed'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    options, pattern = BAD[name]
    with pytest.raises(ValueError, match=r"(?s)" + pattern):
        classify(**options)


@pytest.mark.parametrize("broken", [{"Cs": []}, {"columns": [99]}, {"cv": 1}, {"scoring": "beauty"}, {"tol": 0}])
def test_a_fit_that_fails_leaves_the_model_as_it_was(broken):
    X, y = WINES
    model = classify()
    before, attributes = model.predict(X), set(vars(model))
    with pytest.raises(ValueError, match=r"\w"):
        model.set_params(**broken).fit(X[:, :2], np.array(list("abc"))[y])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.n_features_in_ == 13
    assert set(vars(model)) == attributes
    assert model.predict(X).tobytes() == before.tobytes()


def test_a_first_fit_that_fails_leaves_nothing():
    search = CGEnsClassifierCV(**SMALL, scoring=lambda model, X, y: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.fit(*WINES)
    assert set(vars(search)) == set(search.get_params())


def test_not_fitted():
    for search in (CGEnsClassifierCV(), CGEnsRegressorCV()):
        with pytest.raises(NotFittedError, match=type(search).__name__):
            search.predict(WINES[0])
        for name in ("ensemble_", "certificate_", "feature_importances_", "best_estimator_"):
            assert not hasattr(search, name)


def test_clone_and_parameters(kind):
    search, X, y = kind
    model = clone(search.fit(X, y))
    assert not hasattr(model, "best_estimator_")
    assert model.get_params() == search.get_params()
    nested = CGEnsClassifierCV(Stump()).set_params(weak_learner__max_bins=3)
    assert clone(nested).weak_learner.max_bins == 3


SCORINGS = ["accuracy", "balanced_accuracy", "f1_macro", make_scorer(lambda y, found: np.mean(y == found) ** 2)]


@pytest.mark.parametrize("scoring", SCORINGS, ids=str)
def test_scorers_of_classes(scoring):
    X, y = WINES
    model = classify(scoring=scoring)
    scorer, codes = get_scorer(scoring), simplex_codes(3)
    found, test = by_hand(model, LeastSquares, X, codes[y], 0)

    class Answer(CGEnsClassifier):
        classes_ = np.arange(3)
        decision = None

        def predict(self, X):
            return (self.decision @ codes.T).argmax(axis=1)

    for s, decisions in enumerate(found.decisions(X[test])):
        for c, decision in enumerate(decisions):
            answer = Answer()
            answer.decision = decision
            assert model.scores_[0, c, s] == pytest.approx(scorer(answer, X[test], y[test]), rel=CLOSED_FORM)


def test_accuracy_is_the_default():
    assert_same_choice(classify(), classify(scoring="accuracy"), WINES[0])
    assert_same_choice(regress(), regress(scoring="r2"), PATIENTS[0])
    subsets = classify(*TOPICS, scoring="accuracy")
    assert_same_choice(classify(*TOPICS), subsets, TOPICS[0])


def test_a_callable_gets_a_model_that_predicts():
    X, y = WINES
    seen = []

    def score(model, X_test, y_test):
        seen.append((type(model.predict(X_test)), model.classes_.tolist(), model.decision_function(X_test).shape))
        return np.mean(model.predict(X_test) == y_test)

    model = classify(X, np.array(list("abc"))[y], scoring=score)
    assert len(seen) == 27
    assert all(entry[1] == ["a", "b", "c"] for entry in seen)
    assert all(entry[2] == (len(test), 3) for entry, (_, test) in zip(seen[::9], model.folds_, strict=True))
    assert np.allclose(model.scores_, classify().scores_, rtol=0, atol=CLOSED_FORM)


@pytest.mark.parametrize("loss", ["hinge", "least_squares"])
def test_area_under_the_curve(loss):
    X, y = TUMOURS
    model = classify(X, y, scoring="roc_auc", loss=loss)
    master, pricing = {"hinge": (Hinge, "max"), "least_squares": (LeastSquares, "gain")}[loss]
    found, test = by_hand(model, master, X, np.where(y > 0, 1.0, -1.0)[:, None], 1, pricing=pricing)
    for s, decisions in enumerate(found.decisions(X[test])):
        areas = [roc_auc_score(y[test], decision[:, 0]) for decision in decisions]
        assert np.allclose(model.scores_[1, :, s], areas, rtol=0, atol=CLOSED_FORM)


def test_squared_error_with_weights(rng):
    X, y = PATIENTS
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = regress(weight=weight, scoring="neg_mean_squared_error")
    found, test = by_hand(model, LeastSquares, X, y[:, None], 2, weight)
    for s, decisions in enumerate(found.decisions(X[test])):
        errors = [-mean_squared_error(y[test], decision[:, 0], sample_weight=weight[test]) for decision in decisions]
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


SPLITS = {
    "splitter": StratifiedKFold(4, shuffle=True, random_state=1),
    "shuffled": ShuffleSplit(4, random_state=1),
    "pairs": list(KFold(4, shuffle=True, random_state=1).split(WINES[0])),
    "lists": [(list(range(0, 178, 2)), list(range(1, 178, 2)))] * 4,
    "generator": KFold(4, shuffle=True, random_state=1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_folds_of_ones_own(name):
    X, y = WINES
    cv = SPLITS[name]
    expected = list(cv.split(X, y)) if hasattr(cv, "split") else cv
    model = classify(cv=cv.split(X, y) if name == "generator" else cv)
    assert model.scores_.shape[0] == 4
    for (train, test), own in zip(expected, model.folds_, strict=True):
        assert np.array_equal(train, own[0])
        assert np.array_equal(test, own[1])


def test_a_class_that_no_fold_trains_on():
    """Sorted rows and folds in order: the first is asked for a class that it has never seen, but for one row."""
    model = classify(cv=KFold(3))
    assert model.scores_[0].max() <= 1 / 60
    assert model.score(*WINES) > 0.9


@pytest.mark.parametrize("n_folds", [2, 3, 10, 1000])
def test_a_number_of_folds_stratifies(n_folds):
    _, y = WINES
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        model = classify(cv=n_folds, Cs=1, columns=[3])
    assert len(model.folds_) == min(n_folds, np.bincount(y).max())
    tested = np.concatenate([test for _, test in model.folds_])
    assert sorted(tested) == list(range(len(y)))
    for train, test in model.folds_:
        assert sorted([*train, *test]) == list(range(len(y)))
        shares = np.bincount(y[test], minlength=3) - np.bincount(y) / len(model.folds_)
        assert np.all(np.abs(shares) < 1)


def repeated_rows(rng):
    X = rng.integers(0, 3, size=(120, 2)).astype(float)
    return X, (X.sum(axis=1) + rng.normal(size=120) > 2).astype(int)


@pytest.mark.parametrize("search", [classify, regress])
def test_copies_of_a_row_are_in_one_fold(search, rng):
    X, y = repeated_rows(rng)
    model = search(X, y)
    rows = np.column_stack([X, y])
    for train, test in model.folds_:
        assert not {tuple(row) for row in rows[train]} & {tuple(row) for row in rows[test]}


@pytest.mark.parametrize("weighted_class", [None, "balanced"])
def test_weights_are_copies_of_classes(weighted_class, rng):
    X, y = WINES
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    for loss in ("least_squares", "hinge"):
        options = {"loss": loss, "class_weight": weighted_class}
        assert_same_choice(classify(weight=weight, **options), classify(X[copies], y[copies], **options), X)


def test_weights_are_copies(kind, rng):
    search, X, y = kind
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted, repeated = clone(search).fit(X, y, weight), clone(search).fit(X[copies], y[copies])
    assert_same_choice(weighted, repeated, X)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "accuracy"])
def test_weights_are_copies_for_a_scorer(scoring, rng):
    X, y = WINES
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    assert_same_choice(classify(weight=weight, scoring=scoring), classify(X[copies], y[copies], scoring=scoring), X)


def test_the_order_of_rows_does_not_matter(kind, rng):
    search, X, y = kind
    order = rng.permutation(len(y))
    weight = rng.integers(1, 4, len(y)).astype(float)
    straight = clone(search).fit(X, y, weight)
    assert_same_choice(straight, clone(search).fit(X[order], y[order], weight[order]), X)


def test_rows_of_zero_weight_are_not_there(kind, rng):
    search, X, y = kind
    weight = (rng.random(len(y)) < 0.7).astype(float)
    kept = weight > 0
    assert_same_choice(clone(search).fit(X, y, weight), clone(search).fit(X[kept], y[kept]), X)


def test_threads_do_not_matter(kind):
    search, X, y = kind
    one, two = clone(search).fit(X, y), clone(search).set_params(n_jobs=2).fit(X, y)
    assert one.scores_.tobytes() == two.scores_.tobytes()
    assert_same_choice(one, two, X)


@pytest.mark.parametrize("loss", ["least_squares", "hinge"])
def test_a_family_that_draws_is_repeated_by_its_seed(loss):
    X, y = TUMOURS
    options = {"weak_learner": Cosines(gamma=1e-3, fresh=True), "loss": loss}
    one, two = classify(X, y, random_state=0, **options), classify(X, y, random_state=0, n_jobs=2, **options)
    assert one.scores_.tobytes() == two.scores_.tobytes()
    assert_same_choice(one, two, X)
    other = classify(X, y, random_state=1, **options)
    assert not np.array_equal(one.scores_, other.scores_)
    assert not hasattr(one, "feature_importances_")


def test_a_second_fit_is_the_same(kind):
    search, X, y = kind
    first = clone(search).fit(X, y)
    second = clone(search).fit(*WINES) if isinstance(search, CGEnsClassifierCV) else clone(search).fit(X[:50], y[:50])
    second.fit(X, y)
    assert first.scores_.tobytes() == second.scores_.tobytes()
    assert_same_choice(first, second, X)


@pytest.mark.parametrize("loss", ["least_squares", "hinge"])
def test_a_class_of_one_row(loss):
    X, y = WINES
    X, y = np.vstack([X, X[:1] + 1e4]), np.append(y, 7)
    with pytest.warns(UserWarning, match="least populated class"):
        model = classify(X, y, loss=loss)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert np.all(np.isfinite(model.scores_))
    assert model.best_score_ > 0.8


def test_a_class_of_no_weight_is_not_there():
    X, y = WINES
    kept = y > 0
    for options in ({}, {"scoring": "balanced_accuracy"}, {"loss": "least_squares"}):
        without = classify(X[kept], y[kept], **options)
        with_it = classify(weight=kept.astype(float), **options)
        assert with_it.classes_.tolist() == [1, 2]
        assert_same_choice(with_it, without, X)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_hardly_any_rows(n):
    """A model or one sentence: R^2 of one row is not a number."""
    X, y = PATIENTS
    for cv in (5, 2, LeaveOneOut()):
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore")
            assert np.all(np.isfinite(regress(X[:n], y[:n], cv=cv).predict(X)))
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore")
            classes = classify(X[:n], np.arange(n) % 2, cv=cv)
            assert set(classes.predict(X)) <= {0, 1}


def test_a_fold_without_one_of_the_classes_has_no_area():
    """The score is not a number then: one sentence, or the mean of the others."""
    X, y = TUMOURS
    in_order = np.argsort(y, kind="stable")
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore")
        model = classify(X[in_order], y[in_order], scoring="roc_auc", cv=KFold(4))
        assert np.isfinite(model.best_score_)


def test_a_constant_target():
    X, _ = PATIENTS
    with pytest.warns(UserWarning, match="constant"):
        model = regress(X, np.full(len(X), 2.0))
    assert np.allclose(model.predict(X), 2.0, rtol=0, atol=CLOSED_FORM)


def test_shapes_of_targets():
    X, y = PATIENTS
    assert regress().predict(X).shape == (150,)
    assert regress(y=y[:, None]).predict(X).shape == (150, 1)
    several = regress(y=np.column_stack([y, -y, y**2]))
    assert several.predict(X).shape == (150, 3)
    assert several.n_outputs_ == 3
    labels = classify(*TOPICS)
    assert labels.predict(TOPICS[0]).shape == labels.decision_function(TOPICS[0]).shape == (100, 3)
    assert classify().decision_function(WINES[0]).shape == (178, 3)
    assert classify(*TUMOURS).decision_function(TUMOURS[0]).shape == (150,)


def test_verbose_draws_one_bar_for_all_folds(capsys):
    classify()
    assert capsys.readouterr() == ("", "")
    classify(verbose=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "36/36 columns" in captured.err  # three folds of twelve


def press_in_this_thread():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def press_in_any_thread():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("press", [press_in_any_thread, press_in_this_thread])
def test_ctrl_c_amid_a_path_is_heard(press, monkeypatch):
    """After the columns are found, all values of C are solved for: that must not take Ctrl-C's second either."""
    solve_path, once = LeastSquares.solve_path, iter([press])

    def press_and_wait(self, problem, interrupted):
        for press_it in once:
            press_it()
        end = time.monotonic() + 3
        while time.monotonic() < end and not interrupted():
            time.sleep(0.01)
        return solve_path(self, problem, interrupted)

    monkeypatch.setattr(LeastSquares, "solve_path", press_and_wait)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    search = CGEnsClassifierCV(**{**SMALL, "n_jobs": 2, "cv": 2})
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            search.fit(*WINES)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < INTERRUPT_SECONDS
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "scores_")
