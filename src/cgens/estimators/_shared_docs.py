"""Descriptions of parameters and attributes that several estimators have in common."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TypeVar

AnyClass = TypeVar("AnyClass", bound=type)

_DESCRIPTIONS = """
weak_learner : str, object or list, default="stump"
    "stump", "perceptron", "fourier", "tree", "box" or "linear"; a family with parameters such as
    ``cgens.weak_learners.Fourier(gamma=0.1)``; or a list of these for a mixture. A pair in the list gives a family its
    own columns of X: ``["stump", (Fourier(standardize=True), ["age", "income"])]``.
n_estimators : int, default=500
    Maximum number of columns (weak learners).
time_budget : float or None, default=None
    Seconds after which the automatic model begins nothing new: it then compares fewer groups of cosines and grows fewer
    trees, and ``auto_.summary()`` tells which it left out. Reading X and the last steps are not cut short. The model
    then depends on how fast the machine is. Not used with other weak learners.
tol : float, default=1e-3
    Relative duality gap of the final problem over the selected columns. Least squares is solved in closed form and
    misses it only if C is so large that rounding errors matter.
pricing : {"auto", "gain", "max"}, default="auto"
    Which weak learner a round adds. "max": the one with the largest |price| of a single output, as in the paper.
    "gain" (smooth losses only): the one that lowers the objective most with least squares, where it costs no more than
    "max"; with other smooth losses, the one that lowers a quadratic approximation most. "auto": "gain" for smooth
    losses, else "max".
class_weight : dict, "balanced" or None, default=None
    Factor by which the sample weights of each class are multiplied.
warm_start : bool, default=False
    Whether to start from the columns of the previous ``fit``.
early_stopping : bool, default=False
    Whether to stop when the loss on validation rows does not fall any more. The columns up to the lowest loss are then
    kept, and their weights solved again on all rows of X.
validation_fraction : float, default=0.1
    Fraction of the rows to hold out for early stopping, about the same of each class. Rows are selected by their
    content, not by their position or at random. Not used if ``fit`` is given validation rows.
n_iter_no_change : int, default=20
    With early stopping, number of rounds without a lower loss after which a fit stops.
checkpoint : str, path-like, Checkpoint or None, default=None
    A file to which the state of the fit is saved every minute, or as a `cgens.Checkpoint` says. If the process is
    killed, ``fit`` with the same data and parameters goes on from there, to the same model. It is deleted at the end.
categorical_features : sequence of names, indices or bool, default=None
    Which columns of X are categories. None: columns of text, of categories and of enumerations; integers are numbers.
store_history : bool, default=False
    Whether a pickled model keeps the weights of every round, about n_estimators^2 / 2 numbers, which
    ``staged_predict`` needs. The process that fitted the model has them in any case.
random_state : int, RandomState instance or None, default=None
    Seed for the automatic model and for families that sample weak learners at random; stumps do not.
n_jobs : int or None, default=None
    Number of threads. None: one per processor, or fewer if ``OMP_NUM_THREADS``, threadpoolctl or joblib say so. The
    result does not depend on it.
verbose : int, default=0
    1 shows a progress bar: columns, duality gap over the columns selected so far, seconds left. The automatic model
    prints one line for each of its steps instead, to stderr.
Cs : int or list of float, default=7
    Values of C, or how many to try: the default C and its neighbours, a factor of 3 apart.
stages : {"log", "paper"} or list of int, default="log"
    Numbers of columns to choose from. "log": up to 25 values from 5 to `n_estimators`, evenly spaced on a log scale.
    "paper": 25, 50, 100, 250 and 500; with ``cv=5`` that is the paper's protocol.
classes_ : ndarray of shape (n_classes,)
    Class labels; for a multilabel indicator matrix, its column indices.
n_features_in_ : int
    Number of features of X.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Column names of X, if it had any.
schema_ : Schema
    Names and levels of the columns of X.
n_outputs_ : int
    Number of columns of y, or of quantiles.
loss_ : str
    The loss that was used.
