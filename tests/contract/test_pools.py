"""Pools on awkward rows: repetitions, constant features, adjacent numbers, and very large or small ones."""

from __future__ import annotations

import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest

from cgens import CGEnsRegressor
from cgens.weak_learners import Box, Fourier, Linear, Perceptron, StumpLearner, Tree, TreeLearner
from cgens.weak_learners.box import BoxLearner
from cgens.weak_learners.fourier import FourierLearner
from cgens.weak_learners.search import sampler
from cgens.weak_learners.search.candidates import distinct_rows, fingerprint
from cgens.weak_learners.split import Split
from cgens.weak_learners.thresholds import midpoints


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_constants_and_repetitions_up_to_sign_are_left_out(dtype):
    rows = [[1, -1, 1, 9], [1, -1, 1, 8], [-1, 1, -1, 9], [1, 1, 1, 5], [1, 1, -1, 9], [0, 0, 0, 9]]
    assert distinct_rows(np.array(rows, dtype=dtype), 3).tolist() == [0, 4], "padding does not count"


@pytest.mark.parametrize("start", [[1.0], [-1.0], [0.0], [-0.0], [0.0, -0.0]])
def test_a_response_and_its_negative_have_one_fingerprint(start):
    response = np.array([*start, 0.5, -2.0, 0.0], dtype=np.float32)
    assert fingerprint(response) == fingerprint(-response)
    assert distinct_rows(np.array([response, -response]), len(response)).tolist() == [0]


def test_multiples_of_other_inputs_are_left_out(rng):
    X = rng.normal(size=(40, 2))
    repeated = np.column_stack([X, -X, 4 * X, np.full(40, 3.0)])
    assert CGEnsRegressor(Linear(), C=1.0).fit(repeated, X[:, 0]).certificate_.n_candidates == 2


@pytest.mark.parametrize(("sizes", "n_items"), [([1], 1), ([2, 3], 40), ([5], 5), ([1, 30], 33)])
def test_subsets_are_the_items_with_the_smallest_keys(sizes, n_items, monkeypatch):
    """In blocks of any size: the keys of one list, of some lists, or of all of them."""
    for block in (1, 7 * n_items, 2**20):
        monkeypatch.setattr(sampler, "BLOCK_KEYS", block)
        drawn, lists = sampler.random_subsets(50, sizes, n_items, np.random.default_rng(3))
        rng = np.random.default_rng(3)
        assert drawn.tolist() == rng.choice(sizes, size=50).tolist()
        assert lists.tolist() == rng.random((50, n_items)).argsort(axis=1)[:, : max(sizes)].tolist()


