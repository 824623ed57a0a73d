"""Generator of tables with numbers, categories and gaps, whose target is a known function of the row."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from cgens.datasets.generators import checked_size
from cgens.datasets.optional import import_pandas
from cgens.types import AnyArray, Floats, Integers

if TYPE_CHECKING:
    import pandas as pd

#: Effect of an informative gap. Effects of values are between -2.24 and 2.24.
_GAP = 3.0
#: Number of levels of the irrelevant categories.
_IRRELEVANT_LEVELS = 10


def make_mixed(
    n_samples: int = 1000,
    *,
    n_numbers: int = 4,
    n_levels: Sequence[int] = (3, 12, 200),
    n_irrelevant: int = 1,
    missing: float = 0.1,
    noise: float = 0.5,
    task: Literal["regression", "classification"] = "regression",
    random_state: Any = None,
) -> tuple[pd.DataFrame, AnyArray, Floats]:
    """Generate a table of numbers and categories with gaps, whose target is a known function of the row.

    The target depends on the row as it is in the table, gaps included, so that no prediction can be better than the
    truth f(x). The function f is the same for every seed: tables of different seeds are samples of one problem.

    All columns are independent. The columns ``number_0``, ``number_1``, ... are, in turn,

    - uniform on [-1, 1), with the smooth effect sqrt(5) (3 x^2 - 1) / 2;
    - u / (1 - u) for u uniform on [0, 1), which is positive with a heavy tail, with a step as effect: -1 up to the
      median 1, and 1 above;
    - uniform on the integers 0 ... 9, with a linear effect, (x - 4.5) / sqrt(8.25).

    The columns ``category_0``, ``category_1``, ... have the levels "level_0", "level_1", ..., of 200 "level_000" to
    "level_199". The probability of level k is proportional to 1 / (k + 1): most of many levels are rare. Its effect is
    the fractional part of k (sqrt(5) - 1) / 2, standardized.

    All effects have mean 0 and variance 1. A cell is a gap with probability `missing`, independent of everything else.
    In columns 0, 2, 4, ... of either kind a gap is informative: its effect, 3 for numbers and -3 for categories, is
    larger in absolute value than that of any value. In the other columns the effect of a gap is 0, the mean effect of
    the column.

    There is one interaction: sqrt(3) x times the effect of the level, for ``number_0`` and ``category_0``; 0 if one of
    them is a gap. The truth f(x) is the sum of all effects and the interaction, divided by the square root of the
    number of terms. The columns ``irrelevant_number_0``, ... and ``irrelevant_category_0``, ... do not change it.

    Parameters
    ----------
    n_samples : int, default=1000
    n_numbers : int, default=4
        Number of relevant numeric columns, at least 1.
    n_levels : sequence of int, default=(3, 12, 200)
        Number of levels of each relevant categorical column, at least 2; there is at least one such column.
    n_irrelevant : int, default=1
        Number of irrelevant numeric columns, and of irrelevant categorical columns with 10 levels.
    missing : float, default=0.1
        Probability of a gap, in [0, 1). It does not change the other cells.
    noise : float, default=0.5
        Regression: standard deviation of the normal noise. Classification: f is divided by it, so that the classes
        overlap more if it is large; not 0.
    task : {"regression", "classification"}, default="regression"
    random_state : int, RandomState or None

    Returns
    -------
    X : DataFrame of shape (n_samples, n_numbers + len(n_levels) + 2 n_irrelevant)
        Numbers are float64. Categories have the dtype "category" with all levels, also those that do not occur.
    y : ndarray of shape (n_samples,)
        Regression: f(x) and noise. Classification: 1 with probability 1 / (1 + exp(-f(x))), else 0.
    truth : ndarray of shape (n_samples,)
        f(x): the expected target for regression, the log-odds of class 1 for classification.

    Raises
    ------
    ValueError
        If a parameter is not valid.
    ImportError
        If pandas is not installed.

    Examples
    --------
    >>> from cgens.datasets import make_mixed
    >>> X, y, truth = make_mixed(n_levels=(3, 200), noise=0.3, random_state=0)
    >>> X.shape, y.shape, truth.shape
    ((1000, 8), (1000,), (1000,))
    >>> list(X.columns[:6])
    ['number_0', 'number_1', 'number_2', 'number_3', 'category_0', 'category_1']
    >>> print(f"{X.isna().mean(axis=None):.2f} missing, noise {(y - truth).std():.1f}")
    0.10 missing, noise 0.3
    """
    pandas = import_pandas("make_mixed")
    n_samples, levels = checked_size(n_samples), _checked_levels(n_levels)
    _check_count("n_numbers", n_numbers, 1)
    _check_count("n_irrelevant", n_irrelevant, 0)
    _check_rates(missing, noise, task)
    random = check_random_state(random_state)
    numbers = [_draw_number(j, n_samples, missing, random) for j in range(n_numbers)]
    codes = [_draw_codes(n, n_samples, missing, random) for n in levels]
    columns: dict[str, Any] = {f"number_{j}": x for j, x in enumerate(numbers)}
    for j, (code, n) in enumerate(zip(codes, levels, strict=True)):
        columns[f"category_{j}"] = _category(code, n, pandas)
    for j in range(n_irrelevant):
        columns[f"irrelevant_number_{j}"] = _draw_number(j, n_samples, missing, random)
        code = _draw_codes(_IRRELEVANT_LEVELS, n_samples, missing, random)
        columns[f"irrelevant_category_{j}"] = _category(code, _IRRELEVANT_LEVELS, pandas)
    X, truth = pandas.DataFrame(columns), _truth(numbers, codes, levels)
    if task == "regression":
        return X, truth + noise * random.standard_normal(n_samples), truth
    truth /= noise
    return X, (random.uniform(size=n_samples) < expit(truth)).astype(np.int64), truth


def _draw_number(j: int, n_samples: int, missing: float, random: Any) -> Floats:
    """Return the values of the j-th number; gaps are NaN."""
    u: Floats = random.uniform(size=n_samples)
    x = (2 * u - 1, u / (1 - u), np.floor(10 * u))[j % 3]
    x[_draw_gaps(n_samples, missing, random)] = np.nan
    return x


def _draw_codes(n_levels: int, n_samples: int, missing: float, random: Any) -> Integers:
    """Return the levels 0 ... n_levels - 1 of a category; gaps are -1."""
    cumulative = np.cumsum(_frequencies(n_levels))
    code: Integers = np.searchsorted(cumulative, random.uniform(size=n_samples), side="right").astype(np.int64)
    code[code == n_levels] -= 1  # the sum of the frequencies may be rounded to less than 1
    code[_draw_gaps(n_samples, missing, random)] = -1
    return code


def _draw_gaps(n_samples: int, missing: float, random: Any) -> AnyArray:
    """Return which rows are gaps; the same number of random numbers is drawn whatever `missing` is."""
    gaps: AnyArray = random.uniform(size=n_samples) < missing
    return gaps


def _frequencies(n_levels: int) -> Floats:
    """Return Zipf's law: the k-th level is 1 / k times as frequent as the first."""
    frequencies: Floats = 1 / np.arange(1, n_levels + 1)
    frequencies /= frequencies.sum()
    return frequencies


