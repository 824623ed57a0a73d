"""Logits from decisions equal those of logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cgens.automatic.calibration import LogitMap
from cgens.coding import simplex_codes


def make_decisions(n_classes, rng, k=600):
    classes, codes = rng.integers(0, n_classes, k), simplex_codes(n_classes)
    return 0.4 * codes[classes] + 0.5 * rng.normal(size=(k, n_classes - 1)), classes, codes


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_equals_logistic_regression_with_hardly_a_penalty(n_classes, rng):
    decisions, classes, codes = make_decisions(n_classes, rng)
    weight = rng.integers(1, 4, len(classes)).astype(float)
    found = LogitMap.of(decisions, classes, weight, codes)
    expected = LogisticRegression(C=1e6, tol=1e-10, max_iter=5000).fit(decisions, classes, weight)
    assert np.allclose(found.probabilities(decisions, codes), expected.predict_proba(decisions), atol=0.01)


def test_rows_that_the_decisions_separate_have_finite_logits(rng):
    codes = simplex_codes(3)
    classes = np.arange(30) % 3
    found = LogitMap.of(codes[classes], classes, np.ones(30), codes)
    assert np.isfinite(found.matrix).all()
    probabilities = found.probabilities(codes, codes)
    assert probabilities.argmax(axis=1).tolist() == [0, 1, 2]
    assert probabilities.max() < 1.0


def test_decisions_that_say_nothing_give_the_shares_of_the_classes():
    codes = simplex_codes(3)
    classes, weight = np.array([0, 1, 1, 2]), np.array([1.0, 1.0, 1.0, 5.0])
    found = LogitMap.of(np.zeros((4, 2)), classes, weight, codes)
    assert np.allclose(found.probabilities(np.zeros((1, 2)), codes), [[0.125, 0.25, 0.625]], atol=0.02)


def test_the_scale_of_the_decisions_does_not_matter(rng):
    decisions, classes, codes = make_decisions(4, rng)
    one = LogitMap.of(decisions, classes, np.ones(600), codes).probabilities(decisions, codes)
    other = LogitMap.of(1e6 * decisions, classes, np.ones(600), codes).probabilities(1e6 * decisions, codes)
    assert np.allclose(one, other, atol=1e-6)


def test_a_class_without_honest_rows_has_a_small_probability(rng):
    codes = simplex_codes(3)
    classes = np.arange(40) % 2
    found = LogitMap.of(codes[classes] + 0.5 * rng.normal(size=(40, 2)), classes, np.ones(40), codes)
    probabilities = found.probabilities(codes, codes)
    assert np.isfinite(probabilities).all()
    assert probabilities[:2, 2].max() < 0.1
