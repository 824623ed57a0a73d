"""Labels to targets and back."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.coding import ClassCoding, LabelCoding, simplex_codes
from tests.tolerances import CLOSED_FORM

CODINGS = {"simplex": ClassCoding.simplex, "one vs. rest": ClassCoding.one_vs_rest}


def test_codes_are_the_corners_of_a_simplex():
    """Unit vectors of sum 0 with equal angles between any two, the smallest possible inner product.

    With the codes S of k classes, those of k + 1 are (sqrt(1 - 1/k^2) S, -1/k) and (0, 1).
    """
    assert simplex_codes(2).tolist() == [[-1.0], [1.0]]
    for k in (*range(2, 41), 1000):
        codes, larger = simplex_codes(k), simplex_codes(k + 1)
        assert codes.shape == (k, k - 1)
        expected = np.where(np.eye(k) == 1, 1.0, -1.0 / (k - 1))
        assert np.allclose(codes @ codes.T, expected, rtol=0, atol=CLOSED_FORM)
        assert np.allclose(codes.sum(axis=0), 0.0, rtol=0, atol=CLOSED_FORM)
        grown = np.column_stack([np.sqrt(1 - 1 / k**2) * codes, np.full(k, -1 / k)])
        assert np.allclose(larger[:k], grown, rtol=0, atol=CLOSED_FORM)
        assert larger[k].tolist() == [0.0] * (k - 1) + [1.0]


@pytest.mark.parametrize("n_classes", [1, 0, -3])
def test_fewer_than_two_classes_have_no_codes(n_classes):
    with pytest.raises(ValueError, match=rf"\b2\b.*{n_classes}"):
        simplex_codes(n_classes)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 26, 1000])
@pytest.mark.parametrize("name", CODINGS)
def test_decoding_inverts_encoding(name, n_classes, rng):
    coding = CODINGS[name](np.arange(n_classes))
    classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 50)])
    target = coding.encode(classes)
    assert target.shape == (len(classes), coding.codes.shape[1])
    assert target.flags.c_contiguous
    assert np.array_equal(coding.decode(target), classes)
    assert np.array_equal(coding.decode(1e-9 * target), classes), "only directions count"
    assert coding.decode(target).dtype.kind == "i"
    assert coding.decode(target[:0]).shape == (0,)


@pytest.mark.parametrize("n_classes", [3, 5, 12])
def test_the_nearest_code_wins(n_classes, rng):
    coding = ClassCoding.simplex(np.arange(n_classes))
    decision = rng.normal(size=(200, n_classes - 1))
    distances = np.linalg.norm(decision[:, None, :] - coding.codes, axis=2)
    assert np.array_equal(coding.decode(decision), distances.argmin(axis=1))
    scores = coding.scores(decision)
    assert scores.shape == (200, n_classes)
    assert np.allclose(scores.sum(axis=1), 0.0, rtol=0, atol=CLOSED_FORM * n_classes)


def test_scores_of_two_classes_are_the_decision():
    coding, decision = ClassCoding.simplex(np.arange(2)), np.array([[0.5], [-2.0]])
    assert coding.scores(decision).tolist() == [0.5, -2.0]
    assert coding.decode(decision).tolist() == [1, 0]


def test_one_vs_rest_the_largest_output_wins(rng):
    decision = rng.normal(size=(100, 5))
    coding = ClassCoding.one_vs_rest(np.arange(5))
    assert np.array_equal(coding.decode(decision), decision.argmax(axis=1))
    assert np.array_equal(coding.scores(decision), decision)
    assert np.array_equal(coding.codes, 2 * np.eye(5) - 1), "which the hinge loss can fit"


def test_the_first_of_tied_classes_wins():
    for n_classes in (2, 4):
        assert ClassCoding.simplex(np.arange(n_classes)).decode(np.zeros((1, n_classes - 1))).tolist() == [0]
    decision = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [-1.0, -1.0, -1.0]])
    assert ClassCoding.one_vs_rest(np.arange(3)).decode(decision).tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype", [int, float, bool])
@pytest.mark.parametrize("n_labels", [1, 4])
def test_labels_are_signs_of_their_own(n_labels, dtype, rng):
    """A label is predicted if its decision is positive."""
    indicator, coding = (rng.random((30, n_labels)) < 0.5).astype(dtype), LabelCoding(n_labels)
    target = coding.encode(indicator)
    assert target.dtype == np.float64
    assert np.array_equal(target, np.where(indicator, 1.0, -1.0))
    assert np.array_equal(coding.decode(target), indicator.astype(int))
    assert coding.decode(np.tile([[0.1], [0.0], [-5.0]], n_labels)).tolist() == [[k] * n_labels for k in (1, 0, 0)]
    assert np.array_equal(coding.scores(target), target)
    assert coding.decode(target[:0]).shape == (0, n_labels)
