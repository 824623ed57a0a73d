"""Functions of theta.x: how directions are drawn, learned by gradient ascent, and kept."""
