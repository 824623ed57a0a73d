"""AdaBoost.ECC (Guruswami & Sahai, 1999): each round learns one bit of an error-correcting code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from cgens.masters.stage_wise import StageWise, exponential_step
from cgens.masters.targets import check_one_class_per_row
from cgens.types import Duals, Floats, MasterSolution, Poll

#: Maximum number of colourings to try before a fit ends because no weak learner separates the colours.
MAX_COLOURINGS = 20


class AdaBoostECC(BaseEstimator):  # type: ignore[misc]
    """Lower the pseudo-loss over wrong classes with weak learners that separate half of the classes from the rest.

    Each round draws a colouring mu of the k classes: floor(k / 2) random classes are +1 and the others -1 ("rand-half";
    two classes always have different colours). A weak learner h is priced by how well it separates the colours, where
    the weight of a row is that of its wrong classes of the other colour. It votes g(x) mu_l for class l, with g = a if
    h = 1 and g = -b if h = -1; a and b are as published, except that Schapire & Singer's smoothing by 1 / (m k) keeps
    them finite. A weak learner with other responses has a single coefficient, g = a h. Signed duals are D_i mu(y_i),
    shape (m, 1).

    Parameters
    ----------
    random_state : int
        Seed of the random colourings.

    Examples
    --------
    >>> import numpy as np
    >>> master = AdaBoostECC().begin(2 * np.eye(3) - 1, np.ones(3), n_threads=1)
    >>> np.sign(master.solve(1e-3, lambda: False).duals.array.ravel())  # one class against two
    array([-1.,  1., -1.])
    """

    repeats = True
    positive_prices = True
    smooth = False  # the duals of a round depend on its random colouring, not on the decisions alone

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedAdaBoostECC:
        """Return the problem without columns; `target` is 1 for the row's class and -1 for others, shape (m, k)."""
        check_one_class_per_row(target, "AdaBoost.ECC")
        return RestrictedAdaBoostECC(target, sample_weight, np.random.default_rng(self.random_state))


class RestrictedAdaBoostECC(StageWise):
    """The distribution over rows and their wrong classes, and the colouring of the next round."""

    def __init__(self, target: Floats, weight: Floats, rng: np.random.Generator) -> None:
        distribution = np.where(target > 0, 0.0, weight[:, None])
        super().__init__(distribution / distribution.sum())
        self._rng, self._n_tries = rng, 0
        self._row_class = target.argmax(axis=1)
        self._smoothing = 1.0 / target.size
        self._draw_colouring()

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Fit the newest column, if any; from the third solve without a new one on, draw another colouring."""
        if self._newest is not None:
            self._n_tries = 0
        elif self._n_tries > 1:
            self._draw_colouring()
        self._n_tries += 1
        solution = super().solve(tol, interrupted, quick)
        return replace(solution, retry=len(self._intercept) > 2 and self._n_tries < MAX_COLOURINGS)

    def _draw_colouring(self) -> None:
        """Draw colourings until some wrong class with a weight has another colour than its row's class."""
        n_classes = len(self._intercept)
        colours = np.where(np.arange(n_classes) < n_classes // 2, 1.0, -1.0)
        for _ in range(MAX_COLOURINGS):
            self._colours = self._rng.permutation(colours) if n_classes > 2 else -colours
            self._bits = self._colours[self._row_class]
            self._separated = self._colours != self._bits[:, None]  # (row, class) pairs of different colours
            share = np.sum(self._distribution * self._separated, axis=1)
            if share.any():
                break
        self._row_share = share / max(float(share.sum()), 1e-300)

    def _fit_newest(self, response: Floats) -> tuple[Floats, Floats]:
        slope, shift = self._votes(self._row_share, response)
        votes = slope * response + shift
        self._reweight(np.where(self._separated, np.exp(-votes * self._bits)[:, None], 1.0))
        colours = self._colours
        self._draw_colouring()
        return slope * colours, shift * colours

    def _votes(self, share: Floats, response: Floats) -> tuple[float, float]:
        """Return the slope and shift of g = slope h + shift."""
        if not np.all(np.abs(response) == 1):
            largest = 0.5 * float(-np.log(self._smoothing))
            return float(np.clip(exponential_step(share, self._bits * response), -largest, largest)), 0.0
        right, above = self._bits * response > 0, response > 0
        up, down = (
            0.5 * np.log((share[right & side].sum() + self._smoothing) / (share[~right & side].sum() + self._smoothing))
            for side in (above, ~above)
        )
        return float(up + down) / 2, float(up - down) / 2

    def _duals(self) -> Duals:
        duals = Duals((self._row_share * self._bits)[:, None])
        duals.new_problem = len(self._intercept) > 2
        return duals
