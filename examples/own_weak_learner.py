"""A weak-learner family of your own in plain NumPy: random cosines, h(x) = cos(theta.x - kappa).

A family has three parts: a learner (one function h), a pricer (the search among all of them, bound to training rows)
and a spec (the hyper-parameters, which is what a user writes down). None of them sees labels, C or the loss.
"""

from collections.abc import Hashable, Set
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cgens import CGEnsClassifier
from cgens.types import AnyArray, Column, Duals, Floats, Pricing, Rule, Sample


@dataclass(frozen=True)
class Cosine:
    """One weak learner, h(x) = sign * cos(theta.x - kappa)."""

    theta: tuple[float, ...]
    kappa: float
    sign: int = 1

    @property
    def key(self) -> Hashable:
        """The same for h and -h."""
        return (self.theta, self.kappa)

    def respond(self, X: AnyArray) -> Floats:
        """Return h(x) of every row, shape (n,)."""
        return self.sign * np.cos(X @ np.array(self.theta) - self.kappa)

    def negated(self) -> Self:
        """Return -h."""
        return replace(self, sign=-self.sign)


class CosinePricer:
    """The search among a finite pool of cosines, whose responses on the training rows are kept, (n_candidates, m)."""

    def __init__(self, pool: list[Cosine], X: Floats) -> None:
        self.pool = pool
        self.position = {learner.key: j for j, learner in enumerate(pool)}
        self.responses = np.array([learner.respond(X) for learner in pool])

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the cosine outside `taken` with the largest |sum_i duals_it h(x_i)|, or by "gain" the most useful."""
        prices = self.responses @ duals.array  # one row a candidate, one column an output
        energy = float(np.sum(prices**2))  # over the whole pool, taken or not: with it, the pool has a certificate
        if not taken <= self.position.keys():
            raise ValueError("A warm start needs the pool of the fit before: leave gamma, n_candidates and seed alone.")
        prices[[self.position[key] for key in taken]] = 0.0
        scores = np.abs(prices).max(axis=1)
        max_price = float(scores.max())
        if rule == "gain" and duals.curvature is not None:  # said only where there is one: by least squares
            scores = np.sum(prices**2, axis=1) / (1.0 + duals.curvature.quadratic(self.responses.T))
        j = int(np.argmax(scores))
        output = int(np.argmax(np.abs(prices[j])))
        score = float(prices[j, output])
        column = Column(self.pool[j], self.responses[j], score, output) if score else None
        return Pricing(column, n_candidates=len(self.pool), energy=energy, max_price=max_price)


class Cosines(BaseEstimator):
    """Random cosines: a finite sample of the features whose kernel is exp(-gamma |x - x'|^2) (Rahimi and Recht, 2007).

    Parameters
    ----------
    gamma : float, default=0.1
        Inverse squared width of the kernel.
    n_candidates : int, default=1000
        Size of the pool.
    seed : int, default=0
        Fixes the pool. It belongs to the family, for the certificate speaks of this pool and a warm start returns to
        it. A family that draws fresh candidates every round takes them from `rng`, and leaves ``n_candidates`` and
        ``energy`` out of its `Pricing`.
    """

    def __init__(self, gamma: float = 0.1, n_candidates: int = 1000, seed: int = 0) -> None:
        self.gamma = gamma
        self.n_candidates = n_candidates
        self.seed = seed

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> CosinePricer:
        """Draw the pool and return the search over the rows of `sample`."""
        if not (self.gamma > 0 and self.n_candidates >= 1):
            raise ValueError(f"gamma must be > 0 and n_candidates >= 1; got {self.gamma!r} and {self.n_candidates!r}.")
        X = sample.matrix().astype(np.float64)
        draw = np.random.default_rng(self.seed)
        thetas = draw.normal(scale=np.sqrt(2 * self.gamma), size=(self.n_candidates, X.shape[1]))
        kappas = draw.uniform(0.0, 2 * np.pi, size=self.n_candidates)
        return CosinePricer([Cosine(tuple(t), k) for t, k in zip(thetas.tolist(), kappas.tolist(), strict=True)], X)


def main() -> None:
    """Tell odd from even digits, by cosines and by stumps."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y % 2, test_size=0.5, random_state=0, stratify=y)
    for name, family in {"cosines": Cosines(gamma=0.1), "stumps": "stump"}.items():
        model = CGEnsClassifier(family, n_estimators=300).fit(X_train, y_train)
        accuracy, proof = model.score(X_test, y_test), model.certificate_
        print(f"{model.n_columns_} {name}: accuracy {accuracy:.1%}, certificate of scope {proof.scope!r}:")
        print(f"  objective within {proof.relative_gap:.2%} of the best weights for these {name},")
        print(f"  and within {proof.full_relative_gap:.1%} of the best ensemble over all {proof.n_candidates}.")


if __name__ == "__main__":
    main()
