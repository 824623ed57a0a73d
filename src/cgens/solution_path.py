"""The solutions of all rounds, and staged decisions from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from cgens.types import AnyArray, Floats, MasterSolution, RankOneStep

#: Rounds whose directions are multiplied out together, and rows that are made doubles together.
_ROUNDS, _ROWS = 64, 8192


class SolutionPath(Sequence[tuple[Floats, Floats]]):
    """Weights and intercept after every round, the empty model first and the final one last.

    A round that changed the weights by rank one is kept as that step: J + l numbers instead of J l.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_iris
    >>> path = CGEnsClassifier(n_estimators=5).fit(*load_iris(return_X_y=True)).ensemble_.path
    >>> [weights.shape for weights, intercept in path]
    [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]
    """

    def __init__(self) -> None:
        self._rounds: list[tuple[Floats | RankOneStep, Floats]] = []

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        return self._solutions(0)

    def _solutions(self, first: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rounds from one on that is kept in full."""
        weights = np.empty((0, 0))
        for change, intercept in islice(self._rounds, first, None):
            weights = change.apply(weights) if isinstance(change, RankOneStep) else change
            yield weights, intercept

    def __getitem__(self, number: Any) -> Any:
        """Return weights (J, l) and intercept (l,) of one round, or a list of them for a slice."""
        if isinstance(number, slice):
            return list(self)[number]
        wanted = range(len(self))[number]
        first = next(k for k in range(wanted, -1, -1) if not isinstance(self._rounds[k][0], RankOneStep))
        return next(islice(self._solutions(first), wanted - first, None))

    def append(self, solution: MasterSolution) -> None:
        """Add a round."""
        change = solution.weights if solution.step is None or not self._rounds else solution.step
        self._rounds.append((change, solution.intercept))

    def replace_last(self, solution: MasterSolution) -> None:
        """Put a better solution of the last round in its place."""
        self._rounds[-1] = (solution.weights, solution.intercept)

    def before_last(self) -> SolutionPath:
        """Return a new path without the last round."""
        path = SolutionPath()
        path._rounds = self._rounds[:-1]
        return path

    def staged(self, responses: AnyArray) -> Iterator[Floats]:
        """Yield the decision of every round, shape (n, l), given the responses of all columns, shape (n, J).

        A round of rank one costs J + l multiplications a row instead of J l.
        """
        decision = last_intercept = np.empty(0)
        position = 0
        while position < len(self):
            change, intercept = self._rounds[position]
            if isinstance(change, RankOneStep):
                block = self._block(position)
                for along, (step, own) in zip(self._directions(responses, block).T, block, strict=True):
                    decision = decision + np.multiply.outer(along, step.output) + (own - last_intercept)
                    last_intercept = own
                    yield decision
                position += len(block)
            else:
                decision = product_in_double(responses[:, : len(change)], change) + intercept
                last_intercept = intercept
                yield decision
                position += 1

    def _block(self, position: int) -> list[tuple[RankOneStep, Floats]]:
        """Return the rounds of rank one from `position` on, not too many."""
        block: list[tuple[RankOneStep, Floats]] = []
        for change, intercept in self._rounds[position : position + _ROUNDS]:
            if not isinstance(change, RankOneStep):
                break
            block.append((change, intercept))
        return block

    @staticmethod
    def _directions(responses: AnyArray, block: list[tuple[RankOneStep, Floats]]) -> Floats:
        """Return h_j(x) - sum_{i<j} z_i h_i(x) for the columns j that the block's rounds added, shape (n, rounds)."""
        first = len(block[0][0].coefficients)
        matrix = np.zeros((first + len(block), len(block)))
        for k, (step, _) in enumerate(block):
            matrix[: first + k, k] = -step.coefficients
            matrix[first + k, k] = 1.0
        return product_in_double(responses[:, : len(matrix)], matrix)


def product_in_double(responses: AnyArray, matrix: Floats) -> Floats:
    """Return responses @ matrix in double, without a copy of all responses in double."""
    result = np.empty((len(responses), matrix.shape[1]))
    for first in range(0, len(responses), _ROWS):
        rows = slice(first, first + _ROWS)
        result[rows] = responses[rows].astype(np.float64) @ matrix
    return result
