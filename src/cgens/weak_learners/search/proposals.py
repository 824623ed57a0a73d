"""Families that fit one learner to the duals instead of searching a pool."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricing, Rule
from cgens.weak_learners.search.candidates import FoundResponses, fingerprint

#: Number of attempts before a round ends without a column; each draws directions and random choices again.
N_ATTEMPTS = 16

#: propose(target, attempt) -> (learner, its responses), or None: a learner with a large price for the duals `target` of
#: shape (m,). `attempt` is the number of earlier passes in this round that yielded nothing: search elsewhere.
Propose: TypeAlias = Callable[[Floats, int], tuple[Learner, AnyArray] | None]


class ProposalPricer:
    """Fits a learner along a random direction of the duals: there is no pool, and no certificate for one.

    With several outputs a learner follows one combination v of them, drawn in each round: always following the output
    with the largest residuals gave worse ensembles (docs/decisions/0012-trees.md).
    """

    def __init__(self, propose: Propose, rng: np.random.Generator) -> None:
        self._propose, self._rng = propose, rng
        self._found = FoundResponses()

    def get_state(self) -> dict[str, AnyArray]:
        """Return nothing: what was found is known from the columns."""
        return {}

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Remember the columns that were found."""
        for column in columns:
            self._found.add(column)

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the first proposed learner that is not taken and whose |price| exceeds the column cost."""
        array = duals.array
        largest = 0.0
        tries = ((k, own) for k in range(N_ATTEMPTS) for own in random_directions(duals, self._rng))
        for attempt, direction in tries:
            proposal = self._propose(np.sum(array * direction, axis=1), attempt)
            if proposal is None:
                continue
            learner, response = proposal
            content = fingerprint(response)
            if learner.key in taken or self._found.has(content, taken):
                continue
            prices = np.sum(array * response[:, None], axis=0)
            output = int(np.argmax(np.abs(prices)))
            if abs(prices[output]) <= duals.column_cost:
                largest = max(largest, float(abs(prices[output])))
                continue
            column = Column(learner, response, float(prices[output]), output)
            self._found.add(column, content)
            return Pricing(column, merit=merit_of(response, prices, duals, rule))
        return Pricing(None, max_price=largest)


def random_directions(duals: Duals, rng: np.random.Generator) -> Floats:
    """Return as many unit vectors v of shape (l,) as there are outputs.

    Classes are split into two random halves, and v separates one from the other. For targets that are not classes,
    v ~ N(0, R'R) follows what is not yet explained.
    """
    n_outputs = duals.array.shape[1]
    if n_outputs == 1:
        return np.ones((1, 1))
    codes = duals.class_codes()
    if codes is not None and len(codes) > 1:
        sides = np.where(np.arange(len(codes)) < len(codes) // 2, 1.0, -1.0)
        directions = np.array([np.sum(rng.permutation(sides)[:, None] * codes, axis=0) for _ in range(n_outputs)])
    else:
        # Not `@`: the sums over rows must not depend on BLAS.
        gram = np.array([[np.sum(a * b) for b in duals.array.T] for a in duals.array.T])
        values, vectors = np.linalg.eigh(gram)
        drawn = rng.normal(size=(n_outputs, n_outputs)) * np.sqrt(np.maximum(values, 0.0))
        directions = np.sum(drawn[:, None, :] * vectors[None], axis=2)
    return np.asarray(directions / np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300))


def merit_of(response: AnyArray, prices: Floats, duals: Duals, rule: Rule) -> float:
    """Return the merit of a column with given prices (l,), see `cgens.types.Pricing`."""
    if rule == "votes":
        return float(np.abs(prices).sum())
    if rule == "max" or duals.curvature is None:
        return float(np.abs(prices).max())
    return float(np.sum(prices**2) / (1.0 + max(float(duals.curvature.quadratic(response[:, None])[0]), 0.0)))
