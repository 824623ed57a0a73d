"""Matrix products whose bits do not depend on the number of threads: fixed blocks, one BLAS thread each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from threadpoolctl import ThreadpoolController

from cgens._core import usable_threads
from cgens.interrupt import raise_if_interrupted

#: Rows of one block. Part of the definition of the results: another size may round differently.
BLOCK = 512


class OneBlasThread:
    """Keeps BLAS at one thread while anybody is within: the limit is the process's, and fits may overlap."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_within = 0
        self._controller: ThreadpoolController | None = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_within == 0:
                if self._controller is None:  # looking for libraries takes milliseconds, limiting them microseconds
                    self._controller = ThreadpoolController()
                self._limits = self._controller.limit(limits=1, user_api="blas")
            self._n_within += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                self._limits.restore_original_limits()


ONE_BLAS_THREAD = OneBlasThread()


def for_blocks(
    work: Callable[[int, int], None], n_rows: int, n_threads: int, block: int = BLOCK, interruptible: bool = True
) -> None:
    """Call ``work(begin, end)`` for each block of rows, several at a time, with one BLAS thread each.

    After Ctrl-C it raises `KeyboardInterrupt` between two blocks, unless told not to `interruptible` it.
    """
    bounds = [(begin, min(begin + block, n_rows)) for begin in range(0, n_rows, block)]
    n_workers = min(usable_threads(n_threads), len(bounds))
    with ONE_BLAS_THREAD:
        if n_workers <= 1:
            for begin, end in bounds:
                work(begin, end)
                if interruptible:
                    raise_if_interrupted()
            return
        with ThreadPoolExecutor(n_workers) as pool:
            jobs = [pool.submit(work, begin, end) for begin, end in bounds]
            try:
                for job in jobs:
                    job.result()
                    if interruptible:
                        raise_if_interrupted()
            except BaseException:
                for job in jobs:
                    job.cancel()
                raise
