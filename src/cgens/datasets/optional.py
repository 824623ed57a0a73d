"""Import pandas, which only tables of mixed types need."""

from __future__ import annotations

from typing import Any


def import_pandas(function: str) -> Any:
    """Return pandas; if it is not installed, raise an ImportError that names the function and says what to install."""
    try:
        import pandas
    except ImportError:
        raise ImportError(f"{function} needs pandas: pip install 'cgens[tables]'.") from None
    return pandas
