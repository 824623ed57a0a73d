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
from cgens.named_arrays import take_prefix
from cgens.packs import PackSet
from cgens.rounds import Round
from cgens.types import AnyArray, Learner
from cgens.version import __version__

FORMAT, VERSION = "cgens checkpoint", 1


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
    `n_estimators`, `n_jobs` and `verbose`. Any other fit refuses it. With cosines and perceptrons it contains their
    responses on all rows; otherwise its size is mostly that of the duals.

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
    parameters : dict of str to str
        Of the estimator, before those of its family and loss.
    seed : int
        Of the random generator, if ``random_state`` does not determine it.
    """

    data: str
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
        else:
            return
        raise ValueError(f"The checkpoint {path} was written {difference}: delete it, or choose another file.")


@dataclass(frozen=True)
class SavedFit:
    """What a checkpoint contains: the seed, the state of the loop, and the validation losses so far."""

    seed: int
    arrays: Mapping[str, AnyArray]
    losses: list[float]

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.arrays["means"])

    def learners(self) -> list[Learner]:
        """Return the weak learners of the columns."""
        packs = PackSet.from_arrays(take_prefix("packs.", self.arrays))
        return [packs.learner(j) for j in range(len(packs))]


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
    try:
        identity.check(archive.content, os.fspath(path))
        return SavedFit(int(archive.content["seed"]), archive.arrays, list(archive.content["losses"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{os.fspath(path)} is damaged: its header lacks {error}.") from error


class CheckpointWriter:
    """A callback that saves the state of a fit when that is due.

    Parameters
    ----------
    checkpoint : Checkpoint
    identity : FitIdentity
    losses : list of float
        The validation losses, to which a monitor appends.
    """

    def __init__(self, checkpoint: Checkpoint, identity: FitIdentity, losses: list[float]) -> None:
        self._checkpoint, self._identity, self._losses = checkpoint, identity, losses
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
            "parameters": self._identity.parameters,
            "seed": self._identity.seed,
            "losses": self._losses,
        }
        write_archive(self._checkpoint.path, Archive(FORMAT, VERSION, content, state.snapshot()))
        self._saved = perf_counter()

    def finish(self) -> None:
        """Delete the file: the fit has ended."""
        Path(self._checkpoint.path).unlink(missing_ok=True)


def digest_arrays(*arrays: AnyArray) -> str:
    """Return a digest of the types, shapes and bytes of arrays."""
    digest = blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
