"""The words that masters, weak learners and the loop speak with each other.

A *spec* (`Master`, `WeakLearner`) holds hyper-parameters only. Its `begin` makes a *live* object (`RestrictedMaster`,
`Pricer`) that is bound to data and dies with the fit. One column goes in, signed duals come out:

    solve the restricted master -> duals R (m, l)
    price: the weak learner with the largest |sum_i R_it h(x_i)|
    stop if no price beats the column cost, else add the column

The meaning of ``R`` is the master's business: ``y_i a_i`` for the hinge loss, ``C s_i (L_i - F(x_i))`` for least
squares. A family sees rows and duals, never labels, C or the loss.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]
Poll: TypeAlias = Callable[[], bool]
#: Which column is the best: "max" by |price| of one output (EQ:WL2), "gain" by the fall of the objective, "votes" by
#: the sum of |price| over all outputs.
Rule: TypeAlias = Literal["max", "gain", "votes"]


class Status(enum.StrEnum):
    """Why column generation, or one solve of the master, ended."""

    OPTIMAL = "optimal"  #: no weak learner outside violates optimality, or where there is no pool none was found that
    #: does; of a master: it reached its tolerance
    MAX_COLUMNS = "max_columns"  #: as many columns as were asked for
    STOPPED = "stopped"  #: a callback asked for the end
    INTERRUPTED = "interrupted"  #: Ctrl-C; the rounds done are kept
    NOT_CONVERGED = "not_converged"  #: the master gave up before its tolerance; its gap says by how much


@dataclass(frozen=True)
class Sample:
    """Training rows in the order of the fit: a view of ``X``, never a copy.

    Attributes
    ----------
    X : ndarray of shape (n, n_features), float32 or float64
        As the user gave it, any strides.
    rows : ndarray of shape (m,)
        Row ``i`` of the fit is row ``rows[i]`` of `X`.
    weight : ndarray of shape (m,)
        Positive weights of the fit's rows.
    """

    X: AnyArray
    rows: Integers
    weight: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def matrix(self) -> AnyArray:
        """Return the rows as one array of shape (m, n_features): a copy, made once, for families that need it whole."""
        return self._matrix

    @cached_property
    def _matrix(self) -> AnyArray:
        return np.asarray(self.X[self.rows])


class Learner(Protocol):
    """One weak learner h, immutable. A class may have a static method ``pack`` (see `cgens.packs.Pack`)."""

    @property
    def key(self) -> Hashable:
        """Equal for learners that are the same function up to sign."""

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row of `X`, shape (n,)."""


@dataclass(frozen=True)
class Column:
    """A weak learner together with what it does on the training rows.

    Attributes
    ----------
    learner : Learner
    response : ndarray of shape (m,), int8 where it is +-1, else float32 or float64
    score : float
        The price sum_i R_it h(x_i) for the output `output`; signed.
    output : int
    """

    learner: Learner
    response: AnyArray
    score: float
    output: int = 0


@dataclass(frozen=True)
class Pricing:
    """What a search for the most violating weak learner found.

    Attributes
    ----------
    column : Column or None
        The best one outside the working set; None where every candidate is taken or priced 0, or where a family without
        a pool found none above the column cost.
    max_price : float or None
        Largest |price| outside the working set; None where it is the column's own.
    n_candidates : int or None
        Size of the pool; None where it has no end (fresh samples, trees), or lacks a column of the working set.
    energy : float or None
        Sum of price^2 over the whole pool, the working set included; None as above.
    merit : float or None
        What the rule measures of the column: |score|, by "gain" twice the fall of the objective, by "votes" the sum of
        |price|; None: not known.
    """

    column: Column | None
    n_candidates: int | None = None
    energy: float | None = None
    max_price: float | None = None
    merit: float | None = None

    def largest_price(self) -> float:
        """Return the largest |price| outside the working set."""
        if self.max_price is not None:
            return self.max_price
        return 0.0 if self.column is None else abs(self.column.score)


class Curvature(Protocol):
    """What a least-squares master knows about columns g outside: 1/2 sum_t (g'R_t)^2 / (1 + g'Pg) is what g is worth.

    So far does the objective fall when g is added. Each added column h changes P by rank one,
    P <- P - p p' / (1 + h'p) with p = Ph, and the duals with it, R <- R - p k' with k = h'R / (1 + h'p).
    """

    @property
    def n_steps(self) -> int:
        """Number of columns in the master."""

    @property
    def diagonal(self) -> Floats:
        """Return v, shape (m,): the empty master has P = diag(v) - v v' / sum(v)."""

    def step(self, k: int) -> tuple[Floats, Floats, float]:
        """Return p of shape (m,), k of shape (l,) and 1 + h'p of the `k`-th column."""

    def quadratic(self, responses: AnyArray) -> Floats:
        """Return g'Pg of any columns g, shape (m, n) to (n,)."""


