"""
The compiled core of cgens. Private: the Python code that calls it keeps its contracts.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

class DualCd:
    """Box-constrained dual coordinate descent with a free bias."""

    def __init__(
        self,
        linear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
        sibling: DualCd | None = None,
        n_duals_per_row: int = 1,
        total: float = 0.0,
    ) -> None: ...
    @overload
    def add(
        self, column: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None:
        """Add one column of responses."""

    @overload
    def add(
        self, column: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    @overload
    def add(
        self, column: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    def solve(self, tol: float, max_sweeps: int, interrupted: Callable[[], bool]) -> tuple[float, float, int, str]:
        """
        Descend to a relative gap of `tol`. Returns (primal, dual, n_sweeps, status).
        """

    def scale_box(self, factor: float) -> None:
        """Multiply the box and the duals."""

    def duals(self) -> NDArray[numpy.float64]:
        """Return a copy of the signed duals: n_duals_per_row times one per row."""

    def weights(self) -> NDArray[numpy.float64]:
        """Return a copy of the weights, one per column."""

    def get_state(
        self,
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], int]:
        """Return (duals, fits, weights, numbers, random_state), for set_state."""

    def set_state(
        self,
        duals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        fits: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        random_state: int,
    ) -> None:
        """
        Continue from a state of the same problem, whose columns have been added.
        """

    @property
    def bias(self) -> float: ...

class GramLs:
    """
    Regularized least squares with a free bias over a growing set of columns.
    """

    def __init__(
        self,
        target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    @overload
    def add(
        self, column: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None:
        """Add one column of responses."""

    @overload
    def add(
        self, column: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    @overload
    def add(
        self, column: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    def solve(self, tol: float) -> tuple[float, float, int]:
        """
        Solve, evaluate on the data and refine. Returns (primal, dual, n_refinements).
        """

    def weights(self) -> NDArray[numpy.float64]:
        """Return the weights of shape (n_columns, n_outputs), flat."""

    def intercept(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """
        Return the intercept of the model with these weights of the first columns.
        """

    def duals(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """
        Return the duals of the same model, of shape (n_rows, n_outputs), flat.
        """

    def step(self, k: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float]:
        """
        Return how column k changed the weights: (coefficients, output, denominator).
        """

    def direction(self, k: int) -> NDArray[numpy.float64]:
        """Return the direction in which column k changed the duals."""

    def resolve(self, factor: float, stages: Sequence[int]) -> list[NDArray[numpy.float64]]:
        """
        Return, for each n in `stages`, the weights of the first n columns for C times `factor`, flat.
        """

    @overload
    def quadratic(
        self,
        columns: Annotated[NDArray[numpy.int8], dict(shape=(None, None), device="cpu", writable=False)],
        n_columns: int,
    ) -> NDArray[numpy.float64]:
        """
        Return g'Pg of each row g of `columns`, with P of the first `n_columns` columns.
        """

    @overload
    def quadratic(
        self,
        columns: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_columns: int,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def quadratic(
        self,
        columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        n_columns: int,
    ) -> NDArray[numpy.float64]: ...
    def solve_factor(
        self,
        right: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """Return A^-1 right, of shape (n_columns, n_outputs), flat."""

    def decisions(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """
        Return the centred columns times weights, of shape (n_rows, n_outputs), flat.
        """

    def prices(
        self,
        values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """
        Return the products of centred columns and values, of shape (n_columns, n_outputs), flat.
        """

    def centred_rows(
        self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> NDArray[numpy.float64]:
        """
        Return these rows of the centred columns, of shape (len(rows), n_columns), flat.
        """

    @overload
    def append(
        self, column: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None:
        """Append a column, before set_state."""

    @overload
    def append(
        self, column: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    @overload
    def append(
        self, column: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    def get_state(
        self,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
    ]:
        """
        Return all that was computed from the columns, in the order of the arguments of set_state.
        """

    def set_state(
        self,
        products: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        with_target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        with_itself: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        pivots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        projected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        primal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """Continue from a state, after the columns have been appended."""

    @property
    def primal(self) -> float: ...

class StumpPool:
    """All stumps of a training table, in bins, and which of them are taken."""

    @overload
    def __init__(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
        interrupted: Callable[[], bool] | None = None,
        is_category: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
        min_level_weight: float = 0.0,
    ) -> None:
        """Raises KeyboardInterrupt if `interrupted` returns True."""

    @overload
    def __init__(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
        interrupted: Callable[[], bool] | None = None,
        is_category: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
        min_level_weight: float = 0.0,
    ) -> None: ...
    @overload
    @staticmethod
    def of_columns(
        data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_all: int,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
        interrupted: Callable[[], bool] | None = None,
    ) -> StumpPool:
        """
        Return the stumps of a table of `n_all` rows in compressed sparse columns.
        """

    @overload
    @staticmethod
    def of_columns(
        data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_all: int,
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
        interrupted: Callable[[], bool] | None = None,
    ) -> StumpPool: ...
    def split(self, candidate: int) -> tuple[int, float, NDArray[numpy.uint32], bool, bool]:
        """
        Return (feature, threshold, levels, gaps_above, gaps_known): the last is whether a training row has a gap.
        """

    def find(
        self,
        feature: int,
        threshold: float,
        levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        gaps_above: bool,
    ) -> int | None:
        """Return the candidate with this split, or None."""

    def take(self, candidate: int) -> bool:
        """
        Remove a stump from the searches. Returns False if its response was taken before.
        """

    def respond(self, candidate: int) -> NDArray[numpy.int8]:
        """Return the responses on the training rows."""

    def thresholds(self, feature: int) -> NDArray[numpy.float64]:
        """
        Return the thresholds of numbers; the one between values and gaps is infinite.
        """

    def levels(self, feature: int) -> NDArray[numpy.uint32]:
        """Return the levels of a category that have a bin of their own."""

    @property
    def n_cells(self) -> int:
        """The number of candidates, including those with a repeated response."""

    @property
    def n_candidates(self) -> int: ...
    @property
    def n_features(self) -> int: ...

class StumpScan:
    """The search for the best stump of one output, whose duals are mostly 0."""

    def __init__(self, pool: StumpPool, n_threads: int) -> None: ...
    def price(
        self, duals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> tuple[bool, int, float, float]:
        """
        Find the free stump with the largest |price|. Returns (found, candidate, price, energy).
        """

class StumpTable:
    """The prices of all stumps for several outputs, with rank-one updates."""

    def __init__(self, pool: StumpPool, n_outputs: int, n_threads: int) -> None: ...
    def reprice(
        self,
        duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        rule: str,
        direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
        denominator: float = 1.0,
        rough: bool = False,
    ) -> tuple[bool, int, int, float, float, float, float]:
        """
        Compute all prices from the duals, and change g'Pg if given a direction. Returns the same as find_best.
        """

    def set_curvature(
        self, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None:
        """Compute g'Pg of all stumps for the empty master."""

    def change(
        self,
        direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        step: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        denominator: float,
        rule: str,
    ) -> tuple[bool, int, int, float, float, float, float]:
        """Change the duals by -direction step'. Returns the same as find_best."""

    def change_curvature(
        self,
        direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        denominator: float,
    ) -> None:
        """Change g'Pg only."""

    def find_best(self, rule: str) -> tuple[bool, int, int, float, float, float, float]:
        """
        Find the best free stump. Returns (found, candidate, output, price, max_price, energy, merit).
        """

    def get_state(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float]:
        """Return (prices, curvature, drift), for set_state."""

    def set_state(
        self,
        prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        drift: float,
    ) -> None:
        """Continue from a state."""

    def respond(self, candidate: int) -> NDArray[numpy.int8]:
        """Return the responses on the training rows."""

    def entries(self, candidate: int) -> NDArray[numpy.float64]:
        """Return the prices of one candidate and its g'Pg."""

    @property
    def n_outputs(self) -> int: ...
    @property
    def has_curvature(self) -> bool: ...
    @property
    def drift(self) -> float: ...

