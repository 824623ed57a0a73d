"""One row per master and per family: a new one enters here and inherits the whole suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.masters import Hinge
from cgens.types import MasterSolution
from cgens.weak_learners import Stump
from tests.contract.cosines import Cosines
from tests.reference import naive_hinge


@dataclass(frozen=True)
class MasterCase:
    """A master, data for it, and its definition in plain NumPy.

    `primal(H, target, weight, solution)`, `dual(H, target, weight, duals)`, `infeasibility(target, weight, duals)`
    and `slackness(H, target, weight, solution)` say what the solutions are held against. Slackness is the sum of
    products of a multiplier and its constraint's slack.
    """

    spec: Any
    make_target: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    primal: Callable[..., float]
    dual: Callable[..., float]
    infeasibility: Callable[..., float]
    slackness: Callable[..., float]


def noisy_signs(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return labels of +-1, shape (m, 1), that follow `score` with some noise; both occur."""
    y = np.where(score + 0.5 * score.std() * rng.normal(size=len(score)) > np.median(score), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return y[:, None]


def hinge_case(C: float) -> MasterCase:
    def residuals(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> Any:
        return naive_hinge.hinge_residuals(
            H, target[:, 0], C * weight, solution.weights[:, 0], solution.intercept[0], solution.duals[:, 0]
        )

    def infeasibility(target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
        none = np.zeros((len(target), 0))
        found = naive_hinge.hinge_residuals(none, target[:, 0], C * weight, np.zeros(0), 0.0, duals[:, 0])
        return max(found.box, found.balance)

    return MasterCase(
        spec=Hinge(C=C),
        make_target=noisy_signs,
        primal=lambda H, target, weight, solution: naive_hinge.hinge_primal(
            H, target[:, 0], C * weight, solution.weights[:, 0], solution.intercept[0]
        ),
        dual=lambda H, target, weight, duals: naive_hinge.hinge_dual(H, duals[:, 0]),
        infeasibility=infeasibility,
        slackness=lambda *of: residuals(*of).slackness,
    )


@dataclass(frozen=True)
class FamilyCase:
    """A family, whether its pool is finite, and all its candidates given a live pricer (finite pools only)."""

    spec: Any
    finite: bool
    candidates: Callable[[Any, np.ndarray], list[Any]] | None = None


def all_stumps(pricer: Any, X: np.ndarray) -> list[Any]:
    from cgens.weak_learners import StumpLearner

    learners, seen = [], set()
    for feature, thresholds in enumerate(pricer.pool()):
        for threshold in thresholds.tolist():
            learner = StumpLearner(feature, threshold)
            response = learner.respond(X)
            if not {response.tobytes(), (-response).tobytes()} & seen:
                seen.add(response.tobytes())
                learners.append(learner)
    return learners


MASTERS: dict[str, MasterCase] = {
    "hinge, small C": hinge_case(0.01),
    "hinge": hinge_case(1.0),
    "hinge, large C": hinge_case(30.0),
}

FAMILIES: dict[str, FamilyCase] = {
    "stump": FamilyCase(Stump(), True, all_stumps),
    "stump, few bins": FamilyCase(Stump(max_bins=5), True, all_stumps),
    "stump, every midpoint": FamilyCase(Stump(max_bins=None), True, all_stumps),
    "cosines": FamilyCase(Cosines(), True, lambda pricer, X: pricer.learners),
    "cosines in float32": FamilyCase(Cosines(dtype="float32"), True, lambda pricer, X: pricer.learners),
    "fresh cosines": FamilyCase(Cosines(fresh=True), False),
}
