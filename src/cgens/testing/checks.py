"""How checks are run and how violations are reported."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

#: Primal and dual values are sums of some hundred numbers: a gap below -1e-12 of the objective is not rounding.
ROUNDING = 1e-12
#: Two ways of computing one closed formula in float64.
CLOSED_FORM = 1e-9

Subject = TypeVar("Subject")


def expect(condition: object, message: str) -> None:
    """Raise AssertionError with the message unless the condition is true."""
    if not condition:
        raise AssertionError(message)


def expect_close(found: float, expected: float, tolerance: float, what: str) -> None:
    """Raise AssertionError unless two numbers differ by at most the tolerance."""
    expect(abs(found - expected) <= tolerance, f"{what} is {found!r}, not {expected!r}")


def expect_params_kept(spec: Any, use: Callable[[], Any]) -> None:
    """Raise AssertionError if the hyperparameters of a spec change when it is cloned or used."""
    expect(hasattr(spec, "get_params"), "there is no get_params: derive the class from sklearn.base.BaseEstimator")
    before = repr(spec)
    try:
        copy = repr(clone(spec))
    except RuntimeError as error:
        raise AssertionError(f"__init__ must only store its parameters: {error}") from error
    expect(copy == before, f"a clone is {copy}: __init__ must store its parameters as they are")
    use()
    expect(repr(spec) == before, f"`begin` changed the parameters to {spec!r}: it must not change them")


def run_checks(name: str, subject: Subject, checks: Iterable[Callable[[Subject], None]]) -> None:
    """Run all checks; errors name the check and the object that is checked."""
    for check in checks:
        text = (check.__doc__ or "").splitlines()[0].rstrip(".")
        about = f"{name} fails {check.__name__} ({text})"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # an overflow, or a NaN, is a mistake
                check(subject)
        except AssertionError as error:
            raise AssertionError(f"{about}: {error}.") from error
        except Exception as error:
            error.add_note(about)
            raise


def same_up_to_sign(one: Any, other: Any) -> bool:
    """Return whether two responses are equal, or one is the negative of the other."""
    return np.array_equal(one, other) or np.array_equal(one, -other)
