"""``weak_learner="auto"``."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from sklearn.base import BaseEstimator

from cgens.default_c import DefaultC
from cgens.table.accepted import EXTRAS


class Automatic(BaseEstimator):  # type: ignore[misc]
    """Cosines and trees, chosen and weighed by errors on rows that they were not fitted on.

    This is what ``weak_learner="auto"`` stands for in `CGEnsClassifier` and `CGEnsRegressor`. It is not searched by
    column generation itself: each of the parts that it chooses is.
    """

    accepts: ClassVar[tuple[str, ...]] = EXTRAS
    fills_gaps: ClassVar[bool] = True
    default_c: ClassVar[DefaultC] = DefaultC(margin=1.0, squares=1.0)  # not used: every part has its own

    def begin(self, *_: Any) -> NoReturn:
        """Raise TypeError: this is not a family."""
        raise TypeError("weak_learner='auto' chooses among families, and cannot be one in a mixture or in a loop.")
