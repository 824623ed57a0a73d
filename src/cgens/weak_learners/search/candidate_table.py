"""The prices of all candidates of a pool."""

from __future__ import annotations

import numpy as np

from cgens._core import price_candidates
from cgens.types import AnyArray, Floats, Rule
from cgens.weak_learners.search.price_table import Found
from cgens.weak_learners.search.sparse_columns import SparseColumns

#: The largest relative rounding error of one operation.
UNIT_ROUNDOFF = float(np.finfo(float).eps) / 2


class CandidateTable:
    """The prices of a matrix of candidates: what `cgens._core.StumpTable` is for stumps.

    `drift` is an upper bound on the rounding errors of the prices.
    """

    def __init__(
        self, responses: AnyArray | SparseColumns, free: AnyArray, n_rows: int, n_threads: int, n_outputs: int
    ) -> None:
        self._responses, self._free = responses, free
        self._n_rows, self._n_threads = n_rows, n_threads
        self.n_outputs = n_outputs
        self.prices = np.zeros((len(responses), n_outputs))
        self.curvature: Floats = np.zeros(len(responses))
        self._has_curvature = False
        # Rows are summed in blocks of 2048, and these in 16 lanes (native/price_candidates.cpp): no term of a sum takes
        # part in more operations than this.
        n_operations: float = min(n_rows, 2048) / 16 + n_rows / 2048 + 6
        if isinstance(responses, SparseColumns):
            n_operations, largest = n_rows, responses.largest
        else:
            largest = float(max(responses.max(initial=0), -responses.min(initial=0)))
        self._largest, self._product_error = largest, n_operations * UNIT_ROUNDOFF * largest
        self.drift = 0.0

    def products(self, vectors: Floats) -> Floats:
        """Return the products of all responses with vectors of shape (m, l), shape (n, l)."""
        if isinstance(self._responses, SparseColumns):
            return self._responses.products(vectors)
        flat = price_candidates(self._responses, np.ascontiguousarray(vectors.T), self._n_threads)
        return np.asarray(flat.reshape(len(self._responses), vectors.shape[1]))

    def set_duals(self, duals: Floats) -> None:
        """Compute all prices from scratch."""
        self.prices = self.products(duals)
        self.drift = self._product_error * float(np.abs(duals).sum(axis=0).max(initial=0.0))

    def set_curvature(self, diagonal: Floats) -> None:
        """Compute g'Pg of the empty master: sum v g^2 - (sum v g)^2 / sum v."""
        self._has_curvature = True
        if isinstance(self._responses, SparseColumns):
            self.curvature = self._responses.centred_squares(diagonal)
            return
        means = self.products(diagonal[:, None])[:, 0] / diagonal.sum()
        if self._responses.dtype == np.int8:  # (1 - mean) (1 + mean) does not cancel
            self.curvature = diagonal.sum() * (1 - means) * (1 + means)
        else:
            self.curvature = np.empty(len(means))
            for begin in range(0, len(means), 64):
                here = slice(begin, begin + 64)
                centred = self._responses[here, : self._n_rows] - means[here, None]
                self.curvature[here] = np.einsum("ij,ij,j->i", centred, centred, diagonal)

    def set_exact_curvature(self, indices: AnyArray, values: Floats) -> None:
        """Set g'Pg of some candidates to its value in the present master; later changes are applied to it."""
        self.curvature[indices] = values
        self._has_curvature = True

    def reprice(
        self,
        duals: Floats,
        rule: Rule,
        direction: Floats | None = None,
        denominator: float = 1.0,
        rough: bool = False,
    ) -> Found:
        """Compute all prices from scratch and, given a direction, change g'Pg; return the best candidate."""
        self.set_duals(duals)
        if direction is not None:
            self.change_curvature(direction, denominator)
        return self.find_best(rule)

    def change(self, direction: Floats, step: Floats, denominator: float, rule: Rule) -> Found:
        """Change the duals by -direction step', and return the best candidate."""
        along = self.products(direction[:, None])
        self.prices -= along * step
        if self._has_curvature:
            self._lower_curvature(along[:, 0], denominator)
        # The rounding errors of `along`, of its products with the step, and of the new prices.
        moved = float(np.abs(direction).sum() * np.abs(step).max())
        self.drift += (self._product_error + UNIT_ROUNDOFF * self._largest) * moved
        self.drift += UNIT_ROUNDOFF * float(np.abs(self.prices).max(initial=0.0))
        return self.find_best(rule)

    def change_curvature(self, direction: Floats, denominator: float) -> None:
        """Change g'Pg only."""
        self._lower_curvature(self.products(direction[:, None])[:, 0], denominator)

    def _lower_curvature(self, along: Floats, denominator: float) -> None:
        self.curvature -= along * (along / denominator)

    def get_state(self) -> tuple[Floats, Floats, float]:
        """Return all prices, all g'Pg (empty if they are not set), and the drift."""
        curvature = self.curvature.copy() if self._has_curvature else np.empty(0)
        return self.prices.copy(), curvature, self.drift

    def set_state(self, prices: Floats, curvature: Floats, drift: float) -> None:
        """Restore what `get_state` returned."""
        self.prices, self.drift, self._has_curvature = np.array(prices), drift, len(curvature) > 0
        if self._has_curvature:
            self.curvature = np.array(curvature)

    def merits(self, rule: Rule) -> Floats:
        """Return the merit of every candidate by `rule`, 0 for taken ones, shape (n,)."""
        if rule == "gain":
            merits = np.sum(self.prices**2, axis=1) / (1.0 + np.maximum(self.curvature, 0.0))
        else:
            merits = np.abs(self.prices).max(axis=1) if rule == "max" else np.abs(self.prices).sum(axis=1)
        return np.where(self._free, merits, 0.0)

    def find_best(self, rule: Rule) -> Found:
        """Return the best free candidate, the first one in case of ties."""
        energy = float(np.sum(self.prices**2))
        sizes = np.abs(self.prices)
        max_price = float(sizes[self._free].max(initial=0.0))
        merits = self.merits(rule)
        if not merits.max(initial=0.0) > 0:
            return Found(False, 0, 0, 0.0, max_price, energy, 0.0)
        number = int(np.argmax(merits))
        output = int(np.argmax(sizes[number]))
        price = float(self.prices[number, output])
        return Found(True, number, output, price, max_price, energy, float(merits[number]))
