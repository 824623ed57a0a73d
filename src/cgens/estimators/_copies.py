"""How many copies a row of a fit stands for, if one of them is left out."""

from __future__ import annotations

import numpy as np

from cgens.estimators._plan import FitPlan
from cgens.sample_order import SampleOrder
from cgens.selection import copies_of
from cgens.types import Floats

#: Up to this share of the rows may be further copies, as in most tables of numbers.
FEW_COPIES = 0.1


def left_out_copies(plan: FitPlan) -> Floats:
    """Return the number of copies of each row of the fit, shape (m,); 1 if it must be left out as a whole.

    A row that is merged from copies, or has a weight, would know its own target by the other copies. So one copy is
    left out only if there are few copies, which later rows will have too, and where the same inputs also occur with
    other targets, as in tables of few categories: there is nothing to be known by heart. Class weights make no copies.
    """
    copies = copies_of(plan.order.weight)
    if copies.sum() <= len(copies) / (1.0 - FEW_COPIES):
        return copies
    X, n_rows = plan.data.X.take(plan.order.rows), len(copies)
    same = SampleOrder.of(X, np.zeros((n_rows, 1)), np.ones(n_rows), plan.n_threads).position
    return np.where(np.bincount(same)[same] > 1, copies, 1.0)
