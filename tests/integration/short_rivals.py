"""Every rival with five columns, for bad and odd input."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from tests.integration import rivals
from tests.integration.small_data import noisy

X, Y = noisy()
ON_THE_LOOP = {name: clone(rival).set_params(n_estimators=5) for name, rival in rivals.ON_THE_LOOP.items()}
RIVALS = {**ON_THE_LOOP, **rivals.WRAPPERS}

every_rival = pytest.mark.parametrize("rival", RIVALS)
every_on_the_loop = pytest.mark.parametrize("rival", ON_THE_LOOP)


def fit(rival, X=X, y=Y, weight=None, **options):
    return clone(RIVALS[rival]).set_params(**options).fit(X, y, sample_weight=weight)
