"""Learned directions: gradients are correct, offsets are optimal, and no direction ends worse than it started."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from cgens import CGEnsClassifier, CGEnsRegressor
from cgens.types import Duals, Sample
from cgens.weak_learners import Fourier, Perceptron
from cgens.weak_learners.fourier import CosineActivation
from cgens.weak_learners.perceptron import TanhActivation
from cgens.weak_learners.projections.ascent import AscentRows, ascend
from cgens.weak_learners.projections.coordinates import Coordinates
from cgens.weak_learners.projections.spread import Spread
from tests.tolerances import ASCENT, CLOSED_FORM

ACTIVATIONS = {"cosine": CosineActivation(), "tanh": TanhActivation()}
COLUMNS = {
    "cosine": lambda phase, kappa: np.sqrt(2) * np.cos(phase - kappa),
    "tanh": lambda phase, kappa: np.tanh(phase),
}

every_activation = pytest.mark.parametrize("name", ACTIVATIONS)
weighted = pytest.mark.parametrize("weighted", [False, True])


def make_rows(rng, weighted, m=150, r=4, n_outputs=2, dtype=np.float64):
    Z, R = rng.normal(size=(m, r)), rng.normal(size=(m, n_outputs))
    v = rng.uniform(0.1, 2.0, m) if weighted else np.zeros(m)
    return AscentRows(*(part.astype(dtype) for part in (Z, R - R.mean(axis=0), v)))


def make_directions(rng, rows, n=5):
    """Return directions and offsets."""
    return 0.7 * rng.normal(size=(n, rows.Z.shape[1])), rng.uniform(0, 2 * np.pi, n)


def naive_gain(name, rows, theta, kappa):
    """Return sum_t (c'R_t)^2 / (1 + c'diag(v)c), c centred by v."""
    c = COLUMNS[name](rows.Z.astype(float) @ theta, kappa)
    v = rows.v.astype(float)
    centred = c - (v @ c / v.sum() if v.any() else 0.0)
    return np.sum((c @ rows.R.astype(float)) ** 2) / (1 + v @ centred**2)


def naive_gradient(name, rows, theta, kappa, step=1e-5):
    """Return half the gradient of log gain, by finite differences."""
    sides = [
        [np.log(naive_gain(name, rows, theta + sign * step * axis, kappa)) for axis in np.eye(len(theta))]
        for sign in (1, -1)
    ]
    return (np.array(sides[0]) - sides[1]) / (4 * step)


@every_activation
@weighted
def test_gains_are_those_of_the_definition(name, weighted, rng):
    rows = make_rows(rng, weighted, m=5000)
    thetas, kappas = make_directions(rng, rows)
    sums, _ = rows.sums(ACTIVATIONS[name], thetas, 1)
    expected = [naive_gain(name, rows, theta, kappa) for theta, kappa in zip(thetas, kappas, strict=True)]
    assert np.allclose(sums.gain(ACTIVATIONS[name].weights(kappas)), expected, rtol=CLOSED_FORM)


@every_activation
@weighted
@pytest.mark.parametrize("m", [150, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_equals_finite_differences(name, weighted, m, dtype, rng):
    rows = make_rows(rng, weighted, m, dtype=dtype)
    thetas, kappas = make_directions(rng, rows)
    thetas = thetas.astype(dtype)
    sums, bases = rows.sums(ACTIVATIONS[name], thetas, 1)
    found = rows.gradient(ACTIVATIONS[name], bases, sums, kappas, 1)
    assert found.shape == thetas.shape
    for own, theta, kappa in zip(found, thetas.astype(float), kappas, strict=True):
        expected = naive_gradient(name, rows, theta, kappa)
        assert np.abs(own - expected).max() <= ASCENT * np.abs(expected).max()


@every_activation
@weighted
def test_sums_and_gradients_do_not_depend_on_threads(name, weighted, rng):
    rows = make_rows(rng, weighted, m=7000, dtype=np.float32)
    thetas, kappas = make_directions(rng, rows, 30)
    bits = set()
    for n_threads in (1, 2, 3):
        sums, bases = rows.sums(ACTIVATIONS[name], thetas.astype(np.float32), n_threads)
        parts = sums.prices, sums.squares, sums.means, rows.gradient(ACTIVATIONS[name], bases, sums, kappas, n_threads)
        bits.add(b"".join(part.tobytes() for part in parts))
    assert len(bits) == 1


@given(seed=st.integers(0, 10_000), weighted=st.booleans(), n_outputs=st.integers(1, 3), m=st.sampled_from([3, 60]))
def test_offset_of_a_cosine_is_the_best(seed, weighted, n_outputs, m):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, weighted, m, n_outputs=n_outputs)
    thetas, kappas = make_directions(rng, rows)
    activation = CosineActivation()
    sums, _ = rows.sums(activation, thetas, 1)
    best = sums.gain(activation.weights(activation.refine(kappas, sums)))
    grid = np.array([sums.gain(activation.weights(np.full(5, kappa))) for kappa in np.linspace(0, np.pi, 400)])
    assert np.all(best >= grid.max(axis=0) * (1 - CLOSED_FORM))
    assert np.allclose(best, grid.max(axis=0), rtol=1e-3, atol=0), "the grid is fine enough for that"


def test_offset_of_a_cosine_without_a_price_is_finite(rng):
    rows, activation = make_rows(rng, False), CosineActivation()
    nothing = AscentRows(rows.Z, 0 * rows.R, rows.v)
    thetas, kappas = make_directions(rng, rows)
    assert np.isfinite(activation.refine(kappas, nothing.sums(activation, thetas, 1)[0])).all()


def learn(name, rows, held_out, thetas, kappas, mask=None):
    variance = np.var(rows.Z, axis=0).astype(np.float64)
    return ascend(ACTIVATIONS[name], thetas.astype(np.float32), kappas, rows, held_out, variance, mask, 1)


def gains_on(rows, name, thetas, kappas):
    return rows.sums(ACTIVATIONS[name], thetas, 1)[0].gain(ACTIVATIONS[name].weights(kappas))


@every_activation
@given(seed=st.integers(0, 10_000), weighted=st.booleans(), guarded=st.booleans())
def test_no_direction_ends_worse_than_it_started(name, seed, weighted, guarded):
    """On the held-out half of the rows or, without one, on those of the ascent."""
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, weighted, m=80, dtype=np.float32)
    halves = rows.part(np.arange(0, 80, 2)), rows.part(np.arange(1, 80, 2))
    own, held_out = halves if guarded else (rows, rows)
    thetas, kappas = make_directions(rng, rows)
    found = learn(name, own, held_out if guarded else None, thetas, kappas)
    first = ACTIVATIONS[name].refine(kappas, own.sums(ACTIVATIONS[name], thetas.astype(np.float32), 1)[0])
    before = gains_on(held_out, name, thetas.astype(np.float32), first)
    assert np.all(gains_on(held_out, name, found.thetas, found.state) >= before * (1 - CLOSED_FORM))


@every_activation
def test_an_ascent_finds_the_direction_of_a_signal(name, rng):
    """From starts at some distance, for a target that is one column."""
    Z = rng.normal(size=(600, 4)).astype(np.float32)
    theta = np.array([1.0, -0.5, 0.3, 0.8])
    signal = COLUMNS[name](Z @ theta, 0.4)
    rows = AscentRows(Z, (signal - signal.mean())[:, None].astype(np.float32), np.ones(600, dtype=np.float32))
    start = (theta + 0.4 * rng.normal(size=(10, 4))).astype(np.float32)
    found = learn(name, rows, None, start, np.zeros(10))
    best = naive_gain(name, rows, theta, 0.4)
    gains = gains_on(rows, name, found.thetas, found.state)
    assert np.median(gains) > 0.9 * best
    assert np.median(gains) > np.median(gains_on(rows, name, start, np.full(10, 0.4)))


@every_activation
def test_masked_inputs_stay_zero(name, rng):
    rows = make_rows(rng, True, dtype=np.float32)
    thetas, kappas = make_directions(rng, rows)
    mask = rng.random(thetas.shape) < 0.5
    found = learn(name, rows, None, thetas * mask, kappas, mask)
    assert not found.thetas[~mask].any()
    assert np.any(found.thetas[mask] != thetas.astype(np.float32)[mask])


def test_the_scale_of_the_duals_does_not_matter(rng):
    sample = Sample(rng.normal(size=(50, 3)), np.arange(50), np.ones(50))
    coordinates = Coordinates.of(sample, Spread.of(sample, "Fourier", True), True, 1)
    array = rng.normal(size=(50, 2))
    plain = AscentRows.of(coordinates, Duals(array), False)
    for power in (-400, -1, 300):
        assert np.array_equal(AscentRows.of(coordinates, Duals(np.ldexp(array, power)), False).R, plain.R)
    assert not AscentRows.of(coordinates, Duals(0 * array), False).R.any()


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_directions_in_coordinates_are_directions_of_the_rows(standardize, rotate, rng):
    """theta.z = raw.x - shift, and coordinates have mean 0 and the stated variances."""
    X = rng.normal(size=(300, 5)) * [1.0, 4.0, 0.5, 1.0, 0.0] + [0.0, 10.0, 1.0, -1.0, 3.0]
    X[:, 3] = X[:, 0] - 0.5 * X[:, 2]
    weight = rng.integers(1, 4, 300).astype(float)
    sample = Sample(X, rng.permutation(300)[:200], weight[:200])
    own = Coordinates.of(sample, Spread.of(sample, "Fourier", standardize), rotate, 1)
    assert own.Z.dtype == np.float32
    assert own.Z.shape[1] == (3 if rotate else 5), "one feature is constant, and one depends on others"
    thetas = rng.normal(size=(6, own.Z.shape[1]))
    raw, shifts = own.raw(thetas)
    expected = raw @ sample.matrix().T - shifts[:, None]
    assert np.allclose(thetas @ own.Z.T.astype(float), expected, rtol=0, atol=ASCENT * np.abs(expected).max())
    share = sample.weight / sample.weight.sum()
    assert np.abs(share @ own.Z).max() <= ASCENT * own.Z.std()
    assert np.allclose(share @ own.Z.astype(float) ** 2, own.variance, rtol=ASCENT, atol=ASCENT)


AUTO = {
    "fourier": (Fourier(n_candidates=100), lambda phase: np.cos(2 * phase)),
    "perceptron": (Perceptron(100), lambda phase: np.sign(phase - 0.3)),
}


def problem(name, n, noisy, rng):
    X = rng.normal(size=(n, 5))
    score = rng.normal(size=n) if noisy else AUTO[name][1](X @ [0.6, -0.4, 0.3, 0.5, -0.2])
    return X, score


@pytest.mark.parametrize("name", AUTO)
@pytest.mark.parametrize(
    "model", [CGEnsClassifier(), CGEnsClassifier(loss="least_squares"), CGEnsRegressor()], ids=repr
)
def test_columns_are_learned_for_a_signal_and_selected_for_noise(name, model, rng):
    for noisy, scope in ((True, "pool"), (False, "restricted")):
        X, score = problem(name, 300 if noisy else 2000, noisy, rng)
        target = score if isinstance(model, CGEnsRegressor) else (score > 0).astype(int)
        options = {"weak_learner": AUTO[name][0], "n_estimators": 5, "random_state": 0, "n_jobs": 1}
        certificate = clone(model).set_params(**options).fit(X, target).certificate_
        assert certificate.scope == scope
        assert certificate.n_candidates == (100 if noisy else None)


@pytest.mark.parametrize("name", AUTO)
def test_learned_columns_explain_more_than_drawn_ones(name, rng):
    X, score = problem(name, 2000, False, rng)
    models = [
        CGEnsRegressor(type(AUTO[name][0])(n_candidates=100, learn=learn), n_estimators=10, random_state=0).fit(
            X, score
        )
        for learn in (True, False)
    ]
    assert models[0].certificate_.primal < 0.5 * models[1].certificate_.primal


@pytest.mark.parametrize("family", [Fourier, Perceptron])
def test_with_few_rows_columns_are_selected_even_if_learning_is_requested(family, rng):
    X = rng.normal(size=(39, 3))
    model = CGEnsRegressor(family(n_candidates=50, learn=True), n_estimators=5, random_state=0).fit(X, X[:, 0])
    assert model.certificate_.scope == "pool"
