"""AdaBoost.ECC (Guruswami & Sahai, 1999): each round learns one bit of an error-correcting code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from cgens.masters.stage_wise import StageWise, exponential_step
from cgens.masters.targets import check_one_class_a_row
from cgens.types import Duals, Floats, MasterSolution, Poll

#: How many colourings are tried before a fit ends for want of a weak learner.
LOOKS = 20


class AdaBoostECC(BaseEstimator):  # type: ignore[misc]
    """Boost the pseudo-loss over wrong classes, by weak learners that tell half of the classes from the others.

    A round draws a colouring mu of the k classes, floor(k / 2) of them +1 and the others -1, all such halves alike
    ("rand-half"; two classes are coloured by themselves). The weak learner h is priced by how well it tells the
    colours, each row with the weight of the wrong classes of the other colour. It votes g(x) mu_l for class l, with
    g = a where h = 1 and -b where h = -1, a and b as published but for Schapire & Singer's smoothing by 1 / (m k), that
    keeps them finite; a weak learner of other values has one coefficient, g = a h. Signed duals are D_i mu(y_i), of
    shape (m, 1).

    Parameters
    ----------
    random_state : int
        Seed of the colourings.

    Examples
    --------
    >>> import numpy as np
    >>> live = AdaBoostECC().begin(2 * np.eye(3) - 1, np.ones(3), n_threads=1)
    >>> np.sign(live.solve(1e-3, lambda: False).duals.array.ravel())  # one class against two
    array([-1.,  1., -1.])
    """

    repeats = True
    positive_prices = True
    smooth = True

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def begin(self, target: Floats, sample_weight: Floats, n_threads: int) -> RestrictedAdaBoostECC:
        """Return the live problem; `target` is 1 for a row's class, else -1, and has the shape (m, k)."""
        check_one_class_a_row(target, "AdaBoost.ECC")
        return RestrictedAdaBoostECC(target, sample_weight, np.random.default_rng(self.random_state))


class RestrictedAdaBoostECC(StageWise):
    """The distribution over rows and their wrong classes, and the colouring of the round to come."""

    def __init__(self, target: Floats, weight: Floats, rng: np.random.Generator) -> None:
        super().__init__(target.shape[1])
        self._rng, self._n_looks = rng, 0
        self._own = target.argmax(axis=1)
        self._share = np.where(target > 0, 0.0, weight[:, None])
        self._share /= self._share.sum()
        self._smallest = 1.0 / target.size  # Schapire & Singer's smoothing of votes that make no mistake
        self._draw_colouring()

    def solve(self, tol: float, interrupted: Poll, quick: bool = False) -> MasterSolution:
        """Fit the newest column. Asked a third time without one, nobody told the colours apart: colour anew."""
        if self._newest is not None:
            self._n_looks = 0
        elif self._n_looks > 1:
            self._draw_colouring()
        self._n_looks += 1
        solution = super().solve(tol, interrupted, quick)
        return replace(solution, retry=len(self._intercept) > 2 and self._n_looks < LOOKS)

    def _draw_colouring(self) -> None:
        """Draw halves of the classes until some of the distribution lies between them."""
        n_classes = len(self._intercept)
        colours = np.where(np.arange(n_classes) < n_classes // 2, 1.0, -1.0)
        for _ in range(LOOKS):
            self._colours = self._rng.permutation(colours) if n_classes > 2 else -colours
            self._bits = self._colours[self._own]
            self._told_apart = self._colours != self._bits[:, None]  # (row, class) pairs that this bit can tell
            share = np.sum(self._share * self._told_apart, axis=1)
            if share.any():
                break
        self._row_share = share / max(float(share.sum()), 1e-300)

    def _fit_newest(self, response: Floats) -> tuple[Floats, Floats]:
        slope, shift = self._votes(self._row_share, response)
        votes = slope * response + shift
        self._share *= np.where(self._told_apart, np.exp(-votes * self._bits)[:, None], 1.0)
        left = self._share.sum()
        self._share /= left
        self._loss *= left
        colours = self._colours
        self._draw_colouring()
        return slope * colours, shift * colours

    def _votes(self, share: Floats, response: Floats) -> tuple[float, float]:
        """Return slope and shift of g = slope h + shift."""
        if not np.all(np.abs(response) == 1):
            most = 0.5 * float(-np.log(self._smallest))
            return float(np.clip(exponential_step(share, self._bits * response), -most, most)), 0.0
        right, above = self._bits * response > 0, response > 0
        up, down = (
            0.5 * np.log((share[right & side].sum() + self._smallest) / (share[~right & side].sum() + self._smallest))
            for side in (above, ~above)
        )
        return float(up + down) / 2, float(up - down) / 2

    def _duals(self) -> Duals:
        duals = Duals((self._row_share * self._bits)[:, None])
        duals.new_problem = len(self._intercept) > 2
        return duals
