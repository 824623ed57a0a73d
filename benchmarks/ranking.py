"""Methods compared over many data sets: mean ranks, wins, geometric means, and a diagram of critical differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, studentized_range

#: Mean ranks that differ by less than the critical difference at this level are not told apart (Nemenyi's test).
LEVEL = 0.05

Runs = list[dict[str, Any]]


def table_of(runs: Runs, sets: tuple[str, ...], methods: tuple[str, ...], key: str) -> tuple[list[str], np.ndarray]:
    """Return the sets that have this figure of all methods, and its means over the splits, shape (sets, methods).

    Only splits that all methods have count. A method that failed on one of them has infinity.
    """
    found: dict[str, dict[str, dict[int, float]]] = {}
    for run in runs:
        if key in run or "failure" in run:
            found.setdefault(run["set"], {}).setdefault(run["method"], {})[run["split"]] = run.get(key, np.inf)
    names, rows = [], []
    for name in sets:
        own = [found.get(name, {}).get(method, {}) for method in methods]
        splits = sorted(set.intersection(*map(set, own)))
        row = [float(np.mean([each[split] for split in splits])) for each in own] if splits else []
        if np.isfinite(row).any():  # of a loss that only classifiers have, a failed regressor is not a missing value
            names.append(name)
            rows.append(row)
    return names, np.array(rows).reshape(len(names), len(methods))


def merged(first: tuple[list[str], np.ndarray], second: tuple[list[str], np.ndarray]) -> tuple[list[str], np.ndarray]:
    """Return the rows of the first table, and those of the second for sets that the first one lacks."""
    rows = [k for k, name in enumerate(second[0]) if name not in first[0]]
    return [*first[0], *(second[0][k] for k in rows)], np.vstack([first[1], second[1][rows]])


def mean_ranks(table: np.ndarray) -> np.ndarray:
    """Return the mean rank of each method; 1 is best, and equal figures share their ranks."""
    return np.asarray(rankdata(table, axis=1).mean(axis=0))


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Return the difference of mean ranks from which on two methods are told apart."""
    quantile = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def wins_and_losses(table: np.ndarray, one: int, other: int) -> tuple[int, int]:
    """Return on how many sets one method is better than another, and worse."""
    return int(np.sum(table[:, one] < table[:, other])), int(np.sum(table[:, one] > table[:, other]))


def ratio(table: np.ndarray, one: int, other: int) -> float:
    """Return the geometric mean of the figures of one method relative to those of another, where both are positive."""
    both = np.isfinite(table[:, [one, other]]).all(axis=1) & (table[:, [one, other]] > 0).all(axis=1)
    return float(np.exp(np.mean(np.log(table[both, one] / table[both, other]))))


def draw_ranks(panels: dict[str, tuple[tuple[str, ...], np.ndarray]], path: Path, ours: str) -> None:
    """Draw mean ranks on a line, with a bar over methods that are not told apart from the best one."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(panels), 1, figsize=(9, 2.2 * len(panels)), layout="constrained")
    for axis, (title, (methods, table)) in zip(np.ravel(axes), panels.items(), strict=True):
        ranks, difference = mean_ranks(table), critical_difference(len(methods), len(table))
        order = np.argsort(ranks)
        axis.axhline(0, color="black", linewidth=1)
        axis.plot([ranks.min(), ranks.min() + difference], [0.12, 0.12], color="gray", linewidth=4, alpha=0.6)
        axis.text(ranks.min() + difference, 0.2, f"critical difference {difference:.2f}", ha="right", color="gray")
        for place, k in enumerate(order.tolist()):
            own = methods[k] == ours
            colour = "tab:red" if own else "tab:blue"
            axis.plot(ranks[k], 0, "o", color=colour, zorder=3)
            height = -0.35 - 0.32 * (place % 3)
            axis.plot([ranks[k], ranks[k]], [0, height + 0.12], color=colour, linewidth=0.7)
            label = f"{methods[k]} {ranks[k]:.2f}"
            weight, box = "bold" if own else None, {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            axis.text(ranks[k], height, label, ha="center", va="center", color=colour, weight=weight, bbox=box)
        axis.set(xlim=(max(0.5, ranks.min() - 0.7), ranks.max() + 0.7), ylim=(-1.2, 0.5), yticks=[])
        axis.set_title(f"{title} (mean rank, left is better)", fontsize=10, loc="left")
        for side in ("left", "right", "top"):
            axis.spines[side].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
