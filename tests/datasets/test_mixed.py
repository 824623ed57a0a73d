"""Tables of `make_mixed` have the documented distribution, and their truth is the documented function of the row."""

from __future__ import annotations

import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cgens.datasets import make_mixed
from tests.datasets.moments import MANY, assert_fraction, assert_moments, assert_uncorrelated
from tests.tolerances import CLOSED_FORM, SIGMAS

NUMBER_EFFECTS = [
    lambda x: math.sqrt(5) * (3 * x * x - 1) / 2,
    lambda x: 1.0 if x > 1 else -1.0,
    lambda x: (x - 4.5) / math.sqrt(8.25),
]


def level_effects(n_levels: int) -> dict[str, float]:
    """The documented effect of each level, by name."""
    weights = [1 / (k + 1) for k in range(n_levels)]
    raw = [math.modf(k * (math.sqrt(5) - 1) / 2)[0] for k in range(n_levels)]
    mean = math.fsum(w * e for w, e in zip(weights, raw, strict=True)) / math.fsum(weights)
    variance = math.fsum(w * (e - mean) ** 2 for w, e in zip(weights, raw, strict=True)) / math.fsum(weights)
    digits = len(str(n_levels - 1))
    return {f"level_{str(k).zfill(digits)}": (e - mean) / math.sqrt(variance) for k, e in enumerate(raw)}


def reference_truth(row: dict, n_numbers: int, n_levels: tuple[int, ...]) -> float:
    """f(x) of one row, from the documentation."""
    terms = []
    for j in range(n_numbers):
        x, gap = row[f"number_{j}"], 3.0 if j % 2 == 0 else 0.0
        terms.append(gap if pd.isna(x) else NUMBER_EFFECTS[j % 3](x))
    for j, n in enumerate(n_levels):
        level, gap = row[f"category_{j}"], -3.0 if j % 2 == 0 else 0.0
        terms.append(gap if pd.isna(level) else level_effects(n)[level])
    x, level = row["number_0"], row["category_0"]
    terms.append(0.0 if pd.isna(x) or pd.isna(level) else math.sqrt(3) * x * level_effects(n_levels[0])[level])
    return sum(terms) / math.sqrt(len(terms))


@pytest.mark.parametrize(
    ("n_numbers", "n_levels", "n_irrelevant", "missing"),
    [(4, (3, 12, 200), 1, 0.1), (1, (2,), 0, 0.0), (7, (5, 2, 30, 11), 3, 0.5)],
)
def test_the_truth_is_the_documented_function_of_the_row(n_numbers, n_levels, n_irrelevant, missing):
    shape = {"n_numbers": n_numbers, "n_levels": n_levels, "n_irrelevant": n_irrelevant, "missing": missing}
    X, y, truth = make_mixed(150, **shape, noise=0, random_state=3)
    expected = [reference_truth(row, n_numbers, n_levels) for row in X.to_dict("records")]
    assert np.allclose(truth, expected, rtol=0, atol=CLOSED_FORM)
    assert np.array_equal(y, truth)
    names = [f"number_{j}" for j in range(n_numbers)] + [f"category_{j}" for j in range(len(n_levels))]
    for j in range(n_irrelevant):
        names += [f"irrelevant_number_{j}", f"irrelevant_category_{j}"]
    assert list(X.columns) == names
    # For classification f is divided by the noise; the table is the same.
    same, _, log_odds = make_mixed(150, **shape, noise=0.25, task="classification", random_state=3)
    pd.testing.assert_frame_equal(X, same)
    assert np.allclose(log_odds, truth / 0.25, rtol=CLOSED_FORM)


@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_the_noise_is_normal_and_independent_of_the_truth(noise):
    _, y, truth = make_mixed(MANY, noise=noise, random_state=0)
    assert (y.dtype, truth.dtype) == (np.float64, np.float64)
    assert_moments((y - truth)[:, None], 0.0, noise**2)
    assert_uncorrelated(np.column_stack([y - truth, truth]))


@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_labels_have_the_probabilities_of_the_truth(noise):
    _, y, truth = make_mixed(MANY, noise=noise, task="classification", random_state=0)
    assert (y.dtype, set(y)) == (np.int64, {0, 1})
    probability = expit(truth)
    for group in np.array_split(np.argsort(probability), 8):
        p = probability[group]
        assert abs(np.sum(y[group] - p)) <= SIGMAS * np.sqrt(np.sum(p * (1 - p)))


def test_numbers_have_the_documented_distributions():
    X, _, _ = make_mixed(MANY, n_numbers=6, missing=0.2, random_state=0)
    for j in range(6):
        x = X[f"number_{j}"].dropna().to_numpy()
        assert x.dtype == np.float64
        # The effects have mean 0 and variance 1, and the column is what the docstring says.
        effect = np.array([NUMBER_EFFECTS[j % 3](value) for value in x])
        assert abs(effect.mean()) <= SIGMAS / np.sqrt(len(x))
        square = effect**2
        assert abs(square.mean() - 1) <= SIGMAS * square.std() / np.sqrt(len(x)) + CLOSED_FORM
        uniform = [(x + 1) / 2, x / (1 + x), (x + 0.5) / 10][j % 3]
        assert np.all((uniform >= 0) & (uniform < 1))
        for part in (0.2, 0.5, 0.9):
            assert_fraction(uniform < part, part)
        assert j % 3 != 2 or set(x) == set(range(10))


