"""The weights after every round, and staged decisions from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from cgens.types import AnyArray, Floats, MasterSolution, RankOneStep

#: Numbers a row that are multiplied out together, and rows whose responses are computed together.
_WIDTH, _ROWS = 64, 2048


class WeightHistory(Sequence[tuple[Floats, Floats]]):
    """Weights and intercept after every round, the empty model first and the final one last.

    A round that changed the weights by rank one is kept as that step: J + l numbers instead of J l. All rounds together
    still take J^2 / 2 numbers, hundreds of times what a prediction needs, so that a pickle leaves them out unless
    `stored` is True; of stage-wise fits, whose weights stay once set, it never does.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_iris
    >>> history = CGEnsClassifier(n_estimators=5).fit(*load_iris(return_X_y=True)).ensemble_.history
    >>> [weights.shape for weights, intercept in history]
    [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]
    """

    def __init__(self, stored: bool = False) -> None:
        self.stored = stored
        self._rounds: list[tuple[Floats | RankOneStep, Floats]] = []

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        return self._solutions(0)

    def _solutions(self, first: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rounds from `first` on, which is kept in full."""
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

    def before_last(self, stored: bool) -> WeightHistory:
        """Return a new history without the last round."""
        history = WeightHistory(stored)
        history._rounds = self._rounds[:-1]
        return history

    def staged(self, respond: Callable[[int, int], AnyArray], n_rows: int) -> Iterator[Floats]:
        """Yield the decision of every round that has columns, shape (n, l); of an empty model the constant.

        Parameters
        ----------
        respond : callable
            ``respond(begin, end)`` returns the responses of some rows, shape (end - begin, J): asked for in blocks of
            rows, once for every few dozen rounds, so that never more than a block of them is there.
        n_rows : int
        """
        if not self._rounds:
            raise ValueError(
                "The weights of every round were not kept when this model was pickled: staged predictions need a model "
                "that was fitted here, or with store_history=True."
            )
        decision, last_intercept = np.zeros((n_rows, len(self._rounds[0][1]))), self._rounds[0][1]
        position = 0
        while position < len(self):
            block = self._block(position)
            position += len(block)
            products = product_in_blocks(respond, n_rows, _stacked(block))
            for k, (change, intercept) in enumerate(block):
                if isinstance(change, RankOneStep):
                    # Of rank one: J + l multiplications a row instead of J l.
                    decision = decision + np.multiply.outer(products[:, k], change.output) + intercept - last_intercept
                else:
                    n_outputs = len(intercept)
                    decision = products[:, k * n_outputs : (k + 1) * n_outputs] + intercept
                last_intercept = intercept
                if not _is_empty(change) or len(self) == 1:
                    yield decision

    def _block(self, position: int) -> list[tuple[Floats | RankOneStep, Floats]]:
        """Return the rounds of one kind from `position` on, not too many."""
        by_step = isinstance(self._rounds[position][0], RankOneStep)
        width = max(1, _WIDTH if by_step else _WIDTH // len(self._rounds[position][1]))
        block = []
        for change, intercept in self._rounds[position : position + width]:
            if isinstance(change, RankOneStep) is not by_step:
                break
            block.append((change, intercept))
        return block

    def __deepcopy__(self, memo: object) -> WeightHistory:
        return self  # nothing changes it after the fit

    def __getstate__(self) -> dict[str, Any]:
        stage_wise = all(
            _is_empty(change) or (isinstance(change, RankOneStep) and change.coefficients is None)
            for change, _ in self._rounds[:-1]
        )
        return {"stored": self.stored, "_rounds": self._rounds if self.stored or stage_wise else []}


def _is_empty(change: Floats | RankOneStep) -> bool:
    return not isinstance(change, RankOneStep) and len(change) == 0


def _stacked(block: Sequence[tuple[Floats | RankOneStep, Floats]]) -> Floats:
    """Return what the responses are to be multiplied with, shape (J, width), J the columns of the block's last round.

    For a step of rank one that is the direction h_j - sum_{i<j} z_i h_i, for a round kept in full its weights.
    """
    columns: list[Floats] = []
    for change, _ in block:
        if isinstance(change, RankOneStep):
            n_before = change.n_columns - 1
            direction = np.zeros((n_before + 1, 1))
            direction[n_before] = 1.0
            if change.coefficients is not None:
                direction[:n_before, 0] = -change.coefficients
            columns.append(direction)
        else:
            columns.append(change)
    matrix = np.zeros((max(map(len, columns)), sum(column.shape[1] for column in columns)))
    begin = 0
    for column in columns:
        matrix[: len(column), begin : begin + column.shape[1]] = column
        begin += column.shape[1]
    return matrix


def product_in_blocks(respond: Callable[[int, int], AnyArray], n_rows: int, matrix: Floats) -> Floats:
    """Return responses @ matrix in double, one block of rows at a time; `respond` as in `WeightHistory.staged`."""
    result = np.zeros((n_rows, matrix.shape[1]))
    used = np.flatnonzero(matrix.any(axis=1))
    if len(used):
        columns = slice(int(used[0]), int(used[-1]) + 1)
        for begin in range(0, n_rows, _ROWS):
            end = min(begin + _ROWS, n_rows)
            result[begin:end] = respond(begin, end)[:, columns].astype(np.float64) @ matrix[columns]
    return result
