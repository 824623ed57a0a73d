"""Names of families."""

from __future__ import annotations

from typing import Any

from cgens.types import WeakLearner
from cgens.weak_learners.box import Box
from cgens.weak_learners.fourier import Fourier
from cgens.weak_learners.linear import Linear
from cgens.weak_learners.perceptron import Perceptron
from cgens.weak_learners.stump import Stump
from cgens.weak_learners.tree import Tree

#: Names that `weak_learner` takes.
WEAK_LEARNERS: dict[str, type] = {
    "stump": Stump,
    "perceptron": Perceptron,
    "fourier": Fourier,
    "tree": Tree,
    "box": Box,
    "linear": Linear,
}


def family_of(value: Any) -> WeakLearner:
    """Return the family that a name or an object stands for, or raise a sentence."""
    if isinstance(value, str):
        if value not in WEAK_LEARNERS:
            raise ValueError(f"weak_learner must be one of {sorted(WEAK_LEARNERS)} or an object; got {value!r}.")
        family: WeakLearner = WEAK_LEARNERS[value]()
        return family
    if isinstance(value, type) or not hasattr(value, "begin"):
        raise TypeError(
            f"weak_learner must be one of {sorted(WEAK_LEARNERS)}, a family of weak learners, an object with a method "
            "begin(sample, rng, n_threads) such as cgens.weak_learners.Stump(), or a list of these for a mixture "
            "(scikit-learn's classifiers in cgens.weak_learners.SklearnLearner); got "
            f"{value!r}."
        )
    return value  # type: ignore[no-any-return]
