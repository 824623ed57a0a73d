"""The weights after every round, and the staged decisions computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

import numpy as np

from cgens.types import AnyArray, Floats, MasterSolution, RankOneStep

#: Columns of a matrix of weights, and rows of responses, that are multiplied at a time.
_WIDTH, _ROWS = 64, 2048


class WeightHistory(Sequence[tuple[Floats, Floats]]):
    """Weights and intercept after every round, from the empty model to the final one.

    A round that changed the weights by rank one is stored as that step: J + l numbers instead of J l. All rounds
    together still take J^2 / 2 numbers, hundreds of times what a prediction needs, so a pickle omits them unless
    `stored` is True. Those of stage-wise fits, whose weights never change once set, are always pickled.

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from sklearn.datasets import load_iris
    >>> history = CGEnsClassifier("stump", n_estimators=5).fit(*load_iris(return_X_y=True)).ensemble_.history
    >>> [weights.shape for weights, intercept in history]
    [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]
    """

    def __init__(self, stored: bool = False) -> None:
        self.stored = stored
        self._complete = True  # False if the rounds before a warm start are missing
        self._rounds: list[tuple[Floats | RankOneStep, Floats]] = []

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        return self._solutions(0)

    def _solutions(self, first: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rounds from `first` on, which must be stored as full weights."""
        weights = np.empty((0, 0))
        for change, intercept in islice(self._rounds, first, None):
            weights = change.apply(weights) if isinstance(change, RankOneStep) else change
            yield weights, intercept

    def __getitem__(self, number: Any) -> Any:
        """Return weights (J, l) and intercept (l,) of a round, or a list of them for a slice."""
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
        """Replace the last round by a better solution."""
        self._rounds[-1] = (solution.weights, solution.intercept)

    def before_last(self, stored: bool) -> WeightHistory:
        """Return a new history without the last round."""
        history = WeightHistory(stored)
        history._rounds = self._rounds[:-1]
        history._complete = self._complete and len(self) > 0
        return history

    def until(self, n_columns: int) -> WeightHistory:
        """Return a new history that ends with the last round of at most `n_columns` columns."""
        history = WeightHistory(self.stored)
        history._complete = self._complete
        history._rounds = list(takewhile(lambda own: _n_columns(own[0]) <= n_columns, self._rounds))
        return history

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the content as named arrays."""
        parts: list[Floats] = []
        layout = []  # of each round: number of columns, whether it is a step, and whether that has coefficients
        for change, intercept in self._rounds:
            coefficients = change.coefficients if isinstance(change, RankOneStep) else None
            layout.append((_n_columns(change), isinstance(change, RankOneStep), coefficients is not None))
            if isinstance(change, RankOneStep):
                parts += [np.empty(0) if coefficients is None else coefficients, change.output, intercept]
            else:
                parts += [change.ravel(), intercept]
        n_outputs = len(self._rounds[0][1]) if self._rounds else 0
        return {
            "numbers": np.array([self.stored, self._complete, n_outputs], dtype=np.int64),
            "layout": np.array(layout, dtype=np.int64).reshape(-1, 3),
            "values": np.concatenate([np.empty(0), *parts]),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, AnyArray]) -> WeightHistory:
        """Return the history with the content that `to_arrays` returned."""
        stored, complete, n_outputs = arrays["numbers"].tolist()
        history = WeightHistory(bool(stored))
        history._complete = bool(complete)
        values, position = arrays["values"], 0

        def take(n: int) -> Floats:
            nonlocal position
            position += n
            return np.array(values[position - n : position])

        for n_columns, is_step, has_coefficients in arrays["layout"].tolist():
            change: Floats | RankOneStep
            if is_step:
                coefficients = take(n_columns - 1) if has_coefficients else None
                change = RankOneStep(n_columns, coefficients, take(n_outputs))
            else:
                change = take(n_columns * n_outputs).reshape(n_columns, n_outputs)
            history._rounds.append((change, take(n_outputs)))
        if position != len(values):
            raise ValueError(f"{len(values)} numbers instead of {position} in the weights of the rounds")
        return history

    def staged(self, respond: Callable[[int, int], AnyArray], n_rows: int) -> Iterator[Floats]:
        """Yield the decision after every round with columns, shape (n, l); for a model without columns, the intercept.

        Parameters
        ----------
        respond : callable
            ``respond(begin, end)`` returns the responses of these rows, shape (end - begin, J). It is called block by
            block, once for every few dozen rounds, so that no more than one block of responses is in memory.
        n_rows : int
        """
        if not self._rounds or not self._complete:
            raise ValueError(
                "Staged predictions need the weights of every round, which a pickle omits by default: fit the model "
                "again without a warm start, or pickle one that was fitted with store_history=True."
            )
        decision, last_intercept = np.zeros((n_rows, len(self._rounds[0][1]))), self._rounds[0][1]
        position = 0
        while position < len(self):
            block = self._block(position)
            position += len(block)
            flat = product_in_blocks(respond, n_rows, _stacked(block))
            products = flat.reshape(n_rows, len(block), flat.shape[1] // len(block))
            for k, (change, intercept) in enumerate(block):
                if isinstance(change, RankOneStep):
                    # Of rank one: J + l multiplications per row instead of J l.
                    decision = decision + products[:, k] * change.output + intercept - last_intercept
                else:
                    decision = products[:, k] + intercept
                last_intercept = intercept
                if not _is_empty(change) or len(self) == 1:
                    yield decision

    def _block(self, position: int) -> list[tuple[Floats | RankOneStep, Floats]]:
        """Return the next rounds of one kind, either steps or full weights, `_WIDTH` columns at most."""
        by_step = isinstance(self._rounds[position][0], RankOneStep)
        width = max(1, _WIDTH if by_step else _WIDTH // len(self._rounds[position][1]))
        candidates = self._rounds[position : position + width]
        return list(takewhile(lambda own: isinstance(own[0], RankOneStep) is by_step, candidates))

    def __copy__(self) -> WeightHistory:
        return self  # not modified after the fit

    def __deepcopy__(self, memo: object) -> WeightHistory:
        return self

    def __getstate__(self) -> dict[str, Any]:
        stage_wise = all(
            _is_empty(change) or (isinstance(change, RankOneStep) and change.coefficients is None)
            for change, _ in self._rounds[:-1]
        )
        rounds = self._rounds if self.stored or stage_wise else []
        return {"stored": self.stored, "_complete": self._complete, "_rounds": rounds}


def _n_columns(change: Floats | RankOneStep) -> int:
    return change.n_columns if isinstance(change, RankOneStep) else len(change)


def _is_empty(change: Floats | RankOneStep) -> bool:
    return not isinstance(change, RankOneStep) and len(change) == 0


def _stacked(block: Sequence[tuple[Floats | RankOneStep, Floats]]) -> Floats:
    """Return the matrix by which to multiply the responses, shape (J, width), J the columns of the block's last round.

    A rank-one step contributes its direction h_j - sum_{i<j} z_i h_i, a round stored as full weights these weights.
    """
    last = block[-1][0]
    n_columns, width = (last.n_columns, 1) if isinstance(last, RankOneStep) else last.shape
    matrix = np.zeros((n_columns, len(block), width))
    for k, (change, _) in enumerate(block):
        if isinstance(change, RankOneStep):
            matrix[change.n_columns - 1, k] = 1.0
            if change.coefficients is not None:
                matrix[: change.n_columns - 1, k, 0] = -change.coefficients
        else:
            matrix[: len(change), k] = change
    return matrix.reshape(n_columns, len(block) * width)


def product_in_blocks(respond: Callable[[int, int], AnyArray], n_rows: int, matrix: Floats) -> Floats:
    """Return responses @ matrix in float64, one block of rows at a time; `respond` is as in `WeightHistory.staged`."""
    result = np.zeros((n_rows, matrix.shape[1]))
    used = np.flatnonzero(matrix.any(axis=1))
    if len(used):
        columns = slice(int(used[0]), int(used[-1]) + 1)
        for begin in range(0, n_rows, _ROWS):
            end = min(begin + _ROWS, n_rows)
            result[begin:end] = respond(begin, end)[:, columns].astype(np.float64) @ matrix[columns]
    return result
