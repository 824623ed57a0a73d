"""Find a data set by its name."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets

from cgens.datasets.dataset import Dataset
from cgens.datasets.folder import data_folders, read_dataset
from cgens.datasets.generators import make_disc, make_ringnorm, make_two_spirals, make_twonorm, make_waveform
from cgens.datasets.openml import ON_OPENML

# scikit-learn's "breast cancer" is Wisconsin's; the paper's of that name is another, from Ljubljana.
BUNDLED: dict[str, Any] = {
    "breast_cancer_wisconsin": sklearn.datasets.load_breast_cancer,
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
}
#: What is drawn, as many rows as the published sets have, and the published sizes of training and test sets.
DRAWN: dict[str, tuple[Any, int, tuple[int, int] | None]] = {
    "disc": (make_disc, 2000, None),
    "ringnorm": (make_ringnorm, 7400, (400, 7000)),
    "two_spirals": (make_two_spirals, 2000, None),
    "twonorm": (make_twonorm, 7400, (400, 7000)),
    "waveform": (make_waveform, 5000, (400, 4600)),
}
_IDA = "the IDA benchmark repository of G. Raetsch"
#: Sets of the paper that are not on OpenML, or only in another version.
ELSEWHERE = {
    "breast_cancer": _IDA,
    "cifar10_gist": "GIST features of the images of CIFAR-10",
    "flare_solar": _IDA,
    "image": _IDA,
    "labelme": "features of the images of LabelMe",
    "pascal07": "features of the images of PASCAL VOC 2007",
    "scene15_gist": "GIST features of the images of 15 scenes",
    "splice": _IDA,
    "sun": "features of the images of SUN",
    "thyroid": _IDA,
    "vowel": "UCI's Deterding vowel data, without the speaker and the sex",
}


def load(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Return a data set.

    It is looked for as NAME.npz in `data_dir`, and there alone, if that is given. Else in the folder that CGENS_DATA
    names, which must be there, or in ../shared/data, and if it is not there: among scikit-learn's bundled sets ("iris",
    "wine", "digits", "breast_cancer_wisconsin"), and among those that are drawn, with the seed 0 ("twonorm",
    "ringnorm", "waveform", "disc", "two_spirals"). `Dataset.origin` tells which it was. Nothing is
    downloaded: see `fetch`.

    Parameters
    ----------
    name : str
    data_dir : path, optional
        A folder of files NAME.npz with arrays X (n, d) and y (n,) and, as they are known, `classes`, `feature_names`,
        `train_idx` and `test_idx`. Files that its MANIFEST.json lists must have the checksum that stands there.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from cgens.datasets import load
    >>> X, y = load("wine")
    >>> X.shape, y.shape
    ((178, 13), (178,))
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]*[A-Za-z0-9_]", name):
        raise ValueError(
            f"A data set has a name of letters, digits and _; got {name!r}. A folder is named by data_dir."
        )
    folders = [Path(data_dir)] if data_dir is not None else data_folders()
    for folder in folders:
        if _is_there(folder / f"{name}.npz"):
            return read_dataset(name, folder)
    named = os.environ.get("CGENS_DATA")
    if data_dir is None and named and not os.path.isdir(named):  # else a slip would give other rows without a word
        raise FileNotFoundError(f"No data set {name!r}: CGENS_DATA names {named}, which is no folder; name one.")
    if data_dir is None and name in BUNDLED:
        return _bundled(name)
    if data_dir is None and name in DRAWN:
        make, n_samples, sizes = DRAWN[name]
        X, y = make(n_samples, random_state=0)
        origin = f"drawn by cgens.datasets.{make.__name__}"
        return Dataset(name, X, y, ("0", "1"), sizes=sizes, origin=origin)
    raise FileNotFoundError(_missing(name, folders))


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError as error:
        raise PermissionError(f"No right to look into {path.parent}: give it to yourself, or name another.") from error


def _bundled(name: str) -> Dataset:
    bunch = BUNDLED[name]()
    return Dataset(
        name,
        bunch.data,
        np.asarray(bunch.target),
        tuple(map(str, bunch.target_names)),
        tuple(map(str, bunch.feature_names)),
        origin="bundled with scikit-learn",
    )


def _missing(name: str, folders: list[Path]) -> str:
    """Return where a set was looked for, and how to get it."""
    looked = " and ".join(str(folder) for folder in folders)
    here = {path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.npz")}
    known = (here | set(BUNDLED) | set(DRAWN) | set(ON_OPENML)) - {name}
    near = difflib.get_close_matches(name, known, n=1)
    if name in BUNDLED or name in DRAWN:
        advice = f"without data_dir it is {'bundled with scikit-learn' if name in BUNDLED else 'drawn'}"
    elif name in ELSEWHERE:
        advice = f"put it there, arrays X (n, d) and y (n,), from {ELSEWHERE[name]}"
    elif name in ON_OPENML:
        advice = f"cgens.datasets.fetch({name!r}, folder) gets it from OpenML"
    elif near:
        advice = f"perhaps {near[0]!r} is meant"
    else:
        advice = f"known are {', '.join(sorted(known))}"
    return f"No data set {name!r}: looked for {name}.npz in {looked} (CGENS_DATA or data_dir name another); {advice}."
