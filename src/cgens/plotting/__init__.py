"""Plots of models; needs matplotlib, the extra ``cgens[plot]``."""

from cgens.plotting.cv_surface import plot_cv_surface

__all__ = ["plot_cv_surface"]
