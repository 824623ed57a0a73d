"""Invalid input raises the right exception, whose message names the mistake, and does not change the estimator."""

from __future__ import annotations

import copy
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from sklearn.base import clone

import cgens.baselines
from tests.inputs.estimators import ESTIMATORS, X, fit, named
from tests.inputs.refusals import REFUSALS
from tests.inputs.refused_families import REFUSED_FAMILIES

PACKAGE = Path(cgens.__file__).parent


@cache
def fitted(name):
    model = fit(name)
    return model, model.predict(X).tobytes()


def assert_plain_message(raised, full_stop=True):
    """A message of cgens is one line with a full stop; those of scikit-learn may have several lines."""
    message = str(raised.value)
    assert message.strip()
    assert "Traceback" not in message
    assert "incompatible function arguments" not in message, "a message of the compiled core"
    if PACKAGE in Path(raised.traceback[-1].path).parents:
        assert "\n" not in message
        assert message.endswith(".") or not full_stop


@pytest.mark.parametrize("refusal", [*REFUSALS, *REFUSED_FAMILIES], ids=lambda refusal: refusal.id)
def test_is_refused_and_does_not_change_the_estimator(refusal):
    for state in refusal.states:
        model = copy.copy(fitted(refusal.name)[0]) if state == "fitted" else clone(ESTIMATORS[refusal.name])
        good = {name: getattr(model, name) for name in refusal.params}
        before = dict(vars(model.set_params(**refusal.params)))
        with pytest.raises(refusal.error, match=r"(?s)" + refusal.pattern) as raised:
            refusal.act(model)
        assert_plain_message(raised, full_stop=refusal.name not in named("loops"))  # they leave X to the core
        assert vars(model).keys() == before.keys()
        assert all(value is before[name] for name, value in vars(model).items())
        if state == "fitted":
            assert model.set_params(**good).predict(X).tobytes() == fitted(refusal.name)[1]


def test_every_public_estimator_is_in_the_table():
    public = {getattr(module, name) for module in (cgens, cgens.baselines) for name in module.__all__}
    predictors = {own for own in public if hasattr(own, "predict")}
    assert len(predictors) >= 11
    assert predictors <= {type(ESTIMATORS[refusal.name]) for refusal in REFUSALS}


def test_without_highspy_only_lpboost_is_refused_and_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    users = [path for path in PACKAGE.rglob("*.py") if "highspy" in path.read_text()]
    assert users
    for path in users:
        spec = spec_from_file_location(".".join(("cgens", *path.relative_to(PACKAGE).with_suffix("").parts)), path)
        spec.loader.exec_module(module_from_spec(spec))  # besides the imported one
    with pytest.raises(ImportError, match=r"pip install 'cgens\[lp\]'.*highspy") as raised:
        fit("LPBoost")
    assert_plain_message(raised)
    with pytest.raises(ValueError, match=r"solver.*'simplex'"):  # a bad parameter is named first
        fit("LPBoost", {"solver": "simplex"})
    fit("MultiBoost")
