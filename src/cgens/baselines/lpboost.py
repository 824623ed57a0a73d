"""LPBoost for two classes."""

from __future__ import annotations

from typing import Any

from cgens.baselines._base import BinaryBaseline
from cgens.estimators._parameters import check_count, check_positive, resolve_c, total_weight
from cgens.estimators._plan import TrainingData
from cgens.masters import LPBoost
from cgens.types import Floats, Master, WeakLearner

#: ``C="scale"`` is this over the total weight of the rows: docs/decisions/0004-default-C.md.
SCALE = 100.0
#: What HiGHS can count to.
MOST_ITERATIONS = 2**31 - 1


class LPBoostClassifier(BinaryBaseline):
    """LPBoost (Demiriz, Bennett & Shawe-Taylor, 2002): the soft margin under the l1 norm, by column generation.

    Each round adds the weak learner that violates the linear program's optimality most, and solves it again over all
    of them; it ends where none does. HiGHS keeps the program and its basis from round to round (`highspy`, which
    ``pip install 'cgens[lp]'`` brings).

    Parameters
    ----------
    weak_learner : str, object or list, default="stump"
        As for `cgens.CGEnsClassifier`.
    C : float or "scale", default="scale"
        The paper's C, the weight of the losses against the l1 norm of the weights. "scale" is 100 / total weight of the
        rows.
    nu : float in (0, 1] or None, default=None
        Where it is given, in place of C: about the share of rows that may lie below the margin.
    n_estimators : int, default=500
        Most columns (weak learners).
    tol : float, default=1e-3
        Relative duality gap of the final program; a simplex method comes far nearer.
    solver : {"dual", "primal", "ipm"}, default="dual"
        HiGHS's dual simplex, primal simplex, or interior point method.
    max_iter : int, default=10000000
        Most iterations of HiGHS in one round.
    random_state : int, RandomState or None
        For families that draw.
    n_jobs : int or None
        Threads of the search for weak learners. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, ensemble_, n_columns_, n_iter_, trace_, feature_importances_
        As of `cgens.CGEnsClassifier`.
    C_ : float
        The C that was used; not with `nu`.
    certificate_ : Certificate
        Primal, dual and gap, for the selected columns and for the whole pool.
    duals_ : ndarray of shape (n_samples,)
        y_i a_i.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgens.baselines import LPBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LPBoostClassifier(C=0.05, n_estimators=300).fit(X, y)
    >>> model.certificate_.status, bool(model.certificate_.full_relative_gap < 1e-6)
    (<Status.OPTIMAL: 'optimal'>, True)
    """

    def __init__(
        self,
        weak_learner: Any = "stump",
        C: float | str = "scale",
        nu: float | None = None,
        n_estimators: int = 500,
        tol: float = 1e-3,
        solver: str = "dual",
        max_iter: int = 10_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.C = C
        self.nu = nu
        self.n_estimators = n_estimators
        self.tol = tol
        self.solver = solver
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if check_count("max_iter", self.max_iter) > MOST_ITERATIONS:
            raise ValueError(f"max_iter must be at most {MOST_ITERATIONS}; got {self.max_iter}.")
        if self.nu is not None and check_positive("nu", self.nu) > 1:
            raise ValueError(f"nu must be in (0, 1]; got {self.nu!r}.")

    def _master(self, data: TrainingData, family: WeakLearner, largest: Floats, seed: int) -> Master:
        if self.nu is not None:
            return LPBoost(None, nu=float(self.nu), solver=self.solver, max_iter=self.max_iter)
        C = resolve_c(self.C, SCALE / total_weight(data.sample_weight), largest)
        return LPBoost(C, solver=self.solver, max_iter=self.max_iter)

    def _advice(self) -> str:
        return f"raise max_iter ({self.max_iter}) or tol, or {'raise nu' if self.nu is not None else 'lower C'}"

    def _penalty_hint(self) -> str:
        return ", or C too small" if self.nu is None else f", or nu ({self.nu:.3g}) or n_estimators too small"
