"""Matrix products that are bitwise independent of the number of threads: fixed blocks, one BLAS thread each."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor
from threadpoolctl import ThreadpoolController

from cgens._core import prepare_threads
from cgens.threads import run_in_threads

#: Rows per block. Part of the definition of the results: another size may round differently.
BLOCK = 512


#: What OpenBLAS reserves for each call that runs at the same time, in bytes: once, and then it keeps it.
BUFFER = 34 * 2**20
#: Size of matrices whose products need it.
_SIZE = 384


class Reserves:
    """Makes threads, and the BLAS libraries of NumPy and SciPy, allocate what they keep while there is memory.

    If there is none when a product needs it, OpenBLAS tries again for ever or ends the process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_reserved = 0

    def reserve(self, n_threads: int) -> None:
        """Start so many threads, with buffers for products; raise MemoryError if there is no memory for them."""
        with self._lock:
            if n_threads <= self._n_reserved:
                return
            np.empty(2 * n_threads * BUFFER, dtype=np.uint8)  # raises MemoryError
            prepare_threads(n_threads)
            together = threading.Barrier(n_threads)

            def use(_: int) -> None:
                matrix = np.eye(_SIZE)
                with contextlib.suppress(threading.BrokenBarrierError):
                    together.wait(0.1)
                cho_factor(matrix @ matrix)

            run_in_threads(use, range(n_threads), n_threads, interruptible=False)
            self._n_reserved = n_threads


RESERVES = Reserves()


class OneBlasThread:
    """Context manager that limits BLAS to one thread while any thread is in its block.

    The limit holds for the whole process, and fits may overlap.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_entered = 0
        self._libraries: list[Any] | None = None
        self._limited: list[tuple[Any, int]] = []  # libraries that used more threads, and how many

    def __enter__(self) -> None:
        with self._lock:
            if self._n_entered == 0:
                if self._libraries is None:  # finding the libraries takes milliseconds, limiting them microseconds
                    self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                threads = [(library, library.get_num_threads()) for library in self._libraries]
                RESERVES.reserve(1)
                self._limited = [(library, n_threads) for library, n_threads in threads if n_threads != 1]
                for library, _ in self._limited:
                    library.set_num_threads(1)
            self._n_entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_entered -= 1
            if self._n_entered == 0:
                for library, n_threads in self._limited:
                    library.set_num_threads(n_threads)


ONE_BLAS_THREAD = OneBlasThread()


def for_blocks(
    work: Callable[[int, int], None], n_rows: int, n_threads: int, block: int = BLOCK, interruptible: bool = True
) -> None:
    """Call ``work(begin, end)`` for each block of rows, in parallel, with one BLAS thread each.

    If `interruptible`, KeyboardInterrupt is raised between two blocks after Ctrl-C.
    """
    with ONE_BLAS_THREAD:
        RESERVES.reserve(min(n_threads, -(-n_rows // block)))
        run_in_threads(
            lambda begin: work(begin, min(begin + block, n_rows)), range(0, n_rows, block), n_threads, interruptible
        )
