"""Random candidates for the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgens.types import AnyArray, Pricer, Sample
from cgens.weak_learners.checks import check_choice, check_integer
from cgens.weak_learners.search.candidates import Candidates, distinct_rows
from cgens.weak_learners.search.fixed_pool import FixedPricer
from cgens.weak_learners.search.fresh_pool import MAX_DRAWS, FreshPricer

#: Number of random keys that are drawn at a time.
BLOCK_KEYS = 2**20


class CandidateSampler:
    """Draws candidates for a family with the parameters `n_candidates` and `pool`; a subclass has `draw`."""

    def __init__(self, spec: Any, sample: Sample, rng: np.random.Generator, n_threads: int) -> None:
        self.family = type(spec).__name__
        check_choice(f"{self.family}: pool", spec.pool, ("fixed", "fresh"))
        self.n_candidates = check_integer(f"{self.family}: n_candidates", spec.n_candidates)
        self.pool = spec.pool
        self.sample, self.rng, self.n_threads = sample, rng, n_threads

    def draw(self) -> Candidates:
        """Return at most `n_candidates` new candidates with distinct, non-constant responses."""
        raise NotImplementedError

    def draw_pool(self) -> Candidates:
        """Draw up to MAX_DRAWS times, until `n_candidates` differ; with few rows there may be fewer."""
        found = self.draw()
        for _ in range(MAX_DRAWS - 1):
            if len(found) >= self.n_candidates:
                break
            both = found.joined(self.draw())
            found = both.subset(distinct_rows(both.responses, len(self.sample))[: self.n_candidates])
        return found

    def pricer(self) -> Pricer:
        """Return the search among candidates that are drawn now or in each round."""
        if self.pool == "fresh":
            return FreshPricer(self.draw, self.sample, self.n_threads)
        return FixedPricer(self.draw_pool(), self.sample, self.n_threads)


def random_subsets(n: int, sizes: Sequence[int], n_items: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray]:
    """Return n random `sizes`, and n lists of max(sizes) distinct items below `n_items` in random order."""
    drawn, most = rng.choice(np.asarray(sizes), size=n), max(sizes)
    lists = np.empty((n, most), dtype=np.intp)
    # A list is the items with the smallest of n_items random keys. In blocks, because the keys of all lists may not fit
    # into memory; their size does not change what is drawn.
    n_block = max(1, BLOCK_KEYS // n_items)
    for begin in range(0, n, n_block):
        keys = rng.random((min(n_block, n - begin), n_items))
        smallest = np.argpartition(keys, most - 1, axis=1)[:, :most]
        order = np.take_along_axis(keys, smallest, axis=1).argsort(axis=1)
        lists[begin : begin + n_block] = np.take_along_axis(smallest, order, axis=1)
    return drawn, lists
