"""One row per master and per family: a new one is added here and inherits the whole suite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from cgens.masters import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    LeastSquares,
    Liblinear,
    Logistic,
    LPBoost,
    MultiBoost,
    OneClass,
    Poisson,
    Quantile,
    SquaredHinge,
)
from cgens.masters.smooth_hinge import RestrictedSmoothHinge
from cgens.types import Duals
from cgens.weak_learners import (
    Box,
    Fourier,
    Linear,
    LinearLearner,
    Mixture,
    Perceptron,
    Pool,
    SklearnLearner,
    Stump,
    StumpLearner,
    Tree,
)
from tests.contract.cosines import Cosines
from tests.contract.targets import (
    counts,
    four_class_codes,
    no_target,
    noisy_signs,
    regression_target,
    same_target_thrice,
    three_class_signs,
    three_noisy_signs,
)
from tests.reference.naive_box import NaiveBox, naive_one_class, naive_pinball, naive_tube
from tests.reference.naive_hinge import hinge_dual, hinge_primal, hinge_residuals
from tests.reference.naive_least_squares import ls_dual, ls_primal
from tests.reference.naive_lp import best_rho, lp_primal, nu_primal
from tests.reference.naive_multiboost import (
    multiboost_dual,
    multiboost_infeasibility,
    multiboost_primal,
    multiboost_slackness,
)
from tests.reference.naive_smooth import (
    LOGISTIC,
    POISSON,
    SOFTMAX,
    SQUARED_HINGE,
    SmoothReference,
    huber,
    smooth_dual,
    smooth_infeasibility,
    smooth_primal,
    smooth_slackness,
)
from tests.tolerances import INTERIOR, TIGHT


def never() -> bool:
    """Return False: a poll that never interrupts a solve."""
    return False


def sum_of_sizes(weight: np.ndarray, duals: np.ndarray) -> float:
    return float(np.abs(duals).sum())


@dataclass(frozen=True)
class MasterCase:
    """A master, a target for it, and its definition in plain NumPy.

    `primal(H, target, weight, solution)`, `dual(H, target, weight, duals)`, `infeasibility(H, target, weight, duals)`
    and `slackness(H, target, weight, solution)` are what solutions are compared with. Slackness is the sum of products
    of a multiplier and the slack of its constraint or, without a constraint, of the gaps in Young's inequality: the
    duality gap consists of it. `l1_norm(weight, duals)` is `Duals.l1_norm`, `cost(H, duals)` the price that a further
    column must exceed.

    `exact_weights`: the weights are H'duals up to rounding (EQ:KKT1), converged or not. This does not hold if a solver
    has weights of its own and duals are derived from them, nor under an l1 norm, where weights are multipliers of
    |price| <= cost. `curvature`: whether the gain that the duals' curvature predicts is the decrease of the objective,
    a lower bound of it, or neither. `intercept`: whether there is one; otherwise it is 0. `tightest` is the smallest
    relative gap that can be requested. `unit`: the objective is a difference of numbers of this size, to which its
    rounding is relative. `n_columns`: an optimum over the data of the loop's tests has at least this many, with every
    family; under an l1 norm there are few. `in_loop`: whether the loop is tested with it; variants of one master need
    not be.
    """

    spec: Any
    make_target: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    primal: Callable[..., float]
    dual: Callable[..., float]
    infeasibility: Callable[..., float]
    slackness: Callable[..., float]
    l1_norm: Callable[[np.ndarray, np.ndarray], float] = sum_of_sizes
    cost: Callable[[np.ndarray, np.ndarray], float] = lambda H, duals: 0.0
    curvature: Literal["exact", "majorizer", "typical"] | None = None
    exact_weights: bool = True
    intercept: bool = True
    tightest: float = TIGHT
    unit: float = 0.0
    n_columns: int = 10
    in_loop: bool = True

    @property
    def curved(self) -> bool:
        """Whether a new column changes weights and duals by rank one."""
        return self.curvature == "exact"

    def scale(self, primal: float) -> float:
        """Return what the rounding of an objective is relative to."""
        return max(abs(primal), self.unit)


class HingeOfManyRows(Hinge):
    """The hinge loss, solved as if there were many rows."""

    def begin(self, target, sample_weight, n_threads):
        return RestrictedSmoothHinge(self.prepared(target, sample_weight), target, sample_weight, n_threads)


def hinge_case(C: float, make_target: Callable[..., np.ndarray] = noisy_signs) -> MasterCase:
    """Return the hinge master: one problem per output, whose objectives are added."""

    def residuals(H, target, weight, weights, intercept, duals):
        outputs = zip(target.T, weights.T, intercept, duals.T, strict=True)
        return [hinge_residuals(H, y, C * weight, w, b, r) for y, w, b, r in outputs]

    def primal(H, target, weight, solution):
        outputs = zip(target.T, solution.weights.T, solution.intercept, strict=True)
        return sum(hinge_primal(H, y, C * weight, w, b) for y, w, b in outputs)

    def infeasibility(H, target, weight, duals):
        found = residuals(H, target, weight, H.T @ duals, np.zeros(target.shape[1]), duals)
        return max(max(output.box, output.balance) for output in found)

    def slackness(H, target, weight, solution):
        found = residuals(H, target, weight, solution.weights, solution.intercept, solution.duals.array)
        return sum(output.slackness for output in found)

    return MasterCase(
        spec=Hinge(C=C),
        make_target=make_target,
        primal=primal,
        dual=lambda H, target, weight, duals: sum(hinge_dual(H, r) for r in duals.T),
        infeasibility=infeasibility,
        slackness=slackness,
    )


def many_rows_case(C: float) -> MasterCase:
    """Return the hinge master for many rows: its weights are H'R only within the tolerance."""
    return replace(hinge_case(C), spec=HingeOfManyRows(C=C), exact_weights=False)


