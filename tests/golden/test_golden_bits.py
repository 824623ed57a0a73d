"""Models keep their bits: a change that is meant to leave them alone is held to that."""

from __future__ import annotations

import json
import warnings

import pytest

from tests.golden.fits import GOLDEN, cases

EXPECTED = json.loads(GOLDEN.read_text())


def test_every_fit_is_pinned():
    assert list(EXPECTED) == list(cases())


@pytest.mark.parametrize("name", list(EXPECTED))
def test_golden_bits(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fit warns of is tested elsewhere
        assert cases()[name]() == EXPECTED[name]
