"""Logits from decisions equal those of logistic regression, on the decisions and the logarithms of probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from cgens.automatic.calibration import LEAST_PROBABILITY, PENALTY, Calibration
from cgens.coding import simplex_codes
from cgens.masters import Logistic


def make_decisions(n_classes, rng, k=600):
    classes, codes = rng.integers(0, n_classes, k), simplex_codes(n_classes)
    return 0.4 * codes[classes] + 0.5 * rng.normal(size=(k, n_classes - 1)), classes, codes


def probabilities_of(found, decisions, codes):
    return Logistic().probabilities(found.logits(decisions), codes)


def estimated(decisions, codes):
    """Return the logarithms of the probabilities of all classes that decisions of least squares estimate."""
    n_classes = len(codes)
    shares = (1 + (n_classes - 1) * decisions @ codes.T) / n_classes
    return np.log(np.maximum(shares, LEAST_PROBABILITY))


def naive_scores(values, decisions, unit, codes):
    """Return the scores of all classes, given the factor, that of the logarithms, the rest and the shift."""
    size = codes.shape[1]
    matrix = values[0] * np.eye(size) + values[2 : 2 + size**2].reshape(size, size)
    logits = decisions / unit @ matrix.T + values[2 + size**2 :]
    return logits @ codes.T + values[1] * estimated(decisions, codes)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_equals_a_general_solver(n_classes, rng):
    decisions, classes, codes = make_decisions(n_classes, rng, 200)
    weight = rng.integers(1, 4, 200)
    unit = np.sqrt(np.average(np.mean(decisions**2, axis=1), weights=weight))

    def objective(values):
        logs = log_softmax(naive_scores(values, decisions, unit, codes), axis=1)[np.arange(200), classes]
        return -np.average(logs, weights=weight) + 0.5 * PENALTY / 200 * np.sum(values**2)

    size = 1 + n_classes * (n_classes - 1)  # without the factor of the logarithms
    bounds = [(None, None), (0, None), *[(None, None)] * (size - 1)]
    options = {"ftol": 1e-14, "gtol": 1e-9, "maxfun": 100_000}
    best = minimize(objective, np.zeros(size + 1), method="L-BFGS-B", bounds=bounds, options=options).x
    found = Calibration.of_classes(decisions, classes, weight.astype(float), codes)
    later = make_decisions(n_classes, rng, 50)[0]
    expected = np.exp(log_softmax(naive_scores(best, later, unit, codes), axis=1))
    assert np.allclose(probabilities_of(found, later, codes), expected, rtol=0, atol=1e-4)


def test_rows_that_the_decisions_separate_have_finite_logits():
    codes = simplex_codes(3)
    classes = np.arange(30) % 3
    found = Calibration.of_classes(codes[classes], classes, np.ones(30), codes)
    assert np.isfinite(found.matrix).all()
    probabilities = probabilities_of(found, codes, codes)
    assert probabilities.argmax(axis=1).tolist() == [0, 1, 2]
    assert probabilities.max() < 1.0


def test_decisions_that_say_nothing_give_the_shares_of_the_classes():
    codes = simplex_codes(3)
    classes, weight = np.arange(400) % 4 % 3, np.repeat([1.0, 1.0, 2.0, 2.0], 100)
    found = Calibration.of_classes(np.zeros((400, 2)), classes, weight, codes)
    shares = np.bincount(classes, weights=weight) / weight.sum()
    assert np.allclose(probabilities_of(found, np.zeros((1, 2)), codes), [shares], atol=0.02)


def test_probabilities_of_rare_classes_follow_the_logarithm(rng):
    """Least squares estimates p; its logit is far from linear near 0."""
    shares = 10 ** rng.uniform(-1.8, -0.3, 20_000)
    classes = (rng.random(len(shares)) < shares).astype(int)
    codes = simplex_codes(2)
    found = Calibration.of_classes(2 * shares[:, None] - 1, classes, np.ones(len(shares)), codes)
    rows = np.array([0.02, 0.1, 0.4])
    probabilities = probabilities_of(found, 2 * rows[:, None] - 1, codes)[:, 1]
    assert np.allclose(probabilities, rows, rtol=0.1)


def test_labels_are_calibrated_one_by_one(rng):
    decisions, classes, codes = make_decisions(2, rng)
    both = np.hstack([decisions, -0.3 * decisions])
    present = np.column_stack([classes, 1 - classes])
    found = Calibration.of_labels(both, present, np.ones(600))
    for t in range(2):
        own = Calibration.of_classes(both[:, [t]], present[:, t], np.ones(600), codes)
        assert np.array_equal(found.logits(both)[:, [t]], own.logits(both[:, [t]]))


def test_a_class_without_honest_rows_has_a_small_probability(rng):
    codes = simplex_codes(3)
    classes = np.arange(40) % 2
    decisions = codes[classes] + 0.5 * rng.normal(size=(40, 2))
    found = Calibration.of_classes(decisions, classes, np.ones(40), codes)
    probabilities = probabilities_of(found, codes, codes)
    assert np.isfinite(probabilities).all()
    assert probabilities[:2, 2].max() < 0.1
