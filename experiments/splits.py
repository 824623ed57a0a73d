"""Training and test sets as the paper's protocols define them."""

from __future__ import annotations

import numpy as np

from cgens.datasets import load, make_disc
from evaluation.splits import Split, balanced_split, first_of_each_class, take
from experiments.experiment import Effort


def published_split(name: str, run: int, effort: Effort) -> Split:
    """Return the published split number `run` if there is one, otherwise a random split of the published sizes."""
    data = load(name)
    if data.split_sizes is None:
        raise ValueError(
            f"{name} ({data.origin}) has no published sizes: the experiment needs the version of the IDA benchmark "
            f'repository of G. Raetsch, with "ida_protocol": {{"n_train", "n_test"}} in its entry of MANIFEST.json.'
        )
    if run < len(data.splits):
        return take(data, *data.splits[run])
    n_train, n_test = data.split_sizes
    order = np.random.default_rng(run).permutation(len(data.y))
    return take(data, order[:n_train], order[n_train : n_train + n_test])


def fraction_split(name: str, run: int, fraction: float) -> Split:
    """Return a random split with this fraction of the rows for training."""
    data = load(name)
    order = np.random.default_rng(run).permutation(len(data.y))
    n_train = round(fraction * len(order))
    return take(data, order[:n_train], order[n_train:])


def per_class_split(name: str, run: int, per_class: int) -> Split:
    """Return `per_class` random training rows of each class; all other rows are the test set."""
    data = load(name)
    order = np.random.default_rng(run).permutation(len(data.y))
    train = first_of_each_class(data, order, per_class)
    return take(data, train, np.setdiff1d(order, train))


def multiclass_split(name: str, run: int, effort: Effort) -> Split:
    """Return the paper's split of a data set of Table 3."""
    if name in ("mnist", "fashion_mnist"):
        return balanced_split(name, 100 if effort.quick else 1000, run)
    if name == "scene15_gist":
        return per_class_split(name, run, 100)
    if name == "cifar10_gist":
        data = load(name)
        return take(data, *data.splits[0])  # "the provided test and training sets"
    return fraction_split(name, run, {"pascal07": 0.7, "labelme": 0.7, "sun": 0.8}.get(name, 0.75))


def spam_split(name: str, run: int, effort: Effort) -> Split:
    """Return a random split 3:2."""
    return fraction_split(name, run, 0.6)


def disc_split(name: str, run: int, effort: Effort) -> Split:
    """Return 2000 training points and 10 000 test points of the paper's toy problem."""
    X, y = make_disc(12_000, random_state=run)
    return Split(X[:2000], y[:2000], X[2000:], y[2000:])
