"""Download public data sets from OpenML."""

from __future__ import annotations

import hashlib
import io
import json
import os
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.preprocessing import LabelEncoder

from cgens.datasets.dataset import Dataset
from cgens.datasets.folder import MANIFEST, read_dataset, read_manifest


class OpenMLSet(NamedTuple):
    """The id of a data set on OpenML, and its expected size."""

    data_id: int
    n_samples: int
    n_features: int
    n_classes: int


#: Data sets with the same rows and columns as the paper's. OpenML's versions of its other binary data sets differ from
#: those of the IDA repository, and OpenML's vowel includes the speaker and the sex as features.
ON_OPENML = {
    "banana": OpenMLSet(1460, 5300, 2, 2),
    "diabetes": OpenMLSet(37, 768, 8, 2),
    "dna": OpenMLSet(40670, 3186, 180, 3),
    "fashion_mnist": OpenMLSet(40996, 70000, 784, 10),
    "german": OpenMLSet(31, 1000, 20, 2),
    "glass": OpenMLSet(41, 214, 9, 6),
    "heart": OpenMLSet(53, 270, 13, 2),
    "iris": OpenMLSet(61, 150, 4, 3),
    "letter": OpenMLSet(6, 20000, 16, 26),
    "mnist": OpenMLSet(554, 70000, 784, 10),
    "pendigits": OpenMLSet(32, 10992, 16, 10),
    "ringnorm": OpenMLSet(1496, 7400, 20, 2),
    "segment": OpenMLSet(36, 2310, 19, 7),
    "spambase": OpenMLSet(44, 4601, 57, 2),
    "titanic": OpenMLSet(40704, 2201, 3, 2),
    "twonorm": OpenMLSet(1507, 7400, 20, 2),
    "usps": OpenMLSet(41082, 9298, 256, 10),
    "vehicle": OpenMLSet(54, 846, 18, 4),
    "wine": OpenMLSet(187, 178, 13, 3),
}
#: Number of leading rows that form the published training set; OpenML keeps the publishers' order of rows.
_N_TRAIN = {"mnist": 60000, "fashion_mnist": 60000}


def fetch(name: str, data_dir: str | Path) -> Dataset:
    """Download a public data set from OpenML into a folder, where `load` finds it.

    Writes NAME.npz and its entry in MANIFEST.json; scikit-learn's own cache is not used. Nominal features are encoded
    as integers, in the order in which OpenML lists their values.

    Parameters
    ----------
    name : str
        A key of `cgens.datasets.openml.ON_OPENML`.
    data_dir : path
        Created if it does not exist.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the name is unknown, OpenML's data set is not the expected one, or the folder's manifest is damaged.
    OSError
        If the download fails, the file exists already, or the folder cannot be written.
    """
    if name not in ON_OPENML:
        raise ValueError(f"Unknown data set {name!r}; fetch downloads {', '.join(ON_OPENML)}.")
    expected, folder = ON_OPENML[name], Path(data_dir)
    folder.mkdir(parents=True, exist_ok=True)  # fail before a long download, not after it
    if (folder / f"{name}.npz").exists():
        raise FileExistsError(f"{folder / name}.npz exists already: load it, or delete it first.")
    manifest = read_manifest(folder)
    try:
        bunch = fetch_openml(data_id=expected.data_id, as_frame=False, parser="liac-arff", cache=False)
    except (OSError, EOFError, HTTPException) as error:
        raise OSError(
            f"Downloading {name!r} (OpenML data set {expected.data_id}) failed: {error}. Try again later, or save "
            f"{name}.npz with arrays X and y in {folder}."
        ) from error
    content = io.BytesIO()
    np.savez_compressed(content, **_arrays(name, expected, bunch))
    sha256 = hashlib.sha256(content.getvalue()).hexdigest()
    manifest["datasets"][name] = {"sha256": sha256, "source": f"OpenML {expected.data_id}"}
    # The data file first: the manifest must not list a file that was never written because of an interruption.
    _replace(folder / f"{name}.npz", content.getvalue())
    _replace(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return read_dataset(name, folder)


def _arrays(name: str, expected: OpenMLSet, bunch: Any) -> dict[str, Any]:
    """Return the arrays to save, after checking their sizes."""
    X = bunch.data.toarray() if hasattr(bunch.data, "toarray") else np.asarray(bunch.data)
    encoder = LabelEncoder()
    y = encoder.fit_transform(np.asarray(bunch.target).astype(str))
    found = OpenMLSet(expected.data_id, X.shape[0], X.shape[1], len(encoder.classes_))
    if found != expected:
        raise ValueError(f"OpenML's {name!r} has changed: expected {expected}, got {found}. Nothing was saved.")
    arrays = {
        "X": X.astype(np.float32),
        "y": y,
        "classes": np.asarray(encoder.classes_, dtype=str),
        "feature_names": np.asarray(bunch.feature_names, dtype=str),
    }
    if name in _N_TRAIN:
        arrays["train_idx"], arrays["test_idx"] = np.split(np.arange(len(y)), [_N_TRAIN[name]])
    return arrays


def _replace(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    os.replace(part, path)