def test_levels_have_frequencies_of_zipf():
    X, _, _ = make_mixed(MANY, n_levels=(2, 12, 200), missing=0.2, random_state=0)
    for j, n in enumerate((2, 12, 200)):
        column = X[f"category_{j}"]
        assert column.cat.categories.tolist() == sorted(level_effects(n))
        codes = column.cat.codes[column.notna()].to_numpy()
        weights = 1 / np.arange(1, n + 1)
        for level in (0, 1, n // 2, n - 1):
            assert_fraction(codes == level, weights[level] / weights.sum())
    small, _, _ = make_mixed(100, random_state=0)
    assert small["category_2"].nunique() < 60
    assert len(small["category_2"].cat.categories) == 200, "levels that do not occur are levels all the same"


@pytest.mark.parametrize("missing", [0.1, 0.6])
def test_gaps_are_completely_at_random(missing):
    X, _, truth = make_mixed(MANY, missing=missing, random_state=0)
    gaps = X.isna().to_numpy()
    for column in range(X.shape[1]):
        assert_fraction(gaps[:, column], missing)
    assert_uncorrelated(gaps.astype(float))
    # The mean truth of rows with a gap tells whether it is informative.
    scale = np.sqrt(8)  # four numbers, three categories, the interaction
    effects = {"number_0": 3, "number_1": 0, "number_2": 3, "number_3": 0, "category_0": -3, "category_1": 0}
    effects |= {"category_2": -3, "irrelevant_number_0": 0, "irrelevant_category_0": 0}
    assert set(effects) == set(X.columns)
    for name, effect in effects.items():
        gap, value = truth[X[name].isna()], truth[X[name].notna()]
        error = np.sqrt(gap.var() / len(gap) + value.var() / len(value))
        assert abs(gap.mean() - value.mean() - effect / scale) <= SIGMAS * error, name


def test_missing_changes_only_the_gaps():
    full, *_ = make_mixed(200, missing=0, random_state=5)
    X, *_ = make_mixed(200, missing=0.4, random_state=5)
    assert not full.isna().any(axis=None)
    pd.testing.assert_frame_equal(X, full.mask(X.isna()))


def test_an_informative_gap_has_a_larger_effect_than_any_value():
    for n in [*range(2, 60), 200, 1000, 5000]:
        assert max(map(abs, level_effects(n).values())) < 2.24, n
    assert max(abs(NUMBER_EFFECTS[0](x)) for x in np.linspace(-1, 1, 101)) < 2.24
    assert NUMBER_EFFECTS[2](9) < 2.24


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_seeds(task):
    first, again, other = (make_mixed(50, task=task, random_state=seed) for seed in (3, 3, 4))
    from_object = make_mixed(50, task=task, random_state=np.random.RandomState(3))
    for sample in (again, from_object):
        pd.testing.assert_frame_equal(first[0], sample[0], check_exact=True)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(first[1:], sample[1:], strict=True))
    assert not first[0].equals(other[0])
    assert list(first[0].dtypes) == list(other[0].dtypes), "the same levels"
    assert not make_mixed(50)[0].equals(make_mixed(50)[0]), "without a seed, samples differ"
    assert [len(part) for part in make_mixed(np.int64(1))] == [1, 1, 1]


def test_the_sample_of_a_seed_never_changes():
    """Results that were measured on it stay comparable."""
    X, y, truth = make_mixed(3, n_numbers=3, n_levels=(3, 12), missing=0.3, random_state=0)
    assert X.to_csv(index=False, float_format="%.6f").splitlines()[1:] == [
        "0.097627,0.778053,,level_1,level_00,-0.470889,level_2",
        "0.430379,8.239839,,level_2,level_03,,level_2",
        "0.205527,26.519977,0.000000,level_2,level_00,-0.087699,level_8",
    ]
    assert y.round(6).tolist() == [0.486856, 2.209355, -0.411102]
    assert truth.round(6).tolist() == [0.660812, 2.131181, -1.026247]
    _, labels, _ = make_mixed(12, task="classification", random_state=0)
    assert labels.tolist() == [1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1]


INVALID = [
    *[("n_samples", value) for value in (0, -1, 2.5, "many")],
    *[("n_numbers", value) for value in (0, -1, 2.5, None)],
    *[("n_levels", value) for value in ((), 3, (3, 1), (3, 2.5), "33", None)],
    *[("n_irrelevant", value) for value in (-1, 0.5)],
    *[("missing", value) for value in (-0.1, 1, np.nan, "few")],
    *[("noise", value) for value in (-0.1, np.nan, np.inf, None)],
    *[("task", value) for value in ("binary", None)],
    ("random_state", "seed"),
]


@pytest.mark.parametrize(("name", "value"), INVALID)
def test_invalid_parameters(name, value):
    message = f"{name} must be .*" if name != "random_state" else ".*"  # scikit-learn's message
    with pytest.raises(ValueError, match=message + re.escape(repr(value))):
        make_mixed(**{"n_samples": 5} | {name: value})


def test_labels_need_noise():
    with pytest.raises(ValueError, match=r"noise must be > 0 for classification.*0"):
        make_mixed(5, noise=0, task="classification")


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"make_mixed needs pandas: pip install 'cgens\[tables\]'"):
        make_mixed(5)
