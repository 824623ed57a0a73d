"""Smooth losses of one output by their definitions: decisions f, labels y = +-1, weights c."""

from __future__ import annotations

import numpy as np


def naive_logistic(f, y, c):
    """Return duals, losses and curvatures of log(1 + exp(-yf))."""
    missing = 1 / (1 + np.exp(y * f))
    return c * y * missing, c * np.log1p(np.exp(-y * f)), c * missing * (1 - missing)


def naive_smooth_hinge(f, y, c, width):
    """Return duals, hinge losses, what smoothing adds to the gap, and curvatures."""
    u = np.clip((1 - y * f) / width, 0, 1)
    smoothed = np.where(u < 1, 0.5 * width * u**2, 1 - y * f - 0.5 * width)
    hinge = np.maximum(0, 1 - y * f)
    slack = hinge - smoothed - 0.5 * width * u**2  # of the primal value, and of the dual value
    return c * y * u, c * hinge, c * slack, np.where((u > 0) & (u < 1), c / width, 0)
