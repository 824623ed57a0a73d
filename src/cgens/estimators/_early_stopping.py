"""Fits that stop when the loss on validation rows does not fall any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from cgens.ensemble import Ensemble
from cgens.estimators._plan import FitPlan, Validation
from cgens.estimators._validation import ValidationMonitor
from cgens.masters.held_out import HeldOut
from cgens.masters.loss import Loss
from cgens.rounds import Callback, all_of
from cgens.trace import Trace
from cgens.types import AnyArray, Status


def run_with_validation(
    plan: FitPlan,
    validation: Validation,
    callbacks: Sequence[Callback],
    losses: list[float],
    writer: Callback | None = None,
    resume: Mapping[str, AnyArray] | None = None,
) -> tuple[Ensemble, Trace]:
    """Find columns until the validation loss does not fall any more, and solve for their weights on all rows.

    A fully corrective model can do that: the held-out rows serve to choose the number of columns, and then count like
    all others.

    Parameters
    ----------
    plan : FitPlan
    validation : Validation
    callbacks : sequence of Callback
    losses : list of float
        Mean loss on the validation rows after each round so far; later ones are appended.
    writer : Callback or None
        Writes checkpoints.
    resume : mapping of str to ndarray, optional
        The state in a checkpoint to go on from.

    Returns
    -------
    ensemble : Ensemble
        With the columns up to the round of the lowest loss; those that the fit started from, if no round lowers it.
    trace : Trace
    """
    monitor = ValidationMonitor(validation, cast(Loss, plan.master), losses)
    search = plan
    if validation.training_weight is not None:
        search = replace(plan, master=HeldOut(plan.master, validation.training_weight))
    ensemble, trace = search.run(all_of([monitor, *callbacks], writer), writer is not None, resume)
    if trace.certificate.status is Status.INTERRUPTED or not losses:
        return ensemble, trace
    n_start, start = len(ensemble) - len(losses), ensemble.history[-len(losses) - 1]
    best = n_start + monitor.best_round(monitor.loss_of(*start))
    if search is plan and best == len(ensemble):
        return ensemble, trace
    stopped = trace.certificate.status
    ensemble, last = replace(plan, initial=ensemble.first(best), max_columns=best).run()
    if last.certificate.status is Status.MAX_COLUMNS and (stopped is Status.STOPPED or best < plan.max_columns):
        last = replace(last, certificate=replace(last.certificate, status=Status.STOPPED))
    return ensemble, trace.followed_by(last)
