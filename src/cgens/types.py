"""The contracts between masters, weak learners and the column-generation loop.

A *spec* (`Master`, `Family`) holds hyperparameters only. Its `begin` returns an object that is bound to the
training data for one fit (`RestrictedMaster`, `Pricer`). A round adds one column and computes new signed duals:

    solve the restricted master -> duals R (m, l)
    price: find the weak learner with the largest |sum_i R_it h(x_i)|
    stop if no price exceeds the column cost, else add the column

The master defines the meaning of ``R``: ``y_i a_i`` for the hinge loss, ``C s_i (L_i - F(x_i))`` for least squares. A
family sees rows and duals, never labels, C or the loss.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cgens.table import Table

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]
Poll: TypeAlias = Callable[[], bool]
#: How columns are compared: "max" by |price| of one output (EQ:WL2), "gain" by the decrease of the objective, "votes"
#: by the sum of |price| over all outputs.
Rule: TypeAlias = Literal["max", "gain", "votes"]
#: What a loss can fit: classes, a multilabel indicator matrix, regression targets.
Target: TypeAlias = Literal["classes", "labels", "regression"]


class Status(enum.StrEnum):
    """Why column generation, or one solve of the master, ended."""

    #: No weak learner that is not selected (without a finite pool, none that was found) violates optimality; for a
    #: single solve, the tolerance was reached.
    OPTIMAL = "optimal"
    MAX_COLUMNS = "max_columns"  #: the maximum number of columns was reached
    STOPPED = "stopped"  #: a callback returned True
    INTERRUPTED = "interrupted"  #: Ctrl-C; the completed rounds are kept
    NOT_CONVERGED = "not_converged"  #: the master stopped before reaching its tolerance; see its gap


@dataclass(frozen=True)
class Sample:
    """Training rows in the order of the fit, as indices into ``X`` instead of a copy.

    Attributes
    ----------
    X : Table of shape (n, n_features)
        The rows of the user's table; an array is made a table of numbers.
    rows : ndarray of shape (m,)
        Row ``i`` of the fit is row ``rows[i]`` of `X`.
    weight : ndarray of shape (m,)
        Positive weights of the rows of the fit.
    """

    X: Table
    rows: Integers
    weight: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", Table.of(self.X))

    def __len__(self) -> int:
        return len(self.rows)

    def matrix(self) -> AnyArray:
        """Return the rows of the fit, shape (m, n_features), sparse if the table is: a copy, made by the first call."""
        return self._matrix

    @cached_property
    def _matrix(self) -> AnyArray:
        return self.X.take(self.rows).values  # type: ignore[no-any-return]


class Learner(Protocol):
    """A weak learner h, immutable. Its class may have a static method ``pack`` (see `cgens.packs.Pack`).

    If `respond` gives the same bits as the search for the training rows, it may also have the class attribute
    ``exact_responses = True``: checkpoints then need not contain its responses. If it has no pack and `respond` takes
    sparse rows, it may have ``takes_sparse = True``; it is given dense ones otherwise.
    """

    @property
    def key(self) -> Hashable:
        """A key that is equal for learners that are the same function up to sign."""

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row of `X`, shape (n,)."""


@dataclass(frozen=True)
class Column:
    """A weak learner and its response on the training rows.

    Attributes
    ----------
    learner : Learner
    response : ndarray of shape (m,), int8 if it is +-1, else float32 or float64
    price : float
        The signed price sum_i R_it h(x_i) for t = `output`.
    output : int
    """

    learner: Learner
    response: AnyArray
    price: float
    output: int = 0


@dataclass(frozen=True)
class Pricing:
    """The result of a search for the most violating weak learner.

    Attributes
    ----------
    column : Column or None
        The best column that is not selected yet; None if every candidate is taken or has price 0, or if a family
        without a pool found none above the column cost.
    max_price : float or None
        Largest |price| outside the selected columns; None if it is that of `column`.
    n_candidates : int or None
        Size of the pool; None if it is infinite (fresh samples, trees) or lacks a selected column.
    energy : float or None
        Sum of price^2 over the whole pool, including the selected columns; None in the same cases.
    merit : float or None
        The value that the pricing rule compares: |price| for "max", twice the decrease of the objective for "gain", the
        sum of |price| for "votes"; None if unknown.
    """

    column: Column | None
    n_candidates: int | None = None
    energy: float | None = None
    max_price: float | None = None
    merit: float | None = None

    def largest_price(self) -> float:
        """Return the largest |price| outside the selected columns."""
        if self.max_price is not None:
            return self.max_price
        return 0.0 if self.column is None else abs(self.column.price)


