"""Estimators whose pickles record the version of cgens."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from cgens.user_warnings import warn_user
from cgens.version import __version__


class VersionedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose pickle records the version of cgens; unpickling warns if the versions differ.

    Subclasses are dataclasses only to generate `__init__`; equality and representation remain scikit-learn's.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_cgens_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        written = state.pop("_cgens_version", "unknown")
        if written != __version__:
            warn_user(
                f"This {type(self).__name__} was pickled by cgens {written} and is read by cgens {__version__}: "
                "predictions may fail or differ. Fit it again, or install the version that wrote it.",
            )
        super().__setstate__(state)