def box_case(spec: Any, outputs: list[NaiveBox], make_target: Callable[..., np.ndarray], **options: Any) -> MasterCase:
    """Return a loss with a box dual: one problem per output, whose objectives are added."""

    def primal(H, target, weight, solution):
        models = zip(outputs, target.T, solution.weights.T, solution.intercept, strict=True)
        return sum(own.primal(H, y, spec.scale(weight), w, b) for own, y, w, b in models)

    def slackness(H, target, weight, solution):
        models = zip(outputs, target.T, solution.weights.T, solution.intercept, solution.duals.array.T, strict=True)
        return sum(own.slackness(H, y, spec.scale(weight), w, b, r) for own, y, w, b, r in models)

    return MasterCase(
        spec=spec,
        make_target=make_target,
        primal=primal,
        dual=lambda H, target, weight, duals: sum(
            own.dual(H, y, r) for own, y, r in zip(outputs, target.T, duals.T, strict=True)
        ),
        infeasibility=lambda H, target, weight, duals: max(
            own.infeasibility(spec.scale(weight), r) for own, r in zip(outputs, duals.T, strict=True)
        ),
        slackness=slackness,
        **options,
    )


def least_squares_case(C: float, make_target: Callable[..., np.ndarray]) -> MasterCase:
    def slackness(H, target, weight, solution):
        """Return 1/2 |W - H'U|^2 + 1/2 sum_i C s_i |L_i - W'h_i - b - U_i / (C s_i)|^2."""
        duals, scale = solution.duals.array, C * weight[:, None]
        misses = target - H @ solution.weights - solution.intercept - duals / scale
        return float(0.5 * np.sum((solution.weights - H.T @ duals) ** 2) + 0.5 * np.sum(scale * misses**2))

    def l1_norm(weight, duals):
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
        infeasibility=lambda H, target, weight, duals: np.max(np.abs(duals.sum(axis=0)) / np.abs(duals).sum(axis=0)),
        slackness=slackness,
        l1_norm=l1_norm,
        curvature="exact",
    )


