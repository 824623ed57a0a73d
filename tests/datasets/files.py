"""Write the files of a data folder."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np

X = np.arange(24.0).reshape(8, 3)
Y = np.array([0, 1] * 4)


def save(folder: Path, name: str = "rows", **arrays) -> Path:
    """Write NAME.npz, with X and Y unless other arrays are given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    np.savez(path, **({"X": X, "y": Y} | arrays))
    return path


def save_manifest(folder: Path, **datasets) -> Path:
    path = folder / "MANIFEST.json"
    path.write_text(json.dumps({"datasets": datasets}))
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def save_table(folder: Path, text: str | bytes, name: str = "rows") -> Path:
    """Write NAME.csv.gz."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv.gz"
    path.write_bytes(gzip.compress(text.encode() if isinstance(text, str) else text))
    return path


def save_table_manifest(folder: Path, **tables) -> Path:
    path = folder / "MANIFEST.json"
    path.write_text(json.dumps({"tables": tables}))
    return path
