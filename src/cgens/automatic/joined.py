"""The parts of an automatic model as one ensemble, with one certificate and one trace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgens.ensemble import Ensemble
from cgens.packs import PackSet
from cgens.packs.pack_set import PackPart
from cgens.trace import Trace
from cgens.types import Certificate, Duals, Floats, MasterSolution, Status, relative_gap
from cgens.weight_history import WeightHistory


def join_ensembles(ensembles: Sequence[Ensemble], weights: Sequence[float], mean: Floats) -> Ensemble:
    """Return mean + sum_f a_f (F_f - mean) as one ensemble.

    Parameters
    ----------
    ensembles : sequence of Ensemble
    weights : sequence of float
        The a_f.
    mean : ndarray of shape (l,)
        The decision without any part.
    """
    parts, begin = [], 0
    for own in ensembles:
        parts += [PackPart(columns + begin, pack) for columns, pack in own.packs.parts]
        begin += len(own)
    columns = [np.zeros((0, len(mean))), *(a * own.weights for a, own in zip(weights, ensembles, strict=True))]
    matrix, intercept = np.concatenate(columns), mean.copy()
    for a, own in zip(weights, ensembles, strict=True):
        intercept += a * (own.intercept - mean)
    for array in (matrix, intercept):
        array.setflags(write=False)
    history = WeightHistory()
    history.append(MasterSolution(matrix, intercept, Duals(np.zeros((0, len(mean)))), 0.0, 0.0, Status.OPTIMAL, 0))
    means = np.concatenate([np.zeros(0), *(own.means for own in ensembles)])
    return Ensemble(PackSet(parts), matrix, intercept, means, history)


def join_certificates(certificates: Sequence[Certificate]) -> Certificate:
    """Return the certificate of the sum of separate problems: objectives and bounds add up."""
    primal, dual = sum(own.primal for own in certificates), sum(own.dual for own in certificates)
    bounds = [own.full_lower_bound for own in certificates]
    sizes = [own.n_candidates for own in certificates]
    bound = None if any(own is None for own in bounds) else float(sum(own for own in bounds if own is not None))
    worst = (Status.INTERRUPTED, Status.NOT_CONVERGED, Status.MAX_COLUMNS, Status.STOPPED, Status.OPTIMAL)
    return Certificate(
        primal=primal,
        dual=dual,
        relative_gap=relative_gap(primal, dual),
        scope="restricted" if bound is None else "pool",
        n_candidates=None if None in sizes else sum(own for own in sizes if own is not None),
        max_price=float(np.max([own.max_price for own in certificates])),  # NaN, unknown, if one is
        full_lower_bound=bound,
        full_relative_gap=None if bound is None else relative_gap(primal, bound),
        status=min((own.status for own in certificates), key=worst.index),
    )


def join_traces(traces: Sequence[Trace], certificate: Certificate) -> Trace:
    """Return the trace of the sum of separate problems, solved in one round: objectives, bounds and times add up."""
    ends = [0, -1] if min(map(len, traces)) > 1 else [-1]
    own = {
        name: np.sum([getattr(trace, name)[ends] for trace in traces], axis=0)
        for name in ("price", "primal", "dual", "full_lower_bound", "price_seconds", "solve_seconds", "n_iter")
    }
    own["relative_gap"] = np.array([relative_gap(a, b) for a, b in zip(own["primal"], own["dual"], strict=True)])
    return Trace(**own, certificate=certificate, duals=None, bound_duals=None, bound_weights=None, bound_intercept=None)
