"""
The compiled core of cgens. Private: its contracts are kept by the Python that calls it.
"""

from collections.abc import Callable
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

    def duals(self) -> NDArray[numpy.float64]:
        """A copy of the signed duals, one per row."""

    def weights(self) -> NDArray[numpy.float64]:
        """A copy of the weights, one per column."""

    @property
    def bias(self) -> float: ...

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

class StumpScan:
    """The training table in bins, and the search for the best stump."""

    @overload
    def __init__(
        self,
        X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
    ) -> None: ...
    @overload
    def __init__(
        self,
        X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device="cpu", writable=False)],
        rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        max_bins: int,
        n_threads: int,
    ) -> None: ...
    def price(
        self, duals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> tuple[bool, int, float, float, float]:
        """
        The free stump of largest |price|. Returns (found, feature, threshold, price, energy).
        """

    def take(self, feature: int, threshold: float) -> bool:
        """Take a stump out of the search."""

    def respond(self, feature: int, threshold: float) -> NDArray[numpy.int8]:
        """Responses on the training rows."""

    def thresholds(self, feature: int) -> NDArray[numpy.float64]: ...
    @property
    def n_candidates(self) -> int: ...
    @property
    def n_features(self) -> int: ...

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
