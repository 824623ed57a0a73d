"""`cgens.testing` finds mistakes of the authors of losses and families, and says where they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cgens.masters import AdaBoost, Hinge, LeastSquares, Liblinear, Logistic
from cgens.packs import register_pack
from cgens.testing import check_master, check_weak_learner
from cgens.types import Status
from cgens.weak_learners import Linear
from cgens.weak_learners.linear import LinearLearner, LinearPack


def with_attribute(**attributes):
    """Return a hinge loss with other class attributes."""
    return type("Wrong", (Hinge,), attributes)()


def with_result(base, name, change):
    """Return a loss whose method returns `change(correct result, *arguments)`."""
    return type("Wrong", (base,), {name: lambda self, *given: change(getattr(base, name)(self, *given), *given)})()


def with_solution(change):
    """Return a master whose solutions are `change(correct solution, interrupted)`."""

    def wrap(restricted, *_):
        solve = restricted.solve
        restricted.solve = lambda tol, interrupted, quick=False: change(solve(tol, interrupted, quick), interrupted)
        return restricted

    return with_result(Liblinear, "begin", wrap)


def with_higher_bound(restricted, *_):
    bound = restricted.pool_bound
    restricted.pool_bound = lambda *given: 1.1 * bound(*given)
    return restricted


class Doubling(Hinge):
    def __init__(self, C=1.0):
        super().__init__(2 * C)


class Unweighted(Liblinear):
    def begin(self, target, sample_weight, n_threads):
        return super().begin(target, np.ones(len(target)), n_threads)


class Threaded(LeastSquares):
    def begin(self, target, sample_weight, n_threads):
        return super().begin((1 + 1e-9 * (n_threads - 1)) * target, sample_weight, n_threads)


def uninterrupted(solution, interrupted):
    return replace(solution, status=Status.NOT_CONVERGED) if interrupted() else solution


#: A master with a mistake | the check that must find it | what else the message says
WRONG_MASTERS = {
    "parameters": (Doubling(), "check_parameters", "__init__ must only store"),
    "no targets": (with_attribute(targets=frozenset()), "Wrong", "`targets` is empty"),
    "no flag": (with_attribute(smooth=None), "check_parameters", "smooth is None"),
    "shapes": (with_solution(lambda s, _: replace(s, weights=s.weights.T)), "check_shapes", r"\(1, 0\), not \(0, 1\)"),
    "dual": (with_solution(lambda s, _: replace(s, dual=1.1 * s.primal)), "check_shapes", "dual value.*above"),
    "gap": (with_solution(lambda s, _: replace(s, dual=0.99 * s.dual)), "check_convergence", "gap is.*optimal"),
    "interrupts": (with_solution(uninterrupted), "check_interrupts", "`interrupted` returned True.*not_converged"),
    "weights": (Unweighted(), "check_weights", "optimum of repeated rows"),
    "threads": (Threaded(), "check_threads", "n_threads=2"),
    "bound": (with_result(Hinge, "begin", with_higher_bound), "check_pool_bound", "bound is.*above the optimum"),
    "losses": (with_result(Hinge, "losses", lambda v, *_: 0.9 * v), "check_objectives", "`primal`.*is.*not"),
    "dual values": (with_result(Hinge, "dual_values", lambda v, *_: v + 1e-3), "check_objectives", "`dual`.*is.*not"),
    "conjugate": (with_result(Logistic, "dual_values", lambda v, *_: v - 1e-3), "check_objectives", "`dual`.*is.*not"),
    "domain": (with_result(Hinge, "infeasibility", lambda *_: 0.1), "check_objectives", r"`infeasibility`.*0\.1"),
    "gradient": (with_result(LeastSquares, "gradient", lambda v, *_: 1.1 * v), "check_gradient", "differences of"),
    "curvature": (with_result(Logistic, "curvature", lambda v, *_: 1.1 * v), "check_gradient", "differences of `grad"),
    "shares": (with_result(Logistic, "probabilities", lambda p, *_: p / 2), "check_probabilities", r"sum to 0\.5"),
    "classes": (with_result(Logistic, "probabilities", lambda p, *_: 1 - p), "check_probabilities", "most probable"),
    "path": (with_result(Hinge, "solve_path", lambda path, *_: path[::-1]), "check_paths", "objective of the path"),
    "no path": (with_result(Hinge, "solve_path", lambda path, *_: path or [[]]), "check_paths", "empty list"),
    "rules": (with_attribute(rules=("gain",)), "check_attributes", "'gain'.*curvature"),
    "kind of C": (with_attribute(c_kind="large"), "check_attributes", "c_kind.*'large'"),
}


@pytest.mark.parametrize("mistake", WRONG_MASTERS)
def test_mistakes_in_masters_are_found(mistake):
    master, check, pattern = WRONG_MASTERS[mistake]
    with pytest.raises(AssertionError, match=f"{check}.*{pattern}"):
        check_master(master)


def test_stage_wise_masters_are_refused():
    with pytest.raises(TypeError, match=r"AdaBoost.*stage-wise"):
        check_master(AdaBoost())


#: Every pack needs its own name.
NUMBERS = count()


class Wrong(BaseEstimator):
    """The features as columns, with pricings `change(correct pricing, pricer, duals)`."""

    def __init__(self, change):
        self.change = change

    def begin(self, sample, rng, n_threads):
        pricer = Linear().begin(sample, rng, n_threads)
        pricer.sample, pricer.n_threads, price = sample, n_threads, pricer.price
        pricer.price = lambda duals, *given: self.change(price(duals, *given), pricer, duals)
        return pricer


def priced(**changes):
    """Return a family with other values in its pricings."""
    return Wrong(lambda pricing, *_: replace(pricing, **changes))


def of_column(change):
    """Return a family whose columns are `change(correct column, pricer)`."""

    def changed(pricing, pricer, duals):
        return pricing if pricing.column is None else replace(pricing, column=change(pricing.column, pricer))

    return Wrong(changed)


def of_learner(make):
    return of_column(lambda column, _: replace(column, learner=make(**vars(column.learner))))


def packed(**changes):
    """Return a family whose packs have other methods."""
    name = f"test {next(NUMBERS)}"
    pack = register_pack(name)(type(name, (LinearPack,), changes))
    make = staticmethod(lambda learners: pack(**LinearLearner.pack(learners).to_arrays()))
    return of_learner(type("Learner", (LinearLearner,), {"pack": make}))


def overwriting(array_of):
    """Return a family that changes an array that it was given."""

    def changed(pricing, pricer, duals):
        array_of(pricer, duals)[0] += 1e-3
        return pricing

    return Wrong(changed)


def moved(pack):
    """Return a pack with other means."""
    return LinearPack(pack.features, pack.means + 1.0, pack.scales)


class Remembering(Linear):
    def __init__(self, seen=None):
        self.seen = seen

    def begin(self, sample, rng, n_threads):
        self.seen = len(sample)
        return super().begin(sample, rng, n_threads)


class Mutable(SimpleNamespace):
    key = LinearLearner.key
    respond = LinearLearner.respond


#: A family with a mistake | the check that must find it | what else the message says
WRONG_FAMILIES = {
    "parameters": (Remembering(), "check_parameters", "`begin` changed the parameters"),
    "no energy": (priced(energy=0.0), "check_pool", r"energy is 0\.0"),
    "twice the energy": (Wrong(lambda p, *_: replace(p, energy=2 * p.energy)), "check_pool", "energy is"),
    "no size": (priced(n_candidates=None), "check", "only one of `energy`"),
    "size": (priced(n_candidates=1), "check_pool", "n_candidates is 1, but 5"),
    "largest price": (priced(max_price=1e-3), "check_prices", r"max_price is 0\.001"),
    "merit": (priced(merit=0.0), "check_prices", r"merit is 0\.0"),
    "nothing": (Wrong(lambda *_: None), "check_det", "FixedPricer.price must return"),
    "price": (of_column(lambda c, _: replace(c, price=1.1 * c.price)), "check_prices", "price of the column"),
    "response": (of_column(lambda c, _: replace(c, response=2 * c.response)), "check_learners", "not the response of"),
    "taken": (of_column(lambda c, p: vars(p).setdefault("first", c)), "check_learners", "already taken"),
    "threads": (of_column(lambda c, p: replace(c, price=c.price * (1 + 1e-12 * p.n_threads))), "check_det", "price is"),
    "writes to X": (overwriting(lambda pricer, duals: pricer.sample.X.values), "check_det", "changed its input X"),
    "writes to duals": (overwriting(lambda pricer, duals: duals.array), "check_det", "changed its input duals"),
    "mutable": (of_learner(Mutable), "check_learners", "can be set.*frozen dataclass"),
    "pack, length": (packed(__len__=lambda self: 3), "check_packs", "len of the pack is 3, not 5"),
    "pack, learners": (
        packed(learner=lambda self, j: LinearPack.learner(moved(self), j)),
        "check_packs",
        r"learner\(\d\) of the pack",
    ),
    "pack, responses": (
        packed(respond=lambda self, X, n: moved(self).respond(X, n)),
        "check_packs",
        r"respond\(X, 1\)",
    ),
    "pack, decisions": (
        packed(decider=lambda self, w: moved(self).decider(w)),
        "check_packs",
        r"decider\(weights\)",
    ),
    "pack, arrays": (packed(to_arrays=lambda self: LinearPack.to_arrays(moved(self))), "check_packs", "own arrays"),
    "pack, objects": (packed(to_arrays=lambda self: {"features": [1]}), "check_packs", "not an array"),
}


@pytest.mark.parametrize("mistake", WRONG_FAMILIES)
def test_mistakes_in_families_are_found(mistake):
    family, check, pattern = WRONG_FAMILIES[mistake]
    with pytest.raises(AssertionError, match=f"{check}.*{pattern}"):
        check_weak_learner(family)


def test_a_correct_family_passes():
    check_weak_learner(packed())
