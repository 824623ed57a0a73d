"""Plot of the cross-validated scores over C and the number of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


def plot_cv_surface(model: Any, ax: Any = None) -> Any:
    """Plot the mean score for every C and number of columns, and mark the selected pair.

    Parameters
    ----------
    model : CGEnsClassifierCV or CGEnsRegressorCV
        Fitted.
    ax : matplotlib Axes, optional
        Axes to plot on; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from cgens import CGEnsClassifierCV
    >>> from cgens.plotting import plot_cv_surface
    >>> model = CGEnsClassifierCV(n_estimators=30).fit(*load_wine(return_X_y=True))
    >>> plot_cv_surface(model).get_xlabel()
    'columns'
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot_cv_surface needs matplotlib: pip install 'cgens[plot]'.") from None
    check_is_fitted(model, "scores_")
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    order, chosen = np.argsort(model.Cs_), model.best_params_["n_estimators"]
    mean, C = model.scores_.mean(axis=0)[order], model.Cs_[order]
    # Scores far below the best would use up the colour range: the lowest two fifths share one colour.
    mesh = ax.pcolormesh(
        _edges(model.stages_), _edges(C), mean, vmin=float(np.quantile(mean, 0.4)), vmax=float(mean.max()),
        cmap="viridis", shading="flat",
    )  # fmt: skip
    ax.get_figure().colorbar(mesh, ax=ax, label=f"mean score of {len(model.scores_)} folds", extend="min")
    ax.plot(
        chosen, model.C_, marker="o", markersize=11, markerfacecolor="none", markeredgecolor="#D55E00",
        markeredgewidth=2.5,
    )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="columns", ylabel="C")
    ax.set_title(f"chosen: C = {model.C_:.2g}, {chosen} columns, score {model.best_score_:.4g}", fontsize=10)
    shown = [stage for stage in (5, 10, 25, 50, 100, 250, 500, 1000, 2500) if stage <= model.stages_[-1]]
    shown = shown or [int(model.stages_[-1])]
    ax.minorticks_off()
    ax.set_xticks(shown, [str(stage) for stage in shown])
    return ax


def _edges(centres: Any) -> Any:
    """Return the edges of the cells around points on a log scale, one more than points."""
    logs = np.log(np.asarray(centres, dtype=np.float64))
    if len(logs) == 1:
        return np.exp([logs[0] - 0.5, logs[0] + 0.5])
    middles = (logs[1:] + logs[:-1]) / 2
    return np.exp(np.concatenate([[2 * logs[0] - middles[0]], middles, [2 * logs[-1] - middles[-1]]]))
