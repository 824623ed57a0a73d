"""Warnings that point at the user's line, however deep in the library they are found."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn

#: Code of the library, and of scikit-learn, whose decorators and meta-estimators call it.
_LIBRARIES = tuple(str(Path(str(file)).parent) for file in (__file__, sklearn.__file__))


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line of the call stack that is not in a library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
