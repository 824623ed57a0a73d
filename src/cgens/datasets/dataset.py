"""The data set that `load` and `fetch` return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cgens.types import AnyArray


@dataclass(frozen=True, repr=False)
class Dataset:
    """Features, targets and metadata; ``X, y = dataset`` unpacks it.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
        Floating-point features; missing values are NaN.
    y : ndarray of shape (n_samples,)
        Class labels 0 ... n_classes - 1, or regression targets.
    classes : tuple of str
        Names of the classes; empty for regression.
    feature_names : tuple of str
        Empty if unknown.
    splits : tuple of (ndarray, ndarray)
        Published splits, each as the indices of its training and test rows.
    split_sizes : (int, int) or None
        Numbers of training and test rows, if the published protocol draws them at random.
    extras : dict of str to ndarray
        All other arrays of the file.
    origin : str
        Where the data came from.
    """

    name: str
    X: AnyArray
    y: AnyArray
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    splits: tuple[tuple[AnyArray, AnyArray], ...] = ()
    split_sizes: tuple[int, int] | None = None
    extras: dict[str, AnyArray] = field(default_factory=dict)
    origin: str = ""

    def __iter__(self) -> Iterator[AnyArray]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        task = f"{len(self.classes)} classes" if self.classes else "regression"
        return f"<Dataset {self.name}: {len(self.X)} rows, {self.X.shape[1]} features, {task}; {self.origin}>"
