"""Labels to targets, and decisions back to labels."""

from __future__ import annotations

import numpy as np

from cgens.types import AnyArray, Floats


def encode_binary(codes: AnyArray) -> Floats:
    """Return -1 for class 0 and +1 for class 1, shape (n, 1).

    Examples
    --------
    >>> encode_binary(np.array([0, 1, 1])).ravel()
    array([-1.,  1.,  1.])
    """
    return np.where(codes > 0, 1.0, -1.0)[:, None]


def decode_binary(decision: Floats, classes: AnyArray) -> AnyArray:
    """Return the class on whose side each decision lies; 0 goes to the first class, as in scikit-learn.

    Examples
    --------
    >>> decode_binary(np.array([-0.3, 0.0, 2.0]), np.array(["no", "yes"]))
    array(['no', 'no', 'yes'], dtype='<U3')
    """
    return np.asarray(classes[(decision > 0).astype(np.intp)])
