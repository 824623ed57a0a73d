"""A small table of numbers and categories with gaps, and the same in all libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

NUMBERS, CATEGORIES = ["size", "income", "rooms", "new"], ["colour", "city"]


def mixed(n_rows: int = 80, seed: int = 0) -> pd.DataFrame:
    """Return numbers in different units, with gaps and ties, and categories with gaps and rare levels.

    Some rows occur twice; "income" has no gaps, and some cities occur once.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows).round(1)),
            "income": np.exp(rng.normal(10.0, 1.0, size=n_rows)).round(),
            "colour": rng.choice(["red", "green", "blue"], n_rows, p=[0.5, 0.3, 0.2]),
            "rooms": rng.integers(1, 7, n_rows),
            "city": [f"city {number:02d}" for number in rng.geometric(0.15, n_rows)],
            "new": rng.random(n_rows) < 0.3,
        }
    )
    frame["colour"] = frame["colour"].where(rng.random(n_rows) > 0.15, None)
    frame.iloc[n_rows // 2 : n_rows // 2 + 4] = frame.iloc[:4].to_numpy()
    return frame


def score_of(X: pd.DataFrame, noise: float = 0.4, seed: int = 0) -> np.ndarray:
    """Return a function of the rows, in which gaps matter, with noise that is the same for equal rows."""
    effects = {"red": 1.0, "green": -1.0, "blue": 0.3}
    city = X["city"].str[-2:].astype(int).to_numpy()
    score = np.where(X["size"].isna(), 1.2, X["size"].fillna(0.0)) + X["colour"].map(effects).fillna(-0.7)
    rough = np.sin(1e3 * np.log(X["income"].to_numpy()) + seed)
    return np.asarray(score + 0.2 * (city % 4) + 0.5 * X["new"].astype(float) + noise * rough, dtype=float)


def target_of(X: pd.DataFrame, kind: str) -> np.ndarray:
    """Return a target of this kind."""
    score = score_of(X)
    classes = np.digitize(score, np.quantile(score, [0.35, 0.7]))
    return {
        "binary": lambda: (score > np.median(score)).astype(int),
        "multiclass": lambda: classes,
        "multilabel": lambda: np.column_stack([classes == 0, classes == 1, score_of(X, seed=1) > 0.5]).astype(int),
        "regression": lambda: score,
        "counts": lambda: np.round(np.exp(score / 2)),
        "multioutput": lambda: np.column_stack([score, 100 * score_of(X, seed=1)]),
    }[kind]()


def shuffled_levels(X: pd.DataFrame) -> pd.DataFrame:
    """Return categories of pandas whose levels are in another order, and one of which does not occur."""
    levels = {name: ["zebra", *sorted(X[name].dropna().unique(), key=hash)] for name in CATEGORIES}
    return X.astype({name: pd.CategoricalDtype(own) for name, own in levels.items()})


def as_dictionaries(X: pd.DataFrame) -> pa.Table:
    table = pa.Table.from_pandas(X, preserve_index=False)
    for name in CATEGORIES:
        table = table.set_column(table.column_names.index(name), name, table[name].dictionary_encode())
    return table


#: The same table in other libraries.
LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda X: X,
    "pandas, categories": shuffled_levels,
    "pandas, nullable": lambda X: X.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars, Categorical": lambda X: pl.from_pandas(X).with_columns(pl.col(CATEGORIES).cast(pl.Categorical)),
    "pyarrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "pyarrow, dictionaries": as_dictionaries,
    "NumPy objects": lambda X: X.to_numpy(dtype=object),
}
