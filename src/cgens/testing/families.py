"""The contract of weak-learner families."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from cgens.colgen import generate_columns
from cgens.column_checks import checked_pricing
from cgens.masters import Hinge, LeastSquares
from cgens.packs import pack_from_arrays, pack_to_arrays
from cgens.table import Table
from cgens.testing.checks import (
    CLOSED_FORM,
    ROUNDING,
    expect,
    expect_close,
    expect_params_kept,
    run_checks,
    same_up_to_sign,
)
from cgens.types import AnyArray, Column, Duals, Family, Floats, Learner, Pricer, Pricing, Rule, Sample

#: Larger pools are not searched to the end.
LARGEST_POOL = 1000
PACK_METHODS = ("__len__", "learner", "respond", "decider", "to_arrays", "from_arrays")


def check_weak_learner(family: Family, *, rules: Sequence[Rule] = ("max", "gain")) -> None:
    """Check that a family of weak learners fulfils the contract of `cgens.types.Family`.

    Columns are searched for at random duals and in small fits. A pool of at most 1000 candidates is searched to the
    end, so that the energy of the pool and the choice of the best column can be verified; a larger one in part.

    Parameters
    ----------
    family : Family
        With its hyperparameters, for example ``MyFamily(n_candidates=50)``.
    rules : sequence of {"max", "gain", "votes"}
        The rules that it supports; "votes" is needed only by boosting with several outputs.

    Raises
    ------
    AssertionError
        If the contract is violated; the message names the check and what was found.

    Examples
    --------
    >>> from cgens.weak_learners import Stump
    >>> check_weak_learner(Stump(max_bins=10), rules=("max", "gain", "votes"))
    """
    run_checks(f"{family!r}", FamilyProblem(family, tuple(rules)), FAMILY_CHECKS)


@dataclass(frozen=True, eq=False)
class FamilyProblem:
    """A family, the rules that it supports, and rows to search on."""

    family: Family
    rules: tuple[Rule, ...]

    @cached_property
    def sample(self) -> Sample:
        """70 weighted rows in another order than in X; some features have few values, one is constant."""
        rng = np.random.default_rng(7)
        X = np.column_stack([rng.normal(size=(80, 3)), rng.integers(0, 4, size=(80, 2)), np.zeros(80)])
        return Sample(Table.of(X), rng.permutation(80)[:70], rng.integers(1, 4, 70).astype(float))

    @cached_property
    def new_rows(self) -> Floats:
        """Rows that the family has not seen."""
        return np.random.default_rng(8).normal(size=(33, 6))

    def begin(self, n_threads: int = 1) -> Pricer:
        """Return a new search with the same random numbers."""
        return self.family.begin(self.sample, np.random.default_rng(0), n_threads)

    def duals(self, rule: Rule, seed: int = 0, n_outputs: int = 2, size: float = 1.0) -> Duals:
        """Return duals that sum to 0: of least squares for the rule "gain", else random ones."""
        values = size * np.random.default_rng(seed).normal(size=(len(self.sample), n_outputs))
        if rule == "gain":
            return LeastSquares().begin(values, self.sample.weight, 1).solve(1e-9, lambda: False).duals
        return Duals(values - values.mean(axis=0))

    def price(self, pricer: Pricer, duals: Duals, taken: dict[Hashable, None], rule: Rule) -> Pricing:
        """Return a valid pricing, or raise AssertionError."""
        found = pricer.price(duals, taken.keys(), rule)
        try:
            pricing = checked_pricing(found, pricer, taken.keys(), len(self.sample), len(taken) + 1)
        except (TypeError, ValueError) as error:
            raise AssertionError(f"rule {rule!r}: {error}") from error
        both = pricing.energy is None, pricing.n_candidates is None
        expect(both[0] == both[1], "only one of `energy` and `n_candidates` is None: give both if the pool is finite")
        return pricing

    @cached_property
    def columns(self) -> list[Column]:
        """Columns that were found at changing duals, none twice."""
        pricer, taken, columns = self.begin(), dict[Hashable, None](), []
        for seed in range(12):
            found = self.price(pricer, self.duals("max", seed), taken, "max").column
            if found is None:
                break  # a small pool
            columns.append(found)
            taken[found.learner.key] = None
        expect(columns, "no column was found at random duals")
        return columns

    def pool(self, duals: Duals, rule: Rule) -> tuple[Pricing, list[Column]]:
        """Return the first pricing, and the columns of a finite pool, the best first: all unless it is large."""
        pricer, taken, columns = self.begin(), dict[Hashable, None](), list[Column]()
        first = pricing = self.price(pricer, duals, taken, rule)
        while pricing.column is not None and len(columns) < LARGEST_POOL and first.energy is not None:
            columns.append(pricing.column)
            taken[pricing.column.learner.key] = None
            pricing = self.price(pricer, duals, taken, rule)
        if pricing.column is None:
            expect(pricing.largest_price() == 0, f"max_price is {pricing.max_price!r} although no column is left")
        return first, columns


def prices_of(responses: AnyArray, duals: Duals) -> Floats:
    """Return sum_i R_it h(x_i) for responses of shape (m, n), shape (n, l)."""
    return np.asarray(responses.T.astype(np.float64) @ duals.array)


def merits_of(responses: AnyArray, duals: Duals, rule: Rule) -> Floats:
    """Return what the rule maximizes, for responses of shape (m, n), shape (n,)."""
    prices = prices_of(responses, duals)
    if rule == "gain":
        assert duals.curvature is not None
        return np.asarray(np.sum(prices**2, axis=1) / (1.0 + duals.curvature.quadratic(responses)))
    return np.asarray(np.abs(prices).max(axis=1) if rule == "max" else np.abs(prices).sum(axis=1))


def check_parameters(problem: FamilyProblem) -> None:
    """Check that a family only stores hyperparameters."""
    expect_params_kept(problem.family, lambda: problem.begin().price(problem.duals("max"), {}.keys(), "max"))


def check_learners(problem: FamilyProblem) -> None:
    """Check that responses are those of the learners, which are immutable, and that keys tell learners apart."""
    for column in problem.columns:
        learner, response = column.learner, column.response
        own = learner.respond(problem.sample.matrix())
        expect(np.array_equal(own, response), f"`respond` on the training rows is not the response of {learner}")
        new = np.shape(learner.respond(problem.new_rows))
        expect(new == (33,), f"`respond` to 33 rows has the shape {new}, not (33,)")
        hash(learner.key)
        expect(learner.key == learner.key, f"the key of {learner} is not equal to itself")
    learner = problem.columns[0].learner
    names = [own.name for own in fields(learner)] if is_dataclass(learner) else list(vars(learner))
    for name in names:
        try:
            setattr(learner, name, None)
        except AttributeError:
            continue
        raise AssertionError(f"the attribute {name!r} of a learner can be set: use a frozen dataclass")
    for one, other in combinations(problem.columns, 2):
        expect(
            not same_up_to_sign(one.response, other.response),
            f"{one.learner} and {other.learner} have the same response up to sign, but different keys",
        )


def check_prices(problem: FamilyProblem) -> None:
    """Check that the price of a column is sum_i R_it h(x_i), the largest of all outputs, by every rule."""
    for rule in problem.rules:
        for n_outputs in (1, 3):
            duals = problem.duals(rule, n_outputs=n_outputs)
            pricing, scale = problem.price(problem.begin(), duals, {}, rule), CLOSED_FORM * np.abs(duals.array).sum()
            column = pricing.column
            if column is None:
                raise AssertionError(f"rule {rule!r} found no column at random duals")
            prices = prices_of(column.response[:, None], duals)[0]
            about = f"rule {rule!r}, {n_outputs} outputs:"
            expect_close(column.price, float(prices[column.output]), scale, f"{about} the price of the column")
            expect_close(abs(column.price), float(np.abs(prices).max()), scale, f"{about} |price|, of all outputs,")
            largest = pricing.largest_price()
            expect(largest >= abs(column.price) - scale, f"{about} max_price is {largest!r}, below |price|")
            if pricing.merit is not None:
                merit = float(merits_of(column.response[:, None], duals, rule)[0])
                expect_close(pricing.merit, merit, CLOSED_FORM * max(merit, scale), f"{about} the merit")


def check_pool(problem: FamilyProblem) -> None:
    """Check that a finite pool is searched for the best column, and that its energy is the sum of all price^2."""
    for rule in problem.rules:
        duals, about = problem.duals(rule), f"rule {rule!r}:"
        pricing, columns = problem.pool(duals, rule)
        if pricing.energy is None or pricing.n_candidates is None:
            return
        number = len(columns)
        expect(
            number <= pricing.n_candidates,
            f"{about} n_candidates is {pricing.n_candidates}, but {number} columns were found, none twice",
        )
        responses = np.column_stack([column.response for column in columns])
        prices, merits = prices_of(responses, duals), merits_of(responses, duals, rule)
        rise = np.diff(merits).max(initial=0.0)
        expect(
            rise <= CLOSED_FORM * merits.max(),
            f"{about} at the same duals, a column is better by {rise:.3g} than one that was returned before it",
        )
        energy, complete = float(np.sum(prices**2)), number < LARGEST_POOL
        expect(
            pricing.energy >= energy * (1 - CLOSED_FORM)
            and (pricing.energy <= energy * (1 + CLOSED_FORM) or not complete),
            f"{about} energy is {pricing.energy!r}, but the sum of price^2 over {number} columns is {energy!r}",
        )
        if complete:
            largest, scale = float(np.abs(prices).max()), CLOSED_FORM * np.abs(duals.array).sum()
            expect_close(pricing.largest_price(), largest, scale, f"{about} the largest price of the pool")


def check_zero_duals(problem: FamilyProblem) -> None:
    """Check that no column is found if all prices are 0."""
    for rule in problem.rules:
        pricing = problem.price(problem.begin(), problem.duals(rule, size=0.0), {}, rule)
        expect(pricing.column is None, f"rule {rule!r}: a column was found")
        expect(pricing.largest_price() == 0, f"rule {rule!r}: max_price is {pricing.max_price!r}")
        expect(not pricing.energy, f"rule {rule!r}: energy is {pricing.energy!r}")


def check_determinism(problem: FamilyProblem) -> None:
    """Check that a search depends only on rows, duals and the random generator, and changes none of its input."""
    for rule in problem.rules:
        duals = problem.duals(rule)
        sample = problem.sample
        given = sample.X.values.copy(), sample.rows.copy(), sample.weight.copy(), duals.array.copy()
        first, second = (problem.price(problem.begin(n_threads), duals, {}, rule) for n_threads in (1, 2))
        now = sample.X.values, sample.rows, sample.weight, duals.array
        for name, before, after in zip(("X", "rows", "weight", "duals"), given, now, strict=True):
            expect(np.array_equal(before, after), f"rule {rule!r}: the search changed its input {name}")
        one, other = first.column, second.column
        if one is None or other is None:
            raise AssertionError(f"rule {rule!r} found no column at random duals")
        when = f"rule {rule!r}: with an equal random generator and two threads instead of one"
        expect(one.learner.key == other.learner.key, f"{when} the key is {other.learner.key}, not {one.learner.key}")
        expect(np.array_equal(one.response, other.response), f"{when} the response of {one.learner} differs")
        for name, own, again in (
            ("price", one.price, other.price),
            ("output", one.output, other.output),
            ("energy", first.energy, second.energy),
            ("merit", first.merit, second.merit),
            ("largest price", first.largest_price(), second.largest_price()),
        ):
            expect(own == again, f"{when} the {name} is {again!r}, not {own!r}")


def check_fits(problem: FamilyProblem) -> None:
    """Check that fits end with a valid certificate, and predict with the columns that they chose."""
    sample, rng = problem.sample, np.random.default_rng(3)
    score = sample.matrix()[:, 0] - sample.matrix()[:, 3] + 0.5 * rng.normal(size=len(sample))
    target = np.where(score > np.median(score), 1.0, -1.0)
    fits: list[tuple[Any, Rule]] = [(Hinge(), "max"), *((LeastSquares(), rule) for rule in problem.rules)]
    for master, rule in fits:
        about = f"with {master!r} and the rule {rule!r}"
        ensemble, trace = generate_columns(
            master,
            problem.family,
            sample.X,
            target,
            sample_weight=sample.weight,
            rows=sample.rows,
            tol=1e-6,
            max_columns=15,
            pricing=rule,
            rng=np.random.default_rng(0),
        )
        certificate = trace.certificate
        expect(certificate.relative_gap <= 1e-6, f"{about} the relative gap is {certificate.relative_gap:.3g}")
        full = certificate.full_relative_gap
        expect(full is None or full >= -ROUNDING, f"{about} the bound of the pool is above the objective by {full}")
        responses = np.column_stack([learner.respond(problem.new_rows) for learner in ensemble.learners])
        expected = responses.astype(float) @ ensemble.weights + ensemble.intercept
        error = np.abs(ensemble.decision(problem.new_rows) - expected).max()
        expect(error <= CLOSED_FORM * np.abs(ensemble.weights).sum(), f"{about} decisions are wrong by {error:.3g}")


def check_packs(problem: FamilyProblem) -> None:
    """Check that a pack has all methods, responds as its learners do, and can be turned into arrays and back."""
    learners, X = [column.learner for column in problem.columns], problem.new_rows
    make = getattr(type(learners[0]), "pack", None)
    if make is None or len({type(learner) for learner in learners}) > 1:
        return
    pack = make(learners)
    missing = [name for name in (*PACK_METHODS, "kind") if not hasattr(pack, name)]
    expect(not missing, f"{type(pack).__name__} lacks {', '.join(missing)} (`kind` is set by @register_pack)")
    weights = np.random.default_rng(0).normal(size=(len(learners), 2))
    expected = np.column_stack([learner.respond(X) for learner in learners])
    _expect_same_pack(pack, learners, X, expected, weights, "the pack")
    arrays = pack_to_arrays(pack)
    for name, array in arrays.items():
        plain = isinstance(array, np.ndarray) and array.dtype != object
        expect(plain, f"to_arrays()[{name!r}] is not an array of numbers or strings")
    again = pack_from_arrays({name: array.copy() for name, array in arrays.items()})
    expect(type(again) is type(pack), f"the kind {pack.kind!r} is registered for {type(again).__name__}")
    _expect_same_pack(again, learners, X, expected, weights, "the pack from its own arrays")
    second = pack_to_arrays(again)
    same = second.keys() == arrays.keys() and all(np.array_equal(second[name], arrays[name]) for name in arrays)
    expect(same, "from_arrays(to_arrays()) does not return the same arrays")


def _expect_same_pack(
    pack: Any, learners: Sequence[Learner], X: Floats, expected: AnyArray, weights: Floats, name: str
) -> None:
    """Raise AssertionError unless a pack consists of these learners and responds as they do."""
    expect(len(pack) == len(learners), f"len of {name} is {len(pack)}, not {len(learners)}")
    for number, own in enumerate(learners):
        key = pack.learner(number).key
        expect(key == own.key, f"learner({number}) of {name} has the key {key}, not {own.key}")
    decide = pack.decider(weights)
    for n_threads in (1, 2):
        found = pack.respond(X, n_threads)
        same = found.dtype == expected.dtype and np.array_equal(found, expected)
        expect(same, f"respond(X, {n_threads}) of {name} is not the (n, J) matrix of its learners' responses")
        error = np.abs(decide(X, n_threads) - expected.astype(float) @ weights).max()
        limit = CLOSED_FORM * float(np.abs(weights).sum() * max(1.0, np.abs(expected).max()))
        expect(error <= limit, f"decider(weights)(X, {n_threads}) of {name} is wrong by up to {error:.3g}")


FAMILY_CHECKS: tuple[Callable[[FamilyProblem], None], ...] = (
    check_parameters,
    check_determinism,
    check_learners,
    check_prices,
    check_pool,
    check_zero_duals,
    check_packs,
    check_fits,
)
