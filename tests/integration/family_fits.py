"""Short fits of any family, and what a refusal is like."""

from __future__ import annotations

import pytest

from cgens import CGEnsClassifier
from tests.integration.small_data import noisy

X, Y = noisy()


def fit(family, X=X, y=Y, **options):
    return CGEnsClassifier(family, **{"n_estimators": 8, "random_state": 0, "n_jobs": 1, **options}).fit(X, y)


def assert_refused(error, pattern, act):
    with pytest.raises(error, match=pattern) as raised:
        act()
    message = str(raised.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert "incompatible function arguments" not in message
