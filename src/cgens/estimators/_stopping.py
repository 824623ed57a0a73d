"""Base class of estimators that can stop early."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import is_classifier

from cgens.estimators._base import EnsembleEstimator
from cgens.estimators._callbacks import with_callbacks
from cgens.estimators._parameters import check_count, check_fraction, check_switch
from cgens.estimators._plan import FitPlan, Validation
from cgens.estimators._validation import hold_out, read_labels, read_targets


class StoppingEstimator(EnsembleEstimator):
    """An ensemble with the parameters `early_stopping`, `validation_fraction` and `n_iter_no_change`."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            A frame of pandas, polars or pyarrow, a NumPy array, or a SciPy sparse matrix. Columns of text are
            categories (see `categorical_features`); missing values are allowed, infinity is not. float32 and float64
            arrays are read as they are, in any memory order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            For regressors, finite numbers. For classifiers, labels of two or more classes, or a multilabel indicator
            matrix of 0 and 1.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative. A weight of k is equivalent to k copies of the row, a weight of 0 to leaving it out.
        X_val, y_val : array-like, optional
            Rows that decide when to stop if ``early_stopping=True``, instead of a fraction of X and y. They are not
            trained on.
        sample_weight_val : array-like of shape (n_samples_val,), optional
            Weights of the validation rows.

        Returns
        -------
        self

        Notes
        -----
        On Ctrl-C KeyboardInterrupt is raised. The finished rounds of a family are stored before, with
        ``certificate_.status`` "interrupted"; with the automatic model the estimator stays as it was. So it does if a
        fit fails.
        """
        given = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        return self._fit(X, y, sample_weight, **given)

    def _validation(
        self, plan: FitPlan, X_val: Any = None, y_val: Any = None, sample_weight_val: Any = None
    ) -> Validation | None:
        n_rounds = check_count("n_iter_no_change", self.n_iter_no_change)
        fraction = check_fraction("validation_fraction", self.validation_fraction)
        if not check_switch("early_stopping", self.early_stopping):
            if X_val is not None or y_val is not None or sample_weight_val is not None:
                raise ValueError("X_val, y_val and sample_weight_val are used only with early_stopping=True.")
            return None
        if X_val is None and y_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val needs X_val and y_val.")
            return hold_out(plan, fraction, n_rounds)
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val must be given together.")
        read = read_labels if is_classifier(self) else read_targets
        try:
            X, target, weight = read(self, plan, X_val, y_val, sample_weight_val)
        except (TypeError, ValueError) as error:  # scikit-learn's messages speak of X, y and sample_weight
            if "_val" in str(error):
                raise
            raise type(error)(f"X_val, y_val or sample_weight_val is invalid: {error}") from error
        kept = weight > 0
        if not kept.any():
            raise ValueError("All weights of the validation rows are 0.")
        typical = plan.typical_values()
        X = X if typical is None else X.filled(typical)
        return Validation(X.take(kept), target[kept], weight[kept], n_rounds)
