"""How much each feature moves the decision of an ensemble of stumps."""

from __future__ import annotations

import numpy as np

from cgens.ensemble import Ensemble
from cgens.types import Floats
from cgens.weak_learners import StumpLearner


def stump_importances(ensemble: Ensemble, n_features: int) -> Floats:
    """Return the standard deviation of each feature's part of the decision, as a share of the sum.

    A feature's part is g_f(x) = sum over its stumps of w_j h_j(x). Two stumps on one feature are nested: with
    p = P(x > t), both are passed with the smaller of the two probabilities, so that cov = 4 (min(p, p') - p p'), and
    the spread of g_f over the training rows follows from the stumps' means alone.

    Parameters
    ----------
    ensemble : Ensemble
        Of stumps.
    n_features : int

    Returns
    -------
    importances : ndarray of shape (n_features,)
        All 0 for a model without columns.
    """
    stumps = [learner for learner in ensemble.learners if isinstance(learner, StumpLearner)]
    if len(stumps) != len(ensemble):
        raise AttributeError("feature_importances_ is defined for ensembles of stumps only.")
    features = np.array([stump.feature for stump in stumps], dtype=np.intp)
    polarities = np.array([stump.polarity for stump in stumps], dtype=np.float64)
    above = (1 + polarities * ensemble.means) / 2
    spread = np.zeros(n_features)
    for feature in np.unique(features):
        own = features == feature
        weights = ensemble.weights[own] * polarities[own, None]
        covariance = 4 * (np.minimum.outer(above[own], above[own]) - np.outer(above[own], above[own]))
        spread[feature] = np.sqrt(np.maximum(np.einsum("jt,jk,kt->", weights, covariance, weights), 0.0))
    total = spread.sum()
    return spread / total if total > 0 else spread