class Curvature(Protocol):
    """The matrix P of a least-squares master: adding g lowers the objective by 1/2 sum_t (g'R_t)^2 / (1 + g'Pg).

    Each added column h changes P by rank one, P <- P - p p' / (1 + h'p) with p = Ph, and the duals with it,
    R <- R - p k' with k = h'R / (1 + h'p).
    """

    @property
    def n_steps(self) -> int:
        """Number of columns in the master."""

    @property
    def diagonal(self) -> Floats:
        """The vector v, shape (m,), of the empty master's P = diag(v) - v v' / sum(v)."""

    def step(self, j: int) -> tuple[Floats, Floats, float]:
        """Return p of shape (m,), k of shape (l,) and 1 + h'p of the `j`-th column."""

    def quadratic(self, responses: AnyArray) -> Floats:
        """Return g'Pg for columns g of shape (m, n), shape (n,)."""


class Duals:
    """Signed duals R of one solve, shape (m, l).

    Attributes
    ----------
    array : ndarray of shape (m, l)
        May be computed on first access; a family that uses `curvature` may not need it.
    l1_norm : float
        The l1 norm sum |R|, or an upper bound on it that is cheaper to compute.
    curvature : Curvature or None
        None if the master has none.
    by_steps : bool
        Whether the duals were updated by the newest steps of `curvature` rather than computed from scratch.
    rough : bool
        Whether the duals are only those of a quick solve, so that errors of 1e-6 times their l1 norm in prices do not
        matter. Others prove bounds.
    class_codes : callable
        Returns the codes of the classes, shape (k, l): the distinct rows of the target, or None if there are too many
        to be classes. Set by the loop.
    column_cost : float
        The |price| that a column must exceed; if none does, a family may search further. Set by the loop.
    new_problem : bool
        Whether these duals belong to a different problem from those of the last round, as in AdaBoost.ECC, which
        colours the classes differently in each round: discard what was cached from earlier duals.
    """

    curvature: Curvature | None = None
    by_steps: bool = False
    rough: bool = False
    class_codes: Callable[[], Floats | None] = staticmethod(lambda: None)
    column_cost: float = 0.0
    new_problem: bool = False

    def __init__(self, array: Floats) -> None:
        self._array = array

    @property
    def array(self) -> Floats:
        """The feasible duals, shape (m, l)."""
        return self._array

    @property
    def l1_norm(self) -> float:
        """The l1 norm sum |R|, or an upper bound on it that is cheaper to compute."""
        return float(np.abs(self._array).sum())


@dataclass(frozen=True)
class RankOneStep:
    """The change of the weights by a new column: W <- (W - coefficients output', output').

    Attributes
    ----------
    n_columns : int
        J, including the new column.
    coefficients : ndarray of shape (J - 1,) or None
        None: all 0, as in stage-wise fits.
    output : ndarray of shape (l,)
    """

    n_columns: int
    coefficients: Floats | None
    output: Floats

    def apply(self, weights: Floats) -> Floats:
        """Return the weights after the step, shape (J, l)."""
        before = weights if self.coefficients is None else weights - np.outer(self.coefficients, self.output)
        return np.vstack([before, self.output])


