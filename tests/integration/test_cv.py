"""Cross-validation of C and of the number of columns: results, choice and folds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from cgens import CGEnsClassifier, CGEnsClassifierCV, CGEnsRegressor
from cgens.inspection import check_certificate
from tests.contract.cosines import Cosines
from tests.integration.small_data import patients, tumours, wines
from tests.models import SEARCHES, assert_same_model, data_of, fitted, make
from tests.tolerances import CLOSED_FORM

WINES, TUMOURS, PATIENTS = wines(), tumours(), patients()
every_search = pytest.mark.parametrize("name", SEARCHES)


def classify(X=WINES[0], y=WINES[1], weight=None, **options):
    return make("search, multiclass", **options).fit(X, y, sample_weight=weight)


def regress(X=PATIENTS[0], y=PATIENTS[1], weight=None, **options):
    return make("search, regression", **options).fit(X, y, sample_weight=weight)


@every_search
def test_results_have_the_form_of_scikit_learn(name):
    model, _, _ = fitted(name)
    results = model.cv_results_
    assert model.scores_.shape == (3, 3, 3)
    assert model.Cs_.shape == model.stages_.shape == (3,)
    splits = [f"split{k}_test_score" for k in range(3)]
    summary = ["mean_test_score", "std_test_score", "rank_test_score"]
    assert list(results) == ["param_C", "param_n_estimators", "params", *splits, *summary]
    assert all(len(values) == 9 for values in results.values())
    for k, split in enumerate(splits):
        assert np.array_equal(results[split], model.scores_[k].ravel())
    stacked = np.array([results[split] for split in splits])
    mean = results["mean_test_score"]
    assert np.allclose(mean, stacked.mean(axis=0), rtol=0, atol=CLOSED_FORM)
    assert np.allclose(results["std_test_score"], stacked.std(axis=0), rtol=0, atol=CLOSED_FORM)
    for number, params in enumerate(results["params"]):
        assert params == {"C": results["param_C"][number], "n_estimators": results["param_n_estimators"][number]}
        assert params["C"] == model.Cs_[number // 3]
        assert params["n_estimators"] == model.stages_[number % 3]
    assert np.array_equal(results["rank_test_score"], 1 + (mean[:, None] > mean).sum(axis=0))
    assert model.best_params_ == {"C": model.C_, "n_estimators": model.n_columns_}
    assert model.master_.C == model.C_
    assert model.best_params_ == results["params"][model.best_index_]
    assert model.best_score_ == pytest.approx(mean.max(), rel=CLOSED_FORM)
    as_good = [params for params, own in zip(results["params"], mean, strict=True) if own == mean.max()]
    assert model.best_params_ == min(as_good, key=lambda params: (params["n_estimators"], params["C"]))


@every_search
def test_the_best_estimator_is_a_plain_fit(name):
    model, X, y = fitted(name)
    kind = CGEnsClassifier if isinstance(model, CGEnsClassifierCV) else CGEnsRegressor
    assert type(model.best_estimator_) is kind
    options = {"loss": model.loss, "pricing": model.pricing, "n_jobs": 1, "random_state": 0, "weak_learner": "stump"}
    plain = kind(C=model.C_, n_estimators=model.n_columns_, **options).fit(X, y)
    assert plain.get_params() == model.best_estimator_.get_params()
    assert_same_model(plain, model.best_estimator_, X)
    assert_same_model(plain, model, X)
    assert plain.predict(X).tobytes() == model.predict(X).tobytes()
    assert [s.tobytes() for s in plain.staged_predict(X)] == [s.tobytes() for s in model.staged_predict(X)]
    assert np.array_equal(plain.feature_importances_, model.feature_importances_)
    assert model.score(X, y) == plain.score(X, y)
    assert check_certificate(model.best_estimator_, X, y).problems == ()
    if kind is CGEnsClassifier:
        assert np.array_equal(model.classes_, plain.classes_)
    else:
        assert model.n_outputs_ == plain.n_outputs_


@every_search
def test_order_and_threads_do_not_matter(name, rng):
    """Nor do rows of weight 0."""
    X, y = data_of(name)
    weight = rng.integers(0, 4, len(y))
    order = rng.permutation(len(y))
    search = make(name).fit(X, y, weight)
    assert_same_model(search, make(name).fit(X[weight > 0], y[weight > 0], weight[weight > 0]), X)
    assert_same_model(search, make(name).fit(X[order], y[order], weight[order]), X)
    threads = make(name, n_jobs=2).fit(X, y, weight)
    assert search.scores_.tobytes() == threads.scores_.tobytes()
    assert_same_model(search, threads, X)


@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("least_squares", {"class_weight": "balanced"}),
        ("hinge", {"class_weight": "balanced"}),
        ("least_squares", {"scoring": "balanced_accuracy"}),
        ("hinge", {"scoring": "accuracy"}),
    ],
)
def test_in_given_folds_weights_are_copies(loss, options, rng):
    X, y = WINES
    weight = rng.integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    of_copies = [tuple(np.flatnonzero(np.isin(copies, rows)) for rows in fold) for fold in folds]
    options = {"loss": loss, **options}
    weighted = classify(weight=weight, cv=folds, **options)
    assert_same_model(weighted, classify(X[copies], y[copies], cv=of_copies, **options), X)


def test_balanced_classes_are_those_of_the_folds_own_rows():
    """A fold has the score of a plain fit to its training rows."""
    X, y = WINES
    train, test = np.arange(20, 178), np.arange(0, 178, 2)
    options = {"class_weight": "balanced", "loss": "hinge"}
    search = classify(cv=[(train, test)], Cs=[0.01], stages=[5], n_estimators=5, **options)
    plain = CGEnsClassifier(C=0.01, n_estimators=5, tol=3e-3, **options).fit(X[train], y[train])
    assert search.scores_[0, 0, 0] == plain.score(X[test], y[test])


def test_columns_are_found_with_the_chosen_c():
    for model in (classify(Cs=7), regress(Cs=7), classify(*TUMOURS, Cs=5)):
        searched = set(model.column_Cs_)
        assert model.C_ in searched
        assert sorted(model.Cs_)[len(model.Cs_) // 2] in searched
        for C, own in zip(model.Cs_, model.column_Cs_, strict=True):
            distances = {other: abs(np.log(C / other)) for other in searched}
            assert distances[own] == min(distances.values())


@pytest.mark.parametrize("loss", ["least_squares", "hinge"])
def test_the_seed_determines_random_families(loss):
    X, y = TUMOURS
    options = {"weak_learner": Cosines(gamma=1e-3, fresh=True), "loss": loss, "n_estimators": 5, "stages": [2, 5]}
    one, two, other = (
        classify(X, y, random_state=seed, n_jobs=jobs, **options) for seed, jobs in [(0, 1), (0, 2), (1, 1)]
    )
    assert one.scores_.tobytes() == two.scores_.tobytes()
    assert_same_model(one, two, X)
    assert not np.array_equal(one.scores_, other.scores_)
    assert not hasattr(one, "feature_importances_")


def test_a_constant_target():
    X, _ = PATIENTS
    with pytest.warns(UserWarning, match="constant") as caught:
        model = regress(X, np.full(len(X), 2.0))
    assert [warning.filename for warning in caught] == [__file__], "it points at the line that fits"
    assert np.allclose(model.predict(X), 2.0, rtol=0, atol=CLOSED_FORM)


def test_a_target_of_one_column_is_predicted_as_one():
    X, y = PATIENTS
    assert regress(y=y[:, None]).predict(X).shape == (150, 1)


SPLITS = {
    "splitter": StratifiedKFold(4, shuffle=True, random_state=1),
    "shuffled": ShuffleSplit(4, random_state=1),
    "pairs": list(KFold(4, shuffle=True, random_state=1).split(WINES[0])),
    "lists": [(list(range(0, 178, 2)), list(range(1, 178, 2)))] * 4,
    "generator": KFold(4, shuffle=True, random_state=1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_folds_of_the_user(name):
    X, y = WINES
    cv = SPLITS[name]
    expected = list(cv.split(X, y)) if hasattr(cv, "split") else cv
    model = classify(cv=cv.split(X, y) if name == "generator" else cv)
    assert model.scores_.shape[0] == 4
    for (train, test), own in zip(expected, model.folds_, strict=True):
        assert np.array_equal(train, own[0])
        assert np.array_equal(test, own[1])


def test_a_class_that_a_fold_is_not_trained_on():
    """The rows are sorted, and so are the folds: the first one is tested on a class of which it has seen one row."""
    model = classify(cv=KFold(3))
    assert model.scores_[0].max() <= 1 / 60
    assert model.score(*WINES) > 0.9


@pytest.mark.parametrize("n_folds", [2, 3, 10, 1000])
def test_a_number_of_folds_stratifies(n_folds):
    _, y = WINES
    model = classify(cv=n_folds, Cs=1, stages=[3])
    assert len(model.folds_) == min(n_folds, np.bincount(y).max())
    tested = np.concatenate([test for _, test in model.folds_])
    assert sorted(tested) == list(range(len(y)))
    for train, test in model.folds_:
        assert sorted([*train, *test]) == list(range(len(y)))
        shares = np.bincount(y[test], minlength=3) - np.bincount(y) / len(model.folds_)
        assert np.all(np.abs(shares) < 1)


@pytest.mark.parametrize("search", [classify, regress])
def test_copies_of_a_row_are_spread_over_the_folds(search, rng):
    X = rng.integers(0, 3, size=(120, 2)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=120) > 2).astype(int)
    rows = np.column_stack([X, y])
    folds = search(X, y).folds_
    for row in np.unique(rows, axis=0):
        counts = [int(np.all(rows[test] == row, axis=1).sum()) for _, test in folds]
        assert max(counts) - min(counts) <= 1


def test_groups_stay_together():
    X, y = WINES
    groups = np.arange(len(y)) // 9
    model = make("search, multiclass", cv=GroupKFold(3)).fit(X, y, groups=groups)
    for train, test in model.folds_:
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(ValueError, match=r"groups.*GroupKFold.*\b3\b"):
        make("search, multiclass", cv=3).fit(X, y, groups=groups)


@pytest.mark.parametrize("loss", ["least_squares", "hinge"])
def test_a_class_of_one_row(loss):
    X, y = WINES
    X, y = np.vstack([X, X[:1] + 1e4]), np.append(y, 7)
    model = classify(X, y, loss=loss)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert np.all(np.isfinite(model.scores_))
    assert model.best_score_ > 0.8


@pytest.mark.parametrize("options", [{}, {"scoring": "balanced_accuracy"}, {"loss": "least_squares"}])
def test_a_class_without_weight_is_ignored(options):
    X, y = WINES
    kept = y > 0
    with_it = classify(weight=kept.astype(float), **options)
    assert with_it.classes_.tolist() == [1, 2]
    assert_same_model(with_it, classify(X[kept], y[kept], **options), X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [2, 3, 4, 6])
@pytest.mark.parametrize(
    ("search", "cv", "least"),
    [(regress, 5, 4), (regress, 2, 4), (regress, LeaveOneOut(), 7), (classify, 5, 3), (classify, LeaveOneOut(), 2)],
)
def test_very_few_rows(search, cv, least, n):
    """Stratified folds need two rows of a class, or four for regression, and R^2 of a single row is not a number."""
    X, y = PATIENTS
    target = y[:n] if search is regress else np.arange(n) % 2
    if n >= least:
        assert np.all(np.isfinite(search(X[:n], target, cv=cv).predict(X)))
    else:
        with pytest.raises(ValueError, match=r"nan.*cv=LeaveOneOut" if least == 7 else rf"cv={cv}\b.*\b{n}\b"):
            search(X[:n], target, cv=cv)


@pytest.mark.filterwarnings("ignore")
def test_a_fold_without_one_of_the_classes_has_no_roc_auc():
    X, y = TUMOURS
    in_order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"nan.*KFold.*scoring"):
        classify(X[in_order], y[in_order], scoring="roc_auc", cv=KFold(4))


def test_a_pickled_search_does_not_grow_with_the_rows():
    X, y = load_breast_cancer(return_X_y=True)
    sizes = []
    for copies in (1, 20):
        rows = np.tile(X, (copies, 1)) + np.arange(copies).repeat(len(X))[:, None]  # no equal rows to merge
        search = CGEnsClassifierCV(loss="least_squares", Cs=2, n_estimators=10, cv=3).fit(rows, np.tile(y, copies))
        assert len(search.folds_) == 3
        again = pickle.loads(pickle.dumps(search))
        assert again.folds_ == []
        assert np.array_equal(again.predict(rows), search.predict(rows))
        sizes.append(len(pickle.dumps(search)))
    assert max(sizes) < 1.3 * min(sizes)
