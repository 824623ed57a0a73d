"""
The compiled core of cgens. Private: its contracts are kept by the Python that calls it.
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
        Descend to a relative gap of tol. Returns (primal, dual, n_sweeps, status).
        """

    def scale_box(self, factor: float) -> None:
        """Multiply the box, and the duals with it."""

    def duals(self) -> NDArray[numpy.float64]:
        """A copy of the signed duals, one per row."""

    def weights(self) -> NDArray[numpy.float64]:
        """A copy of the weights, one per column."""

    @property
    def bias(self) -> float: ...

class GramLs:
    """
    Regularised least squares with a free bias over a growing set of columns.
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
        """Flat, column by column."""

    def intercept(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """The bias that goes with weights of the first columns."""

    def duals(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.float64]:
        """The duals of a model of the first columns, flat, row by row."""

    def step(self, k: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float]:
        """How column k changed the weights: (coefficients, output, denominator)."""

    def direction(self, k: int) -> NDArray[numpy.float64]:
        """Along what column k changed the duals."""

    def resolve(self, factor: float, stages: Sequence[int]) -> list[NDArray[numpy.float64]]:
        """Weights of the first so many columns, flat, for C times a factor."""

    @overload
    def quadratic(
        self,
        columns: Annotated[NDArray[numpy.int8], dict(shape=(None, None), device="cpu", writable=False)],
        n_columns: int,
    ) -> NDArray[numpy.float64]:
        """
        g'Pg of columns g, one a row, with the first so many columns in the master.
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
    @property
    def primal(self) -> float: ...

class StumpPool:
    """The training table in bins: all its stumps, and which are taken."""

    @overload
    def __init__(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
        interrupted: Callable[[], bool] | None = None,
    ) -> None:
        """Raises KeyboardInterrupt where `interrupted` says so."""

    @overload
    def __init__(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
        interrupted: Callable[[], bool] | None = None,
    ) -> None: ...
    def take(self, feature: int, threshold: float) -> bool:
        """Take a stump out of the searches."""

    def respond(self, feature: int, threshold: float) -> NDArray[numpy.int8]:
        """Responses on the training rows."""

    def thresholds(self, feature: int) -> NDArray[numpy.float64]: ...
    @property
    def n_candidates(self) -> int: ...
    @property
    def n_features(self) -> int: ...

class StumpScan:
    """The search for the best stump for one output whose duals are mostly 0."""

    def __init__(self, pool: StumpPool, n_threads: int) -> None: ...
    def price(
        self, duals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> tuple[bool, int, float, float, float]:
        """
        The free stump of largest |price|. Returns (found, feature, threshold, price, energy).
        """

class StumpTable:
    """The prices of all stumps for several outputs, changed by rank one."""

    def __init__(self, pool: StumpPool, n_outputs: int, n_threads: int) -> None: ...
    def set_duals(
        self,
        duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> None:
        """All prices anew."""

    def set_curvature(
        self, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None:
        """g'Pg of the empty master for all stumps."""

    def change(
        self,
        direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        step: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        denominator: float,
        rule: str,
    ) -> tuple[bool, int, float, int, float, float, float, float]:
        """Change the duals by -direction step'. Returns as find_best does."""

    def change_curvature(
        self,
        direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        denominator: float,
    ) -> None:
        """Change g'Pg alone."""

    def find_best(self, rule: str) -> tuple[bool, int, float, int, float, float, float, float]:
        """
        The best free stump. Returns (found, feature, threshold, output, price, max_price, energy, merit).
        """

    def respond(self, feature: int, threshold: float) -> NDArray[numpy.int8]:
        """Responses on the training rows."""

    def entries(self, feature: int, bin: int) -> NDArray[numpy.float64]:
        """The prices of one threshold, and its g'Pg."""

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
    n_threads: int,
) -> NDArray[numpy.int8]:
    """Responses of stumps on new rows, flat, row by row."""

@overload
def respond_stumps(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.int8]: ...

class StepTables:
    """A weighted sum of stumps as one step function per feature."""

    def __init__(
        self,
        features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]:
        """sum_j w_j h_j(x) of every row, flat, row by row."""

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
    responses duals', flat, one row a candidate; both have one column a training row.
    """

@overload
def price_candidates(
    responses: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    duals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.float64]: ...
def padded_length(n: int) -> int:
    """How long a row of responses must be: n rounded up to whole lanes."""

def take_cosines(
    phases: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> NDArray[numpy.float32]:
    """sqrt(2) cos(phases), flat."""

class TreeGrower:
    """Grows small trees on a vector of prices over a pool's bins."""

    def __init__(
        self,
        pool: StumpPool,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    def grow(
        self,
        along: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_leaves: int,
        min_weight: float,
        real: bool,
    ) -> tuple[
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.int32],
    ]:
        """
        Returns (features, left, right, thresholds, sums, weights) of the nodes, and the leaf of every row.
        """

class TreeTables:
    """Many trees, laid out for prediction."""

    def __init__(
        self,
        begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    @overload
    def respond(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float32]:
        """Responses of the trees on new rows, flat, row by row."""

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
        """sum_j w_j h_j(x) of every row, flat, row by row."""

    @overload
    def decide(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        n_threads: int,
    ) -> NDArray[numpy.float64]: ...

@overload
def order_rows(
    X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]:
    """Canonical order of the rows. Returns (rows, weights, position)."""

@overload
def order_rows(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64]]: ...
def default_threads() -> int:
    """Threads that OpenMP would use."""

def usable_threads(requested: int) -> int:
    """1 in a forked child, else `requested`."""

def simd_level() -> str:
    """The SIMD level in use."""

def simd_levels() -> list[str]:
    """The SIMD levels this processor has, slowest first."""

def force_simd_level(name: str) -> None:
    """Use one level from now on; '' for the best."""
