"""The result of a fit: weak learners, packed by family, and their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cgens.learner_packs import LearnerPack, decide_packs, pack_learners, respond_packs
from cgens.solution_path import SolutionPath
from cgens.types import AnyArray, Floats, Learner


@dataclass(frozen=True, repr=False, eq=False)
class Ensemble:
    """F(x) = sum_j w_j h_j(x) + b, immutable.

    Attributes
    ----------
    learners : tuple of Learner, length J
        In the order in which they were added.
    weights : ndarray of shape (J, l)
    intercept : ndarray of shape (l,)
    means : ndarray of shape (J,)
        Weighted mean of each response over the training rows.
    path : SolutionPath
        Weights and intercept after every round, those of the empty model first and the final ones last.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ensemble = CGEnsClassifier(n_estimators=20).fit(X, y).ensemble_
    >>> len(ensemble), ensemble.respond(X).shape, ensemble.decision(X).shape
    (20, (569, 20), (569, 1))
    """

    learners: tuple[Learner, ...]
    weights: Floats
    intercept: Floats
    means: Floats
    path: SolutionPath
    _packs: tuple[tuple[AnyArray, LearnerPack], ...]

    @staticmethod
    def of(learners: Sequence[Learner], means: Sequence[float], path: SolutionPath) -> Ensemble:
        """Pack learners and the solutions of all rounds into an ensemble."""
        weights, intercept = path[-1]
        for array in (weights, intercept):
            array.setflags(write=False)
        return Ensemble(tuple(learners), weights, intercept, np.array(means), path, pack_learners(learners))

    def __len__(self) -> int:
        return len(self.learners)

    def __repr__(self) -> str:
        families = ", ".join(f"{len(pack)} {type(self.learners[columns[0]]).__name__}" for columns, pack in self._packs)
        return f"<Ensemble of {families or 'no learners'}>"

    def respond(self, X: AnyArray, n_threads: int = 1) -> AnyArray:
        """Return h_j(x_i), shape (n, J); int8 where all learners are +-1."""
        return respond_packs(self._packs, len(self), X, n_threads)

    def decision(self, X: AnyArray, n_threads: int = 1) -> Floats:
        """Return F(x), shape (n, l)."""
        return decide_packs(self._packs, self.weights, X, n_threads) + self.intercept

    def part(self, columns: Sequence[int], X: AnyArray, n_threads: int = 1) -> Floats:
        """Return what some of the columns contribute to F(x), shape (n, l)."""
        return decide_packs(pack_learners([self.learners[j] for j in columns]), self.weights[columns], X, n_threads)

    def staged(self, X: AnyArray, n_threads: int = 1) -> Iterator[Floats]:
        """Yield F(x) of the model after each round, shape (n, l); of a model without columns, the constant.

        Every round has weights of its own for *all* its columns; only those of stage-wise masters stay once set.
        """
        decisions = self.path.staged(self.respond(X, n_threads))
        for number, decision in enumerate(decisions):
            if number > 0 or len(self.path) == 1:
                yield decision

    def arrays(self) -> dict[str, AnyArray]:
        """Return weights, intercept and the packed learners as named arrays."""
        named: dict[str, AnyArray] = {"weights": self.weights, "intercept": self.intercept}
        for number, (columns, pack) in enumerate(self._packs):
            named[f"pack{number}.columns"] = columns
            named.update({f"pack{number}.{name}": values for name, values in pack.arrays().items()})
        return named