def lpboost_case(spec: LPBoost, **options: Any) -> MasterCase:
    """Return LPBoost with C (duals in a box, no price above 1) or with nu (duals of sum 1, the value 2 - margin)."""
    with_nu = spec.nu is not None

    def bound_of(weight):
        return weight / (spec.nu * weight.sum()) if with_nu else spec.C * weight

    def largest_price(H, duals):
        return float(np.abs(H.T @ duals).max(initial=0.0))

    def cost(H, duals):
        return largest_price(H, duals) if with_nu else 1.0

    def primal(H, target, weight, solution):
        return (nu_primal if with_nu else lp_primal)(H, target[:, 0], bound_of(weight), solution.weights[:, 0])

    def infeasibility(H, target, weight, duals):
        alphas, bound = (target * duals)[:, 0], bound_of(weight)
        box = max(-alphas.min(), (alphas - bound).max()) / bound.max()
        return float(max(0.0, box, abs(alphas.sum() - 1.0) if with_nu else largest_price(H, duals) - 1.0))

    def slackness(H, target, weight, solution):
        """Return sum_i (b_i - a_i) xi_i + a_i (y_i F_i - rho + xi_i) + sum_j |w_j| cost - w_j price_j, b the box.

        With C, rho is 1.
        """
        w, duals, y, bound = solution.weights[:, 0], solution.duals.array, target[:, 0], bound_of(weight)
        alphas, margins, rho = y * duals[:, 0], y * (H @ w), best_rho(H, y, bound, w) if with_nu else 1.0
        losses = np.maximum(0.0, rho - margins)
        rows = (bound - alphas) @ losses + alphas @ (margins - rho + losses)
        return float(rows + np.abs(w).sum() * cost(H, duals) - w @ (H.T @ duals[:, 0]))

    return MasterCase(
        spec=spec,
        make_target=noisy_signs,
        primal=primal,
        dual=lambda H, target, weight, duals: 2.0 - largest_price(H, duals) if with_nu else np.sum(target * duals),
        infeasibility=infeasibility,
        slackness=slackness,
        cost=cost,
        exact_weights=False,
        intercept=False,
        unit=1.0 if with_nu else 0.0,
        n_columns=3 if with_nu else 10,
        **options,
    )


def multiboost_case(nu: float) -> MasterCase:
    """Return MultiBoost with three classes. L-BFGS-B stalls at gaps of 1e-7 to 1e-9, whatever is requested."""
    return MasterCase(
        spec=MultiBoost(nu=nu),
        make_target=three_class_signs,
        primal=lambda H, target, weight, solution: multiboost_primal(H, target, weight, nu, solution.weights),
        dual=lambda H, target, weight, duals: multiboost_dual(target, weight, duals),
        infeasibility=lambda H, target, weight, duals: multiboost_infeasibility(H, target, duals, nu),
        slackness=lambda H, target, weight, solution: multiboost_slackness(
            H, target, weight, nu, solution.weights, solution.duals.array
        ),
        cost=lambda H, duals: nu,
        exact_weights=False,
        intercept=False,
        tightest=1e-6,
    )


def liblinear_case(C: float) -> MasterCase:
    """Return the squared hinge loss with a penalized bias: one more column, whose value is `scaling`."""
    spec = Liblinear(C=C)
    scaling = spec.intercept_scaling

    def primal(H, target, weight, solution):
        w, b = solution.weights[:, 0], float(solution.intercept[0])
        losses = np.maximum(0.0, 1.0 - target[:, 0] * (H @ w + b)) ** 2
        return float(0.5 * w @ w + 0.5 * (b / scaling) ** 2 + C * weight @ losses)

    def dual(H, target, weight, duals):
        norm = np.sum((H.T @ duals) ** 2) + (scaling * duals.sum()) ** 2
        return float(np.sum(target * duals) - 0.5 * norm - np.sum(duals[:, 0] ** 2 / (4 * C * weight)))

    def slackness(H, target, weight, solution):
        """Return 1/2 |w - H'r|^2, the same for the bias, and C s xi^2 + a^2 / (4 C s) - a (1 - y F) of every row."""
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
        exact_weights=False,
    )


