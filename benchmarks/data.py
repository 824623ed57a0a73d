"""The shared data sets, read from a folder that is never committed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

#: The thirteen binary sets of the paper's tables 1 and 2.
IDA_SETS = (
    "banana", "breast_cancer", "diabetes", "flare_solar", "german", "heart", "image",
    "ringnorm", "splice", "thyroid", "titanic", "twonorm", "waveform",
)  # fmt: skip

#: Sets of three classes and more, those with published codes for images left out.
MULTICLASS_SETS = (
    "iris", "wine", "glass", "vehicle", "vowel", "segment", "dna", "usps", "pendigits", "letter",
)  # fmt: skip


def data_folder() -> Path:
    """Return CGENS_DATA, or the shared folder beside the checkout."""
    named = os.environ.get("CGENS_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def load_arrays(name: str) -> dict[str, np.ndarray]:
    """Return all arrays of a data set."""
    path = data_folder() / f"{name}.npz"
    if not path.exists():
        raise FileNotFoundError(f"No data set {name!r} in {data_folder()}: set CGENS_DATA to the folder that has it.")
    with np.load(path, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


@dataclass(frozen=True)
class Split:
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def mnist(n_rows: int, seed: int = 0) -> Split:
    """Return `n_rows` random training rows of MNIST, and all test rows."""
    arrays = load_arrays("mnist")
    X, y = arrays["X"].astype(np.float32), arrays["y"]
    train = np.random.default_rng(seed).permutation(arrays["train_idx"])[:n_rows]
    test = arrays["test_idx"]
    return Split(X[train], y[train], X[test], y[test])


def mnist_balanced(per_class: int, seed: int) -> Split:
    """Return so many random training rows of each digit of MNIST, as in the paper, and all test rows."""
    arrays = load_arrays("mnist")
    X, y = arrays["X"].astype(np.float32), arrays["y"]
    order = np.random.default_rng(seed).permutation(arrays["train_idx"])
    train = np.concatenate([order[y[order] == digit][:per_class] for digit in range(10)])
    test = arrays["test_idx"]
    return Split(X[train], y[train], X[test], y[test])


def mnist_odd_even(n_rows: int, seed: int = 0) -> Split:
    """Return the same with odd (1) against even (0)."""
    split = mnist(n_rows, seed)
    return Split(split.X, split.y % 2, split.X_test, split.y_test % 2)


def random_split(name: str, seed: int) -> Split:
    """Return a random split: of the published sizes for the IDA sets, else 3:2 with at most 5000 training rows.

    Missing values get the median of the training rows.
    """
    arrays = load_arrays(name)
    X, y = arrays["X"].astype(np.float64), arrays["y"]
    with open(data_folder() / "MANIFEST.json") as file:
        protocol = json.load(file)["datasets"][name].get("ida_protocol", {})
    n_train = protocol.get("n_train", min(5000, len(y) * 3 // 5))
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + protocol.get("n_test", len(y))]
    X = np.where(np.isnan(X), np.nanmedian(X[train], axis=0), X)
    return Split(X[train], y[train], X[test], y[test])
