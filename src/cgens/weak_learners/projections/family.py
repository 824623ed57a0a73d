"""What cosines and perceptrons share: functions of theta.x - kappa that are drawn, selected or learned."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cgens.packs import BlockPack
from cgens.types import AnyArray, Floats, Pricer, Sample
from cgens.weak_learners.projections.directions import check_switches, key_of
from cgens.weak_learners.projections.learned import LEAST_ROWS, Learnable, LearnedPricer, check_learn
from cgens.weak_learners.projections.spread import warn_of_scales
from cgens.weak_learners.search.candidates import Candidates, Draw, check_candidates
from cgens.weak_learners.search.fixed_pool import FixedPricer
from cgens.weak_learners.search.fresh_pool import FreshPricer


class ProjectionFamily(BaseEstimator):  # type: ignore[misc]
    """Selects from a pool, or learns; a subclass says how its functions are drawn and learned."""

    n_candidates: int
    pool: str
    orthogonal: bool
    standardize: bool
    learn: bool | str

    def _draw(self, n_candidates: int, sample: Sample, rng: np.random.Generator, n_threads: int) -> ProjectionDraw:
        raise NotImplementedError

    def _learning(self, draw: Any) -> Learnable:
        raise NotImplementedError

    def warn_of_scales(self, sample: Sample, columns: Sequence[object] | None = None) -> None:
        """Warn where some features make up all distances; `columns` are their names in the whole table."""
        if not self.standardize:
            warn_of_scales(sample, type(self).__name__, columns)

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Draw the pool, or prepare to draw or to learn."""
        name = type(self).__name__
        n_candidates = check_candidates(name, self.n_candidates, self.pool)
        check_learn(name, self.learn)
        check_switches(name, orthogonal=self.orthogonal, standardize=self.standardize)
        draw = self._draw(n_candidates, sample, rng, n_threads)

        def select() -> Pricer:
            if self.pool == "fresh":
                return FreshPricer(draw.once, sample, rng, n_threads)
            return FixedPricer(draw(rng), sample, n_threads)

        if not self.learn or len(sample) < LEAST_ROWS:
            return select()
        return LearnedPricer(self._learning(draw), select if self.learn == "auto" else None, sample, rng, n_threads)


class ProjectionDraw(Draw):
    """Draws for the training rows: a whole pool when called, or what one draw gives."""

    def once(self, rng: np.random.Generator) -> Candidates:
        """Return what one draw gives: at most as many as were asked for."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ProjectionPack(BlockPack):
    """Many functions of theta.x - kappa as arrays; a subclass has `respond_block` and `learner_type`."""

    thetas: Floats
    kappas: Floats

    learner_type: ClassVar[type[ProjectionLearner]]

    def __len__(self) -> int:
        return len(self.thetas)

    def learner(self, number: int) -> ProjectionLearner:
        """Return one of the functions."""
        return self.learner_type(self.thetas[number].copy(), float(self.kappas[number]))

    @cached_property
    def _used(self) -> tuple[AnyArray, Floats]:
        """The features that any direction uses, and the directions' entries there, shape (J, n)."""
        inputs = np.flatnonzero(np.any(self.thetas != 0, axis=0))
        return inputs, np.ascontiguousarray(self.thetas[:, inputs])

    def projected(self, X: AnyArray) -> Floats:
        """Return theta.x of some rows, shape (n, J)."""
        inputs, thetas = self._used
        own = X if len(inputs) == self.thetas.shape[1] else X[:, inputs]
        return np.asarray(own.astype(np.float64, copy=False) @ thetas.T)


@dataclass(frozen=True, eq=False)
class ProjectionLearner:
    """h(x) = f(theta.x - kappa); f is that of the pack of a subclass."""

    theta: Floats
    kappa: float

    pack_type: ClassVar[type[ProjectionPack]]

    def __post_init__(self) -> None:
        self.theta.setflags(write=False)

    @property
    def key(self) -> Hashable:
        """Direction and offset."""
        return key_of(type(self).__name__, self.theta, self.kappa)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProjectionLearner) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) of every row."""
        return self.pack([self]).respond(X, 1)[:, 0]

    @classmethod
    def pack(cls, learners: Sequence[ProjectionLearner]) -> ProjectionPack:
        """Return the learners as arrays."""
        return cls.pack_type(
            np.array([learner.theta for learner in learners]),
            np.array([learner.kappa for learner in learners]),
        )


@dataclass(frozen=True)
class ProjectionCandidates:
    """Drawn functions and their responses on the training rows, shape (n, padded_length(m))."""

    learner_type: type[ProjectionLearner]
    thetas: Floats
    kappas: Floats
    responses: AnyArray

    def learner(self, number: int) -> ProjectionLearner:
        """Return one of them."""
        return self.learner_type(self.thetas[number].copy(), float(self.kappas[number]))

    def joined(self, other: ProjectionCandidates) -> ProjectionCandidates:
        """Return both."""
        return ProjectionCandidates(
            self.learner_type,
            np.vstack([self.thetas, other.thetas]),
            np.concatenate([self.kappas, other.kappas]),
            np.vstack([self.responses, other.responses]),
        )

    def kept(self, numbers: AnyArray) -> ProjectionCandidates:
        """Return some of them, without a copy where they are all."""
        if len(numbers) == len(self.thetas):
            return self
        return ProjectionCandidates(
            self.learner_type, self.thetas[numbers], self.kappas[numbers], self.responses[numbers]
        )
