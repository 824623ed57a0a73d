"""The names of the families."""

from __future__ import annotations

from typing import Any

from cgens.types import Family
from cgens.weak_learners.box import Box
from cgens.weak_learners.fourier import Fourier
from cgens.weak_learners.linear import Linear
from cgens.weak_learners.perceptron import Perceptron
from cgens.weak_learners.stump import Stump
from cgens.weak_learners.tree import Tree

#: Valid names for the parameter `weak_learner`.
WEAK_LEARNERS: dict[str, type] = {
    "stump": Stump,
    "perceptron": Perceptron,
    "fourier": Fourier,
    "tree": Tree,
    "box": Box,
    "linear": Linear,
}


def resolve_family(value: Any) -> Family:
    """Return the family for a name or an object, or raise ValueError or TypeError."""
    if isinstance(value, str):
        if value not in WEAK_LEARNERS:
            raise ValueError(f"weak_learner must be one of {sorted(WEAK_LEARNERS)} or an object; got {value!r}.")
        family: Family = WEAK_LEARNERS[value]()
        return family
    if isinstance(value, type) or not hasattr(value, "begin"):
        raise TypeError(
            f"weak_learner must be one of {sorted(WEAK_LEARNERS)}, an object with a method "
            "begin(sample, rng, n_threads) such as cgens.weak_learners.Stump(), or a list of these for a mixture "
            f"(wrap scikit-learn classifiers in cgens.weak_learners.SklearnLearner); got {value!r}."
        )
    return value  # type: ignore[no-any-return]
