"""The default C of a weak-learner family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: Which default C of a family a loss uses.
CKind: TypeAlias = Literal["margin", "squares", "regression"]


@dataclass(frozen=True)
class DefaultC:
    """The C of ``C="scale"`` for a family, by constants measured on real data: docs/decisions/0004-default-C.md.

    For margin losses it is `margin` / total weight of the rows. For squared losses and regression it is `squares` *
    number of outputs / total weight or, if `constant`, `squares` for classes and `regression` for regression.
    `regression` is not used unless `constant`.
    """

    margin: float = 1.0
    squares: float = 1.0
    regression: float = 1.0
    constant: bool = False

    def __call__(self, kind: CKind, n_outputs: int, total_weight: float) -> float:
        """Return C."""
        if kind == "margin":
            return self.margin / total_weight
        if self.constant:
            return self.squares if kind == "squares" else self.regression
        return self.squares * n_outputs / total_weight
