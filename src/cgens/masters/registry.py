"""Losses by name, and the loss that "auto" stands for."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from cgens.masters.epsilon_insensitive import EpsilonInsensitive
from cgens.masters.hinge import Hinge
from cgens.masters.huber import Huber
from cgens.masters.least_squares import LeastSquares, Squared
from cgens.masters.logistic import Logistic
from cgens.masters.loss import Loss
from cgens.masters.poisson import Poisson
from cgens.masters.quantile import Quantile
from cgens.masters.squared_hinge import SquaredHinge
from cgens.types import Target

#: All losses by name.
LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        Hinge,
        SquaredHinge,
        Logistic,
        LeastSquares,
        Squared,
        Huber,
        Quantile,
        EpsilonInsensitive,
        Poisson,
    )
}


def loss_names(target: Target) -> list[str]:
    """Return the names of the losses that can fit such a target."""
    return [name for name, loss in LOSSES.items() if target in loss.targets]


def automatic_loss(target: Target) -> Loss:
    """Return the loss of ``loss="auto"``."""
    return Squared() if target == "regression" else Logistic()


def resolve_loss(value: Any, target: Target) -> Loss | None:
    """Return a new loss for a name or an object, or None for "auto"; raise ValueError if it cannot fit the target."""
    if isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, Loss):
        if target not in value.targets:
            known = " and ".join(sorted(value.targets)) or "another estimator"
            raise ValueError(f"loss={value!r} is for {known}, not for {target}.")
        own: Loss = clone(value)
        return own
    names = loss_names(target)
    if not isinstance(value, str) or value not in names:
        known = ", ".join(map(repr, ["auto", *names]))
        example = (Huber if target == "regression" else Logistic).__name__
        raise ValueError(
            f"loss must be one of {known}, or a loss object such as cgens.masters.{example}(); got {value!r}."
        )
    return LOSSES[value]()
