"""The prices of a pool of candidates after many changes by rank one."""

from __future__ import annotations

import numpy as np
import pytest

from cgens._core import padded_length
from cgens.weak_learners.search.candidate_table import CandidateTable
from tests.tolerances import CLOSED_FORM


def halves(rng, m, dtype):
    """Return candidates that separate the first half of the rows from the second, apart from noise.

    Sums over rows are large until they cancel.
    """
    noise = np.where(rng.random((20, m)) < 0.02, -1.0, 1.0) if dtype == np.int8 else 1 + 0.02 * rng.normal(size=(20, m))
    responses = np.zeros((20, padded_length(m)), dtype=dtype)
    responses[:, :m] = np.where(np.arange(m) < m // 2, noise, -noise)
    return responses


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
@pytest.mark.parametrize("m", [50, 5000])
def test_drift_bounds_the_rounding_error(m, dtype, scale, rng):
    """Compared with the same changes in long double, from duals of 0 and from others."""
    responses = halves(rng, m, dtype)
    exactly = responses[:, :m].astype(np.longdouble)
    table = CandidateTable(responses, np.ones(20, dtype=bool), m, n_threads=1, n_outputs=2)
    for duals in (np.zeros((m, 2)), scale * (rng.random((m, 2)) + 1.0)):
        table.reprice(duals, "max")
        exact, last = exactly @ duals, table.drift
        for _ in range(50):
            assert np.abs(table.prices - exact).max() <= table.drift
            direction, step = rng.random(m), scale * rng.normal(size=2)
            table.change(direction, step, 2.0, "max")
            exact = exact - np.outer(exactly @ direction, step)
            assert last < table.drift
            last = table.drift
        assert table.drift <= CLOSED_FORM * float(np.abs(exact).max()), "the bound is useful"
    table.reprice(duals, "max")
    assert table.drift < last, "it is reset with the duals"
