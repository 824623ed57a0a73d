"""How many copies a row of a fit stands for, if one of them is left out."""

from __future__ import annotations

import numpy as np

from cgens.estimators._plan import FitPlan
from cgens.sample_order import SampleOrder
from cgens.selection import copies_of
from cgens.types import Floats


def left_out_copies(plan: FitPlan) -> Floats:
    """Return the number of copies of each row of the fit, shape (m,); 1 if it must be left out as a whole.

    A row that is merged from copies, or has a weight, would know its own target by the other copies. Only if the same
    inputs also occur with other targets, as in tables of few categories, is there nothing to be known by heart: there
    one copy is left out. Class weights make no copies.
    """
    copies = copies_of(plan.order.weight)
    if copies.max(initial=1.0) == 1.0:
        return copies
    X, n_rows = plan.data.X.take(plan.order.rows), len(copies)
    same = SampleOrder.of(X, np.zeros((n_rows, 1)), np.ones(n_rows), plan.n_threads).position
    return np.where(np.bincount(same)[same] > 1, copies, 1.0)
