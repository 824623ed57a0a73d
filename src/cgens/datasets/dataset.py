"""What a loaded data set is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cgens.types import AnyArray


@dataclass(frozen=True, repr=False)
class Dataset:
    """Rows, their targets, and what is known of them; ``X, y = dataset`` unpacks it.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
        Floats; missing values are NaN.
    y : ndarray of shape (n_samples,)
        Labels 0 ... n_classes - 1, or numbers to be predicted.
    classes : tuple of str
        The name of each label; empty for regression.
    feature_names : tuple of str
        Empty where they are not known.
    splits : tuple of (ndarray, ndarray)
        The published splits: training and test rows of each.
    sizes : (int, int) or None
        Rows for training and for tests of the published protocol, where it draws them at random.
    extras : dict of str to ndarray
        Whatever else the file holds.
    origin : str
        Where it came from.
    """

    name: str
    X: AnyArray
    y: AnyArray
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    splits: tuple[tuple[AnyArray, AnyArray], ...] = ()
    sizes: tuple[int, int] | None = None
    extras: dict[str, AnyArray] = field(default_factory=dict)
    origin: str = ""

    def __iter__(self) -> Iterator[AnyArray]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        task = f"{len(self.classes)} classes" if self.classes else "regression"
        return f"<Dataset {self.name}: {len(self.X)} rows, {self.X.shape[1]} features, {task}; {self.origin}>"
