"""Tables of mixed types in a folder: one NAME.csv.gz each, and a MANIFEST.json that describes their columns."""

from __future__ import annotations

import difflib
import io
import os
from pathlib import Path
from typing import Any, get_args

import numpy as np

from cgens.datasets.folder import MANIFEST, check_name, exists, folders_to_search, read_manifest, read_verified
from cgens.datasets.optional import import_pandas
from cgens.datasets.table_dataset import TableDataset, Task
from cgens.types import AnyArray

#: The fields of a table in the manifest that are used, with their types. Only `target` and `task` are required.
_FIELDS: dict[str, type] = {
    **{"target": str, "task": str, "categorical": list, "date": list, "sha256": str},
    **{"origin": str, "licence": str, "note": str, "row_selection": str, "dropped": dict},
}


def load_table(name: str, data_dir: str | Path | None = None) -> TableDataset:
    """Load a table with categorical columns, dates and gaps, as a pandas data frame.

    The tables are in the folder `data_dir` or, if it has no files NAME.csv.gz, in the folder "tables" beside it; the
    default of `data_dir` is the environment variable CGENS_DATA. Nothing is imputed, scaled, encoded or shuffled.

    Parameters
    ----------
    name : str
    data_dir : path, optional
        A folder with files NAME.csv.gz and a MANIFEST.json, or one beside the folder "tables" that has them. The files
        are gzip-compressed CSV in UTF-8; an empty field is a gap, and any other text, such as "NA" or "None", is a
        value. The manifest is ``{"tables": {NAME: {...}}}`` with the `target` and `task` of each table, its
        `categorical` and `date` columns, if any, and optionally its SHA-256, which the file must match.

    Returns
    -------
    TableDataset

    Raises
    ------
    FileNotFoundError
        If the table or the folder does not exist.
    ValueError
        If the name is not valid, or the file or the manifest is damaged.
    ImportError
        If pandas is not installed.

    Examples
    --------
    >>> from cgens.datasets import load_table
    >>> X, y = load_table("ames_price")  # doctest: +SKIP
    >>> X.shape, y.shape  # doctest: +SKIP
    ((2930, 79), (2930,))
    """
    check_name(name)
    pandas = import_pandas("load_table")
    folder = _find_tables(name, data_dir)
    path, entry = folder / f"{name}.csv.gz", _manifest_entry(name, folder)
    frame = _parse(read_verified(path, entry["sha256"] or None), path, entry, pandas)
    target = frame.pop(entry["target"])
    return TableDataset(
        name=name,
        X=_features(frame, path, entry, pandas),
        y=_targets(target, path, entry["task"]),
        task=entry["task"],
        target=entry["target"],
        categorical=tuple(entry["categorical"]),
        dates=tuple(entry["date"]),
        **{key: entry[key] for key in ("origin", "licence", "note", "row_selection", "dropped")},
    )


def _find_tables(name: str, data_dir: str | Path | None) -> Path:
    """Return the folder of the tables: the configured one, or the folder "tables" beside it."""
    folders = folders_to_search(name, data_dir)
    if not folders:
        raise FileNotFoundError(f"No table {name!r}: no data folder is set (data_dir or CGENS_DATA sets it).")
    folder = folders[0]
    beside = Path(os.path.abspath(folder)).parent / "tables"  # of ".", the parent is not "."
    for candidate in (folder, beside):
        if any(candidate.glob("*.csv.gz")):
            return candidate
    raise FileNotFoundError(
        f"No table {name!r}: neither {folder} nor {beside} has files NAME.csv.gz (data_dir or CGENS_DATA sets the data "
        "folder)."
    )


