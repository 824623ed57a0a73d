"""One row per master and per family: a new one enters here and inherits the whole suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from cgens.coding import simplex_codes
from cgens.masters import Hinge, LeastSquares, Liblinear, LPBoost, MultiBoost
from cgens.types import MasterSolution
from cgens.weak_learners import Box, Fourier, Linear, Mixture, Perceptron, SklearnLearner, Stump, Tree
from tests.contract.cosines import Cosines
from tests.reference import naive_hinge
from tests.reference.naive_least_squares import ls_dual, ls_primal
from tests.reference.naive_lp import best_rho, lp_primal, nu_primal
from tests.reference.naive_multiboost import (
    multiboost_dual,
    multiboost_infeasibility,
    multiboost_primal,
    multiboost_slackness,
)
from tests.tolerances import TIGHT


@dataclass(frozen=True)
class MasterCase:
    """A master, data for it, and its definition in plain NumPy.

    `primal(H, target, weight, solution)`, `dual(H, target, weight, duals)`, `infeasibility(H, target, weight, duals)`
    and `slackness(H, target, weight, solution)` say what the solutions are held against. Slackness is the sum of
    products of a multiplier and its constraint's slack, or where there is no constraint by how much Young's inequality
    is missed: what the gap consists of. `size(weight, duals)` is what the duals say of themselves, `cost(H, duals)` the
    price that a further column must exceed.

    `exact_weights`: the weights are H'duals to rounding (EQ:KKT1), converged or not. Not so where a solver has weights
    of its own and duals are made from them, nor under an l1 norm, where weights are multipliers of |price| <= cost.
    `intercept`: whether there is one; else it is 0. `tightest` is the relative gap that can be asked for. `unit`: the
    objective is a difference of numbers of this size, to which its rounding is relative. `n_columns`: so many at least
    has an optimum over the data of the loop's tests, with every family; under an l1 norm there are few.
    """

    spec: Any
    make_target: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    primal: Callable[..., float]
    dual: Callable[..., float]
    infeasibility: Callable[..., float]
    slackness: Callable[..., float]
    size: Callable[[np.ndarray, np.ndarray], float]
    cost: Callable[[np.ndarray, np.ndarray], float] = lambda H, duals: 0.0
    curved: bool = False
    exact_weights: bool = True
    intercept: bool = True
    tightest: float = TIGHT
    unit: float = 0.0
    n_columns: int = 10

    def scale(self, primal: float) -> float:
        """Return what the rounding of an objective is relative to."""
        return max(abs(primal), self.unit)


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


def one_of_three(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return 1 for the class of three and -1 for the others, shape (m, 3), that follow `score` with some noise."""
    noisy = score + 0.3 * score.std() * rng.normal(size=len(score))
    return np.ascontiguousarray(2.0 * np.eye(3)[np.searchsorted(np.quantile(noisy, [0.3, 0.7]), noisy)] - 1.0)


def sum_of_sizes(weight: np.ndarray, duals: np.ndarray) -> float:
    return float(np.abs(duals).sum())


