"""The columns of a sparse table, each scaled to mean 0 and variance 1, as candidates: only stored entries are read."""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b

import numpy as np
from scipy import sparse

from cgens.types import AnyArray, Floats, Sample


class SparseColumns:
    """Responses (x_f - mean_f) / scale_f on the training rows; what a matrix of responses is for other candidates.

    Parameters
    ----------
    sample : Sample
        Of a sparse table.
    means, scales : ndarray of shape (n_features,)
    """

    dtype = np.dtype(np.float32)

    def __init__(self, sample: Sample, means: Floats, scales: Floats) -> None:
        self._columns = sparse.csc_array(sample.matrix())
        self._means, self._scales = means, scales

    def __len__(self) -> int:
        return len(self._means)

    @cached_property
    def _owners(self) -> AnyArray:
        """The column of each stored entry."""
        return np.repeat(np.arange(len(self)), np.diff(self._columns.indptr))

    @cached_property
    def _values(self) -> Floats:
        """The response at each stored entry, as rounded in the response of a column."""
        centred = (self._columns.data.astype(np.float64) - self._means[self._owners]) / self._scales[self._owners]
        return centred.astype(np.float32).astype(np.float64)

    @cached_property
    def _elsewhere(self) -> Floats:
        """The response of each column in the other rows."""
        return (-self._means / self._scales).astype(np.float32).astype(np.float64)

    @cached_property
    def _excess(self) -> sparse.csc_array:
        """How much the responses at stored entries differ from those elsewhere."""
        data = self._values - self._elsewhere[self._owners]
        return sparse.csc_array((data, self._columns.indices, self._columns.indptr), shape=self._columns.shape)

    @property
    def largest(self) -> float:
        """Largest |response|."""
        return float(max(np.abs(self._values).max(initial=0.0), np.abs(self._elsewhere).max(initial=0.0)))

    def products(self, vectors: Floats) -> Floats:
        """Return the products of all responses with vectors of shape (m, l), shape (n_features, l)."""
        return np.asarray(self._excess.T @ vectors + self._elsewhere[:, None] * vectors.sum(axis=0))

    def centred_squares(self, weights: Floats) -> Floats:
        """Return the sum of weight (response - its weighted mean)^2 for each column."""
        total = weights.sum()
        mean = self.products(weights[:, None])[:, 0] / total
        own = weights[self._columns.indices]
        stored = np.bincount(self._owners, weights=own, minlength=len(self))
        squares = own * (self._values - mean[self._owners]) ** 2
        inside = np.bincount(self._owners, weights=squares, minlength=len(self))
        return np.asarray(inside + np.maximum(total - stored, 0.0) * (self._elsewhere - mean) ** 2)

    def response(self, number: int) -> AnyArray:
        """Return the response of one column, shape (m,), float32."""
        response = np.full(self._columns.shape[0], self._elsewhere[number], dtype=np.float32)
        own = slice(self._columns.indptr[number], self._columns.indptr[number + 1])
        response[self._columns.indices[own]] = self._values[own]
        return response

    def distinct(self) -> AnyArray:
        """Return the columns that are neither constant nor equal to an earlier one up to sign."""
        kept, seen = [], set()
        for number in range(len(self)):
            own = slice(self._columns.indptr[number], self._columns.indptr[number + 1])
            stored = self._columns.data[own] != 0
            values, elsewhere = self._values[own][stored], self._elsewhere[number]
            if not len(values) or (np.all(values == values[0]) and len(values) == self._columns.shape[0]):
                continue
            sign = 1.0 if elsewhere > 0 or (elsewhere == 0 and values[0] > 0) else -1.0
            content = (
                self._columns.indices[own][stored].tobytes() + (sign * np.append(values, elsewhere) + 0.0).tobytes()
            )
            digest = blake2b(content, digest_size=16).digest()
            if digest not in seen:
                seen.add(digest)
                kept.append(number)
        return np.array(kept, dtype=np.intp)
