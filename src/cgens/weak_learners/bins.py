"""The training rows in bins, for stumps and trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgens._core import StumpPool
from cgens.interrupt import is_interrupted
from cgens.table.encoding import row_weight
from cgens.table.table import compressed_arrays
from cgens.types import Sample

#: A level of a category with less weight than so many rows shares a bin with all other rare levels.
MIN_LEVEL_WEIGHT = 2.0


def stump_pool(sample: Sample, n_bins: int, n_threads: int) -> StumpPool:
    """Return all splits of the training rows."""
    table = sample.X
    rest: Any = (sample.rows, sample.weight, n_bins, n_threads, is_interrupted)
    if table.is_sparse:
        data, indices, begin = compressed_arrays(table.columns_first())
        return StumpPool.of_columns(data, indices, begin, len(table), *rest)
    if not table.is_category.any():
        return StumpPool(table.values, *rest)
    least = MIN_LEVEL_WEIGHT * row_weight(sample.weight)
    flags: Any = {"is_category": table.is_category.astype(np.uint8), "min_level_weight": least}
    return StumpPool(table.values, *rest, **flags)
