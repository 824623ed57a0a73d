"""A custom family of weak learners in 40 lines of NumPy: bumps exp(-gamma |x - centre|^2) at training rows."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cgens import CGEnsClassifier
from cgens.default_c import DefaultC
from cgens.types import Column, Pricing


@dataclass(frozen=True)
class Bump:  # one weak learner: immutable, with a key that h and -h share
    centre: tuple[float, ...]
    gamma: float

    @property
    def key(self):
        return ("bump", self.centre, self.gamma)

    def respond(self, X):  # mean square about 1, as in other families: C is then comparable
        return 7.0 * np.exp(-self.gamma * np.sum((X - np.array(self.centre)) ** 2, axis=1))


class BumpPricer:  # the search over the pool: knows the training rows, called once per round
    def __init__(self, bumps, X):
        self.bumps, self.responses = bumps, np.array([bump.respond(X) for bump in bumps])

    def price(self, duals, taken, rule):  # duals.array has shape (m, l); labels, C and loss are not needed
        prices = self.responses @ duals.array
        energy = float(np.sum(prices**2))  # over the whole pool: for a certificate that covers all bumps
        prices[[bump.key in taken for bump in self.bumps]] = 0.0
        max_price = float(np.abs(prices).max())
        merits = np.abs(prices).max(axis=1)
        if rule == "gain":  # twice the decrease of the least-squares objective
            merits = np.sum(prices**2, axis=1) / (1.0 + duals.curvature.quadratic(self.responses.T))
        j, output = int(np.argmax(merits)), int(np.argmax(np.abs(prices[np.argmax(merits)])))
        column = Column(self.bumps[j], self.responses[j], float(prices[j, output]), output) if merits[j] else None
        return Pricing(column, len(self.bumps), energy, max_price)


class Bumps(BaseEstimator):  # hyperparameters only, so that a grid search can set them
    default_c = DefaultC(margin=7.0)  # the default C; without it, all constants are 1, which suits mean square 1

    def __init__(self, gamma=0.3, n_candidates=500):
        self.gamma, self.n_candidates = gamma, n_candidates

    def begin(self, sample, rng, n_threads):
        X = sample.matrix()
        centres = rng.permutation(X)[: self.n_candidates].tolist()
        return BumpPricer([Bump(tuple(centre), self.gamma) for centre in centres], X)


def main() -> None:
    """Classify odd and even digits with bumps, with stumps, and with a mixture of both."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y % 2, test_size=0.5, random_state=0, stratify=y)
    for name, family in {"bumps": Bumps(), "stumps": "stump", "bumps and stumps": [Bumps(), "stump"]}.items():
        model = CGEnsClassifier(family, loss="hinge", n_estimators=200, random_state=0).fit(X_train, y_train)
        proof = model.certificate_
        print(f"{model.n_columns_} {name}: accuracy {model.score(X_test, y_test):.1%}, objective within")
        print(f"  {proof.relative_gap:.2%} of the best weights for these columns,")
        print(f"  {proof.full_relative_gap:.1%} of the best ensemble over all {proof.n_candidates} candidates.")


if __name__ == "__main__":
    main()
