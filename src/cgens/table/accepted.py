"""What a family of weak learners accepts in a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens.table.table import Table

#: What a table may have besides complete numbers. A family says what it accepts by its attribute ``accepts``.
EXTRAS = ("gaps", "categories", "sparse")


def check_accepted(family: Any, table: Table) -> None:
    """Raise ValueError, with the names of family and column, if the table has what the family does not accept."""
    accepts = getattr(family, "accepts", ())
    name = type(family).__name__
    if "sparse" not in accepts and table.is_sparse:
        described = " ".join(repr(family).split())
        raise ValueError(f"{described} does not accept sparse X: convert it with X.toarray() if it fits into memory.")
    if "categories" not in accepts and table.is_category.any():
        column = table.label(int(np.argmax(table.is_category)))
        raise ValueError(
            f"{name} accepts numbers only, but column {column} of X is a category: leave it out or encode it, for "
            "example with sklearn.preprocessing.OneHotEncoder."
        )
    if "gaps" not in accepts:
        reject_gaps(name, table)


def reject_gaps(name: str, table: Table) -> None:
    """Raise ValueError if the table has gaps, which the family of this name does not accept."""
    if table.has_gaps.any():
        column = table.label(int(np.argmax(table.has_gaps)))
        raise ValueError(
            f"{name} does not accept missing values (NaN), which column {column} of X has: impute them first, for "
            "example with sklearn.impute.SimpleImputer."
        )
