"""The data set that `load_table` returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cgens.types import AnyArray

if TYPE_CHECKING:
    import pandas as pd

Task: TypeAlias = Literal["binary", "multiclass", "regression"]


@dataclass(frozen=True, repr=False, eq=False)  # == of data frames is elementwise
class TableDataset:
    """A table of mixed types, its targets and metadata; ``X, y = dataset`` unpacks it.

    Attributes
    ----------
    name : str
    X : DataFrame of shape (n_samples, n_features)
        Categorical columns have the dtype "category" with strings as levels, sorted; dates are datetime64[ns], without
        a time zone (UTC if the file states one); all other columns are numeric or boolean. Gaps are missing values:
        NaN, in dates NaT.
    y : ndarray of shape (n_samples,)
        Class labels as in the file, strings or integers; or regression targets, float64.
    task : {"binary", "multiclass", "regression"}
    target : str
        Name of the target.
    categorical : tuple of str
        Names of the categorical columns, including those whose levels are integers in the file.
    dates : tuple of str
        Names of the columns of dates.
    origin : str
        Where the data came from.
    licence : str
        As stated by the origin.
    note : str
        What else is known about the table.
    row_selection : str
        Which rows of the origin the table has; empty: all.
    dropped : dict of str to str
        Columns of the origin that the table does not have, and why.
    """

    name: str
    X: pd.DataFrame
    y: AnyArray
    task: Task
    target: str
    categorical: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    origin: str = ""
    licence: str = ""
    note: str = ""
    row_selection: str = ""
    dropped: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        rows, features = self.X.shape
        columns = f"{features} features, {len(self.categorical)} of them categorical"
        return f"<TableDataset {self.name}: {rows} rows, {columns}, {self.task}; {self.origin}>"
