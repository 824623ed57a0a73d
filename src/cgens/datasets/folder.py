"""Data sets in a folder: one NAME.npz each, and a MANIFEST.json with their checksums."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cgens.datasets.dataset import Dataset
from cgens.types import AnyArray

MANIFEST = "MANIFEST.json"


def data_folders() -> list[Path]:
    """Return where `load` looks if it is not told: CGENS_DATA, else ../shared/data, from here and from the checkout."""
    named = os.environ.get("CGENS_DATA")
    if named:
        return [Path(named)]
    checkout = Path(__file__).resolve().parents[3]
    beside = [Path.cwd().parent]
    if (checkout / "pyproject.toml").exists():
        beside.append(checkout.parent)
    return list(dict.fromkeys(folder / "shared" / "data" for folder in beside))


def read_dataset(name: str, folder: Path) -> Dataset:
    """Return the data set in this folder, its checksum verified where the manifest has one."""
    path = folder / f"{name}.npz"
    about = About.of(name, folder)
    verify(path, about.sha256)
    arrays = read_arrays(path)
    X, y = arrays.pop("X"), arrays.pop("y")
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"{path} must hold X of shape (n, d) and y of shape (n,); got {X.shape} and {y.shape}.")
    return Dataset(
        name=name,
        X=X if X.dtype.kind == "f" else X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64),
        y=y,
        classes=tuple(map(str, np.ravel(arrays.pop("classes", ())))),
        feature_names=tuple(map(str, np.ravel(arrays.pop("feature_names", ())))),
        splits=_splits(arrays, path),
        sizes=about.sizes,  # not by the name: a set of the same name and other columns would pass for the published one
        extras=arrays,
        origin=str(path),
    )


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """Return the arrays of a file, X and y among them."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        if arrays["X"].dtype.kind not in "fiub":
            raise ValueError(f"X holds {arrays['X'].dtype}")
        arrays["y"]
    except PermissionError as error:
        raise _no_rights(path) from error
    except Exception as error:  # a damaged zip file has many ways to fail, and none of them says which file it was
        raise ValueError(f"{path} is not a data set: it must be a NumPy .npz with plain arrays X and y.") from error
    return arrays


class About(NamedTuple):
    """What a manifest says of a data set."""

    sha256: str | None
    sizes: tuple[int, int] | None

    @classmethod
    def of(cls, name: str, folder: Path) -> About:
        """Return the set's entry: nothing where there is none."""
        entry = read_manifest(folder)["datasets"].get(name, {})
        try:
            protocol, checksum = entry.get("ida_protocol"), entry.get("sha256")
            sizes = (int(protocol["n_train"]), int(protocol["n_test"])) if protocol else None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{folder / MANIFEST} is damaged: its entry of {name!r} is {entry!r}. Get it again."
            ) from error
        if checksum is not None and not isinstance(checksum, str):
            raise ValueError(f"{folder / MANIFEST} is damaged: the sha256 of {name!r} is {checksum!r}. Get it again.")
        return cls(checksum, sizes)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the folder's manifest, whose "datasets" say what is known of each: nothing where there is none."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text())
    except FileNotFoundError:
        return {"datasets": {}}
    except PermissionError as error:
        raise _no_rights(path) from error
    except ValueError as error:
        raise ValueError(f"{path} is damaged, it is not JSON: {error}. Get it again.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("datasets"), dict):
        raise ValueError(f'{path} is damaged: it must be an object with an object "datasets". Get it again.')
    return manifest


def verify(path: Path, expected: str | None) -> None:
    """Refuse a file with another checksum; `expected` is None where nothing is known of it."""
    if expected is None:
        return
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError as error:
        raise _no_rights(path) from error
    if found != expected:
        raise ValueError(
            f"{path} is damaged or another version: its SHA-256 is {found[:12]}..., but {MANIFEST} says "
            f"{expected[:12]}...; get the file again."
        )


def _no_rights(path: Path) -> PermissionError:
    return PermissionError(f"No right to read {path}: give it to yourself, or name another folder by data_dir.")


def _splits(arrays: dict[str, AnyArray], path: Path) -> tuple[tuple[AnyArray, AnyArray], ...]:
    """Take the published splits out of the arrays of a file."""
    found = []
    if "train_idx" in arrays and "test_idx" in arrays:
        found.append((arrays.pop("train_idx"), arrays.pop("test_idx")))
    if "train_splits" in arrays and "test_splits" in arrays:
        train, test = arrays.pop("train_splits"), arrays.pop("test_splits")
        if len(train) != len(test):
            raise ValueError(f"{path} has {len(train)} train_splits but {len(test)} test_splits: they must be pairs.")
        found.extend(zip(train, test, strict=True))
    return tuple(found)
