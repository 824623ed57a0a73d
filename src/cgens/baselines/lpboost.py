"""LPBoost for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cgens.baselines._base import BinaryBaseline
from cgens.estimators._parameters import check_count, check_positive, resolve_c
from cgens.estimators._plan import TrainingData
from cgens.estimators._shared_docs import expand_shared
from cgens.masters import LPBoost
from cgens.masters.loss import total_weight
from cgens.types import Family, Floats, Master

#: ``C="scale"`` is this over the total weight of the rows: docs/decisions/0004-default-C.md.
SCALE = 100.0
#: The largest iteration limit that HiGHS takes.
MAX_ITERATIONS = 2**31 - 1


@expand_shared
@dataclass(eq=False, repr=False)
class LPBoostClassifier(BinaryBaseline):
    """LPBoost (Demiriz, Bennett & Shawe-Taylor, 2002): the soft margin with the l1 norm, by column generation.

    Each round adds the weak learner that most violates the optimality of the linear program and solves the program
    again over all of them, until none violates it. HiGHS keeps the program and its basis between rounds (`highspy`,
    installed by ``pip install 'cgens[lp]'``).

    Parameters
    ----------
    weak_learner : shared
    C : float or "scale", default="scale"
        The paper's C, the weight of the losses relative to the l1 norm of the weights. "scale" is 100 / total weight of
        the rows.
    nu : float in (0, 1] or None, default=None
        If given, replaces C: roughly the share of rows that may lie below the margin.
    n_estimators : shared
    tol : float, default=1e-3
        Relative duality gap of the final program; the simplex methods reach a far smaller one.
    solver : {"dual", "primal", "ipm"}, default="dual"
        HiGHS's dual simplex, primal simplex or interior point method.
    max_iter : int, default=10000000
        Maximum number of HiGHS iterations per round.
    categorical_features, random_state : shared
    n_jobs : int or None, default=None
        Number of threads for the search for weak learners. The result does not depend on it.
    verbose : shared

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_, certificate_ : shared
    C_ : float
        The C that was used; absent with `nu`.
    duals_ : ndarray of shape (n_samples,)
        y_i a_i.
    feature_importances_, family_shares_ : shared

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgens.baselines import LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LPBoostClassifier(C=0.05, n_estimators=300).fit(X, y)
    >>> model.certificate_.status, bool(model.certificate_.full_relative_gap < 1e-6)
    (<Status.OPTIMAL: 'optimal'>, True)
    """

    weak_learner: Any = "stump"
    C: float | str = "scale"
    nu: float | None = None
    n_estimators: int = 500
    tol: float = 1e-3
    solver: str = "dual"
    max_iter: int = 10_000_000
    categorical_features: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        if check_count("max_iter", self.max_iter) > MAX_ITERATIONS:
            raise ValueError(f"max_iter must be at most {MAX_ITERATIONS}; got {self.max_iter}.")
        if self.nu is not None and check_positive("nu", self.nu) > 1:
            raise ValueError(f"nu must be in (0, 1]; got {self.nu!r}.")

    def _master(self, data: TrainingData, family: Family, largest_weights: Floats, seed: int) -> Master:
        if self.nu is not None:
            return LPBoost(None, nu=float(self.nu), solver=self.solver, max_iter=self.max_iter)
        C = resolve_c(self.C, SCALE / total_weight(data.sample_weight), largest_weights)
        return LPBoost(C, solver=self.solver, max_iter=self.max_iter)

    def _advice(self) -> str:
        return f"raise max_iter ({self.max_iter}) or tol, or {'raise nu' if self.nu is not None else 'lower C'}"

    def _penalty_hint(self) -> str:
        return ", or is C too small" if self.nu is None else f", or is nu ({self.nu:.3g}) or n_estimators too small"
