"""Labels to targets and back."""

from __future__ import annotations

import numpy as np
import pytest

from cgens.coding import ClassCoding, LabelCoding, simplex_codes
from tests.tolerances import CLOSED_FORM

N_CLASSES = [*range(2, 41), 1000]
CODINGS = {"simplex": ClassCoding.simplex, "one against the rest": ClassCoding.one_vs_rest}


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_codes_are_the_corners_of_a_simplex(n_classes):
    """Unit vectors, equal angles between any two, the smallest inner product there can be, and their sum is 0."""
    codes = simplex_codes(n_classes)
    assert codes.shape == (n_classes, n_classes - 1)
    expected = np.full((n_classes, n_classes), -1.0 / (n_classes - 1))
    np.fill_diagonal(expected, 1.0)
    assert np.allclose(codes @ codes.T, expected, rtol=0, atol=CLOSED_FORM)
    assert np.allclose(codes.sum(axis=0), 0.0, rtol=0, atol=CLOSED_FORM)


def test_two_classes_are_minus_one_and_one():
    assert simplex_codes(2).tolist() == [[-1.0], [1.0]]


def test_codes_grow_from_those_of_fewer_classes():
    """With the codes S of k classes, those of k + 1 are (sqrt(1 - 1/k^2) S, -1/k) and (0, 1)."""
    for k in range(2, 12):
        smaller, larger = simplex_codes(k), simplex_codes(k + 1)
        expected = np.column_stack([np.sqrt(1 - 1 / k**2) * smaller, np.full(k, -1 / k)])
        assert np.allclose(larger[:k], expected, rtol=0, atol=CLOSED_FORM)
        assert larger[k].tolist() == [0.0] * (k - 1) + [1.0]


@pytest.mark.parametrize("n_classes", [1, 0, -3])
def test_fewer_than_two_classes_have_no_codes(n_classes):
    with pytest.raises(ValueError, match=rf"2 classes.*{n_classes}"):
        simplex_codes(n_classes)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 26, 1000])
@pytest.mark.parametrize("name", CODINGS)
def test_decoding_inverts_encoding(name, n_classes, rng):
    coding = CODINGS[name](np.arange(n_classes))
    numbers = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 50)])
    target = coding.encode(numbers)
    assert target.shape == (len(numbers), coding.codes.shape[1])
    assert target.flags.c_contiguous
    assert np.array_equal(coding.decode(target), numbers)
    assert np.array_equal(coding.decode(1e-9 * target), numbers), "only directions count"
    assert coding.decode(target).dtype.kind == "i"


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12])
def test_the_nearest_code_wins(n_classes, rng):
    coding = ClassCoding.simplex(np.arange(n_classes))
    decision = rng.normal(size=(200, n_classes - 1))
    distances = np.linalg.norm(decision[:, None, :] - coding.codes, axis=2)
    assert np.array_equal(coding.decode(decision), distances.argmin(axis=1))


def test_the_largest_output_wins_against_the_rest(rng):
    decision = rng.normal(size=(100, 5))
    coding = ClassCoding.one_vs_rest(np.arange(5))
    assert np.array_equal(coding.decode(decision), decision.argmax(axis=1))
    assert np.array_equal(coding.scores(decision), decision)
    assert np.array_equal(np.unique(coding.codes), [-1.0, 1.0]), "what the hinge loss can fit"
    assert np.array_equal(coding.codes == 1, np.eye(5, dtype=bool))


def test_a_draw_goes_to_the_first():
    assert ClassCoding.simplex(np.arange(2)).decode(np.zeros((1, 1))).tolist() == [0]
    assert ClassCoding.simplex(np.arange(4)).decode(np.zeros((1, 3))).tolist() == [0]
    decision = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [-1.0, -1.0, -1.0]])
    assert ClassCoding.one_vs_rest(np.arange(3)).decode(decision).tolist() == [0, 1, 0]


def test_scores_of_two_classes_are_the_decision():
    coding, decision = ClassCoding.simplex(np.arange(2)), np.array([[0.5], [-2.0]])
    assert coding.scores(decision).tolist() == [0.5, -2.0]
    assert coding.decode(decision).tolist() == [1, 0]


@pytest.mark.parametrize("n_classes", [3, 7])
def test_scores_have_one_column_a_class(n_classes, rng):
    decision = rng.normal(size=(20, n_classes - 1))
    scores = ClassCoding.simplex(np.arange(n_classes)).scores(decision)
    assert scores.shape == (20, n_classes)
    assert np.allclose(scores.sum(axis=1), 0.0, rtol=0, atol=CLOSED_FORM * n_classes)


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_labels_come_back(dtype, rng):
    indicator = (rng.random((30, 4)) < 0.5).astype(dtype)
    coding = LabelCoding(4)
    target = coding.encode(indicator)
    assert target.dtype == np.float64
    assert np.array_equal(target, np.where(indicator, 1.0, -1.0))
    assert np.array_equal(coding.decode(target), indicator.astype(int))


def test_a_label_is_there_where_its_decision_is_positive():
    coding, decision = LabelCoding(3), np.array([[0.1, 0.0, -5.0]])
    assert coding.decode(decision).tolist() == [[1, 0, 0]]
    assert np.array_equal(coding.scores(decision), decision)
    assert LabelCoding(1).decode(LabelCoding(1).encode(np.array([[1], [0]]))).tolist() == [[1], [0]]


def test_no_rows():
    assert ClassCoding.simplex(np.arange(3)).decode(np.zeros((0, 2))).shape == (0,)
    assert ClassCoding.simplex(np.arange(2)).decode(np.zeros((0, 1))).shape == (0,)
    assert LabelCoding(3).decode(np.zeros((0, 3))).shape == (0, 3)
