"""Named arrays and a JSON header in one file: a zip archive without compression and without pickles.

The entry ``header.json`` comes first: ``{"format": ..., "version": ..., "content": {...}, "arrays": {name: {"dtype",
"shape", "blake2b"}}}``. Array number k is the entry ``arrays/k``: its bytes, little-endian and in C order. A file that
somebody else wrote is not trusted: nothing in it is executed or imported, no array has a type with objects, and no more
memory is allocated than the file has bytes.
"""

from __future__ import annotations

import glob
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np

from cgens.types import AnyArray

#: Kinds of NumPy types that a file may contain: booleans, integers, floating-point numbers, bytes and strings.
_KINDS = "biufSU"
_HEADER = "header.json"
#: Names of temporary files end with a random number of so many bytes, and this.
_TOKEN_BYTES, _TEMPORARY = 4, ".part"
_MAX_HEADER_BYTES = 64 * 2**20
#: Entries have a fixed time: the same content gives the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class FormatError(ValueError):
    """A file is damaged, or is not of the expected format."""


@dataclass(frozen=True)
class Archive:
    """The content of a file.

    Attributes
    ----------
    format : str
        What the file is, such as "cgens checkpoint".
    version : int
        Version of that format.
    content : dict
        Anything that JSON can represent.
    arrays : dict of str to ndarray
    """

    format: str
    version: int
    content: dict[str, Any]
    arrays: Mapping[str, AnyArray]


def write_archive(path: str | os.PathLike[str], archive: Archive) -> None:
    """Write a file, atomically: at any moment there is the old file or the complete new one.

    Parameters
    ----------
    path : str or path-like
    archive : Archive

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers"
    ...     write_archive(path, Archive("example", 1, {"unit": "m"}, {"lengths": np.array([1.5, 2.0])}))
    ...     read_archive(path, "example", 1).arrays["lengths"]
    array([1.5, 2. ])
    """
    path = Path(path)
    arrays = {name: _portable(name, array) for name, array in archive.arrays.items()}
    described = {name: _describe(array) for name, array in arrays.items()}
    header = {"format": archive.format, "version": archive.version, "content": archive.content, "arrays": described}
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(_TOKEN_BYTES)}{_TEMPORARY}")
    try:
        with open(temporary, "xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archived:
                _write_entry(archived, _HEADER, json.dumps(header).encode())
                for number, array in enumerate(arrays.values()):
                    _write_entry(archived, f"arrays/{number}", array.reshape(-1).view(np.uint8).data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_temporary_files(path: str | os.PathLike[str]) -> None:
    """Delete what `write_archive` left if the process was killed while it wrote this file."""
    path = Path(path)
    for temporary in path.parent.glob(f".{glob.escape(path.name)}.{'?' * 2 * _TOKEN_BYTES}{_TEMPORARY}"):
        temporary.unlink(missing_ok=True)


def read_archive(path: str | os.PathLike[str], format: str, max_version: int) -> Archive:
    """Read a file.

    Parameters
    ----------
    path : str or path-like
    format : str
        The format that the file must have.
    max_version : int
        The newest version of the format that the caller understands.

    Returns
    -------
    archive : Archive

    Raises
    ------
    FormatError
        If the file is damaged or has another format or a newer version.
    OSError
        If it cannot be opened.
    """
    with open(path, "rb") as file:
        try:
            return _read(file, format, max_version)
        except FormatError as error:
            raise FormatError(f"{os.fspath(path)} {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # whatever zipfile and json raise when a file is damaged
            raise FormatError(f"{os.fspath(path)} is damaged, or is no {format}: {error}.") from error


def _read(file: IO[bytes], format: str, max_version: int) -> Archive:
    with zipfile.ZipFile(file) as archived:
        size = file.seek(0, os.SEEK_END)
        header = json.loads(_read_entry(archived, _HEADER, min(size, _MAX_HEADER_BYTES)))
        if header["format"] != format:
            raise FormatError(f"is a {header['format']!r}, not a {format!r}.")
        if not isinstance(header["version"], int) or not 1 <= header["version"] <= max_version:
            raise FormatError(
                f"has version {header['version']!r} of the format {format!r}; this version of cgens reads versions up "
                f"to {max_version}."
            )
        arrays, n_left = {}, size
        for number, (name, described) in enumerate(header["arrays"].items()):
            dtype, shape = np.dtype(described["dtype"]), tuple(int(length) for length in described["shape"])
            if dtype.kind not in _KINDS or dtype.hasobject or any(length < 0 for length in shape):
                raise FormatError(f"has an array {name!r} of type {dtype} and shape {shape}.")
            n_bytes = dtype.itemsize
            for length in shape:
                n_bytes *= length  # Python's integers do not overflow
            data = _read_entry(archived, f"arrays/{number}", n_left)
            n_left -= len(data)  # entries that overlap would take more memory than the file
            if len(data) != n_bytes or blake2b(data, digest_size=16).hexdigest() != described["blake2b"]:
                raise FormatError(f"is damaged: the array {name!r} does not have its checksum.")
            array = np.frombuffer(data, dtype=dtype).reshape(shape)
            arrays[name] = array.astype(dtype.newbyteorder("="), copy=False)
        if not isinstance(header["content"], dict):
            raise FormatError("is damaged: its header is not a dictionary.")
        return Archive(format, header["version"], header["content"], arrays)


def _read_entry(archived: zipfile.ZipFile, name: str, max_bytes: int) -> bytes:
    """Return the bytes of an entry, which must be stored without compression: it cannot be larger than the file."""
    entry = archived.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise FormatError(f"has a compressed entry {name!r}, which cgens does not write.")
    if entry.file_size > max_bytes:
        raise FormatError(f"is damaged: with the entry {name!r}, its content is larger than the file.")
    return archived.read(entry)


def _write_entry(archived: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.file_size = len(data)  # so that entries above 2 GB are written in the format for large files
    with archived.open(entry, "w") as file:
        file.write(data)


def _portable(name: str, array: AnyArray) -> AnyArray:
    """Return the array as it is written: little-endian, in C order."""
    array = np.asarray(array)
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"The array {name!r} has the type {array.dtype}: files hold numbers, strings and bytes only.")
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _describe(array: AnyArray) -> dict[str, Any]:
    digest = blake2b(array.reshape(-1).view(np.uint8).data, digest_size=16).hexdigest()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "blake2b": digest}
