"""Training and test rows by the paper's protocols."""

from __future__ import annotations

import numpy as np

from benchmarks.data import Split, balanced, take
from cgens.datasets import load, make_disc
from experiments.experiment import Effort


def published_split(name: str, run: int, effort: Effort) -> Split:
    """Return the canonical split of this number where it is known, else a random one of the published sizes."""
    data = load(name)
    if data.sizes is None:
        raise ValueError(
            f"{name} ({data.origin}) has no published sizes: the experiment needs that of the IDA benchmark repository "
            f'of G. Raetsch, with "ida_protocol": {{"n_train", "n_test"}} in its entry of MANIFEST.json.'
        )
    if run < len(data.splits):
        return take(data, *data.splits[run])
    n_train, n_test = data.sizes
    order = np.random.default_rng(run).permutation(len(data.y))
    return take(data, order[:n_train], order[n_train : n_train + n_test])


def share_split(name: str, run: int, share: float) -> Split:
    """Return a random split with this share of rows for training."""
    data = load(name)
    order = np.random.default_rng(run).permutation(len(data.y))
    n_train = round(share * len(order))
    return take(data, order[:n_train], order[n_train:])


def per_class_split(name: str, run: int, per_class: int) -> Split:
    """Return so many random training rows of every class, and all others as tests."""
    data = load(name)
    order = np.random.default_rng(run).permutation(len(data.y))
    train = np.concatenate([order[data.y[order] == label][:per_class] for label in range(len(data.classes))])
    return take(data, train, np.setdiff1d(order, train))


def multiclass_split(name: str, run: int, effort: Effort) -> Split:
    """Return the paper's split of a set of its third table."""
    if name in ("mnist", "fashion_mnist"):
        return balanced(name, 100 if effort.quick else 1000, run)
    if name == "scene15_gist":
        return per_class_split(name, run, 100)
    if name == "cifar10_gist":
        data = load(name)
        return take(data, *data.splits[0])  # "the provided test and training sets"
    return share_split(name, run, {"pascal07": 0.7, "labelme": 0.7, "sun": 0.8}.get(name, 0.75))


def spam_split(name: str, run: int, effort: Effort) -> Split:
    """Return three rows for training to two for tests."""
    return share_split(name, run, 0.6)


def disc_split(name: str, run: int, effort: Effort) -> Split:
    """Return points of a 2-D Gaussian, within a circle against outside: 2000 to learn from."""
    X, y = make_disc(12_000, random_state=run)
    return Split(X[:2000], y[:2000], X[2000:], y[2000:])