def test_subsets_of_many_items_need_little_memory(rng):
    tracemalloc.start()
    _, lists = sampler.random_subsets(500, [2, 3], 20_000, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lists.shape == (500, 3)
    assert peak < 40e6, "the keys of all lists take 80 MB"


NEIGHBOURS = np.float32(1.0) + np.arange(5, dtype=np.float32) * np.finfo(np.float32).eps


def test_midpoints_separate_adjacent_numbers():
    """Some are rounded to the upper one, and sums of huge ones overflow."""
    above = np.cumprod(np.full(8, np.nextafter(1.0, 2.0)))
    for values in (above, -above[::-1], np.array([0.0, 5e-324, 1e-323, 1.5e-323]), np.array([1e308, 1.7e308])):
        low, high = values[:-1], values[1:]
        thresholds = midpoints(low, high)
        assert np.all((low <= thresholds) & (thresholds < high))


@pytest.mark.parametrize(
    "make",
    [StumpLearner, lambda feature, threshold: BoxLearner((Split(feature, threshold),), (1,))],
    ids=["stump", "box"],
)
def test_float32_inputs_are_compared_with_the_threshold_in_float64(make):
    """The midpoint of adjacent float32 numbers is not a float32."""
    X = NEIGHBOURS[:, None]
    for k in range(4):
        learner = make(0, 0.5 * float(X[k, 0]) + 0.5 * float(X[k + 1, 0]))
        expected = [1 if j > k else -1 for j in range(5)]
        assert type(learner).pack([learner]).respond(X, 1)[:, 0].tolist() == expected
        assert learner.respond(X).tolist() == expected


@pytest.mark.parametrize(
    "family",
    [Tree(2, min_samples_leaf=2), Box(n_candidates=20), Fourier(learn=True), Perceptron(learn=True), Linear()],
    ids=lambda family: type(family).__name__,
)
@pytest.mark.parametrize("seed", range(4))
def test_a_constant_feature_beside_another_does_not_matter(family, seed, rng):
    X = np.column_stack([np.ones(60), rng.normal(size=60)])
    model = CGEnsRegressor(family, n_estimators=5, random_state=seed, n_jobs=1).fit(X, X[:, 1])
    assert model.n_columns_ > 0
    assert model.score(X, X[:, 1]) > 0


@pytest.mark.parametrize("power", [-400, -140, -90, 90, 140, 400])
@pytest.mark.parametrize("learn", [True, "auto", False])
@pytest.mark.parametrize("family", [Fourier, Perceptron])
def test_units_beyond_the_range_of_float32_do_not_matter(family, learn, power, rng):
    X = rng.normal(size=(300, 3))
    target = np.cos(X @ [0.6, -0.4, 0.5])
    model = CGEnsRegressor(family(n_candidates=50, learn=learn), n_estimators=5, random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(np.ldexp(X, power), target)
    assert model.n_columns_ == 5
    assert model.score(np.ldexp(X, power), target) > 0


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("seed", range(20))
def test_distinct_rows_equal_a_pairwise_comparison(dtype, seed):
    """Many copies and negations and few values, so that candidates agree on some rows and differ on others."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 60)), int(rng.integers(1, 120))
    values = [-1, 1] if dtype == np.int8 else [-1.5, 0.0, 0.0, 0.0, 2.0]
    responses = rng.choice(values, size=(n, width)).astype(dtype)
    for _ in range(n):
        a, b = rng.integers(0, n, size=2)
        responses[a] = responses[b] * dtype(rng.choice([-1, 1]))
        responses[a, rng.integers(0, width)] *= dtype(rng.choice([-1, 1]))
    n_rows = int(rng.integers(1, width + 1))
    kept: list[int] = []
    for number, own in enumerate(responses[:, :n_rows]):
        like = [np.array_equal(own, other) or np.array_equal(own, -other) for other in responses[kept, :n_rows]]
        if len(np.unique(own)) > 1 and not any(like):
            kept.append(number)
    assert distinct_rows(responses, n_rows).tolist() == kept


def test_a_box_is_the_conjunction_of_its_conditions():
    """At its thresholds too: these belong to the lower side."""
    X = np.array([[x, y] for x in (0.0, 1.0, 2.0) for y in (0.0, 1.0, 2.0)])
    box = BoxLearner((Split(0, 1.0), Split(1, 1.0)), (-1, 1))
    expected = np.where((X[:, 0] <= 1.0) & (X[:, 1] > 1.0), 1, -1)
    assert np.array_equal(box.respond(X), expected)
    together = BoxLearner.pack([box, BoxLearner((Split(1, 0.0),), (-1,))])  # the second has fewer conditions
    assert np.array_equal(together.respond(X, 1), np.column_stack([expected, np.where(X[:, 1] <= 0.0, 1, -1)]))


def make_tree(*values):
    """Return the arrays of a tree that splits the first feature at 0, with these values of the root and the leaves."""
    nodes = [np.array(part, dtype=np.int32) for part in ([0, -1, -1], [1, -1, -1], [2, -1, -1])]
    no_gaps, no_levels = np.zeros(3, dtype=np.uint8), (np.zeros(4, dtype=np.int64), np.array([], dtype=np.uint32))
    values = np.array(values, dtype=np.float32)
    return nodes[0], np.zeros(3), nodes[1], nodes[2], values, np.ones(3), no_gaps, *no_levels


def test_learners_copy_the_arrays_they_are_made_of():
    for make, arrays in ((TreeLearner, make_tree(0, -1, 1)), (partial(FourierLearner, kappa=0.5), [np.ones(3)])):
        learner, same = make(*arrays), make(*arrays)
        for array in arrays:
            array += 1
        assert learner.key == same.key
        own = learner.values if isinstance(learner, TreeLearner) else learner.theta
        with pytest.raises(ValueError, match="read-only"):
            own[0] = 2.0


def test_trees_respond_in_the_type_of_their_leaves():
    signs, real = TreeLearner(*make_tree(0.5, -1, 1)), TreeLearner(*make_tree(0.5, -1, 0.5))
    X = np.array([[-1.0], [1.0]])
    for learners, dtype in (([signs], np.int8), ([signs, signs], np.int8), ([real], "f4"), ([signs, real], "f4")):
        responses = TreeLearner.pack(learners).respond(X, 1)
        assert responses.dtype == dtype
        assert np.array_equal(responses, np.column_stack([learner.respond(X) for learner in learners]))
    assert signs.respond(X).tolist() == [-1, 1]
