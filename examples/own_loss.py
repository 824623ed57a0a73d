"""A custom loss in 30 lines of NumPy: log-cosh, quadratic for small errors and linear for large ones."""

import numpy as np
from scipy.special import entr
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from cgens import CGEnsRegressor
from cgens.masters import SmoothLoss
from cgens.testing import check_master


class LogCosh(SmoothLoss):  # delta^2 log cosh(error / delta): errors beyond delta count linearly
    name = "log_cosh"
    targets = frozenset({"regression"})
    c_kind = "regression"  # C="scale" uses the family's default C for regression

    def __init__(self, C=None, delta=1.0, max_iter=1000):
        super().__init__(C, max_iter)
        self.delta = delta

    def curvature_scale(self, target, weight):  # the second derivative is at most this
        return 1.0

    def losses(self, decision, target):
        size = np.abs(decision - target) / self.delta
        return self.delta**2 * np.sum(size + np.log1p(np.exp(-2 * size)) - np.log(2), axis=1)

    def gradient(self, decision, target):
        return self.delta * np.tanh((decision - target) / self.delta)

    def curvature(self, gradient, target):  # the second derivative, given the first
        return 1 - (gradient / self.delta) ** 2

    def dual_values(self, duals, target, scale):  # minus the convex conjugate of scale * losses, at -duals
        shares = np.clip(duals / (self.delta * scale[:, None]), -1, 1)
        entropies = entr(1 + shares) + entr(1 - shares)
        return np.sum(target * duals + 0.5 * self.delta**2 * scale[:, None] * entropies, axis=1)

    def infeasibility(self, duals, target, scale):  # the gradient is at most delta
        return float(max(0.0, (np.abs(duals) - self.delta * scale[:, None]).max()))


def main() -> None:
    """Check the loss, and predict disease progression after every twentieth target was corrupted."""
    check_master(LogCosh())
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    y_train[::20] += 2000
    for loss in (LogCosh(delta=30.0), "squared"):
        model = CGEnsRegressor(loss=loss, n_estimators=200, random_state=0).fit(X_train, y_train)
        proof = model.certificate_
        print(f"{model.loss_}: mean absolute error {np.mean(np.abs(model.predict(X_test) - y_test)):.1f}, objective")
        print(f"  within {proof.full_relative_gap:.1%} of the best ensemble over all {proof.n_candidates} stumps.")


if __name__ == "__main__":
    main()
