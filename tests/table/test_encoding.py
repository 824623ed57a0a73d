"""Gaps and levels as numbers, and robust scaling, equal a naive implementation."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy import sparse

from cgens.table import Table
from cgens.table.encoding import MAX_LEVELS, MIN_LEVEL_WEIGHT, Encoding
from cgens.table.scaling import MAX_KNOTS, ScalingKind, mid_ranks, weighted_quantiles
from cgens.table.table import BLOCK_ROWS
from tests.reference.naive_encoding import encode_rows, quantile
from tests.tolerances import CLOSED_FORM

NAN = np.nan
SCALINGS = get_args(ScalingKind)


def encoding_of(X, weight=None, is_category=None, scaling="none"):
    """Return the encoding of all rows of an array."""
    X = X if sparse.issparse(X) else np.asarray(X, dtype=getattr(X, "dtype", float))
    flags = np.zeros(X.shape[1], dtype=bool) if is_category is None else np.array(is_category)
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=float)
    return Encoding.of(Table(X, flags), np.arange(X.shape[0]), weight, scaling)


def random_table(rng, n):
    """Return numbers with ties, outliers and gaps, and codes of levels that are frequent, rare or missing."""
    numbers = np.column_stack(
        [
            rng.normal(size=n).round(1),
            1e4 + 1e3 * rng.standard_cauchy(n),
            np.where(rng.random(n) < 0.9, 3.0, rng.integers(0, 9, n)),  # no interquartile range
            np.full(n, 7.0),
        ]
    )
    numbers[rng.random(numbers.shape) < [0.2, 0.1, 0.0, 0.3]] = NAN
    codes = np.column_stack([rng.integers(0, 3, n), rng.geometric(0.1, n), rng.integers(0, 60, n)]).astype(float)
    codes[rng.random(codes.shape) < [0.1, 0.0, 0.2]] = NAN
    return np.column_stack([numbers, codes])[:, [4, 0, 1, 5, 2, 3, 6]]


IS_CATEGORY = [True, False, False, True, False, False, True]


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_naive_encoding(seed, scaling):
    rng = np.random.default_rng(seed)
    X, weight = random_table(rng, 120), rng.integers(1, 4, 120)
    later = np.vstack([X, random_table(rng, 30), [[NAN] * 7], [[999.0] * 7]])  # also levels that do not occur
    encoding = encoding_of(X, weight, IS_CATEGORY, scaling)
    expected = encode_rows(X.tolist(), weight.tolist(), IS_CATEGORY, scaling, later.tolist())
    encoded = encoding.transform(later)
    assert encoded.shape == (len(later), encoding.n_inputs)
    assert np.allclose(encoded, expected, rtol=CLOSED_FORM, atol=CLOSED_FORM)
    assert not encoded[-2:, -(encoding.n_inputs - 4 - len(encoding.gaps)) :].any(), "missing and unseen levels"


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_weight_counts_as_copies_bit_for_bit(scaling, rng):
    X, weight = random_table(rng, 80), rng.integers(1, 5, 80)
    copies = np.repeat(X, weight, axis=0)
    assert encoding_of(X, weight, IS_CATEGORY, scaling).digest == encoding_of(copies, None, IS_CATEGORY, scaling).digest


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8])
def test_weighted_quantiles_are_those_of_copies(n, rng):
    values, weight = rng.normal(size=n).round(1), rng.integers(1, 4, n)
    shares = (0.25, 0.5, 0.75)
    expected = [quantile(np.repeat(values, weight).tolist(), share) for share in shares]
    assert weighted_quantiles(values, weight.astype(float), shares) == expected
    assert weighted_quantiles(values, 0.1 * weight, shares) == expected, "rounding does not matter"


def test_other_rows_do_not_count(rng):
    """Only the given rows of a table are measured."""
    X = random_table(rng, 100)
    rows, weight = np.arange(0, 100, 2), np.ones(50)
    some = Encoding.of(Table(X, np.array(IS_CATEGORY)), rows, weight, "robust")
    assert some.digest == encoding_of(X[rows], None, IS_CATEGORY, "robust").digest


# --- levels

#: Weights of the levels 0, 1, ... | levels with an input of their own
LEVELS = {
    "all frequent": ([5, 6, 7], [0, 1, 2]),
    "just frequent": ([MIN_LEVEL_WEIGHT, MIN_LEVEL_WEIGHT - 0.01, 9], [0, 2]),
    "all rare": ([1, 1, 4.9], []),
    "one level": ([50], [0]),
    "too many": ([9] * 5 + [10] * MAX_LEVELS, list(range(5, 5 + MAX_LEVELS))),
    "too many of one weight": ([9] * (MAX_LEVELS + 5), list(range(MAX_LEVELS))),
    "the last of those that have room is too rare": ([1] + [9] * (MAX_LEVELS - 1) + [2], list(range(1, MAX_LEVELS))),
}


@pytest.mark.parametrize("name", LEVELS)
def test_rare_levels_share_one_input(name):
    weight, own = LEVELS[name]
    n = len(weight)
    encoding = encoding_of(np.arange(float(n))[:, None], weight, [True])
    rare = [level for level in range(n) if level not in own]
    assert encoding.level_codes.tolist() == own + [-1] * bool(rare)
    assert encoding.rare.tolist() == rare
    encoded = encoding.transform(np.append(np.arange(n), [n, NAN])[:, None])
    expected = np.zeros((n + 2, len(own) + bool(rare)))
    expected[own, np.arange(len(own))] = 1.0
    expected[rare, -1:] = 1.0
    assert np.array_equal(encoded, expected)


# --- numbers

#: A column | its median | what robust scaling divides by
SCALES = {
    "interquartile range": ([0, 1, 2, 3, 4, 5, 6, 7, 1000], 4.0, 4.0),
    "gaps do not count": ([0, NAN, 1, 2, 3, 4, NAN, 5, 6, 7, 1000], 4.0, 4.0),
    "half of the values between two": ([0, 1, 2, 3], 1.5, 2.0),
    "zeros and ones": ([0, 0, 0, 0, 0, 0, 0, 0, 1], 0.0, 1.0),
    "range": ([2, 2, 2, 2, 2, 2, 2, 2, -8], 2.0, 10.0),
    "constant": ([3, 3, 3], 3.0, 1.0),
    "one value": ([NAN, 5, NAN], 5.0, 1.0),
    "nothing but gaps": ([NAN, NAN], 0.0, 1.0),
}


@pytest.mark.parametrize("name", SCALES)
def test_robust_scaling(name):
    column, median, scale = SCALES[name]
    column = np.array(column)[:, None]
    encoding = encoding_of(column, scaling="robust")
    assert (encoding.fill.tolist(), encoding.scaling.centre.tolist(), encoding.scaling.scale.tolist()) == (
        [median],
        [median],
        [scale],
    )
    later = np.array([[median - 7.0], [median], [median + 1e9], [NAN]])
    z = (later[:3, 0] - median) / scale
    encoded = encoding.transform(later)
    assert np.allclose(encoded[:3, 0], z / np.sqrt(1 + (z / 3) ** 2), rtol=CLOSED_FORM, atol=0)
    assert encoded[3, 0] == 0.0, "a gap is at the median"
    assert np.abs(encoded[:, 0]).max() <= 3.0
    has_gaps = np.isnan(column).any()
    assert encoded.shape == (4, 1 + has_gaps)
    assert not has_gaps or encoded[:, 1].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_without_scaling_numbers_stay_as_they_are(rng):
    X = random_table(rng, 60)
    encoding = encoding_of(X, None, IS_CATEGORY)
    numbers = X[:, ~np.array(IS_CATEGORY)]
    known = ~np.isnan(numbers)
    encoded = encoding.transform(X)[:, :4]
    assert np.array_equal(encoded[known], numbers[known])
    assert np.array_equal(encoded[~known], np.broadcast_to(np.nanmedian(numbers, axis=0), numbers.shape)[~known])


def test_a_column_of_nothing_but_gaps_is_constant():
    X = np.array([[NAN, NAN, 1.0], [NAN, NAN, 2.0]])
    for scaling in SCALINGS:
        encoded = encoding_of(X, None, [False, True, False], scaling).transform(X)
        assert np.array_equal(encoded[:, [0, 2]], [[0.0, 1.0], [0.0, 1.0]])
        assert encoded.shape == (2, 3), "no level has an input"


# --- memory and storage


@pytest.mark.parametrize("scaling", SCALINGS)
def test_float32_and_blocks_change_no_bit(scaling, rng):
    X = random_table(rng, BLOCK_ROWS + 50).astype(np.float32)
    single, double = (encoding_of(own, None, IS_CATEGORY, scaling) for own in (X, X.astype(np.float64)))
    assert single.digest == double.digest
    encoded = double.transform(X.astype(np.float64))
    assert encoded.dtype == np.float64
    for own in (X, np.asfortranarray(X), X[::-1][::-1]):
        assert single.transform(own).tobytes() == encoded.tobytes()
    parts = [single.transform(X[begin : begin + 1000]) for begin in range(0, len(X), 1000)]
    assert np.concatenate(parts).tobytes() == encoded.tobytes()


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sparse_table_is_encoded_as_a_dense_one(convert, dtype, rng):
    """Robust scaling only if medians are 0: a sparse table is not centred."""
    X = np.round(rng.normal(size=(90, 4)), 1) * (rng.random((90, 4)) < [0.9, 0.6, 0.3, 0.1])
    X[:, 0] += 2.0
    X[rng.random((90, 4)) < [0.1, 0.0, 0.2, 0.1]] = NAN
    X, weight = X.astype(dtype), rng.integers(1, 4, 90)
    own, same = encoding_of(convert(X), weight), encoding_of(X, weight)
    assert own.digest == same.digest
    assert np.array_equal(own.transform(convert(X)).toarray(), same.transform(X))
    own, same = encoding_of(convert(X), weight, scaling="robust"), encoding_of(X, weight, scaling="robust")
    assert np.array_equal(own.scaling.scale, same.scaling.scale)
    assert not own.scaling.centre.any()
    assert (same.scaling.centre == 0).tolist() == [False, True, True, True]
    found, expected = own.transform(convert(X)).toarray(), same.transform(X)
    assert np.array_equal(found[:, 1:], expected[:, 1:])
    assert found[0, 0] != expected[0, 0]


def test_explicit_zeros_of_a_sparse_table_do_not_matter():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, NAN]])
    explicit = sparse.csr_array((X.ravel(), np.tile([0, 1], 3), [0, 2, 4, 6]), shape=X.shape)
    assert explicit.nnz == 6
    for scaling in ("none", "robust", "zc"):
        plain = encoding_of(sparse.csr_array(X), scaling=scaling)
        assert encoding_of(explicit, scaling=scaling).digest == plain.digest
        assert np.array_equal(plain.transform(explicit).toarray(), plain.transform(sparse.csr_array(X)).toarray())


@pytest.mark.parametrize("scaling", SCALINGS)
def test_arrays_hold_everything(scaling, rng):
    X = random_table(rng, 90)
    encoding = encoding_of(X, None, IS_CATEGORY, scaling)
    arrays = encoding.to_arrays()
    assert all(isinstance(own, np.ndarray) and own.dtype != object for own in arrays.values())
    again = Encoding.from_arrays(arrays)
    assert again.digest == encoding.digest
    assert again.transform(X).tobytes() == encoding.transform(X).tobytes()
    assert encoding_of(X[1:], None, IS_CATEGORY, scaling).digest != encoding.digest


@pytest.mark.parametrize("n", [1, MAX_KNOTS, 5000])
def test_ranks_of_many_values_are_interpolated(n, rng):
    values, weight = np.sort(rng.normal(size=n)), rng.integers(1, 4, n).astype(float)
    exact = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    knots, ranks = mid_ranks(values, weight)
    assert len(knots) == min(n, MAX_KNOTS)
    assert knots[[0, -1]].tolist() == values[[0, -1]].tolist()
    assert np.abs(np.interp(values, knots, ranks) - exact).max() <= (0 if n <= MAX_KNOTS else 1 / MAX_KNOTS)
