"""Several families side by side, each on its own columns: multiple kernel learning without a kernel matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from cgens.column_checks import checked_pricing
from cgens.packs import Decider, Pack, PackSet, pack_from_arrays, pack_to_arrays, register_pack
from cgens.packs.pack_set import PackPart
from cgens.types import (
    AnyArray,
    Column,
    Duals,
    Floats,
    Learner,
    Pricer,
    Pricing,
    Rule,
    Sample,
)
from cgens.weak_learners.registry import family_of
from cgens.weak_learners.search.proposals import merit_of


class Mixture(BaseEstimator):  # type: ignore[misc]
    """The best column over several families each round. A plain list of families means the same.

    All families have columns of mean square about 1, so that C means the same for all; the kernel of the mixture is the
    sum of the kernels of its families. How much of each a fit took is in ``family_shares_``. Columns are taken for what
    they do on the training rows: a family that can be bent to them, trees or learned cosines, wins most rounds.

    Parameters
    ----------
    families : list
        Families (``Fourier(gamma=0.1)``, ``"stump"``), or pairs of a family and the columns of X that it may see,
        indices or names (``(Fourier(standardize=True), ["age", "income"])``). In a grid search they are called by
        their class in lower case, numbered where it is not the only one: ``weak_learner__fourier-1__gamma`` (not with a
        plain list, which has no parameters).

    Examples
    --------
    >>> from cgens import CGEnsClassifier
    >>> from cgens.weak_learners import Fourier, Stump
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> mixture = Mixture([Stump(), (Fourier(standardize=True), [20, 21, 22, 23])])
    >>> model = CGEnsClassifier(mixture, n_estimators=50, random_state=0).fit(X, y)
    >>> sorted(model.family_shares_)
    ['fourier', 'stump']
    """

    def __init__(self, families: Any) -> None:
        self.families = families

    def members(self) -> list[Member]:
        """Return the families with their names and columns, or raise a sentence."""
        if isinstance(self.families, str) or not isinstance(self.families, Sequence):
            raise TypeError(f"A mixture needs a list of families; got {self.families!r}.")
        if not self.families:
            raise ValueError("A mixture needs at least one family; the list is empty.")
        pairs = [entry if isinstance(entry, tuple) else (entry, None) for entry in self.families]
        for pair in pairs:
            if len(pair) != 2:
                raise TypeError(f"A mixture is a list of families, or of pairs (family, columns); got {pair!r}.")
        pairs = [(family_of(family), columns) for family, columns in pairs]
        kinds = [type(family).__name__.lower() for family, _ in pairs]
        names = [
            kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: k + 1].count(kind)}" for k, kind in enumerate(kinds)
        ]
        return [Member(name, family, columns) for name, (family, columns) in zip(names, pairs, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the list, and each family with its parameters under its name."""
        params: dict[str, Any] = {"families": self.families}
        if deep:
            try:
                members = self.members()
            except (TypeError, ValueError):  # a fit will say what is wrong
                return params
            for member in members:
                params[member.name] = member.family
                if hasattr(member.family, "get_params"):
                    own = member.family.get_params(deep=True)
                    params.update({f"{member.name}__{name}": value for name, value in own.items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set the list, a family, or a parameter of one; the families of the list are copied, not changed."""
        if "families" in params:
            self.families = params.pop("families")
        if not params:
            return self
        members = self.members()
        families = [clone(member.family, safe=False) for member in members]
        for name, value in sorted(params.items(), key=lambda item: "__" in item[0]):  # families before what is in them
            own, _, rest = name.partition("__")
            places = [k for k, member in enumerate(members) if member.name == own]
            if not places:
                raise ValueError(f"Invalid parameter {name!r}: the mixture has {[member.name for member in members]}.")
            if rest:
                families[places[0]].set_params(**{rest: value})
            else:
                families[places[0]] = value
        columns = [member.columns for member in members]
        self.families = [one if own is None else (one, own) for one, own in zip(families, columns, strict=True)]
        return self

    def for_features(self, names: Sequence[str] | None, n_features: int) -> Mixture:
        """Return the mixture with the numbers of the columns in the place of their names."""
        families: list[Any] = []
        for member in self.members():
            columns, family = member.numbers(names, n_features), member.family
            if isinstance(family, Mixture):
                own = names if names is None or columns is None else [names[column] for column in columns]
                family = family.for_features(own, n_features if columns is None else len(columns))
            families.append(family if columns is None else (family, columns))
        return Mixture(families)

    def warn_of_scales(self, sample: Sample, columns: Sequence[object] | None = None) -> None:
        """Let the families warn where some features make up all distances."""
        for member in self.for_features(None, sample.X.shape[1]).members():
            if hasattr(member.family, "warn_of_scales"):
                own = own_columns(sample.X, member.columns)
                numbers = range(sample.X.shape[1]) if member.columns is None else member.columns
                outer = list(numbers) if columns is None else [columns[number] for number in numbers]
                member.family.warn_of_scales(Sample(own, sample.rows, sample.weight), outer)

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> MixturePricer:
        """Begin every family on its own columns, each with random numbers of its own."""
        pricers, members = [], self.for_features(None, sample.X.shape[1]).members()
        for member, own_rng in zip(members, rng.spawn(len(members)), strict=True):
            own = sample
            if member.columns is not None:
                own = Sample(own_columns(sample.X, member.columns), sample.rows, sample.weight)
            pricers.append(member.family.begin(own, own_rng, n_threads))
        return MixturePricer(members, pricers, len(sample))


@dataclass(frozen=True)
class Member:
    """One family of a mixture; `columns` None: all."""

    name: str
    family: Any
    columns: Any

    def numbers(self, names: Sequence[str] | None, n_features: int) -> list[int] | None:
        """Return the columns as numbers, or raise a sentence."""
        if self.columns is None:
            return None
        listed = self.columns
        if isinstance(listed, slice):
            listed = range(n_features)[listed]
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            listed = [listed]
        listed = list(listed)
        if not listed:
            raise ValueError(f"Mixture: the family {self.name!r} is to see no column at all; its list is empty.")
        numbers = []
        for column in listed:
            if isinstance(column, str):
                if names is None:
                    raise ValueError(
                        f"Mixture: the family {self.name!r} is to see the column {column!r}, but X has no names of "
                        "columns: give a DataFrame, or numbers."
                    )
                if column not in names:
                    raise ValueError(
                        f"Mixture: the family {self.name!r} is to see the column {column!r}, which X does not have."
                    )
                numbers.append(list(names).index(column))
            elif isinstance(column, int | np.integer) and not isinstance(column, bool):
                if not -n_features <= column < n_features:
                    raise ValueError(
                        f"Mixture: the family {self.name!r} is to see the column {column}, but X has {n_features}."
                    )
                numbers.append(int(column) % n_features)
            else:
                raise TypeError(
                    f"Mixture: the columns of the family {self.name!r} must be names or integers; got {column!r}."
                )
        return numbers


@dataclass(frozen=True)
class MemberLearner:
    """A learner of one family of a mixture, and the columns that it sees."""

    name: str
    columns: tuple[int, ...] | None
    learner: Learner

    @property
    def key(self) -> Hashable:
        """Which family, and which learner of it."""
        return MemberKey(self.name, self.columns, self.learner.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) of every row."""
        return self.learner.respond(own_columns(X, self.columns))

    @staticmethod
    def pack(learners: Sequence[MemberLearner]) -> PackSet:
        """Return the learners as arrays: those of one family on the same columns together."""
        members: dict[tuple[str, tuple[int, ...] | None], list[int]] = {}
        for j, own in enumerate(learners):
            members.setdefault((own.name, own.columns), []).append(j)
        parts = []
        for (name, columns), places in members.items():
            inner = PackSet.of([learners[j].learner for j in places])
            parts.append(PackPart(np.array(places), MemberPack(name, columns, inner)))
        return PackSet(parts)


@dataclass(frozen=True)
class MemberKey:
    """The key of a learner within a mixture."""

    name: str
    columns: tuple[int, ...] | None
    key: Hashable


@register_pack("member")
@dataclass(frozen=True, eq=False)
class MemberPack:
    """The learners of one family of a mixture, and the columns of X that it sees; None: all."""

    name: str
    columns: tuple[int, ...] | None
    pack: Pack

    kind: ClassVar[str]

    def __len__(self) -> int:
        return len(self.pack)

    def learner(self, number: int) -> MemberLearner:
        """Return one of the learners."""
        return MemberLearner(self.name, self.columns, self.pack.learner(number))

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        return self.pack.respond(own_columns(X, self.columns), n_threads)

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights."""
        decide, columns = self.pack.decider(weights), self.columns
        if columns is None:
            return decide
        return lambda X, n_threads: decide(own_columns(X, columns), n_threads)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the family's name, its columns and the arrays of its pack."""
        own = {"name": np.array(self.name)}
        if self.columns is not None:
            own["columns"] = np.array(self.columns, dtype=np.int64)
        return {**own, **pack_to_arrays(self.pack, "pack.")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack that `to_arrays` was called on."""
        columns = tuple(arrays["columns"].tolist()) if "columns" in arrays else None
        return cls(str(arrays["name"]), columns, pack_from_arrays(arrays, "pack."))


def columns_of(member: Member) -> tuple[int, ...] | None:
    """Return the columns that a family sees, as keys have them."""
    return None if member.columns is None else tuple(member.columns)


def own_columns(X: AnyArray, columns: Sequence[int] | None) -> AnyArray:
    """Return the columns that a family sees."""
    return X if columns is None else np.ascontiguousarray(X[:, list(columns)])


class MixturePricer:
    """Asks every family, and returns the best of their columns."""

    def __init__(self, members: Sequence[Member], pricers: Sequence[Pricer], n_rows: int) -> None:
        self._members, self.pricers, self._n_rows = members, pricers, n_rows
        self._taken: dict[tuple[str, tuple[int, ...] | None], dict[Hashable, None]] = {
            (member.name, columns_of(member)): {} for member in members
        }
        self._seen: set[Hashable] = set()
        self._complete = True  # every taken learner is one of the mixture's

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best column by `rule`; a pool where all families are one."""
        for key in taken - self._seen:
            self._seen.add(key)
            if isinstance(key, MemberKey) and (key.name, key.columns) in self._taken:
                self._taken[key.name, key.columns][key.key] = None
            else:
                self._complete = False
        best, best_member, best_merit = None, 0, 0.0
        found = []
        for number, (pricer, own) in enumerate(zip(self.pricers, self._taken.values(), strict=True)):
            pricing = pricer.price(duals, own.keys(), rule)
            found.append(checked_pricing(pricing, pricer, own.keys(), self._n_rows, len(taken) + 1))
            if pricing.column is None:
                continue
            merit = self._merit(pricing.column, duals, rule) if pricing.merit is None else pricing.merit
            if merit > best_merit:
                best, best_member, best_merit = pricing.column, number, merit
        column = None
        if best is not None:
            column = Column(self.learner(best_member, best.learner), best.response, best.score, best.output)
        max_price = max(pricing.largest_price() for pricing in found)
        if not self._complete or any(pricing.energy is None or pricing.n_candidates is None for pricing in found):
            return Pricing(column, max_price=max_price, merit=best_merit)
        n_candidates = sum(pricing.n_candidates or 0 for pricing in found)
        return Pricing(column, n_candidates, sum(pricing.energy or 0.0 for pricing in found), max_price, best_merit)

    def learner(self, number: int, learner: Learner) -> MemberLearner:
        """Return a learner of one family as the mixture's own."""
        member = self._members[number]
        return MemberLearner(member.name, columns_of(member), learner)

    @staticmethod
    def _merit(column: Column, duals: Duals, rule: Rule) -> float:
        prices = np.sum(duals.array * column.response[:, None].astype(np.float64), axis=0)
        return merit_of(column.response, prices, duals, rule)
