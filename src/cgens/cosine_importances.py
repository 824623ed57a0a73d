"""Importances of features in cosines: how much the decision changes along each input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgens.blas import ONE_BLAS_THREAD
from cgens.ensemble import Ensemble
from cgens.importances import input_names
from cgens.packs import PackSet
from cgens.table.encoding import Encoding
from cgens.table.schema import Schema
from cgens.types import AnyArray, Floats, Integers, Sample
from cgens.weak_learners.encoded import EncodedPack
from cgens.weak_learners.fourier import FourierPack
from cgens.weak_learners.mixture import MemberPack
from cgens.weak_learners.projections.cosine_pool import cosines
from cgens.weak_learners.projections.input_metric import InputMetric
from cgens.weak_learners.scaled import ScaledPack

#: Rows, at most, over which squared derivatives are averaged.
GRADIENT_ROWS = 1000
#: What an input is, if it is not the level of this code: a number, a flag of gaps. (-1 stands for all rare levels.)
NUMBER, GAP = -3, -2


def cosine_importances(ensemble: Ensemble, sample: Sample) -> Floats | None:
    """Return the importances of the features in an ensemble of cosines, shape (n_features,).

    That of an input is the root mean square derivative of the decision F along it, over some of the rows of the fit and
    all outputs, times its standard deviation; that of a feature is the root of the sum of squares over its inputs: its
    number, the flag of its gaps, the flags of its levels. With w_j c_j the weights of the cosines and s_j(x) their
    derivatives in the phase, mean_i sum_t (dF_t(x_i) / dz_f)^2 is a quadratic form in the theta_jf, with the matrix
    (sum_t w_jt w_kt) c_j c_k mean_i s_j(x_i) s_k(x_i). Cosines of the same input in several views count together, as
    if it changed by one standard deviation in all of them.

    Parameters
    ----------
    ensemble : Ensemble
    sample : Sample
        The rows of the fit.

    Returns
    -------
    importances : ndarray of shape (n_features,) or None
        They sum to 1, or are all 0 if the decision is constant. None if there are no cosines, or other learners too, if
        their metric is learned, and for sparse rows.
    """
    groups = list(_groups_in(ensemble.packs, np.arange(len(ensemble)), np.ones(len(ensemble))))
    if not groups or sum(len(own.columns) for own in groups) < len(ensemble) or sample.X.is_sparse:
        return None
    rows, share = _some_rows(sample)
    keys = [own.inputs(rows.shape[1]) for own in groups]
    inputs, places = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    ends = np.cumsum([len(own) for own in keys])
    slopes, weights = np.empty((len(share), len(ensemble))), ensemble.weights.copy()
    directions = np.zeros((len(ensemble), len(inputs)))
    for group, own_places in zip(groups, np.split(places.reshape(-1), ends[:-1]), strict=True):
        encoded = group.encoded(rows)
        # up to the sign, which is the same for all
        slopes[:, group.columns] = cosines(encoded, group.pack.thetas, group.pack.kappas - 0.5 * np.pi)
        weights[group.columns] *= group.factors[:, None]
        directions[group.columns[:, None], own_places] = group.pack.thetas * _deviations(encoded, share)
    weights /= np.abs(weights).max() or 1.0  # squares neither overflow nor vanish
    with ONE_BLAS_THREAD:
        form = (weights @ weights.T) * ((share[:, None] * slopes).T @ slopes)
        squares = np.einsum("jf,jf->f", directions, form @ directions)
    spread = np.sqrt(np.bincount(inputs[:, 0], np.maximum(squares, 0.0), minlength=sample.X.shape[1]))
    total = spread.sum()
    return np.asarray(spread / total if total > 0 else spread)


def named_metric(encoding: Encoding, metric: Floats, schema: Schema, sample: Sample) -> dict[str, float]:
    """Return the part of each input in a learned metric, under its name; the parts sum to 1.

    Parameters
    ----------
    encoding : Encoding
        What the inputs are.
    metric : ndarray of shape (n_inputs,)
        Root mean square derivatives along the inputs, up to a factor.
    schema : Schema
        Of X.
    sample : Sample
        The rows of the fit, some of which give the standard deviations of the inputs, by which derivatives are
        multiplied.
    """
    rows, share = _some_rows(sample)
    sizes = InputMetric(metric, _deviations(encoding.transform(rows), share)).sizes
    found: dict[str, float] = {}
    for name, own in zip(input_names(encoding, encoding.input_columns, schema), sizes.tolist(), strict=True):
        found[name] = found.get(name, 0.0) + own / float(sizes.sum())
    return found


@dataclass(frozen=True, eq=False)
class _Group:
    """Cosines with the same inputs.

    Attributes
    ----------
    pack : FourierPack
    columns : ndarray of shape (J,)
        Their numbers in the ensemble.
    factors : ndarray of shape (J,)
        By which they are multiplied.
    encoding : Encoding or None
        Of the rows; None if the columns of X are the inputs.
    features : ndarray or None
        The columns of X that are encoded; None if all are.
    """

    pack: FourierPack
    columns: Integers
    factors: Floats
    encoding: Encoding | None
    features: Integers | None

    def encoded(self, rows: AnyArray) -> Floats:
        """Return the inputs of some rows of X."""
        own = rows if self.features is None else rows[:, self.features]
        return np.asarray(own if self.encoding is None else self.encoding.transform(own), dtype=np.float64)

    def inputs(self, n_features: int) -> Integers:
        """Return the column of X of each input, and what it is (see `NUMBER`), shape (d, 2)."""
        features = np.arange(n_features) if self.features is None else self.features
        if self.encoding is None:
            return np.column_stack([features, np.full(len(features), NUMBER)])
        own = self.encoding
        kinds = [np.full(len(own.numbers), NUMBER), np.full(len(own.gaps), GAP), own.level_codes]
        return np.column_stack([features[own.input_columns], np.concatenate(kinds)])


def _groups_in(
    pack: Any, columns: Integers, factors: Floats, encoding: Encoding | None = None, features: Any = None
) -> Iterator[_Group]:
    """Yield the cosines of a pack, but not those in a learned metric."""
    if isinstance(pack, PackSet):
        for own, inner in pack.parts:
            yield from _groups_in(inner, columns[own], factors[own], encoding, features)
    elif isinstance(pack, MemberPack):
        if pack.columns is not None:
            features = np.array(pack.columns) if features is None else features[list(pack.columns)]
        yield from _groups_in(pack.pack, columns, factors, encoding, features)
    elif isinstance(pack, EncodedPack):
        yield from _groups_in(pack.inner, columns, factors, pack.encoding, features)
    elif isinstance(pack, ScaledPack):
        yield from _groups_in(pack.inner, columns, factors * pack.factors, encoding, features)
    elif isinstance(pack, FourierPack):
        yield _Group(pack, columns, factors, encoding, features)


def _some_rows(sample: Sample) -> tuple[AnyArray, Floats]:
    """Return rows at equal distances, and the share of each in their weight."""
    step = max(1, -(-len(sample) // GRADIENT_ROWS))
    weight = sample.weight[::step]
    return sample.X.take(sample.rows[::step]).matrix(), weight / weight.sum()


def _deviations(inputs: Floats, share: Floats) -> Floats:
    """Return the standard deviation of each input, shape (d,)."""
    shifted = inputs - inputs[0]  # a constant becomes 0 without rounding
    unit = np.abs(shifted).max(axis=0)
    unit[unit == 0] = 1.0
    shifted /= unit  # squares neither overflow nor vanish
    return np.asarray(unit * np.sqrt(share @ (shifted - share @ shifted) ** 2))
