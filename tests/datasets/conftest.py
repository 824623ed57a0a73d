"""Folders without data, and folders without rights."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


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
