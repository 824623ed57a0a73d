"""One row per master and per family: a new one enters here and inherits the whole suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from cgens.coding import simplex_codes
from cgens.masters import Hinge, LeastSquares
from cgens.types import MasterSolution
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.contract.cosines import Cosines
from tests.reference import naive_hinge
from tests.reference.naive_least_squares import ls_dual, ls_primal


@dataclass(frozen=True)
class MasterCase:
    """A master, data for it, and its definition in plain NumPy.

    `primal(H, target, weight, solution)`, `dual(H, target, weight, duals)`, `infeasibility(target, weight, duals)`
    and `slackness(H, target, weight, solution)` say what the solutions are held against. Slackness is the sum of
    products of a multiplier and its constraint's slack, or where there is no constraint by how much Young's inequality
    is missed: what the gap consists of. `size(weight, duals)` is what the duals say of themselves.
    """

    spec: Any
    make_target: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    primal: Callable[..., float]
    dual: Callable[..., float]
    infeasibility: Callable[..., float]
    slackness: Callable[..., float]
    size: Callable[[np.ndarray, np.ndarray], float]
    curved: bool = False


def noisy_signs(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return labels of +-1, shape (m, 1), that follow `score` with some noise; both occur."""
    y = np.where(score + 0.5 * score.std() * rng.normal(size=len(score)) > np.median(score), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return y[:, None]


def three_noisy_signs(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return three labels a row: one follows `score`, one its opposite, one nothing at all."""
    return np.column_stack([noisy_signs(rng, part) for part in (score, -score, rng.normal(size=len(score)))])


def noisy_numbers(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return numbers, shape (m, 1), that follow `score` and are far from 0."""
    return (10.0 + score + 0.5 * score.std() * rng.normal(size=len(score)))[:, None]


def codes_of_four(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return the simplex codes of four classes, shape (m, 3), that follow `score` with some noise."""
    noisy = score + 0.3 * score.std() * rng.normal(size=len(score))
    return np.ascontiguousarray(simplex_codes(4)[np.searchsorted(np.quantile(noisy, [0.2, 0.5, 0.7]), noisy)])


def hinge_case(C: float, make_target: Callable[..., np.ndarray] = noisy_signs) -> MasterCase:
    """Return the hinge master: every figure is the sum, or the largest, over one problem an output."""

    def residuals(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> list[Any]:
        duals = solution.duals.array
        return [
            naive_hinge.hinge_residuals(H, y, C * weight, solution.weights[:, t], solution.intercept[t], duals[:, t])
            for t, y in enumerate(target.T)
        ]

    def infeasibility(target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
        none = np.zeros((len(target), 0))
        found = [
            naive_hinge.hinge_residuals(none, y, C * weight, np.zeros(0), 0.0, own)
            for y, own in zip(target.T, duals.T, strict=True)
        ]
        return max(max(output.box, output.balance) for output in found)

    return MasterCase(
        spec=Hinge(C=C),
        make_target=make_target,
        primal=lambda H, target, weight, solution: sum(
            naive_hinge.hinge_primal(H, y, C * weight, solution.weights[:, t], solution.intercept[t])
            for t, y in enumerate(target.T)
        ),
        dual=lambda H, target, weight, duals: sum(naive_hinge.hinge_dual(H, own) for own in duals.T),
        infeasibility=infeasibility,
        slackness=lambda *of: sum(output.slackness for output in residuals(*of)),
        size=lambda weight, duals: float(np.abs(duals).sum()),
    )


def least_squares_case(C: float, make_target: Callable[..., np.ndarray]) -> MasterCase:
    def slackness(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        """Return 1/2 |W - H'U|^2 + 1/2 sum_i C s_i |L_i - W'h_i - b - U_i / (C s_i)|^2."""
        duals, scale = solution.duals.array, C * weight[:, None]
        misses = target - H @ solution.weights - solution.intercept - duals / scale
        return float(0.5 * np.sum((solution.weights - H.T @ duals) ** 2) + 0.5 * np.sum(scale * misses**2))

    def infeasibility(target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
        return float(np.max(np.abs(duals.sum(axis=0)) / np.abs(duals).sum(axis=0)))

    def size(weight: np.ndarray, duals: np.ndarray) -> float:
        """Return the bound of sum |U| by Cauchy and Schwarz."""
        loss = np.sum(duals**2 / (C * weight[:, None]))
        return float(np.sqrt(duals.shape[1] * C * weight.sum() * loss))

    return MasterCase(
        spec=LeastSquares(C=C),
        make_target=make_target,
        primal=lambda H, target, weight, solution: ls_primal(
            H, target, C * weight, solution.weights, solution.intercept
        ),
        dual=lambda H, target, weight, duals: ls_dual(H, target, C * weight, duals),
        infeasibility=infeasibility,
        slackness=slackness,
        size=size,
        curved=True,
    )


@dataclass(frozen=True)
class FamilyCase:
    """A family, whether its pool is finite, and all its candidates given a live pricer (finite pools only).

    `in_loop`: whether it also goes through every test of the loop, with every master. Variants of one family need not.
    """

    spec: Any
    finite: bool
    candidates: Callable[[Any, np.ndarray], list[Any]] | None = None
    in_loop: bool = True


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


def drawn(pricer: Any, X: np.ndarray) -> list[Any]:
    """Return what was drawn."""
    return pricer.pool()


def mixed(pricer: Any, X: np.ndarray) -> list[Any]:
    """Return the stumps, cosines and inputs of the mixture."""
    stumps, cosines, inputs = pricer.pricers
    own = [all_stumps(stumps, X), cosines.pool(), inputs.pool()]
    return [pricer.learner(number, learner) for number, learners in enumerate(own) for learner in learners]


MASTERS: dict[str, MasterCase] = {
    "hinge, small C": hinge_case(0.01),
    "hinge": hinge_case(1.0),
    "hinge, large C": hinge_case(30.0),
    "hinge, three outputs": hinge_case(0.3, three_noisy_signs),
    "least squares, small C": least_squares_case(0.01, noisy_numbers),
    "least squares": least_squares_case(1.0, noisy_numbers),
    "least squares, large C": least_squares_case(30.0, noisy_numbers),
    "least squares, three outputs, small C": least_squares_case(0.01, codes_of_four),
    "least squares, three outputs": least_squares_case(1.0, codes_of_four),
    "least squares, three outputs, large C": least_squares_case(30.0, codes_of_four),
}

FAMILIES: dict[str, FamilyCase] = {
    "stump": FamilyCase(Stump(), True, all_stumps),
    "stump, few bins": FamilyCase(Stump(max_bins=5), True, all_stumps, in_loop=False),
    "stump, every midpoint": FamilyCase(Stump(max_bins=None), True, all_stumps),
    "cosines": FamilyCase(Cosines(), True, lambda pricer, X: pricer.learners),
    "cosines in float32": FamilyCase(Cosines(dtype="float32"), True, lambda pricer, X: pricer.learners),
    "fresh cosines": FamilyCase(Cosines(fresh=True), False),
    "fourier": FamilyCase(Fourier(n_candidates=60, learn=False), True, drawn),
    "fourier, sparse, of several widths": FamilyCase(
        Fourier(["scale", "median", 0.1], 60, n_inputs=[1, 2], standardize=True, learn=False), True, drawn, False
    ),
    "fourier, orthogonal": FamilyCase(Fourier("median", 60, orthogonal=True, learn=False), True, drawn, in_loop=False),
    "fourier, fresh": FamilyCase(Fourier(n_candidates=40, pool="fresh", learn=False), False, in_loop=False),
    "fourier, learned": FamilyCase(Fourier(learn=True), False),
    "fourier, learned, sparse": FamilyCase(
        Fourier(["scale", 0.1], n_inputs=[1, 3], standardize=True, learn=True), False, in_loop=False
    ),
    "perceptron": FamilyCase(Perceptron(60, learn=False), True, drawn),
    "perceptron, sparse": FamilyCase(
        Perceptron(60, n_inputs=2, standardize=True, learn=False), True, drawn, in_loop=False
    ),
    "perceptron, fresh": FamilyCase(Perceptron(40, pool="fresh", orthogonal=True, learn=False), False, in_loop=False),
    "perceptron, learned": FamilyCase(Perceptron(learn=True), False, in_loop=False),
    "perceptron, learned, sparse": FamilyCase(
        Perceptron(n_inputs=2, standardize=True, learn=True), False, in_loop=False
    ),
    "box": FamilyCase(Box(n_candidates=60), True, drawn),
    "box, fresh": FamilyCase(Box([1, 2, 3], 40, pool="fresh"), False, in_loop=False),
    "linear": FamilyCase(Linear(), True, drawn, in_loop=False),
    "tree": FamilyCase(Tree(4), False),
    "tree, signs": FamilyCase(Tree(5, leaves="sign", min_samples_leaf=2), False, in_loop=False),
    "scikit-learn's": FamilyCase(SklearnLearner(DecisionTreeClassifier(max_depth=2)), False, in_loop=False),
    "mixture": FamilyCase(Mixture([Stump(), (Fourier(n_candidates=30, learn=False), [0, 2]), Linear()]), True, mixed),
    "mixture with trees": FamilyCase(Mixture([Stump(), Tree(3), Cosines()]), False, in_loop=False),
}