class Duals:
    """Signed duals R of one solve, shape (m, l).

    Attributes
    ----------
    array : ndarray of shape (m, l)
        A master may work it out only when it is asked for; a family that follows `curvature` need not ask.
    size : float
        sum |R|, or an upper bound of it that is cheaper to have.
    curvature : Curvature or None
        Where the master has one.
    by_steps : bool
        Whether the duals are those of the last solve after the curvature's newest steps, rather than worked out anew.
    class_codes : callable
        Returns the distinct rows of the target, shape (k, l), or None where there are many: the codes of the classes,
        which say what combinations of outputs mean. Set by the loop.
    cost : float
        The |price| that a column must exceed: look further where all are below. Set by the loop.
    new_problem : bool
        Whether these duals belong to another problem than those of the last round, as in AdaBoost.ECC, which colours
        the classes differently in each: what a family learned from them no longer helps.
    """

    curvature: Curvature | None = None
    by_steps: bool = False
    class_codes: Callable[[], Floats | None] = staticmethod(lambda: None)
    cost: float = 0.0
    new_problem: bool = False

    def __init__(self, array: Floats) -> None:
        self._array = array

    @property
    def array(self) -> Floats:
        """The duals, feasible."""
        return self._array

    @property
    def size(self) -> float:
        """The sum of |R|, or a bound of it."""
        return float(np.abs(self._array).sum())


@dataclass(frozen=True)
class RankOneStep:
    """How one more column changed the weights: W <- (W - coefficients output', output').

    Attributes
    ----------
    n_columns : int
        J, the new one included.
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
        Signed and feasible, shape (m, l): ``dual`` is a true lower bound.
    primal, dual : float
    status : Status
        OPTIMAL, NOT_CONVERGED or INTERRUPTED.
    n_iter : int
        Sweeps, iterations or whatever the solver counts.
    step : RankOneStep or None
        How the weights came from those of the last solve, where that was by rank one: all that a fit then remembers.
    column_cost : float
        The |price| that a column must exceed to be worth adding, at these duals: 0 under an l2 norm.
    retry : bool
        Whether another solve, without a new column, would give other duals to price columns with.
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
        """(primal - dual) / |primal|, and 0 where both are 0."""
        return relative_gap(self.primal, self.dual)

    def turned(self, signs: Floats) -> MasterSolution:
        """Return the same solution for columns that are multiplied by these signs, shape (J,)."""
        step = self.step
        if step is not None:
            coefficients = step.coefficients
            if coefficients is not None:
                coefficients = signs[-1] * signs[:-1] * coefficients
            step = RankOneStep(step.n_columns, coefficients, signs[-1] * step.output)
        return replace(self, weights=signs[:, None] * self.weights, step=step)


def relative_gap(primal: float, dual: float) -> float:
    """Return (primal - dual) / |primal|, and 0 where both are 0."""
    return 0.0 if primal == dual else (primal - dual) / max(abs(primal), np.finfo(float).tiny)


@dataclass(frozen=True)
class Certificate:
    """How far a model is from the optimum, at most.

    Attributes
    ----------
    primal : float
        Objective of the model.
    dual : float
        Lower bound for every model over the *selected* columns.
    relative_gap : float
        (primal - dual) / primal.
    scope : {"pool", "restricted"}
        "pool" where the family is a finite pool, and the ``full_*`` figures hold for all of it.
    n_candidates : int or None
        Size of the pool.
    max_price : float
        Largest |price| outside the working set at the final duals: 0 means that no column is missing. Without a pool
        it is the largest that was seen in a last look.
    full_lower_bound : float or None
        Lower bound for every model over the *whole pool*, selected or not.
    full_relative_gap : float or None
        (primal - full_lower_bound) / primal.
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


@dataclass(frozen=True)
class Round:
    """What a callback is told after each round."""

    n_columns: int
    max_columns: int
    score: float
    primal: float
    dual: float
    relative_gap: float
    seconds: float


Callback: TypeAlias = Callable[[Round], bool | None]


class RestrictedMaster(Protocol):
    """A master problem over the columns added so far."""

    def add(self, response: AnyArray) -> None:
        """Add one column of shape (m,), int8 or floating."""

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Solve to a relative gap of `tol`, starting from the last solution.

        `interrupted` is to be asked now and then; where it says True, return what there is, with that status.
        `quick` is said between rounds: a hard problem may then be left at a larger gap, the next round goes on from
        there.
        """

    def pool_bound(self, duals: Duals, energy: float, largest: float) -> float:
        """Return a lower bound for the master over a whole pool, -inf where there is none.

        `energy` is the pool's sum of price^2, `largest` the largest |price| of a single output outside the working set.
        """


class Master(Protocol):
    """A master problem's hyper-parameters.

    Attributes
    ----------
    repeats : bool
        Whether a weak learner may come again: stage-wise boosting adds to what it has. Else it has one weight, for all.
    positive_prices : bool
        Whether the master wants every column with the sign that makes its price positive, as those with w >= 0 do. The
        loop then turns columns of a negative price, and their weights back. Else the sign is left to the weight.
    smooth : bool
        Whether the loss is smooth, so that the duals follow from the decisions and a model need not keep them.
    """

    repeats: bool
    positive_prices: bool
    smooth: bool

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedMaster:
        """Return the live problem, without columns; `target` has the shape (m, l)."""


class Pricer(Protocol):
    """A weak-learner family bound to training rows."""

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the learner with the largest |sum_i duals_it h(x_i)| whose key is not in `taken`.

        By the rule "gain", said only where the duals have a `curvature`: the one that lowers the objective most. By
        "votes": the one with the largest sum over outputs t of |sum_i duals_it h(x_i)|.
        """


class WeakLearner(Protocol):
    """A weak-learner family's hyper-parameters."""

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> Pricer:
        """Return the live search over `sample`."""
