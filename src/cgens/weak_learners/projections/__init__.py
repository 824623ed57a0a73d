"""Families of functions of theta.x - kappa, drawn at random or learned by gradient ascent."""