master_ : Loss
    The loss with its parameters, such as C or nu.
C_ : float
    The C that was used.
ensemble_ : Ensemble
    Weak learners, weights and intercept.
n_columns_ : int
    Number of columns (weak learners): fewer than requested if no more were found.
n_iter_ : int
    Number of rounds in the last fit; 1 for an automatic model, which finds all weights of a part at once.
trace_ : Trace
    Prices, objectives, gaps and seconds of every round; of an automatic model the sums over its parts, each of which
    has a trace of its own in `parts_`.
certificate_ : Certificate
    Primal value, dual value and gap, for the selected columns and for the whole pool.
bound_duals_ : ndarray of the same shape as `duals_`, or None
    The duals that prove ``certificate_.full_lower_bound``, if any.
feature_importances_ : ndarray of shape (n_features_in_,)
    How much the decision depends on each feature, normalized to sum to 1; all 0 for a constant model. For stumps and
    trees: standard deviation of the contribution of each feature. The deviation of a tree is divided among features by
    the variance that their splits explain. For cosines of dense rows: root mean square derivative of the decision along
    each input, over up to 1000 rows of X, times the standard deviation of the input. The inputs of a feature are its
    number, an indicator of its missing values, and one of each frequent level, and their squares are added. For cosines
    in a learned metric, ``Fourier(metric="learned")``: `input_importances_`, summed over the inputs of each feature.
    For an automatic model: mean of the importances of its parts, weighted by their weights in `auto_`.
input_importances_ : dict of str to float
    For cosines in a learned metric: how much the target changes along each input, the root mean square derivative of a
    fit times the standard deviation of the input, normalized to sum to 1. Inputs are the columns of X; one more for
    each column with missing values ("age is missing"); and one for each frequent level of a category
    ("color=red", and "color is rare" for all others). Those of an automatic model are in ``auto_.metrics``.
parts_ : dict of str to estimator
    Of an automatic model: its parts, each fitted as a model of its own, with its pool, C and certificate. The decision
    is their weighted sum, for classes mapped to logits; ``certificate_`` is that of their sum.
calibration_ : Calibration or None
    Of an automatic model for classes or labels: the map from decisions of ``ensemble_`` to logits, fitted on decisions
    for rows that the parts were not fitted on.
weak_learner_ : object
    The family that was used.
auto_ : AutomaticReport
    Of an automatic model: what was decided, and by which errors; ``auto_.summary()`` says it in a paragraph.
family_shares_ : dict of str to float
    For a mixture: standard deviation of each family's contribution to the decision, normalized to sum to 1.
validation_losses_ : ndarray of shape (n_iter_,)
    With early stopping, mean loss on the validation rows after each round.
best_params_ : dict
    The selected "C" and "n_estimators".
best_index_ : int
    Index of the selected pair in `cv_results_`.
best_score_ : float
    Mean score of the selected pair over the folds.
Cs_ : ndarray of shape (n_Cs,)
    Values of C that were tried.
stages_ : ndarray of shape (n_stages,)
    Numbers of columns that were tried.
column_Cs_ : ndarray of shape (n_Cs,)
    The value of C at which the columns used to score each of `Cs_` were generated.
folds_ : list of (ndarray, ndarray)
    Training rows and test rows of each fold; empty after unpickling.
scores_ : ndarray of shape (n_folds, n_Cs, n_stages)
    Score for each fold, C and number of columns.
cv_results_ : dict of ndarrays
    The scores under the names that scikit-learn's searches use, without times.
"""
_BY_NAME = {entry.split(" :")[0]: entry for entry in re.split(r"\n(?=\w)", _DESCRIPTIONS.strip())}


def expand_shared(cls: AnyClass) -> AnyClass:
    """Replace each line ``name, other_name : shared`` of a class docstring with the descriptions in this module."""

    def describe(line: re.Match[str]) -> str:
        return "\n".join(_BY_NAME[name] for name in line[1].split(", "))

    cls.__doc__ = re.sub(r"^([\w, ]+) : shared$", describe, cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
    return cls
