"""Smooth losses: the base class of their specifications; `RestrictedSmooth` solves them."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from cgens.masters.loss import Loss
from cgens.masters.restricted_smooth import RestrictedSmooth
from cgens.types import Floats, Rule


class SmoothLoss(Loss):
    """Base class of smooth losses; a subclass has `losses`, `gradient`, `dual_values` and `curvature_scale`.

    Parameters
    ----------
    C : float or None
        The paper's C. The loss is a sum over rows, not a mean. None: estimators choose it, and by itself it is 1.
    max_iter : int
        Maximum number of iterations of conjugate gradients in one solve.
    """

    rules: ClassVar[tuple[Rule, ...]] = ("gain", "max")
    smooth = True

    def __init__(self, C: float | None = None, max_iter: int = 1000) -> None:
        self.C = C
        self.max_iter = max_iter

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return an upper bound on the eigenvalues of the loss's Hessian or, if there is none, their typical size."""
        raise NotImplementedError

    def curvature(self, gradient: Floats, target: Floats) -> Floats | None:
        """Return the second derivatives of `losses` in each decision, given the first, shape (m, l).

        They are for Newton's method. None, the default: without them, large values of C take many iterations.
        """
        return None

    def intercept_curvature(self, gradient: Floats, target: Floats, scale: Floats) -> Floats | None:
        """Return sum_i c_i times the Hessian of row i, shape (l, l), if the outputs of a row interact; else None."""
        return None

    def compiled_kind(self, target: Floats) -> str | None:
        """Return what the core calls the loss for this target; None if it does not have it."""
        return None

    def origin(self, target: Floats, weight: Floats) -> Floats:
        """Return a value of the target near which decisions are, shape (l,), if the loss depends on F - L only.

        Target and decisions are measured from it, for less rounding.
        """
        return np.zeros(target.shape[1])

    def prepared(self, target: Floats, sample_weight: Floats) -> Self:
        """Return the loss with all parameters as numbers; raise ValueError if one is invalid."""
        if not self.max_iter >= 1:
            raise ValueError(f"max_iter must be at least 1; got {self.max_iter!r}.")
        return super().prepared(target, sample_weight)

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedSmooth:
        """Return the restricted master without columns; `target` has the shape (m, l)."""
        return RestrictedSmooth(self.prepared(target, sample_weight), target, sample_weight, n_threads)