def _category(code: Integers, n_levels: int, pandas: Any) -> Any:
    """Return a categorical column with all its levels; their names are padded with zeros, and hence sorted."""
    width = len(str(n_levels - 1))
    return pandas.Categorical.from_codes(code, [f"level_{k:0{width}}" for k in range(n_levels)])


def _truth(numbers: list[Floats], codes: list[Integers], levels: list[int]) -> Floats:
    """Return f(x), the scaled sum of all effects and the interaction of the first number and the first category."""
    terms = [np.where(np.isnan(x), _GAP * (j % 2 == 0), _number_effect(j, x)) for j, x in enumerate(numbers)]
    effects = [_level_effects(n) for n in levels]
    for j, (code, effect) in enumerate(zip(codes, effects, strict=True)):
        terms.append(np.where(code < 0, -_GAP * (j % 2 == 0), effect[code]))
    slope = np.where(codes[0] < 0, 0.0, effects[0][codes[0]])
    terms.append(np.sqrt(3) * np.nan_to_num(numbers[0]) * slope)
    truth: Floats = np.sum(terms, axis=0) / np.sqrt(len(terms))
    return truth


def _number_effect(j: int, x: Floats) -> Floats:
    """Return the effect of the j-th number, with mean 0 and variance 1."""
    effects = (np.sqrt(5) * (3 * x**2 - 1) / 2, np.where(x > 1, 1.0, -1.0), (x - 4.5) / np.sqrt(8.25))
    return effects[j % 3]


def _level_effects(n_levels: int) -> Floats:
    """Return the effect of each level, with mean 0 and variance 1 over the rows.

    Multiples of the golden ratio modulo 1 are spread evenly, whatever their number, and are in no order: neither the
    frequency of a level nor its position tells its effect.
    """
    frequencies = _frequencies(n_levels)
    effects: Floats = np.arange(n_levels) * (np.sqrt(5) - 1) / 2 % 1
    effects -= (frequencies * effects).sum()
    effects /= np.sqrt((frequencies * effects**2).sum())
    return effects


def _checked_levels(n_levels: Sequence[int]) -> list[int]:
    valid = isinstance(n_levels, Sequence | np.ndarray) and not isinstance(n_levels, str) and len(n_levels) > 0
    if not valid or not all(isinstance(n, Integral) and n >= 2 for n in n_levels):
        raise ValueError(f"n_levels must be a sequence of integers >= 2, one for each category; got {n_levels!r}.")
    return [int(n) for n in n_levels]


def _check_count(name: str, value: int, least: int) -> None:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}; got {value!r}.")


def _check_rates(missing: float, noise: float, task: str) -> None:
    if not (isinstance(missing, Real) and 0 <= missing < 1):
        raise ValueError(f"missing must be a probability, >= 0 and < 1; got {missing!r}.")
    if task not in ("regression", "classification"):
        raise ValueError(f"task must be 'regression' or 'classification'; got {task!r}.")
    if not (isinstance(noise, Real) and 0 <= noise < np.inf):
        raise ValueError(f"noise must be finite and >= 0; got {noise!r}.")
    if task == "classification" and noise == 0:
        raise ValueError("noise must be > 0 for classification, where f is divided by it; got 0.")