def _manifest_entry(name: str, folder: Path) -> dict[str, Any]:
    """Return the manifest's description of a table, with an empty value for each field that it does not have."""
    path, tables = folder / MANIFEST, read_manifest(folder, "tables")["tables"]
    if name not in tables or not exists(folder / f"{name}.csv.gz"):
        raise FileNotFoundError(_not_found(name, folder, tables))
    listed = tables[name]
    if not isinstance(listed, dict):
        raise ValueError(f"{path} is damaged: invalid entry for {name!r}: {listed!r}.")
    entry = {key: listed.get(key, kind()) for key, kind in _FIELDS.items()}
    for key, kind in _FIELDS.items():
        if not isinstance(entry[key], kind) or (kind is list and not all(isinstance(item, str) for item in entry[key])):
            raise ValueError(f"{path} is damaged: the {key} of {name!r} is {entry[key]!r}.")
    if not entry["target"]:
        raise ValueError(f"{path} is damaged: {name!r} has no target.")
    if entry["task"] not in get_args(Task):
        raise ValueError(
            f"{path} is damaged: the task of {name!r} is {entry['task']!r}; it must be one of "
            f"{', '.join(get_args(Task))}."
        )
    return entry


def _not_found(name: str, folder: Path, tables: dict[str, Any]) -> str:
    """Return the message for a table that was not found: the folder searched, and the names that exist."""
    if not exists(folder / f"{name}.csv.gz"):
        searched = f"{name}.csv.gz is not in {folder}"
    else:
        searched = f"{folder / MANIFEST} does not describe it: its target, task, categorical and date columns"
    known = [other for other in sorted(tables) if exists(folder / f"{other}.csv.gz")]
    similar = difflib.get_close_matches(name, known, n=1)
    advice = f"Did you mean {similar[0]!r}?" if similar else f"Known tables: {', '.join(known) or 'none'}."
    return f"No table {name!r}: {searched} (data_dir or CGENS_DATA sets the data folder). {advice}"


def _parse(content: bytes, path: Path, entry: dict[str, Any], pandas: Any) -> Any:
    """Return the data frame of a file; categorical columns and dates are still strings."""
    # As strings: pandas would read integer levels with gaps as floats, and "3" would become "3.0".
    as_text = dict.fromkeys([*entry["categorical"], *entry["date"]], str)
    try:
        frame = pandas.read_csv(
            io.BytesIO(content), compression="gzip", keep_default_na=False, na_values=[""], dtype=as_text
        )
        if not isinstance(frame.index, pandas.RangeIndex):  # pandas takes a surplus first field as the index
            raise ValueError("rows are longer than the header")
    except Exception as error:  # a damaged file raises many different exceptions, none of which names it
        raise ValueError(
            f"{path} is not a table: it must be a gzip-compressed CSV file in UTF-8 with one header line."
        ) from error
    for column in (entry["target"], *as_text):
        if column not in frame.columns:
            raise ValueError(f"{path} has no column {column!r}, which {MANIFEST} lists.")
    return frame


def _features(frame: Any, path: Path, entry: dict[str, Any], pandas: Any) -> Any:
    """Return the features as a data frame, each column with its final type."""
    columns = {}
    for name, column in frame.items():
        if name in entry["categorical"]:
            columns[name] = column.astype("category")
        elif name in entry["date"]:
            columns[name] = _dates(column, path, pandas)
        elif pandas.api.types.infer_dtype(column, skipna=True) == "boolean" and column.hasnans:
            columns[name] = column.astype(np.float64)  # True, False and NaN are objects
        elif pandas.api.types.is_numeric_dtype(column):
            columns[name] = column
        else:
            raise ValueError(
                f"Column {name!r} of {path} is not numeric; list it in {MANIFEST} as categorical or as date."
            )
    return pandas.DataFrame(columns)


def _dates(column: Any, path: Path, pandas: Any) -> Any:
    try:
        dates = pandas.to_datetime(column, format="ISO8601", utc=True).dt.tz_localize(None)
        # The default unit depends on the version of pandas.
        return dates.astype("datetime64[ns]")
    except ValueError as error:
        raise ValueError(f"Column {column.name!r} of {path} has values that are not ISO 8601 dates.") from error


def _targets(column: Any, path: Path, task: Task) -> AnyArray:
    """Return the targets: numbers as float64, labels as strings or, if all of them are, integers."""
    if column.hasnans:
        raise ValueError(f"The target {column.name!r} of {path} has gaps; remove these rows.")
    values: AnyArray = column.to_numpy()
    if task == "regression":
        if values.dtype.kind not in "iuf":
            raise ValueError(f"The target {column.name!r} of {path} is not numeric, but its task is regression.")
        return values.astype(np.float64)
    return values if values.dtype.kind in "iub" else column.astype(str).to_numpy().astype(str)
