"""Losses for regression that are linear in the residuals: their box duals, units and default C."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cgens.default_c import DefaultC
from cgens.masters.box_dual import BoxDualLoss
from cgens.masters.loss import total_weight
from cgens.masters.spread import spread_of
from cgens.masters.targets import check_range
from cgens.types import Family, Floats, Target


class BoxRegressionLoss(BoxDualLoss):
    """Base class of losses linear in the residuals.

    Scaled by a, the target has the same model times a if C, and every parameter in units of the target, is also scaled
    by a.
    """

    targets: ClassVar[frozenset[Target]] = frozenset({"regression"})

    def check_target(self, target: Floats) -> None:
        """Raise ValueError if squares of the target overflow or underflow."""
        check_range(target)

    def units(self, target: Floats) -> tuple[Floats, Floats]:
        """Return the median of each output as its origin, and a power of 2 near its spread as its unit."""
        spreads = spread_of(target, np.ones(len(target)))
        return np.median(target, axis=0), np.exp2(np.round(np.log2(spreads)))

    def default_c(self, family: Family, target: Floats, weight: Floats) -> float:
        """Return the C of ``C="scale"``: that of squared residuals times the mean spread of the outputs.

        A residual of the size of the spread then has the same dual with both losses.
        """
        rule = getattr(family, "default_c", DefaultC())
        spread = float(np.mean(spread_of(target, weight)))
        return self.c_factor * spread * float(rule("regression", 1, total_weight(weight)))