@overload
def respond_stumps(
    X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gaps_above: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.int8]:
    """Return the responses on new rows, of shape (n_rows, n_stumps), flat."""

@overload
def respond_stumps(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    gaps_above: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    level_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.int8]: ...

class StepTables:
    """A weighted sum of stumps as one step function per feature."""

    def __init__(
        self,
        features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        gaps_above: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        level_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]:
        """Return sum_j w_j h_j(x), of shape (n_rows, n_outputs), flat."""

    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...

@overload
def price_candidates(
    responses: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.float64]:
    """
    Return responses duals', of shape (n_candidates, n_outputs), flat; both have one column per training row.
    """

@overload
def price_candidates(
    responses: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.float64]: ...
def padded_length(n: int) -> int:
    """
    Return `n` rounded up to whole lanes: the length of a row of responses.
    """

def take_cosines(
    phases: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.float32]:
    """Return sqrt(2) cos(phases), flat."""

class TreeGrower:
    """Grows small trees on a vector of duals over the bins of a pool."""

    def __init__(
        self,
        pool: StumpPool,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
        max_stored: int = 67108864,
    ) -> None:
        """Stores histograms of at most `max_stored` bytes."""

    def grow(
        self,
        along: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_leaves: int,
        min_weight: float,
        real: bool,
        drawn: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
        seed: int | None = None,
    ) -> tuple[
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint8],
        NDArray[numpy.int64],
        NDArray[numpy.uint32],
        NDArray[numpy.int32],
    ]:
        """
        Return features, left, right, thresholds, sums, weights, gaps_right, level_begin, levels; leaf of each row.
        """