def hinge_case(C: float, make_target: Callable[..., np.ndarray] = noisy_signs) -> MasterCase:
    """Return the hinge master: every figure is the sum, or the largest, over one problem an output."""

    def residuals(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> list[Any]:
        duals = solution.duals.array
        return [
            naive_hinge.hinge_residuals(H, y, C * weight, solution.weights[:, t], solution.intercept[t], duals[:, t])
            for t, y in enumerate(target.T)
        ]

    def infeasibility(H: np.ndarray, target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
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
        size=sum_of_sizes,
    )


def least_squares_case(C: float, make_target: Callable[..., np.ndarray]) -> MasterCase:
    def slackness(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        """Return 1/2 |W - H'U|^2 + 1/2 sum_i C s_i |L_i - W'h_i - b - U_i / (C s_i)|^2."""
        duals, scale = solution.duals.array, C * weight[:, None]
        misses = target - H @ solution.weights - solution.intercept - duals / scale
        return float(0.5 * np.sum((solution.weights - H.T @ duals) ** 2) + 0.5 * np.sum(scale * misses**2))

    def infeasibility(H: np.ndarray, target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
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


def lpboost_case(C: float) -> MasterCase:
    """Return LPBoost with C: duals in a box, and no price of a column above 1."""

    def infeasibility(H: np.ndarray, target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
        alphas, bound = (target * duals)[:, 0], C * weight
        box = max(-alphas.min(), (alphas - bound).max()) / bound.max()
        return float(max(0.0, box, np.abs(H.T @ duals).max(initial=0.0) - 1.0))

    def slackness(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        """Return sum_i (C s_i - a_i) xi_i + a_i (y_i F_i - 1 + xi_i) + sum_j |w_j| - w_j price_j."""
        w, r, y = solution.weights[:, 0], solution.duals.array[:, 0], target[:, 0]
        margins = y * (H @ w)
        losses = np.maximum(0.0, 1.0 - margins)
        rows = (C * weight - y * r) @ losses + (y * r) @ (margins - 1.0 + losses)
        return float(rows + np.sum(np.abs(w) - w * (H.T @ r)))

    return MasterCase(
        spec=LPBoost(C=C),
        make_target=noisy_signs,
        primal=lambda H, target, weight, solution: lp_primal(H, target[:, 0], C * weight, solution.weights[:, 0]),
        dual=lambda H, target, weight, duals: float(np.sum(target * duals)),
        infeasibility=infeasibility,
        slackness=slackness,
        size=sum_of_sizes,
        cost=lambda H, duals: 1.0,
        exact_weights=False,
        intercept=False,
    )


def nu_lpboost_case(nu: float) -> MasterCase:
    """Return LPBoost with nu: its value is 2 minus a margin."""

    def infeasibility(H: np.ndarray, target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
        alphas, bound = (target * duals)[:, 0], weight / (nu * weight.sum())
        box = max(-alphas.min(), (alphas - bound).max()) / bound.max()
        return float(max(0.0, box, abs(alphas.sum() - 1.0)))

    def slackness(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        """Return sum_i (b_i - a_i) xi_i + a_i (y_i F_i - rho + xi_i) + |w| e - sum_j w_j price_j, e the largest."""
        w, r, y = solution.weights[:, 0], solution.duals.array[:, 0], target[:, 0]
        bound = weight / (nu * weight.sum())
        margins, rho = y * (H @ w), best_rho(H, y, bound, w)
        losses, prices = np.maximum(0.0, rho - margins), H.T @ r
        rows = (bound - y * r) @ losses + (y * r) @ (margins - rho + losses)
        return float(rows + np.abs(w).sum() * np.abs(prices).max(initial=0.0) - w @ prices)

    def primal(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        return nu_primal(H, target[:, 0], weight / (nu * weight.sum()), solution.weights[:, 0])

    def edge(H: np.ndarray, duals: np.ndarray) -> float:
        return float(np.abs(H.T @ duals).max(initial=0.0))

    return MasterCase(
        spec=LPBoost(nu=nu),
        make_target=noisy_signs,
        primal=primal,
        dual=lambda H, target, weight, duals: 2.0 - edge(H, duals),
        infeasibility=infeasibility,
        slackness=slackness,
        size=sum_of_sizes,
        cost=edge,
        exact_weights=False,
        intercept=False,
        unit=1.0,
        n_columns=3,
    )


def multiboost_case(nu: float) -> MasterCase:
    """Return MultiBoost over three classes. L-BFGS-B stalls at gaps of 1e-7 to 1e-9, whatever is asked for."""
    return MasterCase(
        spec=MultiBoost(nu=nu),
        make_target=one_of_three,
        primal=lambda H, target, weight, solution: multiboost_primal(H, target, weight, nu, solution.weights),
        dual=lambda H, target, weight, duals: multiboost_dual(target, weight, duals),
        infeasibility=lambda H, target, weight, duals: multiboost_infeasibility(H, target, duals, nu),
        slackness=lambda H, target, weight, solution: multiboost_slackness(
            H, target, weight, nu, solution.weights, solution.duals.array
        ),
        size=sum_of_sizes,
        cost=lambda H, duals: nu,
        exact_weights=False,
        intercept=False,
        tightest=1e-6,
    )


def liblinear_case(C: float) -> MasterCase:
    """Return the squared hinge loss with a penalised bias, which is one column more: of the value `scaling`."""
    spec = Liblinear(C=C)
    scaling = spec.intercept_scaling

    def primal(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        w, b = solution.weights[:, 0], float(solution.intercept[0])
        losses = np.maximum(0.0, 1.0 - target[:, 0] * (H @ w + b)) ** 2
        return float(0.5 * w @ w + 0.5 * (b / scaling) ** 2 + C * weight @ losses)

    def dual(H: np.ndarray, target: np.ndarray, weight: np.ndarray, duals: np.ndarray) -> float:
        norm = np.sum((H.T @ duals) ** 2) + (scaling * duals.sum()) ** 2
        return float(np.sum(target * duals) - 0.5 * norm - np.sum(duals[:, 0] ** 2 / (4 * C * weight)))

    def slackness(H: np.ndarray, target: np.ndarray, weight: np.ndarray, solution: MasterSolution) -> float:
        """Return 1/2 |w - H'r|^2, the same of the bias, and C s xi^2 + a^2 / (4 C s) - a (1 - y F) of every row."""
        w, b, r = solution.weights[:, 0], float(solution.intercept[0]), solution.duals.array[:, 0]
        missing, a = 1.0 - target[:, 0] * (H @ w + b), target[:, 0] * r
        rows = C * weight * np.maximum(0.0, missing) ** 2 + a**2 / (4 * C * weight) - a * missing
        return float(0.5 * np.sum((w - H.T @ r) ** 2) + 0.5 * (b / scaling - scaling * r.sum()) ** 2 + rows.sum())

    return MasterCase(
        spec=spec,
        make_target=noisy_signs,
        primal=primal,
        dual=dual,
        infeasibility=lambda H, target, weight, duals: float(max(0.0, -np.min(target * duals))),
        slackness=slackness,
        size=sum_of_sizes,
        exact_weights=False,
    )


@dataclass(frozen=True)
class FamilyCase:
    """A family, whether its pool is finite, and all its candidates given a live pricer (finite pools only).

    `in_loop`: whether it also goes through every test of the loop, with every master. Variants of one family need not.
    `votes`: whether it knows the rule "votes". `arrays`: whether its learners can be turned into arrays.
    """

    spec: Any
    finite: bool
    candidates: Callable[[Any, np.ndarray], list[Any]] | None = None
    in_loop: bool = True
    votes: bool = True
    arrays: bool = True


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
    "LPBoost": lpboost_case(1.0),
    "LPBoost, large C": lpboost_case(30.0),
    "LPBoost, nu": nu_lpboost_case(0.6),
    "MultiBoost": multiboost_case(0.01),
    "Liblinear": liblinear_case(1.0),
}

FAMILIES: dict[str, FamilyCase] = {
    "stump": FamilyCase(Stump(), True, all_stumps),
    "stump, few bins": FamilyCase(Stump(max_bins=5), True, all_stumps, in_loop=False),
    "stump, every midpoint": FamilyCase(Stump(max_bins=None), True, all_stumps),
    "cosines": FamilyCase(Cosines(), True, lambda pricer, X: pricer.learners, votes=False, arrays=False),
    "cosines in float32": FamilyCase(
        Cosines(dtype="float32"), True, lambda pricer, X: pricer.learners, votes=False, arrays=False
    ),
    "fresh cosines": FamilyCase(Cosines(fresh=True), False, votes=False, arrays=False),
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
    "scikit-learn's": FamilyCase(
        SklearnLearner(DecisionTreeClassifier(max_depth=2)), False, in_loop=False, arrays=False
    ),
    "mixture": FamilyCase(Mixture([Stump(), (Fourier(n_candidates=30, learn=False), [0, 2]), Linear()]), True, mixed),
    "mixture with trees": FamilyCase(Mixture([Stump(), Tree(3), Linear()]), False, in_loop=False),
}
