"""What several masters ask of their target."""

from __future__ import annotations

import numpy as np

from cgens.types import Floats


def check_signs(target: Floats, who: str, one_output: bool = False) -> None:
    """Refuse a target that is not +-1, or has several outputs where one is asked for."""
    odd = target[np.abs(target) != 1]
    if len(odd):
        raise ValueError(f"{who} needs labels -1 and 1; the target has the value {odd[0]}.")
    if one_output and target.shape[1] != 1:
        raise ValueError(f"{who} is for two classes: one output; the target has {target.shape[1]}.")


def check_one_class_a_row(target: Floats, who: str) -> None:
    """Refuse a target that is not 1 at one class of each row, and -1 at all others."""
    if target.shape[1] < 2 or not np.all(np.abs(target) == 1) or not np.all(np.sum(target > 0, axis=1) == 1):
        raise ValueError(f"{who} needs a target of shape (m, k), 1 for the row's class and -1 for all others.")
