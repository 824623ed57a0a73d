"""Whatever memory there is, a fit ends in a model or in MemoryError; benchmarks/memory_limits.py tries more limits."""

from __future__ import annotations

import sys

import pytest

from benchmarks.memory_limits import ENDS, KINDS, end_of_fit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the memory limit is specific to Linux"),
]


@pytest.mark.parametrize("megabytes", [0, 20, 40, 70, 100, 150, 250])
@pytest.mark.parametrize("kind", KINDS)
def test_every_fit_ends_in_a_model_or_in_a_memory_error(kind, megabytes):
    assert end_of_fit(kind, megabytes) in ENDS
