"""Data sets in a folder: one file each, here NAME.npz, and a MANIFEST.json with their checksums."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from cgens.datasets.dataset import Dataset
from cgens.types import AnyArray

MANIFEST = "MANIFEST.json"


def data_folders() -> list[Path]:
    """Return the folders that `load` searches by default: the value of CGENS_DATA, if it is set."""
    folder = os.environ.get("CGENS_DATA")
    return [Path(folder)] if folder else []


def check_name(name: object) -> None:
    """Raise ValueError if a name is not that of a data set: it must not lead to another folder."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]*[A-Za-z0-9_]", name):
        raise ValueError(
            f"The name of a data set may contain letters, digits, '_', '.' and '-'; got {name!r}. Use data_dir to "
            "select a folder."
        )


def folders_to_search(name: str, data_dir: str | Path | None) -> list[Path]:
    """Return `data_dir`, or else the default folders; raise FileNotFoundError if one of them is not a folder."""
    folders = data_folders() if data_dir is None else [Path(data_dir)]
    for folder in folders:
        if not os.path.isdir(folder):  # a misspelt CGENS_DATA must not silently select the bundled version
            setting = "CGENS_DATA" if data_dir is None else "data_dir"
            raise FileNotFoundError(f"No data set {name!r}: {setting} is {str(folder)!r}, which is not a folder.")
    return folders


def exists(path: Path) -> bool:
    """Return whether the path exists, even as a broken link; raise PermissionError if the folder is unreadable."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def read_dataset(name: str, folder: Path) -> Dataset:
    """Return the data set NAME.npz of a folder, after verifying its checksum if the manifest has one."""
    path = folder / f"{name}.npz"
    sha256, sizes = _manifest_entry(name, folder)
    arrays = _parse(read_verified(path, sha256), path)
    X, y = arrays.pop("X"), arrays.pop("y")
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"{path} must hold X of shape (n, d) and y of shape (n,); got {X.shape} and {y.shape}.")
    return Dataset(
        name=name,
        X=X if X.dtype.kind == "f" else X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64),
        y=y,
        classes=tuple(map(str, np.ravel(arrays.pop("classes", ())))),
        feature_names=tuple(map(str, np.ravel(arrays.pop("feature_names", ())))),
        splits=_pop_splits(arrays, path),
        # From the manifest, not by name: a data set may share its name with a published one but have other columns.
        split_sizes=sizes,
        extras=arrays,
        origin=str(path),
    )


def read_verified(path: Path, sha256: str | None) -> bytes:
    """Return the bytes of a file, after verifying their checksum if there is one.

    The file is read once: the verified bytes are the parsed ones, and file system errors are not mistaken for a damaged
    file.
    """
    content = path.read_bytes()
    if sha256 is not None and (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise ValueError(
            f"{path} is damaged or a different version: its SHA-256 is {found[:12]}..., but {MANIFEST} lists "
            f"{sha256[:12]}...; download it again."
        )
    return content


def _manifest_entry(name: str, folder: Path) -> tuple[str | None, tuple[int, int] | None]:
    """Return the SHA-256 and the sizes of a data set in the manifest, None if they are not listed."""
    entry = read_manifest(folder)["datasets"].get(name, {})
    try:
        protocol, sha256 = entry.get("ida_protocol"), entry.get("sha256")
        sizes = (int(protocol["n_train"]), int(protocol["n_test"])) if protocol else None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / MANIFEST} is damaged: invalid entry for {name!r}: {entry!r}.") from error
    if sha256 is not None and not isinstance(sha256, str):
        raise ValueError(f"{folder / MANIFEST} is damaged: the sha256 of {name!r} is {sha256!r}.")
    return sha256, sizes


def read_manifest(folder: Path, key: str = "datasets") -> dict[str, Any]:
    """Return the manifest of a folder, an object with an object `key`; an empty one if there is no such file."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {key: {}}
    except ValueError as error:
        raise ValueError(f"{path} is damaged: it is not valid JSON: {error}.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get(key), dict):
        raise ValueError(f'{path} is damaged: it must be an object with an object "{key}".')
    return manifest


def _parse(content: bytes, path: Path) -> dict[str, AnyArray]:
    """Return the arrays of an .npz file, X and y among them."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        if arrays["X"].dtype.kind not in "fiub":
            raise ValueError(f"X has dtype {arrays['X'].dtype}")
        arrays["y"]
    except Exception as error:  # a damaged zip file raises many different exceptions, none of which names the file
        raise ValueError(
            f"{path} is not a data set: it must be a NumPy .npz file with plain arrays X and y."
        ) from error
    return arrays


def _pop_splits(arrays: dict[str, AnyArray], path: Path) -> tuple[tuple[AnyArray, AnyArray], ...]:
    """Remove the published splits from the arrays and return them."""
    splits = []
    if "train_idx" in arrays and "test_idx" in arrays:
        splits.append((arrays.pop("train_idx"), arrays.pop("test_idx")))
    if "train_splits" in arrays and "test_splits" in arrays:
        train, test = arrays.pop("train_splits"), arrays.pop("test_splits")
        if len(train) != len(test):
            raise ValueError(f"{path} has {len(train)} train_splits but {len(test)} test_splits; they must be pairs.")
        splits.extend(zip(train, test, strict=True))
    return tuple(splits)