class TreeTables:
    """Trees laid out for prediction."""

    def __init__(
        self,
        begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        gaps_right: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        level_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def respond(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float32]:
        """Return the responses on new rows, of shape (n_rows, n_trees), flat."""

    @overload
    def respond(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float32]: ...
    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]:
        """Return sum_j w_j h_j(x), of shape (n_rows, n_outputs), flat."""

    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...

class RowEncoder:
    """Encodes rows of numbers, gaps and codes of levels as complete numbers."""

    def __init__(
        self,
        bent: bool,
        numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        last_centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        last_scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        knot_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        knots: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ranks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        gaps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        level_columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        level_codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        rare_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        rare: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def transform(
        self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)]
    ) -> NDArray[numpy.float64]:
        """Return the inputs, of shape (n_rows, n_inputs), flat."""

    @overload
    def transform(
        self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)]
    ) -> NDArray[numpy.float64]: ...

class CosineTables:
    """Cosines of encoded rows, laid out for prediction."""

    def __init__(
        self,
        encoder: RowEncoder,
        thetas: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        kappas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def respond(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float32]:
        """Return the responses on new rows, of shape (n_rows, n_cosines), flat."""

    @overload
    def respond(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float32]: ...
    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]:
        """Return sum_j w_j h_j(x), of shape (n_rows, n_outputs), flat."""

    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...

def sum_entropies(
    duals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    multiple: float,
) -> float:
    """Return the dual value of a multiple of logistic duals."""

class LossRows:
    """The decisions and duals of the rows of a smooth loss of one output."""

    def __init__(
        self,
        kind: str,
        scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    def set_width(self, width: float) -> None:
        """Set over how much of the margin the hinge is smoothed."""

    def set_decisions(
        self,
        decisions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        shift: float,
    ) -> None:
        """Set the decisions to these numbers + shift."""

    def slope(
        self,
        along: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        shift: float,
        step: float,
    ) -> float:
        """
        Return the sum of duals times d, d = along + shift, at the decisions + step d.
        """

    def move(
        self,
        along: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        shift: float,
        step: float,
    ) -> None:
        """Take this step."""

    def slope_and_curvature(
        self, along: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> tuple[float, float]:
        """
        Return the sums of duals times these numbers, and of curvatures times their squares.
        """

    def balanced_duals(self) -> NDArray[numpy.float64]:
        """Return the duals, those of one sign shrunk so that they sum to 0."""

    def inside(self, most: int) -> tuple[NDArray[numpy.int64], float]:
        """
        Return rows whose dual is neither 0 nor c, and which share of these rows they are.
        """

    def decisions(self) -> NDArray[numpy.float64]:
        """Return a copy of the decisions."""

    def latest_duals(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Return the duals as an array that later calls change."""

    def duals(self) -> NDArray[numpy.float64]:
        """Return a copy of the duals."""

    def sums(self) -> tuple[float, float, float, float, float]:
        """
        Return the sums of: losses, what smoothing adds to the gap, duals, their sizes, curvatures.
        """

    @property
    def width(self) -> float: ...

@overload
def order_rows(
    X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]:
    """
    Sort the rows into canonical order and merge identical ones. Returns (rows, weights, position).
    """

@overload
def order_rows(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]: ...
@overload
def order_sparse_rows(
    data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_columns: int,
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]:
    """The same for compressed sparse rows."""

@overload
def order_sparse_rows(
    data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_columns: int,
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]: ...
def simd_level() -> str:
    """Return the SIMD level in use."""

def simd_levels() -> list[str]:
    """Return the SIMD levels that this processor supports, slowest first."""

def prepare_threads(n_threads: int) -> None:
    """Start the threads that calls with `n_threads` need."""

def force_work_per_thread(work: float) -> None:
    """
    For tests: give each thread at least this much work, in nanoseconds, roughly.
    """

def force_simd_level(name: str) -> None:
    """Use this SIMD level from now on; '' for the best."""
