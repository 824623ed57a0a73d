"""The rows of a smooth loss: decisions and duals, along lines of decisions and at their ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from cgens import _core
from cgens.types import Floats


class SmoothSpec(Protocol):
    """A `SmoothLoss`, with all parameters as numbers."""

    max_iter: int

    def compiled_kind(self, target: Floats) -> str | None:
        """Return what the core calls the loss."""

    def scale(self, sample_weight: Floats) -> Floats:
        """Return the c_i."""

    def origin(self, target: Floats, weight: Floats) -> Floats:
        """Return a value of the target near which decisions are."""

    def curvature_scale(self, target: Floats, weight: Floats) -> float:
        """Return a bound on the curvature, or a typical one."""

    def gradient(self, decision: Floats, target: Floats) -> Floats:
        """Return the derivatives of the losses, shape (m, l)."""

    def curvature(self, gradient: Floats, target: Floats) -> Floats | None:
        """Return the second derivatives, shape (m, l)."""

    def intercept_curvature(self, gradient: Floats, target: Floats, scale: Floats) -> Floats | None:
        """Return the second derivatives in the intercepts, if outputs interact."""

    def value(self, decision: Floats, target: Floats, scale: Floats) -> float:
        """Return the sum of the losses times their scales."""

    def pool_bound(self, duals: Floats, target: Floats, scale: Floats, energy: float) -> float:
        """Return a lower bound for a whole pool."""


class LossRows(Protocol):
    """Decisions F and signed duals R = -c gradient(F) of all rows, both of shape (m, l), and sums over them.

    `line` prepares the direction of F + t (along + centre), with `along` of shape (m, l) or None and `centre` of shape
    (l,); `slope` and `move` take what it returned.
    """

    #: Whether curvatures of all rows must be kept for `along`.
    keeps_curvatures: ClassVar[bool]

    @property
    def decision(self) -> Floats:
        """F."""

    @property
    def duals(self) -> Floats:
        """R: an array that later calls do not change."""

    def latest_duals(self) -> Floats:
        """Return R, possibly as an array that later calls change."""

    def restart(self, products: Floats, centre: Floats) -> None:
        """Set F to products + centre."""

    def line(self, along: Floats | None, centre: Floats) -> Any:
        """Return a direction."""

    def slope(self, direction: Any, t: float) -> float:
        """Return the sum of R times the direction at a point of the line."""

    def move(self, direction: Any, t: float) -> None:
        """Go to the point at which `slope` was computed last."""

    def loss(self) -> float:
        """Return the sum of c loss(F)."""

    def slack(self) -> float:
        """Return what smoothing adds to the duality gap."""

    def balance(self) -> tuple[Floats, float]:
        """Return the sums of R over the rows, shape (l,), and the sum of |R|."""

    def curvature(self, kept: Callable[[], Floats]) -> Floats:
        """Return the sums of the curvatures c loss''(F), shape (l,); `kept` returns known ones, shape (m, l)."""

    def along(self, direction: Floats, kept: Floats) -> tuple[Floats, Floats]:
        """Return the sums of R times a direction of shape (m,), and of curvatures times its square, shapes (l,)."""

    def clear(self) -> None:
        """Set the duals of a perfect fit to 0."""

    def restore(self, decision: Floats, duals: Floats) -> None:
        """Continue from a state."""


class NumpyRows:
    """The rows of any loss."""

    keeps_curvatures: ClassVar[bool] = True

    def __init__(self, spec: SmoothSpec, target: Floats, scale: Floats) -> None:
        self._spec, self._target, self._scale = spec, target, scale
        self._ones = np.ones(len(target))
        self.restart(np.zeros(target.shape), np.zeros(target.shape[1]))

    def latest_duals(self) -> Floats:
        """Return R."""
        return self.duals

    def restart(self, products: Floats, centre: Floats) -> None:
        """Set F to products + centre."""
        self.decision = products + centre
        self.duals = self._duals_at(self.decision)

    def restore(self, decision: Floats, duals: Floats) -> None:
        """Continue from a state."""
        self.decision, self.duals = decision, duals

    def line(self, along: Floats | None, centre: Floats) -> Floats:
        """Return a direction."""
        return np.broadcast_to(centre, self.decision.shape) if along is None else along + centre

    def slope(self, direction: Floats, t: float) -> float:
        """Return the sum of R times the direction at a point of the line, which is kept for `move`."""
        self._trial = self.decision + t * direction
        self._trial_duals = self._duals_at(self._trial)
        return float(np.vdot(self._trial_duals, direction))

    def move(self, direction: Floats, t: float) -> None:
        """Go to the point at which `slope` was computed last."""
        self.decision, self.duals = self._trial, self._trial_duals

    def loss(self) -> float:
        """Return the sum of c loss(F)."""
        return self._spec.value(self.decision, self._target, self._scale)

    def slack(self) -> float:
        """Return 0."""
        return 0.0

    def balance(self) -> tuple[Floats, float]:
        """Return the sums of R over the rows, shape (l,), and the sum of |R|."""
        return self._sum(self.duals), float(np.abs(self.duals).sum())

    def curvature(self, kept: Callable[[], Floats]) -> Floats:
        """Return the sums of the curvatures `kept`, shape (l,)."""
        return self._sum(kept())

    def along(self, direction: Floats, kept: Floats) -> tuple[Floats, Floats]:
        """Return the sums of R times a direction, and of the curvatures `kept` times its square."""
        return direction @ self.duals, (direction * direction) @ kept

    def _sum(self, values: Floats) -> Floats:
        """Return the sums over rows, (m, l) to (l,); for few columns a product is faster than `sum`."""
        return np.asarray(self._ones @ values)

    def clear(self) -> None:
        """Set the duals of a perfect fit to 0."""
        self.duals = np.zeros_like(self.duals)

    def _duals_at(self, decision: Floats) -> Floats:
        return -self._scale[:, None] * self._spec.gradient(decision, self._target)


class CompiledRows:
    """The rows of a loss of one output that the core has, for labels +-1.

    Parameters
    ----------
    kind : {"logistic", "smooth_hinge"}
    target : ndarray of shape (m, 1)
    scale : ndarray of shape (m,)
    n_threads : int
    """

    keeps_curvatures: ClassVar[bool] = False

    def __init__(self, kind: str, target: Floats, scale: Floats, n_threads: int) -> None:
        self.core = _core.LossRows(kind, target[:, 0] * scale, n_threads)
        self._cleared = False

    @property
    def decision(self) -> Floats:
        """F: a copy."""
        return self.core.decisions()[:, None]

    @property
    def duals(self) -> Floats:
        """R: a copy."""
        duals = self.core.duals()[:, None]
        return np.zeros_like(duals) if self._cleared else duals

    def latest_duals(self) -> Floats:
        """Return R as an array that later calls change."""
        return self.duals if self._cleared else self.core.latest_duals()[:, None]

    def restart(self, products: Floats, centre: Floats) -> None:
        """Set F to products + centre."""
        self._cleared = False
        self.core.set_decisions(np.ascontiguousarray(products[:, 0]), float(centre[0]))

    def restore(self, decision: Floats, duals: Floats) -> None:
        """Continue from a state; the duals follow from the decisions."""
        self.restart(decision, np.zeros(1))

    def line(self, along: Floats | None, centre: Floats) -> tuple[Floats | None, float]:
        """Return a direction."""
        return None if along is None else along[:, 0], float(centre[0])

    def slope(self, direction: tuple[Floats | None, float], t: float) -> float:
        """Return the sum of R times the direction at a point of the line."""
        return self.core.slope(*direction, t)

    def move(self, direction: tuple[Floats | None, float], t: float) -> None:
        """Go to a point of the line."""
        self._cleared = False
        self.core.move(*direction, t)

    def loss(self) -> float:
        """Return the sum of c loss(F)."""
        return self.core.sums()[0]

    def slack(self) -> float:
        """Return what smoothing adds to the duality gap."""
        return self.core.sums()[1]

    def balance(self) -> tuple[Floats, float]:
        """Return the sum of R over the rows, shape (1,), and the sum of |R|."""
        _, _, total, norm, _ = self.core.sums()
        return np.array([total]), norm

    def curvature(self, kept: Callable[[], Floats]) -> Floats:
        """Return the sum of the present curvatures, shape (1,)."""
        return np.array([self.core.sums()[4]])

    def along(self, direction: Floats, kept: Floats) -> tuple[Floats, Floats]:
        """Return the sums of R times a direction, and of the present curvatures times its square."""
        slope, curvature = self.core.slope_and_curvature(direction)
        return np.array([slope]), np.array([curvature])

    def clear(self) -> None:
        """Set the duals of a perfect fit to 0."""
        self._cleared = True


def rows_of(spec: SmoothSpec, target: Floats, scale: Floats, n_threads: int) -> LossRows:
    """Return the rows of a loss: compiled if it has a `compiled_kind` for this target."""
    kind = spec.compiled_kind(target)
    return NumpyRows(spec, target, scale) if kind is None else CompiledRows(kind, target, scale, n_threads)
