"""Fixtures and settings of all tests."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

# Two tests run at a time, and most are tiny: the default is one thread (tests of several threads request them), and
# waiting threads sleep. OpenMP and BLAS read this when they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from cgens import _core

# Small problems use several threads, so that tests of threads are fast.
_core.force_work_per_thread(3e4)

# As in the Makefile, for a plain `pytest`. Without a data folder, tests that need one are skipped.
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if SHARED_DATA.is_dir():
    os.environ.setdefault("CGENS_DATA", str(SHARED_DATA))

settings.register_profile(
    "cgens",
    deadline=None,  # the first call of a kernel starts threads, and is slow
    derandomize=True,  # the same examples everywhere: failures are reproducible
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("cgens")

# A shell starts background processes with Ctrl-C ignored, and their children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file together, because they share fixtures.

    Files whose tests measure time, send signals or start many threads count as one: they never run at the same time.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "alone" if re.search("interrupt|threads_and_processes", file) else file

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def restore_simd_level() -> Iterator[None]:
    """Restore the best SIMD level after a test that forces others."""
    yield
    _core.force_simd_level("")
