"""The loop and its parts are public: called with nonsense they say so, and never return a model of it."""

from __future__ import annotations

import numpy as np
import pytest

from cgens import generate_columns
from cgens.masters import Hinge, LeastSquares
from cgens.types import Column, Pricing
from cgens.weak_learners import Stump
from tests.contract.cosines import CosineLearner

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, 1.0, -1.0)


def run(X=X, y=Y, C=1.0, loss=Hinge, **options):
    return generate_columns(loss(C), Stump(), X, y, **{"max_columns": 5, **options})


def with_third(values, value):
    copy = values.copy()
    copy[3] = value
    return copy


NONSENSE = {
    "labels of 0 and 1": (lambda: run(y=(Y > 0).astype(float)), r"0"),
    "NaN label": (lambda: run(y=with_third(Y, np.nan)), r"(?i)nan"),
    "target too short": (lambda: run(y=Y[:-1]), r"39.*40|40.*39"),
    "target too long": (lambda: run(y=np.append(Y, 1.0)), r"41.*40|40.*41"),
    "weights too short": (lambda: run(sample_weight=np.ones(39)), r"39.*40|40.*39"),
    "negative weight": (lambda: run(sample_weight=with_third(np.ones(40), -1.0)), r"-1"),
    "NaN weight": (lambda: run(sample_weight=with_third(np.ones(40), np.nan)), r"(?i)nan"),
    "weights of zero": (lambda: run(sample_weight=np.zeros(40)), r"(?i)weight"),
    "negative C": (lambda: run(C=-1.0), r"C .*-1"),
    "C of zero": (lambda: run(C=0.0), r"C .*0"),
    "C of NaN": (lambda: run(C=np.nan), r"C .*nan"),
    "NaN in X": (lambda: run(X=with_third(X, np.nan)), r"\w"),
    "row that is not there": (lambda: run(rows=np.arange(1, 41)), r"row"),
    "no rows": (lambda: run(X=X[:0], y=Y[:0]), r"rows"),
    "negative tolerance": (lambda: run(tol=-1.0), r"tol.*-1"),
    "label of 0 in the second output": (lambda: run(y=np.column_stack([Y, with_third(Y, 0.0)])), r"-1 and 1.*0"),
    "gain without a curvature": (lambda: run(pricing="gain"), r"gain.*least squares"),
    "squares with negative C": (lambda: run(loss=LeastSquares, C=-1.0), r"C .*-1"),
    "squares with C of zero": (lambda: run(loss=LeastSquares, C=0.0), r"C .*0"),
    "squares with C of NaN": (lambda: run(loss=LeastSquares, C=np.nan), r"C .*nan"),
    "squares with infinite C": (lambda: run(loss=LeastSquares, C=np.inf), r"C .*inf"),
    "squares of a NaN target": (lambda: run(loss=LeastSquares, y=with_third(Y, np.nan)), r"(?i)nan"),
    "squares of an infinite target": (lambda: run(loss=LeastSquares, y=with_third(Y, np.inf)), r"(?i)inf"),
    "squares of another length": (lambda: run(loss=LeastSquares, y=np.ones((39, 3))), r"39.*40|40.*39"),
    "squares with NaN in X": (lambda: run(loss=LeastSquares, X=with_third(X, np.nan)), r"\w"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused(name):
    act, pattern = NONSENSE[name]
    with pytest.raises(ValueError, match=pattern):
        act()


def test_a_learner_from_elsewhere_is_no_obstacle():
    """Taken keys that no candidate has are ignored: columns of an earlier fit may come from another table."""
    earlier, _ = run(X=X + 0.01, max_columns=3)
    ensemble, trace = run(initial=earlier, max_columns=6)
    assert ensemble.learners[:3] == earlier.learners
    assert len(ensemble) == 6
    assert trace.certificate.relative_gap <= 1e-3


def test_squares_take_any_numbers_as_target():
    """Integers, one axis or two; and the outputs of several columns are those of a fit each, weights apart."""
    one, _ = run(loss=LeastSquares, y=np.arange(40))
    assert run(loss=LeastSquares, y=np.arange(40.0)[:, None])[0].learners == one.learners
    several, trace = run(loss=LeastSquares, y=np.column_stack([np.arange(40), Y, -Y]))
    assert several.weights.shape == (5, 3)
    assert several.intercept.shape == (3,)
    assert trace.duals.shape == (40, 3)


def test_one_column_of_integers_is_welcome_as_target():
    plain, _ = run()
    assert run(y=Y.astype(int))[0].learners == plain.learners
    assert run(y=Y[:, None])[0].learners == plain.learners


class BrokenFamily:
    """A family whose author made a mistake: `spoil` turns what it should return into what it does return."""

    def __init__(self, spoil):
        self.spoil = spoil

    def begin(self, sample, rng, n_threads):
        self.learner = CosineLearner((1.0, 0.0, 0.0), 0.5, "float64")
        self.response = self.learner.respond(sample.matrix())
        return self

    def price(self, duals, taken, rule):
        score = float(duals.array[:, 0] @ self.response)
        return self.spoil(Column(self.learner, self.response, score))


MISTAKES = {
    "response too short": (lambda c: Pricing(Column(c.learner, c.response[:-1], c.score)), ValueError, r"39"),
    "response with two axes": (
        lambda c: Pricing(Column(c.learner, c.response[:, None], c.score)), ValueError, r"shape"
    ),
    "response of integers": (
        lambda c: Pricing(Column(c.learner, np.ones(40, dtype=int), c.score)), TypeError, r"int64"
    ),
    "NaN in the response": (
        lambda c: Pricing(Column(c.learner, with_third(c.response, np.nan), c.score)), ValueError, r"response is nan"
    ),
    "infinite price": (lambda c: Pricing(Column(c.learner, c.response, np.inf)), ValueError, r"inf"),
    "the same learner twice": (Pricing, ValueError, r"taken"),
    "no Pricing": (lambda c: c, TypeError, r"Pricing"),
    "nothing at all": (lambda c: None, TypeError, r"Pricing.*None"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_a_new_family_are_named(name):
    spoil, error, pattern = MISTAKES[name]
    with pytest.raises(error, match=pattern):
        generate_columns(Hinge(1.0), BrokenFamily(spoil), X, Y, max_columns=5)


def test_a_response_need_not_be_contiguous():
    wide = np.zeros((40, 2))

    def strided(column):
        wide[:, 0] = column.response
        return Pricing(Column(column.learner, wide[:, 0], column.score))

    once = iter((strided, lambda column: Pricing(None)))
    ensemble, trace = generate_columns(Hinge(1.0), BrokenFamily(lambda c: next(once)(c)), X, Y, max_columns=1)
    assert len(ensemble) == 1
    assert trace.certificate.relative_gap <= 1e-3
