"""Data sets: found where they should be, refused by one sentence where they are damaged, drawn as described."""

from __future__ import annotations

import builtins
import hashlib
import io
import json
import os
import pickle
import re
from collections.abc import Callable, Iterator
from http.client import IncompleteRead
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from benchmarks.data import IDA_SETS, has_shared_data
from cgens.datasets import (
    Dataset,
    data_folders,
    fetch,
    load,
    make_disc,
    make_ringnorm,
    make_two_spirals,
    make_twonorm,
    make_waveform,
    openml,
)
from tests.tolerances import CLOSED_FORM, SIGMAS

X = np.arange(24.0).reshape(8, 3)
Y = np.array([0, 1] * 4)


def save(folder: Path, name: str = "rows", **arrays) -> Path:
    """Write a file of a data folder, sound unless told otherwise."""
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


def assert_one_sentence(message: str) -> None:
    assert message.strip()
    assert "\n" not in message
    assert "Traceback" not in message


@pytest.fixture
def no_shared_data(tmp_path, monkeypatch) -> Path:
    """Let CGENS_DATA name an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.setenv("CGENS_DATA", str(folder))
    return folder


@pytest.fixture
def forbid(monkeypatch) -> Iterator[Callable[..., None]]:
    """Give a function that takes the rights to a file or a folder away; root keeps them all, and is answered so."""
    forbidden: list[Path] = []

    def places(file) -> list[Path]:
        """Return where a file is, itself first."""
        return [Path(file), *Path(file).parents] if isinstance(file, str | os.PathLike) else []

    def take(path: Path, writing: bool = False) -> None:
        forbidden.append(path)
        path.chmod(0o500 if writing else 0)
        if os.geteuid() != 0:
            return
        open_file, stat = io.open, os.stat

        def refusing_open(file, mode="r", *args, **kwargs):
            if path in places(file) and ("w" in mode or not writing):
                raise PermissionError(13, "Permission denied", str(file))
            return open_file(file, mode, *args, **kwargs)

        def refusing_stat(file, *args, **kwargs):
            if path in places(file)[1:] and not writing:
                raise PermissionError(13, "Permission denied", str(file))
            return stat(file, *args, **kwargs)

        monkeypatch.setattr(io, "open", refusing_open)
        monkeypatch.setattr(builtins, "open", refusing_open)
        monkeypatch.setattr(os, "stat", refusing_stat)

    yield take
    monkeypatch.undo()
    for path in forbidden:
        path.chmod(0o700)


# Where a set is found.


def test_from_a_folder(tmp_path):
    path = save(tmp_path)
    data = load("rows", tmp_path)
    assert isinstance(data, Dataset)
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.y, Y)
    assert (data.name, data.origin) == ("rows", str(path))
    assert (data.classes, data.feature_names, data.splits, data.sizes, data.extras) == ((), (), (), None, {})
    assert load("rows", str(tmp_path)).origin == str(path)


def test_it_unpacks(tmp_path):
    save(tmp_path)
    rows, labels = load("rows", tmp_path)
    assert np.array_equal(rows, X)
    assert np.array_equal(labels, Y)


def test_from_the_folder_that_the_environment_names(tmp_path, monkeypatch):
    path = save(tmp_path / "mine")
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "mine"))
    assert data_folders() == [tmp_path / "mine"]
    assert load("rows").origin == str(path)


@pytest.mark.parametrize("named", [None, ""])
def test_from_the_folder_beside_this_one(tmp_path, monkeypatch, named):
    monkeypatch.delenv("CGENS_DATA", raising=False)
    if named is not None:
        monkeypatch.setenv("CGENS_DATA", named)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    path = save(tmp_path / "shared" / "data")
    assert data_folders()[0] == path.parent
    assert load("rows").origin == str(path)


def test_a_checkout_has_its_folder_beside_it(tmp_path, monkeypatch):
    monkeypatch.delenv("CGENS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    checkout = Path(__file__).resolve().parents[2]
    assert data_folders() == [tmp_path.parent / "shared" / "data", checkout.parent / "shared" / "data"]
    monkeypatch.chdir(checkout)
    assert data_folders() == [checkout.parent / "shared" / "data"], "one and the same is looked at once"


def test_data_dir_alone_is_looked_at(tmp_path, monkeypatch):
    save(tmp_path / "environment")
    save(tmp_path / "given", "other")
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "environment"))
    with pytest.raises(FileNotFoundError, match=r"No data set 'rows'") as raised:
        load("rows", tmp_path / "given")
    assert str(tmp_path / "given") in str(raised.value)
    assert str(tmp_path / "environment") not in str(raised.value)
    for name in ("wine", "twonorm"):  # bundled, and drawn
        with pytest.raises(FileNotFoundError, match=name):
            load(name, tmp_path / "given")


def test_a_file_goes_before_what_is_bundled_or_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    for name in ("wine", "twonorm"):
        path = save(tmp_path, name)
        data = load(name)
        assert data.X.shape == X.shape
        assert data.origin == str(path)


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("iris", load_iris),
        ("wine", load_wine),
        ("digits", load_digits),
        ("breast_cancer_wisconsin", load_breast_cancer),
    ],
)
@pytest.mark.usefixtures("no_shared_data")
def test_bundled(name, original):
    data, bunch = load(name), original()
    assert np.array_equal(data.X, bunch.data)
    assert np.array_equal(data.y, bunch.target)
    assert data.classes == tuple(map(str, bunch.target_names))
    assert data.feature_names == tuple(bunch.feature_names)
    assert data.origin == "bundled with scikit-learn"
    assert len(data.classes) == len(np.unique(data.y))


@pytest.mark.parametrize(
    ("name", "make", "shape"),
    [
        ("twonorm", make_twonorm, (7400, 20)),
        ("ringnorm", make_ringnorm, (7400, 20)),
        ("waveform", make_waveform, (5000, 21)),
        ("disc", make_disc, (2000, 2)),
        ("two_spirals", make_two_spirals, (2000, 2)),
    ],
)
@pytest.mark.usefixtures("no_shared_data")
def test_drawn(name, make, shape):
    data, (rows, labels) = load(name), make(shape[0], random_state=0)
    assert data.X.shape == shape
    assert data.X.tobytes() == rows.tobytes()
    assert np.array_equal(data.y, labels)
    assert data.classes == ("0", "1")
    assert data.origin == f"drawn by cgens.datasets.{make.__name__}"
    published = {"twonorm": (400, 7000), "ringnorm": (400, 7000), "waveform": (400, 4600)}
    assert data.sizes == published.get(name)


@pytest.mark.usefixtures("no_shared_data")
def test_its_words():
    assert repr(load("iris")) == "<Dataset iris: 150 rows, 4 features, 3 classes; bundled with scikit-learn>"
    assert "regression" in repr(Dataset("prices", X, Y.astype(float)))


# What a file holds.


def test_names_and_extras(tmp_path):
    save(tmp_path, classes=np.array(["no", "yes"]), feature_names=np.array(["a", "b", "c"]), speaker=np.arange(8))
    data = load("rows", tmp_path)
    assert data.classes == ("no", "yes")
    assert data.feature_names == ("a", "b", "c")
    assert list(data.extras) == ["speaker"]
    assert np.array_equal(data.extras["speaker"], np.arange(8))


def test_one_canonical_split(tmp_path):
    save(tmp_path, train_idx=np.arange(5), test_idx=np.arange(5, 8))
    data = load("rows", tmp_path)
    assert [[part.tolist() for part in split] for split in data.splits] == [[[0, 1, 2, 3, 4], [5, 6, 7]]]
    assert data.extras == {}


def test_several_canonical_splits(tmp_path):
    train, test = np.array([[0, 1], [2, 3], [6, 7]]), np.array([[4], [5], [0]])
    save(tmp_path, train_splits=train, test_splits=test)
    data = load("rows", tmp_path)
    assert len(data.splits) == 3
    for k, (first, second) in enumerate(data.splits):
        assert np.array_equal(first, train[k])
        assert np.array_equal(second, test[k])
    assert data.extras == {}


def test_sizes_of_the_published_protocol(tmp_path):
    save(tmp_path)
    save_manifest(tmp_path, rows={"ida_protocol": {"n_train": 5, "n_test": 2, "n_splits": 100}})
    assert load("rows", tmp_path).sizes == (5, 2)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int64, bool])
def test_integers_become_floats(tmp_path, kind):
    """Differences of unsigned numbers would wrap around."""
    save(tmp_path, X=(X > 3).astype(kind))
    rows, _ = load("rows", tmp_path)
    assert rows.dtype.kind == "f"
    assert np.array_equal(rows, X > 3)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_stay_as_they_are(tmp_path, kind):
    gaps = X.astype(kind)
    gaps[2, 1] = np.nan
    save(tmp_path, X=gaps)
    rows, _ = load("rows", tmp_path)
    assert rows.dtype == kind
    assert rows.tobytes() == gaps.tobytes()


# What is refused.


def test_the_checksum_is_verified(tmp_path):
    path = save(tmp_path)
    save_manifest(tmp_path, rows={"sha256": sha256(path)}, other={"sha256": "0" * 64})
    assert np.array_equal(load("rows", tmp_path).X, X)
    save(tmp_path, X=X + 1)
    with pytest.raises(ValueError, match=r"(?i)damaged or another version.*SHA-256.*MANIFEST\.json") as raised:
        load("rows", tmp_path)
    assert str(path) in str(raised.value)
    assert sha256(path)[:12] in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_a_set_that_the_manifest_does_not_list_has_no_checksum(tmp_path):
    save(tmp_path)
    save_manifest(tmp_path, other={"sha256": "0" * 64}, listed={"rows": 8})
    save(tmp_path, "listed")
    assert load("rows", tmp_path).X.shape == load("listed", tmp_path).X.shape == (8, 3)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def cut_in_two(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def one_byte_of_an_array_changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(Y.tobytes()) + 8] ^= 1
    path.write_bytes(content)


def compressed_stream_broken(path: Path) -> None:
    np.savez_compressed(path, X=np.random.default_rng(0).random((600, 2)), y=np.zeros(600))
    content = bytearray(path.read_bytes())
    content[74] = 0  # early in the first stream: its code lengths
    path.write_bytes(content)


def one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, X)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": truncated,
    "cut in two": cut_in_two,
    "one byte changed": one_byte_of_an_array_changed,
    "broken compression": compressed_stream_broken,
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("no such file\n"),
    "HTML of an error page": lambda path: path.write_text("<html><body>404</body></html>"),
    "a pickle": lambda path: path.write_bytes(pickle.dumps({"X": X, "y": Y})),
    "one array, no archive": one_array,
    "object array X": lambda path: np.savez(path, X=X.astype(object), y=Y),
    "object array y": lambda path: np.savez(path, X=X, y=np.array([None] * 8)),
    "object array beside": lambda path: np.savez(path, X=X, y=Y, more=np.array([None, {}])),
    "no X": lambda path: np.savez(path, y=Y),
    "no y": lambda path: np.savez(path, X=X),
    "nothing in it": lambda path: np.savez(path),
    "y too short": lambda path: np.savez(path, X=X, y=Y[:-1]),
    "one axis": lambda path: np.savez(path, X=X[:, 0], y=Y),
    "three axes": lambda path: np.savez(path, X=X[:, :, None], y=Y),
    "two columns of y": lambda path: np.savez(path, X=X, y=np.column_stack([Y, Y])),
    "y a number": lambda path: np.savez(path, X=X, y=1),
    "more training than test splits": lambda path: np.savez(
        path, X=X, y=Y, train_splits=np.zeros((2, 3), int), test_splits=np.zeros((1, 3), int)
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file(tmp_path, damage):
    path = save(tmp_path)
    DAMAGES[damage](path)
    with pytest.raises(ValueError, match=re.escape(str(path))) as raised:
        load("rows", tmp_path)
    assert_one_sentence(str(raised.value))


def test_wrong_shapes_are_told(tmp_path):
    save(tmp_path, y=Y[:3])
    with pytest.raises(ValueError, match=r"\(8, 3\) and \(3,\)"):
        load("rows", tmp_path)


def test_no_pickle_is_ever_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("exploded").write_text, ("boom",))

    for path in (save(tmp_path, more=np.array([Bomb(), None])), save(tmp_path, "plain")):
        if path.stem == "plain":
            path.write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ValueError, match="plain arrays"):
            load(path.stem, tmp_path)
    assert not (tmp_path / "exploded").exists()


BAD_MANIFESTS = {
    "empty": "",
    "cut": '{"datasets": {"rows": {"sha',
    "a list": "[]",
    "null": "null",
    "no data sets": "{}",
    "a list of data sets": '{"datasets": ["rows"]}',
    "an entry that is none": '{"datasets": {"rows": null}}',
    "an entry that is a number": '{"datasets": {"rows": 3}}',
    "a checksum that is a number": '{"datasets": {"rows": {"sha256": 3}}}',
    "a protocol without sizes": '{"datasets": {"rows": {"ida_protocol": {"n_train": 3}}}}',
}


@pytest.mark.parametrize("name", BAD_MANIFESTS)
def test_a_damaged_manifest(tmp_path, name):
    save(tmp_path)
    (tmp_path / "MANIFEST.json").write_text(BAD_MANIFESTS[name])
    with pytest.raises(ValueError, match=r"MANIFEST\.json.*damaged") as raised:
        load("rows", tmp_path)
    assert str(tmp_path) in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_a_manifest_that_is_no_text(tmp_path):
    save(tmp_path)
    (tmp_path / "MANIFEST.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(ValueError, match=r"MANIFEST\.json.*damaged") as raised:
        load("rows", tmp_path)
    assert_one_sentence(str(raised.value))


UNKNOWN = {
    "near to a drawn one": ("twonrom", r"perhaps 'twonorm' is meant"),
    "near to a bundled one": ("irs", r"perhaps 'iris' is meant"),
    "near to one of the folder": ("row", r"perhaps 'rows' is meant"),
    "its file": ("rows.npz", r"perhaps 'rows' is meant"),
    "near to nothing": ("qqqqqq", r"known are .*\bdisc\b.*\biris\b.*\bmnist\b.*\brows\b"),
    "to be fetched": ("mnist", r"cgens\.datasets\.fetch\('mnist', folder\)"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_name_gets_advice(no_shared_data, case):
    name, advice = UNKNOWN[case]
    save(no_shared_data)
    with pytest.raises(FileNotFoundError, match=advice) as raised:
        load(name)
    assert f"looked for {name}.npz in {no_shared_data}" in str(raised.value)
    assert "CGENS_DATA" in str(raised.value)
    assert_one_sentence(str(raised.value))


@pytest.mark.parametrize("name", ["disc", "digits", "waveform"])
def test_no_set_is_advised_in_place_of_itself(tmp_path, name):
    """It is drawn or bundled, but only where no folder is given."""
    with pytest.raises(FileNotFoundError, match=name) as raised:
        load(name, tmp_path)
    assert f"perhaps {name!r} is meant" not in str(raised.value)


def test_a_folder_that_is_not_there(tmp_path):
    for folder in (tmp_path / "nowhere", save(tmp_path)):  # the second is a file
        with pytest.raises(FileNotFoundError, match="No data set 'rows'") as raised:
            load("rows", folder)
        assert str(folder) in str(raised.value)


@pytest.mark.parametrize(
    "name",
    ["a/b", "../rows", "/rows", "..", ".", "", "rows/", "a\\b", "rows\n", "two words", "C:rows", None, 3, Path("a")],
)
def test_a_name_is_no_path(tmp_path, name):
    save(tmp_path)
    (tmp_path / "inner").mkdir()
    with pytest.raises(ValueError, match="A folder is named by data_dir") as raised:
        load(name, tmp_path / "inner")
    assert repr(name) in str(raised.value)
    assert_one_sentence(str(raised.value))


# Rights.


def test_a_folder_without_rights(tmp_path, forbid):
    folder = save(tmp_path / "mine").parent
    forbid(folder)
    with pytest.raises(PermissionError, match="No right to look into") as raised:
        load("rows", folder)
    assert str(folder) in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_the_environments_folder_without_rights(tmp_path, forbid, monkeypatch):
    """It is told, and nothing else is taken in its place."""
    folder = save(tmp_path / "mine", "wine").parent
    monkeypatch.setenv("CGENS_DATA", str(folder))
    forbid(folder)
    with pytest.raises(PermissionError, match="No right to look into"):
        load("wine")


@pytest.mark.parametrize("listed", [True, False])
def test_a_file_without_rights(tmp_path, forbid, listed):
    """Whether its checksum or its arrays are read first."""
    path = save(tmp_path)
    save_manifest(tmp_path, **({"rows": {"sha256": sha256(path)}} if listed else {}))
    forbid(path)
    with pytest.raises(PermissionError, match="No right to read") as raised:
        load("rows", tmp_path)
    assert str(path) in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_a_manifest_without_rights(tmp_path, forbid):
    save(tmp_path)
    manifest = save_manifest(tmp_path)
    forbid(manifest)
    with pytest.raises(PermissionError, match=r"No right to read .*MANIFEST\.json"):
        load("rows", tmp_path)


# What is drawn.

MANY = 40_000
GENERATORS = {
    "twonorm": (make_twonorm, 20),
    "ringnorm": (make_ringnorm, 20),
    "waveform": (make_waveform, 21),
    "disc": (make_disc, 2),
    "two spirals": (make_two_spirals, 2),
}
every_generator = pytest.mark.parametrize("name", GENERATORS)


def assert_moments(rows, mean, variance) -> None:
    """Check the mean and the variance of normal columns, up to their standard errors."""
    n = len(rows)
    assert np.all(np.abs(rows.mean(axis=0) - mean) <= SIGMAS * np.sqrt(variance / n))
    assert np.all(np.abs(rows.var(axis=0, ddof=1) - variance) <= SIGMAS * variance * np.sqrt(2 / (n - 1)))


def assert_share(hits, share) -> None:
    assert abs(np.mean(hits) - share) <= SIGMAS * np.sqrt(share * (1 - share) / len(hits))


def assert_uncorrelated(rows) -> None:
    correlations = np.corrcoef(rows.T)[np.triu_indices(rows.shape[1], 1)]
    assert np.all(np.abs(correlations) <= SIGMAS / np.sqrt(len(rows)))


@every_generator
def test_shapes_and_types(name):
    make, n_features = GENERATORS[name]
    rows, labels = make(random_state=0)
    assert len(rows) == {"twonorm": 7400, "ringnorm": 7400, "waveform": 5000}.get(name, 2000)
    assert rows.shape == (len(labels), n_features)
    assert rows.dtype == np.float64
    assert labels.dtype == np.int64
    assert set(labels) == {0, 1}
    assert np.all(np.isfinite(rows))


@every_generator
def test_the_same_seed_gives_the_same_rows(name):
    make, _ = GENERATORS[name]
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    from_object = make(50, random_state=np.random.RandomState(3))
    for drawn in (again, from_object):
        assert first[0].tobytes() == drawn[0].tobytes()
        assert first[1].tobytes() == drawn[1].tobytes()
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(make(50)[0], make(50)[0]), "without a seed it is new every time"


@every_generator
def test_one_row(name):
    make, n_features = GENERATORS[name]
    rows, labels = make(np.int64(1), random_state=0)
    assert rows.shape == (1, n_features)
    assert labels.shape == (1,)


def test_twonorm_is_as_described():
    rows, labels = make_twonorm(MANY, random_state=0)
    a = 2 / np.sqrt(20)
    assert_share(labels, 0.5)
    for label, mean in ((0, -a), (1, a)):
        assert_moments(rows[labels == label], mean, 1.0)
        assert_uncorrelated(rows[labels == label])
    # The best rule is linear, and the means are 2 from the boundary.
    assert_share((rows.sum(axis=1) > 0) != labels, norm.cdf(-2))
    assert round(100 * norm.cdf(-2), 1) == 2.3


def test_ringnorm_is_as_described():
    rows, labels = make_ringnorm(200_000, random_state=0)
    a = 2 / np.sqrt(20)
    assert_share(labels, 0.5)
    assert_moments(rows[labels == 0], a, 1.0)
    assert_moments(rows[labels == 1], 0.0, 4.0)
    for label in (0, 1):
        assert_uncorrelated(rows[labels == label])
    wide = -np.sum(rows**2, axis=1) / 8 - 20 * np.log(2)
    narrow = -np.sum((rows - a) ** 2, axis=1) / 2
    assert round(100 * np.mean((wide > narrow) != labels), 1) == 1.2


def test_waveform_is_as_described():
    rows, labels = make_waveform(MANY, random_state=0)
    points = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(points - top), 0) for top in (11, 15, 7))
    assert_share(labels, 1 / 3)

    def moments(one, other):
        """The mean and the second moment of u one + (1 - u) other + noise, u uniform."""
        mean = (one + other) / 2
        return mean, mean**2 + (one - other) ** 2 / 12 + 1

    mixtures = {1: [moments(first, third)], 0: [moments(first, second), moments(second, third)]}
    for label, kinds in mixtures.items():
        mean, square = np.mean(kinds, axis=0)
        own, variance = rows[labels == label], square - mean**2
        assert np.all(np.abs(own.mean(axis=0) - mean) <= SIGMAS * np.sqrt(variance / len(own)))
        spread = np.std(own**2, axis=0) / np.sqrt(len(own))
        assert np.all(np.abs(np.mean(own**2, axis=0) - square) <= SIGMAS * spread)


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.18, 2.0])
def test_disc_is_as_described(radius):
    rows, labels = make_disc(MANY, radius=radius, random_state=0)
    assert_moments(rows, 0.0, 1.0)
    assert_uncorrelated(rows)
    assert np.array_equal(labels == 1, np.sqrt(rows[:, 0] ** 2 + rows[:, 1] ** 2) < radius)
    assert_share(labels, 1 - np.exp(-(radius**2) / 2))
    assert [round(100 * (1 - np.exp(-(r**2) / 2))) for r in (1.0, 1.18)] == [39, 50]


@pytest.mark.parametrize("turns", [0.5, 1.5, 3])
def test_two_spirals_are_as_described(turns):
    rows, labels = make_two_spirals(MANY, noise=0, turns=turns, random_state=0)
    distance, angle = np.hypot(*rows.T), np.arctan2(rows[:, 1], rows[:, 0])
    assert distance.max() <= turns + CLOSED_FORM
    # A turn leads one unit outwards, and the other arm is half a turn away.
    assert np.allclose(np.cos(angle - 2 * np.pi * distance), np.where(labels == 1, -1.0, 1.0), rtol=0, atol=CLOSED_FORM)
    assert_share(labels, 0.5)
    for part in (0.25, 0.5, 0.75):
        assert_share(distance < turns * np.sqrt(part), part)


def test_the_noise_of_the_spirals():
    quiet, labels = make_two_spirals(MANY, noise=0, random_state=0)
    loud, same = make_two_spirals(MANY, noise=0.3, random_state=0)
    assert np.array_equal(labels, same)
    assert_moments(loud - quiet, 0.0, 0.3**2)
    assert_uncorrelated(loud - quiet)


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "many"])
@every_generator
def test_a_bad_number_of_rows(name, n_samples):
    with pytest.raises((ValueError, TypeError), match=rf"n_samples.*{n_samples}") as raised:
        GENERATORS[name][0](n_samples)
    assert_one_sentence(str(raised.value))


@every_generator
def test_a_bad_seed(name):
    with pytest.raises(ValueError, match="'seed'"):
        GENERATORS[name][0](5, random_state="seed")


@pytest.mark.parametrize("radius", [0, -1.5, np.nan])
def test_a_bad_radius(radius):
    with pytest.raises(ValueError, match=rf"radius.*{radius}") as raised:
        make_disc(5, radius=radius)
    assert_one_sentence(str(raised.value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("noise", value) for value in (-0.1, np.nan, np.inf)),
        *(("turns", value) for value in (0, -1.5, np.nan, np.inf)),
    ],
)
def test_bad_noise_and_turns(name, value):
    with pytest.raises(ValueError, match=rf"{name}={value}") as raised:
        make_two_spirals(5, **{name: value})
    assert_one_sentence(str(raised.value))


# What is fetched. There is no network here: scikit-learn's function is replaced.


@pytest.fixture
def flowers():
    bunch = load_iris()
    return SimpleNamespace(
        data=bunch.data, target=bunch.target_names[bunch.target].astype(object), feature_names=bunch.feature_names
    )


@pytest.fixture
def network(monkeypatch):
    """Give a function that says what the network answers, and returns the list of what it was asked."""

    def answer(with_what) -> list[dict]:
        asked = []

        def fetch_openml(**options):
            asked.append(options)
            if isinstance(with_what, BaseException):
                raise with_what
            return with_what

        monkeypatch.setattr(openml, "fetch_openml", fetch_openml)
        return asked

    return answer


def test_fetch(tmp_path, network, flowers):
    asked = network(flowers)
    data = fetch("iris", tmp_path / "made" / "here")
    folder = tmp_path / "made" / "here"
    assert sorted(path.name for path in folder.iterdir()) == ["MANIFEST.json", "iris.npz"]
    entry = json.loads((folder / "MANIFEST.json").read_text())["datasets"]["iris"]
    assert entry["sha256"] == sha256(folder / "iris.npz")
    assert entry["source"] == "OpenML 61"
    assert len(asked) == 1
    assert asked[0]["data_id"] == 61
    assert asked[0]["cache"] is False
    for found in (data, load("iris", folder)):
        assert np.array_equal(found.X, flowers.data.astype(np.float32))
        assert found.classes == ("setosa", "versicolor", "virginica")
        assert [found.classes[label] for label in found.y] == flowers.target.tolist()
        assert found.feature_names == tuple(flowers.feature_names)
        assert found.origin == str(folder / "iris.npz")
        assert found.splits == ()


def test_fetch_finds_a_change_later(tmp_path, network, flowers):
    network(flowers)
    fetch("iris", tmp_path)
    truncated(tmp_path / "iris.npz")
    with pytest.raises(ValueError, match="SHA-256"):
        load("iris", tmp_path)


def test_fetch_of_sparse_rows(tmp_path, network, flowers):
    flowers.data = sparse.csr_matrix(flowers.data)
    network(flowers)
    assert np.array_equal(fetch("iris", tmp_path).X, flowers.data.toarray().astype(np.float32))


def test_fetch_of_a_set_with_a_published_split(tmp_path, network, flowers, monkeypatch):
    monkeypatch.setitem(openml._FIRST_FOR_TRAINING, "iris", 100)
    network(flowers)
    ((train, test),) = fetch("iris", tmp_path).splits
    assert train.tolist() == list(range(100))
    assert test.tolist() == list(range(100, 150))


def test_fetch_keeps_what_the_manifest_has(tmp_path, network, flowers):
    others = {"wine": {"sha256": "1" * 64, "licence": "free"}, "iris": {"sha256": "old", "source": "of old"}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"format": "npz", "datasets": others, "note": [1, 2]}))
    network(flowers)
    fetch("iris", tmp_path)
    manifest = json.loads((tmp_path / "MANIFEST.json").read_text())
    assert manifest["format"] == "npz"
    assert manifest["note"] == [1, 2]
    assert manifest["datasets"]["wine"] == others["wine"]
    assert set(manifest["datasets"]) == {"wine", "iris"}
    assert manifest["datasets"]["iris"]["sha256"] == sha256(tmp_path / "iris.npz")


def fewer_rows(bunch) -> None:
    bunch.data, bunch.target = bunch.data[:-1], bunch.target[:-1]


def fewer_columns(bunch) -> None:
    bunch.data = bunch.data[:, :-1]


def fewer_classes(bunch) -> None:
    bunch.target[bunch.target == "setosa"] = "virginica"


@pytest.mark.parametrize("change", [fewer_rows, fewer_columns, fewer_classes])
def test_fetch_refuses_another_set(tmp_path, network, flowers, change):
    change(flowers)
    network(flowers)
    with pytest.raises(ValueError, match=r"'iris' is not the expected one.*Nothing was saved") as raised:
        fetch("iris", tmp_path / "folder")
    assert_one_sentence(str(raised.value))
    assert list(tmp_path.iterdir()) == []


def test_fetch_does_not_overwrite(tmp_path, network, flowers):
    asked, path = network(flowers), save(tmp_path, "iris")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="there already") as raised:
        fetch("iris", tmp_path)
    assert str(path) in str(raised.value)
    assert_one_sentence(str(raised.value))
    assert path.read_bytes() == before
    assert asked == []
    assert [file.name for file in tmp_path.iterdir()] == ["iris.npz"]


@pytest.mark.parametrize(
    "error",
    [
        URLError("Name or service not known"),
        TimeoutError("timed out"),
        ConnectionResetError(104, "Connection reset by peer"),
        IncompleteRead(b"half"),
        EOFError("Compressed file ended before the end-of-stream marker was reached"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_fetch_without_network(tmp_path, network, error):
    network(error)
    with pytest.raises(OSError, match=r"OpenML did not give 'iris' \(set 61\).*put iris\.npz") as raised:
        fetch("iris", tmp_path / "folder")
    assert str(error) in str(raised.value)
    assert_one_sentence(str(raised.value))
    assert raised.value.__cause__ is error
    assert list(tmp_path.iterdir()) == []


def test_fetch_of_an_unknown_set(tmp_path, network, flowers):
    asked = network(flowers)
    with pytest.raises(ValueError, match=r"No data set 'flowers'.*known are banana, .*\bmnist\b") as raised:
        fetch("flowers", tmp_path)
    assert_one_sentence(str(raised.value))
    assert asked == []
    assert list(tmp_path.iterdir()) == []


def test_fetch_into_a_folder_without_rights(tmp_path, network, flowers, forbid):
    network(flowers)
    forbid(tmp_path, writing=True)
    with pytest.raises(PermissionError, match="No right to write into") as raised:
        fetch("iris", tmp_path)
    assert str(tmp_path) in str(raised.value)
    assert_one_sentence(str(raised.value))


def test_fetch_beside_a_damaged_manifest(tmp_path, network, flowers):
    network(flowers)
    (tmp_path / "MANIFEST.json").write_text("{")
    with pytest.raises(ValueError, match=r"MANIFEST\.json is damaged"):
        fetch("iris", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["MANIFEST.json"]
    assert (tmp_path / "MANIFEST.json").read_text() == "{"


@pytest.mark.parametrize("killed_at", [1, 2])
def test_fetch_that_is_killed_leaves_no_wrong_entry(tmp_path, network, flowers, monkeypatch, killed_at):
    """Whether before the file or before the manifest is in its place."""
    network(flowers)
    replace, calls = os.replace, []

    def killed(*paths):
        calls.append(paths)
        if len(calls) == killed_at:
            raise KeyboardInterrupt
        replace(*paths)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        fetch("iris", tmp_path)
    monkeypatch.setattr(os, "replace", replace)
    assert not (tmp_path / "MANIFEST.json").exists()
    if killed_at == 2:
        assert load("iris", tmp_path).X.shape == (150, 4)
    else:
        assert fetch("iris", tmp_path).X.shape == (150, 4)


# The shared data.

shared = pytest.mark.skipif(not has_shared_data("banana"), reason="no shared data: set CGENS_DATA")


@shared
@pytest.mark.slow
def test_every_file_of_the_manifest_loads_as_stated():
    folder = next(folder for folder in data_folders() if (folder / "MANIFEST.json").is_file())
    datasets = json.loads((folder / "MANIFEST.json").read_text())["datasets"]
    assert set(IDA_SETS) <= set(datasets)
    for name, about in datasets.items():
        data = load(name, folder)
        assert data.X.shape == (about["rows"], about["columns"]), name
        assert data.X.dtype.kind == "f", name
        if about["task"] == "classification":
            counts = dict(zip(data.classes, np.bincount(data.y, minlength=len(data.classes)).tolist(), strict=True))
            assert counts == about["class_counts"], name
        else:
            assert data.classes == (), name
        for train, test in data.splits:
            assert len(np.intersect1d(train, test)) == 0, name
            assert max(train.max(), test.max()) < len(data.y), name
            assert data.sizes in (None, (len(train), len(test))), name


@shared
@pytest.mark.parametrize(
    ("name", "make", "share"),
    [("twonorm", make_twonorm, 1 / 2), ("ringnorm", make_ringnorm, 1 / 2), ("waveform", make_waveform, 1 / 3)],
)
def test_the_drawn_sets_are_like_the_published_ones(name, make, share):
    """The published columns have the mean 0 and the variance 1: the drawn ones are brought to that."""
    published, (rows, labels) = load(name), make(MANY, random_state=0)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    assert_share(published.y, share)
    for label in (0, 1):
        ours, theirs = rows[labels == label], published.X[published.y == label].astype(float)
        error = np.sqrt(ours.var(axis=0) / len(ours) + theirs.var(axis=0) / len(theirs))
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= SIGMAS * error)
        ratio = np.log(ours.var(axis=0) / theirs.var(axis=0))  # of normal columns, or flatter ones
        assert np.all(np.abs(ratio) <= SIGMAS * np.sqrt(2 / len(ours) + 2 / len(theirs)))
