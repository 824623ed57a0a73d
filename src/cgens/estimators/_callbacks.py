"""Callbacks of a fit: plain functions, and scikit-learn's own from version 1.9 on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from cgens.ensemble import Ensemble
from cgens.estimators._plan import FitPlan
from cgens.packs import PackSet
from cgens.rounds import Callback, Round
from cgens.weight_history import WeightHistory

__all__ = ["CallbackEstimator", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stores callbacks, all of which are plain functions."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set the callbacks."""
            if not all(isinstance(callback, FunctionCallback) for callback in callbacks):
                raise TypeError("scikit-learn's callbacks need scikit-learn 1.9 or later: use functions of a Round.")
            self._skl_callbacks = list(callbacks)
            return self

        def _init_callback_context(self, **options: Any) -> None:
            """Do nothing: there is no context."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method itself: there is nothing to tear down."""
        return method


class FunctionCallback:
    """A function of a `Round`, with the interface of scikit-learn's callbacks."""

    def __init__(self, function: Callback) -> None:
        self.function = function

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: the loop calls the function itself."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing: the loop calls the function itself."""


class CallbackEstimator(CallbackSupportMixin):  # type: ignore[misc]
    """An estimator whose fit calls callbacks after each round."""

    _skl_callbacks: list[Any]

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set functions or scikit-learn callbacks that are called while the estimator is fitted.

        Parameters
        ----------
        *callbacks : callables or scikit-learn callbacks
            A function is called with a `cgens.rounds.Round` after each round; if it returns True, the fit stops. A
            scikit-learn callback (version 1.9 or later), such as its ``ProgressBar`` or ``ScoringMonitor``, sees a fit
            as a task and each round as a subtask. Without arguments, all callbacks are removed, which a model with a
            lambda needs before it can be pickled.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from cgens import CGEnsClassifier
        >>> model = CGEnsClassifier("stump").set_callbacks(lambda state: state.seconds > 60 or state.n_columns == 7)
        >>> model.fit(*load_iris(return_X_y=True)).n_columns_
        7
        """
        own = [callback if hasattr(callback, "on_fit_task_end") else as_function(callback) for callback in callbacks]
        super().set_callbacks(*own)
        return self

    def _function_callbacks(self) -> list[Callback]:
        callbacks = getattr(self, "_skl_callbacks", [])
        return [callback.function for callback in callbacks if isinstance(callback, FunctionCallback)]

    @contextmanager
    def _fit_task(self, X: Any, y: Any, sample_weight: Any) -> Iterator[FitTask | None]:
        """Return the task of a fit for scikit-learn's callbacks, None if there are none."""
        others = [own for own in getattr(self, "_skl_callbacks", []) if not isinstance(own, FunctionCallback)]
        if not others and not hasattr(self, "_parent_callback_ctx"):
            yield None
            return
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        context = self._init_callback_context(max_subtasks=None)
        data = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(**data)
        yield FitTask(context, data)
        context.call_on_fit_task_end(**data, reconstruction_attributes=lambda: {})


def as_function(callback: Any) -> FunctionCallback:
    """Return a callable as a callback, or raise TypeError."""
    if not callable(callback) or isinstance(callback, type):
        raise TypeError(f"A callback must be a function of a Round, or a scikit-learn callback; got {callback!r}.")
    return FunctionCallback(callback)


class FitTask:
    """The task of a fit, as scikit-learn's callbacks see it."""

    def __init__(self, context: Any, data: dict[str, Any]) -> None:
        self._context, self._data = context, data

    def rounds(self, attempt: Any, plan: FitPlan) -> Callback:
        """Return a callback of the loop that reports each round as a subtask.

        Parameters
        ----------
        attempt : estimator
            A copy of the estimator, with what was learned from the data before the first round.
        plan : FitPlan
        """

        def report(state: Round) -> bool:
            task = self._context.subcontext(task_name="round")
            task.call_on_fit_task_begin(**self._data)

            def fitted() -> dict[str, Any]:
                """Return the attributes of a model that can predict, for callbacks that ask for it."""
                means = np.zeros(state.n_columns)
                model = Ensemble(PackSet.of(state.learners), state.weights, state.intercept, means, WeightHistory())
                return {**vars(attempt), "ensemble_": model, "coding_": plan.coding, "master_": plan.master}

            return bool(task.call_on_fit_task_end(**self._data, reconstruction_attributes=fitted))

        return report
