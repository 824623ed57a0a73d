"""Tests that need the data sets of the paper are skipped only if no data folder is configured."""

from __future__ import annotations

import pytest

from cgens.datasets import data_folders

needs_data = pytest.mark.skipif(not data_folders(), reason="no data folder: set CGENS_DATA")
