"""Quality on MNIST, odd against even: what the requirements ask for."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import CGEnsClassifier
from evaluation.splits import mnist_odd_even
from tests.data_folder import needs_data
from tests.tolerances import MNIST_ERROR, MNIST_GAP, NEGATIVE_GAP

pytestmark = [pytest.mark.slow, needs_data]


@pytest.fixture(scope="module")
def split():
    return mnist_odd_even(10_000)


@pytest.fixture(scope="module")
def model(split):
    return CGEnsClassifier(n_estimators=500).fit(split.X, split.y)


def test_error_of_500_stumps(model, split):
    assert model.n_columns_ == 500
    assert 1 - model.score(split.X_test, split.y_test) <= MNIST_ERROR


def test_gap_of_500_stumps(model):
    assert model.certificate_.relative_gap <= MNIST_GAP
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap > 0


def test_the_same_bits_for_other_threads_and_rows(model, split):
    order = np.random.default_rng(0).permutation(len(split.y))
    other = CGEnsClassifier(n_estimators=500, n_jobs=1).fit(split.X[order], split.y[order])
    assert other.ensemble_.learners == model.ensemble_.learners
    assert other.decision_function(split.X_test).tobytes() == model.decision_function(split.X_test).tobytes()


def test_stages_get_better(model, split):
    errors = [np.mean(labels != split.y_test) for labels in model.staged_predict(split.X_test)]
    assert errors[-1] < errors[99] < errors[9]
