"""Fits with checkpoints: what identifies a fit, and how one goes on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from cgens.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointWriter,
    FitIdentity,
    SavedFit,
    digest_arrays,
    read_checkpoint,
)
from cgens.estimators._parameters import check_count, check_positive
from cgens.estimators._plan import FitPlan
from cgens.io.archive import FormatError, remove_temporary_files
from cgens.table.table import Table, compressed_arrays

#: Parameters that may differ between a fit and the one that goes on from its checkpoint.
MAY_DIFFER = ("checkpoint", "n_estimators", "n_jobs", "random_state", "verbose")
#: Rows of X that are digested at a time.
_ROWS = 65536


def resolve_checkpoint(value: Any) -> Checkpoint | None:
    """Return the checkpoint for a path or an object, None for None; raise ValueError or TypeError if it is invalid."""
    if value is None:
        return None
    checkpoint = value if isinstance(value, Checkpoint) else Checkpoint(value)
    if not isinstance(checkpoint.path, str | os.PathLike):
        raise TypeError(f"checkpoint must be None, a path or a cgens.Checkpoint; got {value!r}.")
    if checkpoint.every_seconds is None and checkpoint.every_rounds is None:
        raise ValueError("A Checkpoint needs every_seconds or every_rounds; both are None.")
    if checkpoint.every_seconds is not None:
        check_positive("every_seconds", checkpoint.every_seconds)
    if checkpoint.every_rounds is not None:
        check_count("every_rounds", checkpoint.every_rounds)
    path = os.fspath(checkpoint.path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"The folder of the checkpoint {path} does not exist.")
    if not path or os.path.isdir(path):
        raise ValueError(f"The checkpoint {path!r} is a folder; it must be a file.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"The folder of the checkpoint {path} is read-only.")
    return checkpoint


def identify(estimator: Any, plan: FitPlan) -> FitIdentity:
    """Return what a checkpoint of this fit belongs to: its data in canonical order, and its parameters."""
    rows = plan.order.rows
    digests = [digest_table(plan.data.X.take(rows[begin : begin + _ROWS])) for begin in range(0, len(rows), _ROWS)]
    parts = [plan.target, plan.weight, np.array(digests)]
    if plan.validation is not None:
        parts += [np.array(digest_table(plan.validation.X)), plan.validation.target, plan.validation.weight]
    initial = {} if plan.initial is None else plan.initial.to_arrays()
    parameters = {"estimator": type(estimator).__name__}
    for name, value in sorted(estimator.get_params(deep=True).items(), key=lambda item: item[0].count("__")):
        if name not in MAY_DIFFER or (name == "n_estimators" and plan.squared is not None):  # C depends on it
            parameters[name] = _describe(value)
    seed = estimator.random_state
    parameters["random_state"] = str(seed) if seed is None or isinstance(seed, int | np.integer) else "a generator"
    start = digest_arrays(*(initial[name] for name in sorted(initial)))
    return FitIdentity(digest_arrays(*parts), start, len(plan.initial or ()), parameters, plan.seed)


def digest_table(table: Table) -> str:
    """Return a digest of some rows."""
    parts = compressed_arrays(table.rows_first()) if table.is_sparse else (table.values,)
    return digest_arrays(*parts, table.is_category)


def _describe(value: Any) -> str:
    """Return the value of a parameter in one line, the same in another process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(repr(value).split()))


def open_checkpoint(
    estimator: Any, plan: FitPlan, losses: list[float]
) -> tuple[CheckpointWriter | None, SavedFit | None]:
    """Return the callback that writes the checkpoints of a fit, and the checkpoint to go on from, if any.

    `losses` receives the validation losses of that checkpoint.
    """
    checkpoint = resolve_checkpoint(getattr(estimator, "checkpoint", None))
    if checkpoint is None:
        return None, None
    identity = identify(estimator, plan)
    remove_temporary_files(checkpoint.path)  # of a fit that was killed while it wrote one
    saved = read_checkpoint(checkpoint.path, identity)
    if saved is not None:
        if saved.n_columns > plan.max_columns:
            raise ValueError(
                f"The checkpoint {os.fspath(checkpoint.path)} has {saved.n_columns} columns, more than "
                f"n_estimators={plan.max_columns}: increase n_estimators, or delete the file."
            )
        identity = replace(identity, seed=saved.seed)
        losses += saved.losses
    return CheckpointWriter(checkpoint, identity, losses, saved is not None), saved


@contextmanager
def name_damage(estimator: Any) -> Iterator[None]:
    """Add the name of the checkpoint to errors in its state."""
    try:
        yield
    except FormatError as error:
        path = os.fspath(getattr(estimator.checkpoint, "path", estimator.checkpoint))
        raise FormatError(f"The checkpoint {path} is damaged: {error} Delete it, or choose another file.") from error
