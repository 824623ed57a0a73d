"""Folders without data."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def no_shared_data(tmp_path, monkeypatch) -> Path:
    """Let CGENS_DATA name an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.setenv("CGENS_DATA", str(folder))
    return folder
