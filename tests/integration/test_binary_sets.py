"""Soundness on the shared binary data sets, for small, ordinary and large C."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgens import CGEnsClassifier
from cgens.inspection import check_certificate
from cgens.types import Status
from evaluation.splits import IDA_SETS, random_split
from tests.data_folder import needs_data
from tests.tolerances import NEGATIVE_GAP

pytestmark = [pytest.mark.slow, needs_data]


SETS = [*IDA_SETS, "spambase"]


def fit_and_check(name, C):
    split = random_split(name, seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = CGEnsClassifier(C=C, n_estimators=100, n_jobs=1).fit(split.X, split.y)
    assert np.all(model.trace_.relative_gap >= -NEGATIVE_GAP)
    assert model.certificate_.full_relative_gap >= -NEGATIVE_GAP
    assert check_certificate(model, split.X, split.y).problems == ()
    return model, caught


@pytest.mark.parametrize("C", ["scale", 1e-3, 1.0])
@pytest.mark.parametrize("name", SETS)
def test_converges_to_a_true_certificate(name, C):
    model, caught = fit_and_check(name, C)
    assert model.certificate_.relative_gap <= model.tol
    assert model.certificate_.status in (Status.MAX_COLUMNS, Status.OPTIMAL)
    assert caught == []


@pytest.mark.parametrize("name", SETS)
def test_a_huge_cost_converges_or_says_so(name):
    """C times the rows is here up to 40 000 times the default: giving up is allowed, being silent about it is not."""
    model, caught = fit_and_check(name, 100.0)
    gave_up = model.certificate_.relative_gap > model.tol
    assert gave_up == (model.certificate_.status is Status.NOT_CONVERGED)
    assert gave_up == any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
