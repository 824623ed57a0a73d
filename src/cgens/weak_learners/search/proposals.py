"""Families that make one learner for one number a row, rather than search among many."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Protocol

import numpy as np

from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricing, Rule
from cgens.weak_learners.search.candidates import FoundResponses, fingerprint

#: How often directions are drawn, and with them what else a family draws, before a round finds nothing.
N_ATTEMPTS = 16


class Propose(Protocol):
    """Makes a learner."""

    def __call__(self, target: Floats, attempt: int) -> tuple[Learner, AnyArray] | None:
        """Return a learner that has a large price for duals `target`, shape (m,), and its responses; or None.

        `attempt` counts from 0 how often the learners of this round were taken before: look elsewhere.
        """


class ProposalPricer:
    """Asks for a learner along a random direction of the duals. There is no pool, and no certificate for one.

    Of several outputs a learner follows one combination v, drawn anew each round: always to follow the one of largest
    residuals found worse ensembles (docs/decisions/0012-trees.md).
    """

    def __init__(self, propose: Propose, rng: np.random.Generator) -> None:
        self._propose, self._rng = propose, rng
        self._found = FoundResponses()

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the learner for the first direction whose responses were not taken before."""
        array = duals.array
        before = self._found.among(taken)
        largest = 0.0
        tries = ((k, own) for k in range(N_ATTEMPTS) for own in random_directions(duals, self._rng))
        for attempt, direction in tries:
            made = self._propose(np.sum(array * direction, axis=1), attempt)
            if made is None:
                continue
            learner, response = made
            prices = np.sum(array * response[:, None], axis=0)
            output = int(np.argmax(np.abs(prices)))
            if learner.key in taken or fingerprint(response) in before:
                continue
            if abs(prices[output]) <= duals.cost:
                largest = max(largest, float(abs(prices[output])))
                continue
            column = Column(learner, response, float(prices[output]), output)
            self._found.add(column)
            return Pricing(column, merit=merit_of(response, prices, duals, rule))
        return Pricing(None, max_price=largest)


def random_directions(duals: Duals, rng: np.random.Generator) -> Floats:
    """Return as many directions v, of shape (l,), as there are outputs.

    Classes are split into two halves at random, and v tells one from the other. Targets that are not classes have no
    such halves: v ~ N(0, R'R) then follows what is not yet explained.
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
    """Return what the rule measures of a column, given its prices (l,): see `cgens.types.Pricing`."""
    if rule == "votes":
        return float(np.abs(prices).sum())
    if rule == "max" or duals.curvature is None:
        return float(np.abs(prices).max())
    return float(np.sum(prices**2) / (1.0 + max(float(duals.curvature.quadratic(response[:, None])[0]), 0.0)))
