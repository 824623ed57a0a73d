"""Tests that need data are skipped only if no data folder is configured, or if it has no tables beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgens.datasets import data_folders

needs_data = pytest.mark.skipif(not data_folders(), reason="no data folder: set CGENS_DATA")

TABLES = next((folder.parent / "tables" for folder in data_folders()), Path("tables"))
needs_tables = pytest.mark.skipif(
    not (data_folders() and TABLES.is_dir()), reason="no folder of tables beside the data folder: set CGENS_DATA"
)
