"""A finite pool of given weak learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens._core import padded_length
from cgens.default_c import DefaultC
from cgens.packs import Pack, PackSet
from cgens.table.accepted import EXTRAS
from cgens.types import AnyArray, Learner, Pricer, Sample
from cgens.weak_learners.scaled import ScaledPack, unit_factor
from cgens.weak_learners.search.candidates import Candidates, distinct_rows
from cgens.weak_learners.search.fixed_pool import FixedPricer


class Pool(BaseEstimator):  # type: ignore[misc]
    """The weak learners that you give: those of fitted models, or your own functions.

    Column generation then selects among them, and the certificate covers the whole pool. Learners with a constant
    response on the training rows, or with the same one as an earlier learner up to sign, are left out.

    Parameters
    ----------
    learners : sequence of weak learners, or a pack of them
        For example ``model.ensemble_.learners``. They must take the columns of X in the order of the fit.
    scaled : bool, default=False
        Whether to multiply each response by the power of two that brings its standard deviation over the training rows
        next to 1, so that the penalty hardly depends on the size of a response.

    Examples
    --------
    A small model that comes close to a large one, from its own weak learners:

    >>> from cgens import CGEnsRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> large = CGEnsRegressor("tree", n_estimators=200, random_state=0).fit(X, y)
    >>> small = CGEnsRegressor(Pool(large.ensemble_.learners), C=large.C_, n_estimators=50).fit(X, y)
    >>> small.n_columns_, small.certificate_.n_candidates
    (50, 200)
    """

    accepts: ClassVar[tuple[str, ...]] = EXTRAS
    default_c: ClassVar[DefaultC] = DefaultC(margin=0.7, squares=0.3)

    def __init__(self, learners: Any = (), scaled: bool = False) -> None:
        self.learners = learners
        self.scaled = scaled

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Evaluate the learners on the training rows; `rng` is not used."""
        pack = as_pack(self.learners)
        if not isinstance(self.scaled, bool | np.bool_):
            raise ValueError(f"Pool: scaled must be True or False; got {self.scaled!r}.")
        responses = _respond(pack, sample, n_threads)
        kept = distinct_rows(responses, len(sample))
        if self.scaled:
            share = sample.weight / sample.weight.sum()
            columns = responses[kept, : len(sample)].astype(np.float64)
            means = np.einsum("ij,j->i", columns, share)
            deviations = np.sqrt(np.einsum("ij,ij,j->i", columns - means[:, None], columns - means[:, None], share))
            factors = np.ones(len(pack))
            factors[kept] = unit_factor(deviations)
            pack = ScaledPack(pack, factors)
            responses = _respond(pack, sample, n_threads)
        candidates = Candidates(_Part(pack, kept), responses[kept])  # type: ignore[arg-type]  # asked for learners only
        return FixedPricer(candidates, sample, n_threads)


class _Part:
    """Some learners of a pack, by their numbers."""

    def __init__(self, pack: Pack, numbers: AnyArray) -> None:
        self._pack, self._numbers = pack, numbers.tolist()

    def __len__(self) -> int:
        return len(self._numbers)

    def learner(self, number: int) -> Learner:
        return self._pack.learner(self._numbers[number])


def as_pack(learners: Any) -> Pack:
    """Return given learners as a pack, or raise an error that says what is wrong with them."""
    if hasattr(learners, "learner") and hasattr(learners, "respond"):
        return learners  # type: ignore[no-any-return]
    if not isinstance(learners, Sequence) or isinstance(learners, str) or not len(learners):
        raise ValueError(f"Pool: learners must be a list of at least one weak learner; got {learners!r}.")
    for number, learner in enumerate(learners):
        if not (hasattr(learner, "respond") and hasattr(learner, "key")):
            raise TypeError(
                f"Pool: learner {number} is a {type(learner).__name__}; a weak learner has a key and a method respond."
            )
    return PackSet.of(learners)


def _respond(pack: Pack, sample: Sample, n_threads: int) -> AnyArray:
    """Return the responses on the training rows, shape (n, padded m), int8 if all are +-1, else float32."""
    responses = pack.respond(sample.matrix(), n_threads).T
    kind = np.int8 if responses.dtype == np.int8 else np.float32
    padded = np.zeros((len(responses), padded_length(len(sample))), dtype=kind)
    padded[:, : len(sample)] = responses
    return padded
