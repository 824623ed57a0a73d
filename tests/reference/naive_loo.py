"""Leave-one-out residuals of ridge regression by a fit for each row."""

from __future__ import annotations

import numpy as np


def naive_ridge(columns, target, weight, penalty):
    """Return the weights and the intercept that minimize sum_i s_i |L_i - W'h_i - b|^2 + penalty |W|^2."""
    n = columns.shape[1]
    design = np.hstack([columns, np.ones((len(columns), 1))])
    normal = design.T @ (weight[:, None] * design) + penalty * np.diag([1.0] * n + [0.0])
    solution = np.linalg.solve(normal, design.T @ (weight[:, None] * target))
    return solution[:n], solution[n]


def naive_left_out_residuals(columns, target, weight, penalty, unit):
    """Return L - F(x_i) where `unit` of the weight of row i is left out, one fit per row."""
    residuals = np.empty_like(target)
    for i in range(len(columns)):
        left = weight.copy()
        left[i] -= unit[i]
        kept = left > 0
        weights, intercept = naive_ridge(columns[kept], target[kept], left[kept], penalty)
        residuals[i] = target[i] - columns[i] @ weights - intercept
    return residuals