def smooth_case(
    spec: Any, make_target: Callable[..., np.ndarray], reference: SmoothReference, bounded: bool = True
) -> MasterCase:
    """Return the master of a smooth loss: the weights are those of the solver, and the duals are derived from them."""

    def primal(H, target, weight, solution):
        return smooth_primal(reference, H, target, spec.C * weight, solution.weights, solution.intercept)

    return MasterCase(
        spec=spec,
        make_target=make_target,
        primal=primal,
        dual=lambda H, target, weight, duals: smooth_dual(reference, H, target, spec.C * weight, duals),
        infeasibility=lambda H, target, weight, duals: smooth_infeasibility(reference, target, spec.C * weight, duals),
        slackness=lambda H, target, weight, solution: smooth_slackness(
            reference, H, target, spec.C * weight, solution.weights, solution.intercept, solution.duals.array
        ),
        curvature="majorizer" if bounded else "typical",
        exact_weights=False,
    )


MASTERS: dict[str, MasterCase] = {
    "hinge, small C": hinge_case(0.01),
    "hinge": hinge_case(1.0),
    "hinge, large C": hinge_case(30.0),
    "hinge, many rows, small C": many_rows_case(0.01),
    "hinge, many rows": many_rows_case(1.0),
    "hinge, many rows, large C": many_rows_case(30.0),
    "hinge, three outputs": hinge_case(0.3, three_noisy_signs),
    "quantile, small C": box_case(Quantile(0.9, C=0.01), [naive_pinball(0.9)], regression_target),
    "quantile": box_case(Quantile(0.3, C=1.0), [naive_pinball(0.3)], regression_target),
    "quantile, large C": box_case(Quantile(0.5, C=30.0), [naive_pinball(0.5)], regression_target, in_loop=False),
    "three quantiles": box_case(
        Quantile([0.1, 0.5, 0.9], C=0.3), [naive_pinball(q) for q in (0.1, 0.5, 0.9)], same_target_thrice
    ),
    "epsilon-insensitive, small C": box_case(EpsilonInsensitive(0.3, C=0.01), [naive_tube(0.3)], regression_target),
    "epsilon-insensitive": box_case(EpsilonInsensitive(0.3, C=1.0), [naive_tube(0.3)], regression_target),
    "epsilon-insensitive, large C": box_case(
        EpsilonInsensitive(0.1, C=10.0), [naive_tube(0.1)], regression_target, in_loop=False
    ),
    "epsilon-insensitive, three outputs": box_case(
        EpsilonInsensitive([0.0, 0.1, 0.2], C=0.3), [naive_tube(e) for e in (0.0, 0.1, 0.2)], same_target_thrice
    ),
    "one class": box_case(OneClass(nu=0.2), [naive_one_class()], no_target, unit=1.0),
    "one class, large nu": box_case(OneClass(nu=0.9), [naive_one_class()], no_target, unit=1.0, in_loop=False),
    "least squares, small C": least_squares_case(0.01, regression_target),
    "least squares": least_squares_case(1.0, regression_target),
    "least squares, large C": least_squares_case(30.0, regression_target),
    "least squares, three outputs, small C": least_squares_case(0.01, four_class_codes),
    "least squares, three outputs": least_squares_case(1.0, four_class_codes),
    "least squares, three outputs, large C": least_squares_case(30.0, four_class_codes),
    "logistic, small C": smooth_case(Logistic(0.01), noisy_signs, LOGISTIC, bounded=False),
    "logistic": smooth_case(Logistic(1.0), noisy_signs, LOGISTIC, bounded=False),
    "logistic, three labels": smooth_case(Logistic(0.3), three_noisy_signs, LOGISTIC, bounded=False),
    "softmax": smooth_case(Logistic(1.0), four_class_codes, SOFTMAX, bounded=False),
    "squared hinge": smooth_case(SquaredHinge(1.0), three_noisy_signs, SQUARED_HINGE),
    "Huber": smooth_case(Huber(1.0, delta=0.5), regression_target, huber(0.5)),
    "Poisson": smooth_case(Poisson(1.0), counts, POISSON, bounded=False),
    "LPBoost": lpboost_case(LPBoost(C=1.0)),
    "LPBoost, large C": lpboost_case(LPBoost(C=30.0)),
    "LPBoost, nu": lpboost_case(LPBoost(nu=0.6)),
    "LPBoost, primal": lpboost_case(LPBoost(C=0.3, solver="primal"), in_loop=False),
    "LPBoost, nu, primal": lpboost_case(LPBoost(nu=0.7, solver="primal"), in_loop=False),
    "LPBoost, ipm": lpboost_case(LPBoost(C=0.3, solver="ipm"), in_loop=False, tightest=INTERIOR),
    "LPBoost, nu, ipm": lpboost_case(LPBoost(nu=0.7, solver="ipm"), in_loop=False, tightest=INTERIOR),
    "MultiBoost": multiboost_case(0.01),
    "Liblinear": liblinear_case(1.0),
}


