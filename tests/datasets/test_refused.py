"""Damaged, unknown and forbidden data sets are refused by one sentence."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cgens.datasets import load
from tests.datasets.files import X, Y, save, save_manifest, sha256, truncated
from tests.sentences import assert_one_sentence


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
    "from elsewhere": ("splice", r"put it there, arrays X \(n, d\) and y \(n,\), from the IDA benchmark repository"),
    "of the name of another": ("breast_cancer", r"put it there, .* from the IDA benchmark repository"),
    "not public": ("sun", r"put it there, .* from features of the images of SUN"),
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
    how = "bundled with scikit-learn" if name == "digits" else "drawn"
    assert f"; without data_dir it is {how}." in str(raised.value)


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


@pytest.mark.parametrize("name", ["wine", "twonorm", "heart"])
def test_the_environments_folder_that_is_not_there(tmp_path, monkeypatch, name):
    """Neither a bundled set nor one that is drawn is taken in its place."""
    monkeypatch.setenv("CGENS_DATA", str(tmp_path / "slip"))
    with pytest.raises(FileNotFoundError, match=f"No data set '{name}': CGENS_DATA names") as raised:
        load(name)
    assert str(tmp_path / "slip") in str(raised.value)
    assert_one_sentence(str(raised.value))


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
