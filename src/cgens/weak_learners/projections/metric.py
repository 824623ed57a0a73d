"""A diagonal metric of the inputs, learned from the gradients of a fit (average gradient outer product)."""

from __future__ import annotations

import numpy as np

from cgens.selection import loo
from cgens.types import AnyArray, Floats
from cgens.weak_learners.projections.cosine_pool import CosinePool
from cgens.weak_learners.projections.draws import draw_dense

#: Scales of the cosines from which gradients are taken. Sparse or heavy-tailed draws fail here.
SCALES = (0.06, 0.25, 1.0)
#: Passes, each with the metric of the last, and the number of rows on which gradients are averaged.
N_PASSES, N_ROWS = 2, 2000

#: Gradients of less than this, relative to the target, are those of a constant.
CONSTANT = 1e-9


def learn_metric(
    rows: Floats,
    target: Floats,
    weight: Floats,
    copies: AnyArray,
    n_columns: int,
    rng: np.random.Generator,
    n_threads: int = 1,
) -> Floats:
    """Return a_f = sqrt(mean_i sum_t (dF_t(x_i) / dx_f)^2) for a ridge fit F on random cosines, shape (d,).

    Parameters
    ----------
    rows : ndarray of shape (m, d)
        Inputs of about variance 1.
    target : ndarray of shape (m, l)
    weight : ndarray of shape (m,)
    copies : ndarray of shape (m,)
        How many copies each row stands for (see `cgens.selection.loo`).
    n_columns : int
        Number of cosines of a fit, whose penalty has the least leave-one-out error.
    rng : numpy.random.Generator
    n_threads : int

    Returns
    -------
    metric : ndarray of shape (d,)
        Flat, all 1, if the fit is constant.
    """
    metric = np.ones(rows.shape[1])
    for _ in range(N_PASSES):
        thetas = draw_dense(n_columns, metric, SCALES, rng)
        pool = CosinePool.of(thetas, rng.uniform(0.0, 2 * np.pi, size=n_columns), rows, weight)
        found = loo(pool.measured, target, weight, n_threads=n_threads, dtype=np.float32, copies=copies)
        weights, _ = found.path.solution(found.penalty)
        some = np.sort(rng.permutation(len(rows))[:N_ROWS])
        learned = pool.mean_gradients(rows[some], weights, weight[some])
        size = np.sqrt(np.mean(learned**2))
        if not size > CONSTANT * np.abs(target).max():
            return np.ones(rows.shape[1])
        metric = learned / size
    return metric
