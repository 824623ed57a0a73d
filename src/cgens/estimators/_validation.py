"""Rows on which a fit is judged while it runs: held out of the training data, or given by the user."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from cgens.blas import ONE_BLAS_THREAD
from cgens.coding import ClassCoding
from cgens.estimators._inputs import validated_labels, validated_targets
from cgens.estimators._plan import FitPlan, Validation
from cgens.masters.loss import Loss
from cgens.rounds import Round
from cgens.table import Table
from cgens.types import AnyArray, Floats, Learner
from cgens.user_warnings import warn_user


def hold_out(plan: FitPlan, fraction: float, n_iter_no_change: int) -> Validation:
    """Return a fraction of the training rows, about the same of each class.

    The unit is the row of X, as in the folds of a search (docs/decisions/0015): copies of a row can be separated. Rows
    are selected evenly in canonical order, so that their order in X does not matter, and nothing is random.

    Raises
    ------
    ValueError
        If a class has too few rows to be in both parts.
    """
    data, position = plan.data, plan.order.position
    kept = np.flatnonzero(position >= 0)
    # Copies of a row are sorted by weight; those of the same weight are interchangeable.
    kept = kept[np.lexsort((data.sample_weight[kept], position[kept], data.class_index[kept]))]
    held: list[AnyArray] = []
    for number in np.unique(data.class_index[kept]):
        rows = kept[data.class_index[kept] == number]
        n_held = max(1, round(fraction * len(rows)))
        if n_held >= len(rows):
            who = f"class {plan.coding.invert(data.target[rows[:1]])[0]!s}" if data.class_index.any() else "the data"
            raise ValueError(
                f"Early stopping with validation_fraction={fraction:g} would hold out all {len(rows)} rows of {who}: "
                "pass X_val and y_val instead."
            )
        held.append(rows[((np.arange(n_held) + 0.5) * len(rows) / n_held).astype(np.intp)])
    rows = np.concatenate(held)
    factors = plan.weight / plan.order.weight  # by class
    training = plan.weight.copy()
    np.subtract.at(training, position[rows], factors[position[rows]] * data.sample_weight[rows])
    training[training <= 1e-9 * plan.weight] = 0.0  # all copies are held out: what remains is rounding
    weight = factors[position[rows]] * data.sample_weight[rows]
    return Validation(data.X.take(rows), data.target[rows], weight, n_iter_no_change, training)


def read_labels(estimator: Any, plan: FitPlan, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Floats, Floats]:
    """Return X, target and weights of validation rows that the user gave to a classifier; class weights apply."""
    X, y, multilabel = validated_labels(estimator, X, y, reset=False)
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    coding, n_outputs = plan.coding, plan.data.target.shape[1]
    if not isinstance(coding, ClassCoding):
        if not multilabel or y.shape[1] != n_outputs:
            raise ValueError(f"y_val must be an indicator matrix with {n_outputs} columns, as y is.")
        return X, coding.encode(y), weight
    if multilabel:
        raise ValueError("y_val is an indicator matrix; it must have one label per row, as y has.")
    kept = weight > 0
    X, y, weight = X.take(kept), y[kept], weight[kept]
    unknown = np.setdiff1d(y, coding.classes)
    if len(unknown):
        raise ValueError(f"y_val has the label {unknown[0]!s}, which no row of y with a positive weight has.")
    absent = np.setdiff1d(coding.classes, y)
    if len(absent):
        warn_user(f"y_val has no rows of class {absent[0]!s}: how well it is predicted does not affect early stopping.")
    index = np.searchsorted(coding.classes, y)
    factors = np.ones(len(coding.classes))
    factors[plan.data.class_index] = plan.data.factors
    return X, coding.encode(index), weight * factors[index]


def read_targets(estimator: Any, plan: FitPlan, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Floats, Floats]:
    """Return X, target and weights of validation rows that the user gave to a regressor."""
    X, y = validated_targets(estimator, X, y, reset=False)
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    like = plan.coding.invert(plan.data.target)
    if y.shape[1:] != like.shape[1:]:
        raise ValueError(f"y_val has the shape {y.shape}; y has the shape {like.shape}.")
    loss = cast(Loss, plan.master)
    if loss.nonnegative_targets and y.min() < 0:
        raise ValueError(f"y_val must be >= 0 with loss={loss.name!r}; it has the value {y.min():g}.")
    target = plan.coding.encode(y)
    loss.check_target(target)
    return X, target, weight


class ValidationMonitor:
    """A callback that computes the loss on validation rows after each round, and stops if it does not fall any more.

    Parameters
    ----------
    validation : Validation
    loss : Loss
    losses : list of float
        The loss after each round so far, one for each of the last columns; later ones are appended.
    """

    def __init__(self, validation: Validation, loss: Loss, losses: list[float]) -> None:
        self._validation, self._loss, self.losses = validation, loss, losses
        self._responses: AnyArray = np.empty((len(validation.X), 0), dtype=np.float32, order="F")
        self._n_columns = 0
        self._total = float(validation.weight.sum())

    def __call__(self, state: Round) -> bool:
        """Add the loss of the round; return whether to stop."""
        for learner in state.learners[self._n_columns :]:  # at first, also those that the fit started from
            self._add(learner)
        self.losses.append(self.loss_of(state.weights, state.intercept))
        return len(self.losses) - 1 - int(np.argmin(self.losses)) >= self._validation.n_iter_no_change

    def loss_of(self, weights: Floats, intercept: Floats) -> float:
        """Return the mean loss of the first columns with these weights; infinite if it is NaN."""
        unit = float(np.abs(weights).max(initial=0.0)) or 1.0  # single precision has a small range
        with ONE_BLAS_THREAD:
            decision = self._responses[:, : len(weights)] @ (weights / unit).astype(np.float32)
        losses = self._loss.losses(unit * decision.astype(np.float64) + intercept, self._validation.target)
        mean = float(self._validation.weight @ losses) / self._total
        return np.inf if np.isnan(mean) else mean

    def best_round(self, start: float) -> int:
        """Return the number of rounds up to the lowest loss; 0 if that is the loss at the start.

        Raises
        ------
        ValueError
            If no loss is finite.
        """
        losses = np.array([start, *self.losses])
        if not np.isfinite(losses).any():
            raise ValueError(
                "The loss on the validation rows is infinite after every round: are their values far outside the range "
                "of the training rows?"
            )
        return int(np.argmin(losses))

    def _add(self, learner: Learner) -> None:
        response = learner.respond(self._validation.X.matrix())
        n_rows, capacity = self._responses.shape
        if self._n_columns == capacity:
            grown: AnyArray = np.empty((n_rows, max(16, 2 * capacity)), dtype=np.float32, order="F")
            grown[:, :capacity] = self._responses
            self._responses = grown
        self._responses[:, self._n_columns] = response
        self._n_columns += 1
