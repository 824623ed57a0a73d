"""Checkpoints of a fit in a file, from which a fit that was killed goes on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cgens.io.archive import Archive, FormatError, read_archive, write_archive
from cgens.rounds import Round
from cgens.types import AnyArray
from cgens.user_warnings import warn_user
from cgens.version import __version__

FORMAT, VERSION = "cgens checkpoint", 2


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often to save the state of a fit.

    Parameters
    ----------
    path : str or path-like
        A file. If it exists when a fit begins, the fit goes on from there, to the same model as without the
        interruption. A fit that ends deletes it.
    every_seconds : float or None, default=60
        Time between two checkpoints.
    every_rounds : int or None, default=None
        Number of rounds between two checkpoints.

    Notes
    -----
    A checkpoint belongs to one fit: to its data, whatever the order of the rows, and to its parameters, except for
    `n_estimators`, `n_jobs` and `verbose`. Any other fit refuses it: fits that run at the same time, as in
    cross-validation, need different files. Its size grows with the rows and with the square of the number of columns
    (600 stumps on 2000 rows: 2 to 5 MB); with cosines and perceptrons it also contains their responses on all rows.
    If a checkpoint cannot be written, for example because the disk is full, the fit warns and goes on.

    Examples
    --------
    >>> from cgens import CGEnsClassifier, Checkpoint
    >>> model = CGEnsClassifier(checkpoint=Checkpoint("fit.checkpoint", every_seconds=300))
    """

    path: str | os.PathLike[str]
    every_seconds: float | None = 60.0
    every_rounds: int | None = None


@dataclass(frozen=True)
class FitIdentity:
    """What a checkpoint belongs to.

    Attributes
    ----------
    data : str
        A digest of rows, target and weights.
    start : str
        A digest of the columns of an earlier fit that it starts from.
    n_start : int
        Their number.
    parameters : dict of str to str
        Of the estimator, before those of its family and loss.
    seed : int
        Of the random generator, if ``random_state`` does not determine it.
    """

    data: str
    start: str
    n_start: int
    parameters: dict[str, str]
    seed: int

    def check(self, content: Mapping[str, Any], path: str) -> None:
        """Raise ValueError if the content of a checkpoint belongs to another fit."""
        was = content["parameters"]
        changed = [name for name, value in self.parameters.items() if was.get(name) != value]
        if content["cgens"] != __version__:
            difference = f"by cgens {content['cgens']}, not {__version__}"
        elif changed:  # the first is that of the estimator itself, before those of its family and loss
            name = changed[0]
            difference = f"by a fit with {name}={was.get(name)}, not {self.parameters[name]}"
        elif content["data"] != self.data:
            difference = "by a fit to other data"
        elif content["start"] != self.start:
            difference = f"by a fit that did not start from these {self.n_start} columns (warm_start)"
        else:
            return
        raise ValueError(f"The checkpoint {path} was written {difference}: delete it, or choose another file.")


@dataclass(frozen=True)
class SavedFit:
    """What a checkpoint contains: the seed, the state of the loop, and the validation losses so far."""

    seed: int
    n_columns: int
    arrays: Mapping[str, AnyArray]
    losses: list[float]


def read_checkpoint(path: str | os.PathLike[str], identity: FitIdentity) -> SavedFit | None:
    """Return the content of a checkpoint, None if there is no such file.

    Raises
    ------
    ValueError
        If the file is damaged or belongs to another fit.
    """
    try:
        archive = read_archive(path, FORMAT, VERSION)
    except FileNotFoundError:
        return None
    except FormatError as error:
        raise FormatError(f"{error} Delete it, or choose another file.") from error
    try:
        identity.check(archive.content, os.fspath(path))
        n_columns, losses = len(archive.arrays["means"]), [float(loss) for loss in archive.content["losses"]]
        return SavedFit(int(archive.content["seed"]), n_columns, archive.arrays, losses)
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            f"{os.fspath(path)} is damaged: its header lacks {error}. Delete it, or choose another file."
        ) from error


class CheckpointWriter:
    """A callback that saves the state of a fit when that is due.

    Parameters
    ----------
    checkpoint : Checkpoint
    identity : FitIdentity
    losses : list of float
        The validation losses, to which a monitor appends.
    resumed : bool
        Whether the fit goes on from the file.
    """

    def __init__(
        self, checkpoint: Checkpoint, identity: FitIdentity, losses: list[float], resumed: bool = False
    ) -> None:
        self._checkpoint, self._identity, self._losses, self._own = checkpoint, identity, losses, resumed
        self._saved, self._n_rounds = perf_counter(), 0

    def __call__(self, state: Round) -> None:
        """Save the state, if it is time."""
        self._n_rounds += 1
        by_rounds, by_seconds = self._checkpoint.every_rounds, self._checkpoint.every_seconds
        due = by_rounds is not None and self._n_rounds % by_rounds == 0
        if not due and (by_seconds is None or perf_counter() - self._saved < by_seconds):
            return
        content = {
            "cgens": __version__,
            "data": self._identity.data,
            "start": self._identity.start,
            "parameters": self._identity.parameters,
            "seed": self._identity.seed,
            "losses": self._losses,
        }
        archive = Archive(FORMAT, VERSION, content, state.snapshot())
        try:
            write_archive(self._checkpoint.path, archive)
            self._own = True
        except OSError as error:  # hours of work are not lost for this
            reason = error.strerror or error
            warn_user(f"The checkpoint {os.fspath(self._checkpoint.path)} was not written ({reason}); the fit goes on.")
        self._saved = perf_counter()

    def finish(self) -> None:
        """Delete the file, if it is of this fit, which has ended."""
        if self._own:
            Path(self._checkpoint.path).unlink(missing_ok=True)


def digest_arrays(*arrays: AnyArray) -> str:
    """Return a digest of the types, shapes and bytes of arrays."""
    digest = blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
