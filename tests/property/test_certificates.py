"""On any small problem certificates hold, gaps are not negative, and every round lowers the objective."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from cgens.baselines import LPBoostClassifier
from cgens.inspection import check_certificate
from cgens.types import Status
from tests.models import LEAST_SQUARES, MODELS, PLAIN, STAGE_WISE, TOTALLY_CORRECTIVE, make
from tests.property.problems import costs, problems, target_of
from tests.tolerances import CLOSED_FORM, NEGATIVE_GAP

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of constant models; the last test is about warnings
few = settings(max_examples=8)


def fit(name, problem, **options):
    y = target_of(problem, MODELS[name][1])
    return make(name, **options).fit(problem.X, y, sample_weight=problem.weight), y


@pytest.mark.parametrize("name", PLAIN)
@few
@given(problem=problems(), C=costs, n_columns=st.sampled_from([1, 15, 1000]))
def test_certificates_hold(name, problem, C, n_columns):
    model, y = fit(name, problem, C=C, n_estimators=n_columns)
    certificate, trace = model.certificate_, model.trace_
    assert check_certificate(model, problem.X, y, problem.weight).problems == ()
    assert not np.any(trace.relative_gap < -NEGATIVE_GAP)
    assert certificate.full_relative_gap >= -NEGATIVE_GAP
    assert certificate.relative_gap <= model.tol
    assert certificate.full_lower_bound <= trace.primal.min() * (1 + NEGATIVE_GAP)
    if name in LEAST_SQUARES:
        assert np.all(np.diff(trace.primal) <= NEGATIVE_GAP * trace.primal[0]), "every column lowers the objective"
        # The last stage is the model, although stages are computed by steps of rank one.
        *_, last = model.ensemble_.staged(problem.X)
        expected = model.ensemble_.decision(problem.X)
        assert np.allclose(last, expected, rtol=0, atol=CLOSED_FORM * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", TOTALLY_CORRECTIVE)
@pytest.mark.parametrize("n_columns", [8, 1000])
@few
@given(problem=problems(most_rows=40))
def test_certificates_of_boosting_hold(name, n_columns, problem):
    model, _ = fit(name, problem, n_estimators=n_columns, nu={"MultiBoost": 0.01, "LPBoost": None}.get(name, 0.5))
    certificate, scale = model.certificate_, max(1.0, abs(model.certificate_.primal))
    assert certificate.dual <= certificate.primal + NEGATIVE_GAP * scale
    assert certificate.full_lower_bound <= certificate.primal + NEGATIVE_GAP * scale
    if abs(certificate.primal) > CLOSED_FORM:
        assert certificate.relative_gap <= model.tol
        assert n_columns < 1000 or certificate.full_relative_gap <= 2 * model.tol


@pytest.mark.parametrize("name", STAGE_WISE)
@few
@given(problem=problems())
def test_every_round_lowers_the_exponential_loss(name, problem):
    primal = fit(name, problem, n_estimators=20)[0].trace_.primal
    assert primal[0] == 1.0
    # The votes of AdaBoost.ECC are smoothed.
    assert np.all(np.diff(primal) <= (0.01 if name == "AdaBoost.ECC" else NEGATIVE_GAP))


@given(problem=problems(), nu=st.sampled_from([0.05, 0.3, 0.8, 1.0]))
def test_rounding_is_no_gap(problem, nu):
    """Whatever the margin, also 0: simplex methods are exact up to rounding, and there is no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = LPBoostClassifier(nu=nu, n_jobs=1).fit(problem.X, problem.y, problem.weight)
    assert model.certificate_.primal - model.certificate_.dual <= CLOSED_FORM
    assert model.certificate_.status is Status.OPTIMAL
