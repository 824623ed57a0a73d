"""Base classes of CGEns estimators and searches: their master problem is a loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import column_or_1d

from cgens.automatic.spec import Automatic
from cgens.coding import ClassCoding, Coding, LabelCoding, QuantileCoding
from cgens.ensemble import Ensemble
from cgens.estimators._classification import ClassificationPlanner
from cgens.estimators._inputs import row_weights, validated_targets
from cgens.estimators._parameters import resolve_c, resolve_pricing
from cgens.estimators._plan import FitPlan, TrainingData
from cgens.estimators._planner import Planner
from cgens.masters.least_squares import LeastSquares, Squared
from cgens.masters.loss import Loss
from cgens.masters.registry import LOSSES, automatic_loss, resolve_loss
from cgens.types import AnyArray, Family, Floats, Master, Rule, Target


class LossPlanner(Planner):
    """Planner whose master problem is a loss, given by its name or as an object."""

    _target: ClassVar[Target]
    _loss: Loss  # set when y has been read, because "auto" depends on it

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator, its loss or its weak learners, such as ``loss__delta``.

        Parameters
        ----------
        **params : dict
            If a parameter of the loss or of a weak learner is set, one that was given as a name becomes the object that
            it stands for.

        Returns
        -------
        self
        """
        if any(name.startswith("loss__") for name in params):
            loss = params.get("loss", self.loss)
            if isinstance(loss, str):
                if loss not in LOSSES:
                    raise ValueError(f"Parameters of the loss need its name or an object; got loss={loss!r}.")
                params = {**params, "loss": LOSSES[loss]()}
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        if not (self._target == "classes" and "labels" in getattr(self.loss, "targets", ())):
            resolve_loss(self.loss, self._target)
        resolve_pricing(self.pricing)

    def _choose_loss(self, target: Target) -> Loss:
        """Resolve the loss for the target that was read."""
        self._loss = resolve_loss(self.loss, target) or automatic_loss(target)
        if isinstance(self._family, Automatic):
            self._loss = Squared() if target == "regression" else LeastSquares()
        self.loss_ = self._loss.name
        return self._loss

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        kept = data.sample_weight > 0
        target, weight = data.target[kept], data.sample_weight[kept]
        self._loss = self._loss.for_target(target, weight)
        self._loss.check_target(target)
        C: Any = getattr(self, "C", "scale")  # a search has `Cs` instead
        names = ("scale", "auto") if self._loss.C is None else ("scale",)
        if self._loss.C is not None:
            if not (isinstance(C, str) and C == "scale"):
                raise ValueError(f"C is given twice, as C={C!r} and by loss={self.loss!r}: set one of them.")
            if np.ndim(getattr(self, "Cs", 0)):
                raise ValueError(f"C is given twice, by Cs={self.Cs!r} and by loss={self.loss!r}: set one of them.")
            C = self._loss.C
        default = self._loss.default_c(family, target, weight)
        C = "scale" if self._chooses_c() else C  # for now
        self._loss.set_params(C=resolve_c(C, default, largest_weights, names))
        return self._loss

    def _chooses_c(self) -> bool:
        """Return whether C is to be chosen by leave-one-out errors."""
        C = getattr(self, "C", None)
        return isinstance(C, str) and C == "auto"

    def _plan(self, X: Any, y: Any, sample_weight: Any, initial: Ensemble | None = None) -> FitPlan:
        plan = super()._plan(X, y, sample_weight, initial)
        return replace(plan, squared=squared_loss(self._target)) if self._chooses_c() else plan

    def _rule(self) -> Rule:
        rule = resolve_pricing(self.pricing)
        if rule is None:
            return self._loss.rules[0]
        if rule not in self._loss.rules:
            known = " or ".join(map(repr, self._loss.rules))
            raise ValueError(f"pricing={rule!r} is not available with loss={self.loss_!r}: use {known}.")
        return rule


def squared_loss(target: Target) -> Loss:
    """Return the squared loss for a kind of target."""
    return Squared() if target == "regression" else LeastSquares()


class ClassLossPlanner(LossPlanner, ClassificationPlanner):
    """Losses for classification."""

    _target = "classes"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _code_classes(self, classes: AnyArray) -> ClassCoding:
        return self._choose_loss("classes").code_classes(classes)

    def _code_labels(self, n_labels: int) -> LabelCoding:
        return self._choose_loss("labels").code_labels(n_labels)


class RegressionLossPlanner(RegressorMixin, LossPlanner):  # type: ignore[misc]
    """Losses for regression."""

    _target = "regression"

    def _choose_loss(self, target: Target) -> Loss:
        loss = super()._choose_loss(target)
        if self.quantile is not None:
            if not hasattr(loss, "quantile"):
                raise ValueError(f"quantile={self.quantile!r} needs loss='quantile'; got loss={self.loss_!r}.")
            if isinstance(self.loss, Loss):
                given = f"quantile={self.quantile!r} and by loss={self.loss!r}"
                raise ValueError(f"quantile is given twice, as {given}: set one of them.")
            loss.set_params(quantile=self.quantile)
        return loss

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2 of the predictions; if there are several quantiles, D^2 of the pinball loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
            1 is best; a constant, the mean or the quantiles of y, has 0.
        """
        prediction = self.predict(X)
        if not isinstance(self.coding_, QuantileCoding):
            return float(r2_score(y, prediction, sample_weight=sample_weight))
        target = self.coding_.encode(np.asarray(y, dtype=np.float64))
        weight = np.ones(len(target)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(self.master_.score(prediction, target, weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = LOSSES.get(self.loss) if isinstance(self.loss, str) else self.loss
        positive = getattr(loss, "nonnegative_targets", False)
        # Several outputs work in any case, but scikit-learn checks these with negative targets.
        tags.target_tags.positive_only, tags.target_tags.multi_output = positive, not positive
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[TrainingData, Coding]:
        X, y = validated_targets(self, X, y, reset=reset)
        sample_weight = row_weights(sample_weight, X)
        loss = self._choose_loss("regression")
        if loss.nonnegative_targets and y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)  # as scikit-learn expects of estimators that are not tagged as multi-output
        coding = loss.code_numbers(flat=y.ndim == 1)
        target = coding.encode(y)
        self.n_outputs_ = target.shape[1]
        return TrainingData.without_classes(X, target, sample_weight), coding