@dataclass(frozen=True)
class FamilyCase:
    """A family and, if its pool is finite, a function of a live pricer and the rows that returns all its candidates.

    `in_loop`: whether the loop is tested with it and every master; variants of one family need not be.
    `votes`: whether it knows the rule "votes". `arrays`: whether its learners can be turned into arrays.
    """

    spec: Any
    candidates: Callable[[Any, np.ndarray], list[Any]] | None = None
    in_loop: bool = True
    votes: bool = True
    arrays: bool = True

    @property
    def finite(self) -> bool:
        return self.candidates is not None


def all_stumps(pricer: Any, X: np.ndarray) -> list[Any]:
    learners, seen = [], set()
    for learner in pricer.pool():
        response = learner.respond(X)
        if not {response.tobytes(), (-response).tobytes()} & seen:
            seen.add(response.tobytes())
            learners.append(learner)
    return learners


def drawn(pricer: Any, X: np.ndarray) -> list[Any]:
    return pricer.pool()


def in_metric(pricer: Any, X: np.ndarray) -> list[Any]:
    """Let the metric be learned from duals that depend on the first two features, and return the pool in it."""
    duals = np.sin(2 * X[:, [0]]) + X[:, [1]]
    pricer.price(Duals(duals - duals.mean()), {}.keys(), "max")
    return pricer.pool()


def mixed(pricer: Any, X: np.ndarray) -> list[Any]:
    """Return the stumps, cosines and inputs of the mixture."""
    stumps, cosines, inputs = pricer.pricers
    own = [all_stumps(stumps, X), cosines.pool(), inputs.pool()]
    return [pricer.learner(number, learner) for number, learners in enumerate(own) for learner in learners]