@dataclass(frozen=True)
class MasterSolution:
    """A solution of the restricted master.

    Attributes
    ----------
    weights : ndarray of shape (J, l)
    intercept : ndarray of shape (l,)
    duals : Duals
        Signed and feasible, shape (m, l), so that ``dual`` is a lower bound.
    primal, dual : float
        The dual value may be nan in quick solves.
    status : Status
        OPTIMAL, NOT_CONVERGED or INTERRUPTED.
    n_iter : int
        Sweeps, iterations or whatever the solver counts.
    step : RankOneStep or None
        The change of the weights since the last solve, if it has rank one; the history then stores only this.
    column_cost : float
        The |price| that a column must exceed at these duals to be worth adding: 0 with an l2 norm.
    retry : bool
        Whether solving again without a new column would give different duals to price columns with.
    """

    weights: Floats
    intercept: Floats
    duals: Duals
    primal: float
    dual: float
    status: Status
    n_iter: int
    step: RankOneStep | None = None
    column_cost: float = 0.0
    retry: bool = False

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / |primal|, or 0 if both are 0."""
        return relative_gap(self.primal, self.dual)

    def with_signs(self, signs: Floats) -> MasterSolution:
        """Return the same solution for columns multiplied by these signs, shape (J,)."""
        step = self.step
        if step is not None:
            coefficients = step.coefficients
            if coefficients is not None:
                coefficients = signs[-1] * signs[:-1] * coefficients
            step = RankOneStep(step.n_columns, coefficients, signs[-1] * step.output)
        return replace(self, weights=signs[:, None] * self.weights, step=step)


def relative_gap(primal: float, dual: float) -> float:
    """Return (primal - dual) / |primal|, or 0 if both are 0."""
    return 0.0 if primal == dual else float(primal - dual) / max(float(abs(primal)), float(np.finfo(float).tiny))


@dataclass(frozen=True)
class Certificate:
    """Upper bounds on the distance of a model from the optimum.

    Attributes
    ----------
    primal : float
        Objective of the model.
    dual : float
        Lower bound for every model over the *selected* columns.
    relative_gap : float
        (primal - dual) / |primal|.
    scope : {"pool", "restricted"}
        "pool" if the family is a finite pool and the ``full_*`` values hold for all of it.
    n_candidates : int or None
        Size of the pool.
    max_price : float
        Largest |price| outside the selected columns at the final duals: 0 means that no unselected learner would lower
        the objective. Without a pool, the largest that a final search found.
    full_lower_bound : float or None
        Lower bound for every model over the *whole pool*, selected or not.
    full_relative_gap : float or None
        (primal - full_lower_bound) / |primal|.
    status : Status
        Why the fit ended.
    """

    primal: float
    dual: float
    relative_gap: float
    scope: str
    n_candidates: int | None
    max_price: float
    full_lower_bound: float | None
    full_relative_gap: float | None
    status: Status


class RestrictedMaster(Protocol):
    """A master problem over the columns added so far."""

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve to a relative gap of `tol`, starting from the last solution.

        `interrupted` is to be polled regularly; if it returns True, return the solution so far with that status.
        `quick` is True between rounds: a hard problem may then be left at a larger gap, and the next round continues
        from there. If its duals are not quite feasible, its dual value is nan, and `pool_bound` returns -inf for them.
        """

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return a lower bound on the optimum of the master problem over a whole pool, or -inf if there is none.

        `energy` is the pool's sum of price^2, `largest` the largest |price| of a single output outside the selected
        columns.
        """


class Master(Protocol):
    """The hyperparameters of a master problem.

    Attributes
    ----------
    repeats : bool
        Whether a weak learner may be added more than once, as in stage-wise boosting.
    positive_prices : bool
        Whether every column must have the sign that makes its price positive, as with weights w >= 0. The loop then
        flips columns of negative price, and the signs of their weights. Otherwise the weight carries the sign.
    smooth : bool
        Whether the loss is smooth, so that the duals follow from the decisions and a model need not store them.
    """

    repeats: bool
    positive_prices: bool
    smooth: bool

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMaster:
        """Return the problem without columns; `target` has shape (m, l)."""


class Pricer(Protocol):
    """A weak-learner family bound to training rows."""

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the learner with the largest |sum_i duals_it h(x_i)| whose key is not in `taken`.

        With the rule "gain", used only if the duals have a `curvature`: the learner that lowers the objective most.
        With "votes": the learner with the largest sum over outputs t of |sum_i duals_it h(x_i)|.
        """


class Family(Protocol):
    """A family of weak learners: its hyperparameters only. A single weak learner is a `Learner`.

    It may have the class attribute ``accepts`` with some of "gaps", "categories" and "sparse": other tables than those
    of complete numbers in a dense array. What it does not accept is refused before it begins.
    """

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Return the search over the rows of `sample`."""
