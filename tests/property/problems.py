"""Random small problems, and what it means that two models are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from cgens import CGEnsClassifier, CGEnsRegressor


@dataclass(frozen=True)
class Problem:
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed + 1)


@st.composite
def problems(draw: st.DrawFn, most_rows: int = 60) -> Problem:
    """Tables with ties and repeated rows (small integers) or without (normal), weights of 1 to 4."""
    seed = draw(st.integers(0, 10_000))
    n, d = draw(st.integers(4, most_rows)), draw(st.integers(1, 5))
    n_values = draw(st.sampled_from([2, 3, 10, None]))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if n_values is None else rng.integers(0, n_values, size=(n, d)).astype(np.float64)
    y = (X[:, 0] + rng.normal(scale=0.7, size=n) > X[:, 0].mean()).astype(int)
    y[:2] = [0, 1]
    return Problem(X, y, rng.integers(1, 5, n).astype(np.float64), seed)


costs = st.sampled_from(["scale", 0.01, 0.7, 20.0])


def fit(X, y, sample_weight=None, **options) -> CGEnsClassifier:
    options = {"n_estimators": 15, "n_jobs": 1, **options}
    return CGEnsClassifier(**options).fit(X, y, sample_weight=sample_weight)


def decide(model: CGEnsClassifier | CGEnsRegressor, X: np.ndarray) -> np.ndarray:
    return model.predict(X) if isinstance(model, CGEnsRegressor) else model.decision_function(X)


def assert_same_model(
    first: CGEnsClassifier | CGEnsRegressor, second: CGEnsClassifier | CGEnsRegressor, X: np.ndarray
) -> None:
    """The same learners, and the same bits in weights, objectives and decisions."""
    assert first.ensemble_.learners == second.ensemble_.learners
    one, two = first.ensemble_.to_arrays(), second.ensemble_.to_arrays()
    assert one.keys() == two.keys()
    for name in one:
        assert one[name].tobytes() == two[name].tobytes(), name
    assert first.certificate_ == second.certificate_
    assert decide(first, X).tobytes() == decide(second, X).tobytes()