#: Learners of several kinds, one of them constant and one like another up to sign.
GIVEN: list[Any] = [
    *(StumpLearner(f, threshold) for f in range(3) for threshold in (-1.0, -0.7, -0.4, -0.1, 0.2, 0.5, 0.8, 1e9)),
    StumpLearner(0, 0.0, gaps_above=True),
    *(LinearLearner(f, 0.1, 2.0) for f in range(3)),
]
FAMILIES: dict[str, FamilyCase] = {
    "stump": FamilyCase(Stump(), all_stumps),
    "stump, few bins": FamilyCase(Stump(max_bins=5), all_stumps, in_loop=False),
    "stump, every midpoint": FamilyCase(Stump(max_bins=None), all_stumps),
    "cosines": FamilyCase(Cosines(), drawn, votes=False, arrays=False),
    "cosines in float32": FamilyCase(Cosines(dtype="float32"), drawn, votes=False, arrays=False),
    "fresh cosines": FamilyCase(Cosines(fresh=True), votes=False, arrays=False),
    "fourier": FamilyCase(Fourier(n_candidates=60, learn=False), drawn),
    "fourier, sparse, several widths": FamilyCase(
        Fourier(["scale", "median", 0.1], 60, n_inputs=[1, 2], standardize=True, learn=False), drawn, in_loop=False
    ),
    "fourier, orthogonal": FamilyCase(Fourier("median", 60, orthogonal=True, learn=False), drawn, in_loop=False),
    "fourier, fresh": FamilyCase(Fourier(n_candidates=40, pool="fresh", learn=False), in_loop=False),
    "fourier, sparse draws": FamilyCase(Fourier("median", 60, draw="sparse"), drawn, in_loop=False),
    "fourier, pairs": FamilyCase(Fourier(n_candidates=60, standardize=True, draw="pairs"), drawn, in_loop=False),
    "fourier, fresh pairs": FamilyCase(Fourier(n_candidates=40, pool="fresh", draw="pairs"), in_loop=False),
    "fourier, metric": FamilyCase(Fourier("median", 60, metric="learned"), in_metric, in_loop=False),
    "fourier, sparse in a metric": FamilyCase(
        Fourier(0.5, 60, n_inputs=[1, 3], draw="sparse", metric="learned"), in_metric, in_loop=False
    ),
    "fourier, pairs in a metric": FamilyCase(
        Fourier(n_candidates=60, standardize="rank", draw="pairs", metric="learned"), in_metric, in_loop=False
    ),
    "fourier, fresh in a metric": FamilyCase(Fourier(n_candidates=40, pool="fresh", metric="learned")),
    "fourier, learned": FamilyCase(Fourier(learn=True)),
    "fourier, learned, sparse": FamilyCase(
        Fourier(["scale", 0.1], n_inputs=[1, 3], standardize=True, learn=True), in_loop=False
    ),
    "perceptron": FamilyCase(Perceptron(60, learn=False), drawn),
    "perceptron, sparse": FamilyCase(Perceptron(60, n_inputs=2, standardize=True, learn=False), drawn, in_loop=False),
    "perceptron, fresh": FamilyCase(Perceptron(40, pool="fresh", orthogonal=True, learn=False), in_loop=False),
    "perceptron, learned": FamilyCase(Perceptron(learn=True), in_loop=False),
    "perceptron, learned, sparse": FamilyCase(Perceptron(n_inputs=2, standardize=True, learn=True), in_loop=False),
    "box": FamilyCase(Box(n_candidates=60), drawn),
    "box, fresh": FamilyCase(Box([1, 2, 3], 40, pool="fresh"), in_loop=False),
    "linear": FamilyCase(Linear(), drawn, in_loop=False),
    "given": FamilyCase(Pool(GIVEN), drawn),
    "given, scaled": FamilyCase(Pool(GIVEN, scaled=True), drawn, in_loop=False),
    "tree": FamilyCase(Tree(4)),
    "tree, signs": FamilyCase(Tree(5, leaves="sign", min_samples_leaf=2), in_loop=False),
    "tree, random": FamilyCase(Tree(6, min_samples_leaf=2, max_samples=0.7, splitter="random"), in_loop=False),
    "scikit-learn": FamilyCase(SklearnLearner(DecisionTreeClassifier(max_depth=2)), in_loop=False, arrays=False),
    "mixture": FamilyCase(Mixture([Stump(), (Fourier(n_candidates=30, learn=False), [0, 2]), Linear()]), mixed),
    "mixture with trees": FamilyCase(Mixture([Stump(), Tree(3), Linear()]), in_loop=False),
}
