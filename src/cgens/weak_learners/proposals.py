"""Families that make one learner for one number a row, rather than search among many."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Protocol

import numpy as np

from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricing, Rule
from cgens.weak_learners.candidates import fingerprint


class Propose(Protocol):
    """Makes a learner."""

    def __call__(self, target: Floats) -> tuple[Learner, AnyArray] | None:
        """Return a learner that has a large price for duals `target`, shape (m,), and its responses; or None."""


class ProposalPricer:
    """Asks for a learner along the leading direction of the duals. There is no pool, and no certificate for one."""

    def __init__(self, propose: Propose) -> None:
        self._propose = propose
        self._given: dict[Hashable, bytes] = {}  # fingerprints of the columns that were found

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the learner for the first direction whose responses were not taken before."""
        array = duals.array
        before = {self._given[key] for key in taken if key in self._given}
        for direction in leading_directions(array):
            made = self._propose(np.sum(array * direction, axis=1))
            if made is None:
                continue
            learner, response = made
            content = fingerprint(response)
            prices = np.sum(array * response[:, None], axis=0)
            output = int(np.argmax(np.abs(prices)))
            if learner.key in taken or content in before or not prices[output]:
                continue
            self._given[learner.key] = content
            column = Column(learner, response, float(prices[output]), output)
            return Pricing(column, merit=merit_of(response, prices, duals, rule))
        return Pricing(None, max_price=0.0)


def leading_directions(duals: Floats) -> Floats:
    """Return unit vectors v, shape (l, l), by falling sum_i (R v)_i^2; the largest entry of each is positive."""
    if duals.shape[1] == 1:
        return np.ones((1, 1))
    # Not `@`: the sums over rows must not depend on BLAS.
    gram = np.array([[np.sum(a * b) for b in duals.T] for a in duals.T])
    directions = np.linalg.eigh(gram)[1].T[::-1]
    largest = directions[np.arange(len(directions)), np.argmax(np.abs(directions), axis=1)]
    return np.asarray(directions * np.sign(largest)[:, None])


def merit_of(response: AnyArray, prices: Floats, duals: Duals, rule: Rule) -> float:
    """Return what the rule measures of a column, given its prices (l,): see `cgens.types.Pricing`."""
    if rule == "max" or duals.curvature is None:
        return float(np.abs(prices).max())
    return float(np.sum(prices**2) / (1.0 + max(float(duals.curvature.quadratic(response[:, None])[0]), 0.0)))
