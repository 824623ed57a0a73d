"""Cross-validation: the folds, and what becomes of classes and rows that are few."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from tests.integration.searches import PATIENTS, TUMOURS, WINES, assert_same_choice, classify, regress

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
