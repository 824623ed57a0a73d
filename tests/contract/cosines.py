"""A weak-learner family as a user would write it: cos(theta.x - kappa), in plain Python, outside the library.

Its candidates are drawn once, so that models get a certificate for the whole pool; with ``fresh=True`` each round draws
new ones, and there is no such certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from cgens.types import Column, Pricing


class Cosines(BaseEstimator):
    """Random cosines, the family behind random Fourier features."""

    def __init__(self, n_candidates=40, gamma=0.5, fresh=False, dtype="float64"):
        self.n_candidates = n_candidates
        self.gamma = gamma
        self.fresh = fresh
        self.dtype = dtype

    def begin(self, sample, rng, n_threads):
        return CosinePricer(self, sample.matrix(), rng)


@dataclass(frozen=True)
class CosineLearner:
    theta: tuple[float, ...]
    kappa: float
    dtype: str

    @property
    def key(self):
        return (self.theta, self.kappa)

    def respond(self, X):
        # One feature at a time: the sum is then the same for one row as for many, unlike in a matrix product.
        phase = np.zeros(len(X))
        for j, slope in enumerate(self.theta):
            phase += slope * X[:, j]
        return np.cos(phase - self.kappa).astype(self.dtype)


class CosinePricer:
    def __init__(self, spec, X, rng):
        self._spec, self._X, self._rng = spec, X, rng
        self._draw()

    def _draw(self):
        n, d = self._spec.n_candidates, self._X.shape[1]
        thetas = self._rng.normal(scale=np.sqrt(2 * self._spec.gamma), size=(n, d))
        kappas = self._rng.uniform(0, 2 * np.pi, size=n)
        self._learners = [
            CosineLearner(tuple(theta.tolist()), float(kappa), self._spec.dtype)
            for theta, kappa in zip(thetas, kappas, strict=True)
        ]
        self._responses = np.array([learner.respond(self._X) for learner in self._learners])

    def pool(self):
        return self._learners

    def price(self, duals, taken, rule):
        if self._spec.fresh:
            self._draw()
        prices = self._responses.astype(np.float64) @ duals.array
        energy = float(np.sum(prices**2))
        prices[[learner.key in taken for learner in self._learners]] = 0.0
        scores = np.abs(prices).max(axis=1)
        max_price = float(scores.max())
        if rule == "gain":
            scores = np.sum(prices**2, axis=1) / (1.0 + duals.curvature.quadratic(self._responses.T))
        best = int(np.argmax(scores))
        output = int(np.argmax(np.abs(prices[best])))
        column = None
        if scores[best] > 0:
            column = Column(self._learners[best], self._responses[best], float(prices[best, output]), output)
        if self._spec.fresh:
            return Pricing(column, max_price=max_price)
        return Pricing(column, len(self._learners), energy, max_price)
