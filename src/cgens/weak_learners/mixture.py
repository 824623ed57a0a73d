"""Several families in one ensemble, each on its own columns: multiple kernel learning without a kernel matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from cgens.checkpoints.generators import restore_generator, save_generator
from cgens.checkpoints.interfaces import resumable_pricer
from cgens.column_checks import checked_pricing
from cgens.default_c import DefaultC
from cgens.named_arrays import add_prefix, take_prefix
from cgens.packs import Decider, Pack, PackSet, pack_from_arrays, pack_to_arrays, register_pack
from cgens.packs.pack_set import PackPart
from cgens.table.accepted import EXTRAS, check_accepted
from cgens.table.table import select_columns
from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricer, Pricing, Rule, Sample
from cgens.weak_learners.registry import resolve_family
from cgens.weak_learners.search.pool_columns import PoolColumns, columns_of_pool
from cgens.weak_learners.search.proposals import merit_of


class Mixture(BaseEstimator):  # type: ignore[misc]
    """The best column over several families in each round. A plain list of families means the same.

    The columns of all families have a mean square of about 1, so that a given C regularizes a column of any family
    equally; the kernel of the mixture is the sum of the kernels of its families. The share of each family in a fitted
    model is in ``family_shares_``. Columns are selected on the training rows: a family that adapts to them, such as
    trees or learned cosines, wins most rounds.

    Parameters
    ----------
    families : list
        Families (``Fourier(gamma=0.1)``, ``"stump"``), or pairs of a family and the columns of X that it uses, as
        indices or names (``(Fourier(standardize=True), ["age", "income"])``). In a grid search, also with a plain list,
        families are named by their class in lower case, with a number if it occurs more than once:
        ``weak_learner__fourier-1__gamma``.

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

    accepts: ClassVar[tuple[str, ...]] = EXTRAS  # each of its families says what it accepts in its columns

    def __init__(self, families: Any) -> None:
        self.families = families

    @property
    def fills_gaps(self) -> bool:
        """Whether one of its families does."""
        return any(getattr(member.family, "fills_gaps", False) for member in self.members())

    @property
    def default_c(self) -> DefaultC:
        """The rule of its family if it has only one, else that of mixtures."""
        members = self.members()
        if len(members) > 1:
            return DefaultC(margin=0.5, squares=0.3)
        return getattr(members[0].family, "default_c", DefaultC())

    def members(self) -> list[Member]:
        """Return the families with their names and columns, or raise TypeError or ValueError."""
        if isinstance(self.families, str) or not isinstance(self.families, Sequence):
            raise TypeError(f"A mixture needs a list of families; got {self.families!r}.")
        if not self.families:
            raise ValueError("A mixture needs at least one family; the list is empty.")
        pairs = [entry if isinstance(entry, tuple) else (entry, None) for entry in self.families]
        for pair in pairs:
            if len(pair) != 2:
                raise TypeError(f"A mixture is a list of families, or of pairs (family, columns); got {pair!r}.")
        pairs = [(resolve_family(family), columns) for family, columns in pairs]
        kinds = [type(family).__name__.lower() for family, _ in pairs]
        names = [
            kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: k + 1].count(kind)}" for k, kind in enumerate(kinds)
        ]
        return [Member(name, family, columns) for name, (family, columns) in zip(names, pairs, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the list of families and, if `deep`, each family and its parameters by name."""
        params: dict[str, Any] = {"families": self.families}
        if deep:
            try:
                members = self.members()
            except (TypeError, ValueError):  # fit raises the error
                return params
            for member in members:
                params[member.name] = member.family
                if hasattr(member.family, "get_params"):
                    own = member.family.get_params(deep=True)
                    params.update({f"{member.name}__{name}": value for name, value in own.items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set the list, a family, or a parameter of a family; the given families are cloned, not changed."""
        if "families" in params:
            self.families = params.pop("families")
        if not params:
            return self
        members = self.members()
        names = [member.name for member in members]
        families = [clone(member.family, safe=False) for member in members]
        for name, value in sorted(params.items(), key=lambda item: "__" in item[0]):  # families before their parameters
            own, _, rest = name.partition("__")
            if own not in names:
                raise ValueError(f"Invalid parameter {name!r}: the families of the mixture are {names}.")
            if rest:
                families[names.index(own)].set_params(**{rest: value})
            else:
                families[names.index(own)] = value
        columns = [member.columns for member in members]
        self.families = [one if own is None else (one, own) for one, own in zip(families, columns, strict=True)]
        return self

    def for_features(self, names: Sequence[str] | None, n_features: int) -> Mixture:
        """Return the mixture with all columns as tuples of indices."""
        families: list[Any] = []
        for member in self.members():
            columns, family = member.indices(names, n_features), member.family
            if isinstance(family, Mixture):
                own = names if names is None or columns is None else [names[column] for column in columns]
                family = family.for_features(own, n_features if columns is None else len(columns))
            families.append(family if columns is None else (family, columns))
        return Mixture(families)

    def warn_about_scales(self, sample: Sample, columns: Sequence[object] | None = None) -> None:
        """Let each family warn if a few features dominate all distances; `columns` are their names."""
        columns = range(sample.X.shape[1]) if columns is None else columns
        for member in self.for_features(None, sample.X.shape[1]).members():
            if hasattr(member.family, "warn_about_scales"):
                own = columns if member.columns is None else [columns[index] for index in member.columns]
                member.family.warn_about_scales(member.restrict(sample), own)

    def begin(self, sample: Sample, rng: np.random.Generator, n_threads: int) -> MixturePricer:
        """Begin each family on its own columns, with its own random generator."""
        members = self.for_features(None, sample.X.shape[1]).members()
        for member in members:
            check_accepted(member.family, member.restrict(sample).X)
        rngs = rng.spawn(len(members))
        pricers = [
            member.family.begin(member.restrict(sample), own_rng, n_threads)
            for member, own_rng in zip(members, rngs, strict=True)
        ]
        return MixturePricer(members, pricers, rngs, len(sample))


@dataclass(frozen=True)
class Member:
    """One family of a mixture and the columns of X that it uses; None: all."""

    name: str
    family: Any
    columns: Any

    def restrict(self, sample: Sample) -> Sample:
        """Return the sample with the columns of the family only."""
        return sample if self.columns is None else replace(sample, X=sample.X.select(self.columns))

    def own_column(self, column: Column) -> list[Column]:
        """Return a column of the mixture as one of this family, or nothing if it is of another one."""
        learner = column.learner
        if isinstance(learner, MemberLearner) and (learner.name, learner.columns) == (self.name, self.columns):
            return [replace(column, learner=learner.learner)]
        return []

    def indices(self, names: Sequence[str] | None, n_features: int) -> tuple[int, ...] | None:
        """Return the columns as indices, or raise ValueError or TypeError."""
        if self.columns is None:
            return None
        columns = range(n_features)[self.columns] if isinstance(self.columns, slice) else self.columns
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            columns = [columns]
        indices = tuple(self._index(column, names, n_features) for column in columns)
        if not indices:
            raise ValueError(f"Mixture: the list of columns of the family {self.name!r} is empty.")
        return indices

    def _index(self, column: Any, names: Sequence[str] | None, n_features: int) -> int:
        about = f"Mixture: the family {self.name!r} uses the column"
        if isinstance(column, str):
            if names is None:
                raise ValueError(f"{about} {column!r}, but X has no column names: use a DataFrame, or indices.")
            if column not in names:
                raise ValueError(f"{about} {column!r}, which is not in X.")
            return list(names).index(column)
        if isinstance(column, bool) or not isinstance(column, int | np.integer):
            raise TypeError(f"Mixture: columns of the family {self.name!r} must be names or integers; got {column!r}.")
        if not -n_features <= column < n_features:
            raise ValueError(f"{about} {column}, but X has {n_features} columns.")
        return int(column) % n_features


@dataclass(frozen=True)
class MemberLearner:
    """A learner of one family of a mixture, and the columns that it uses."""

    name: str
    columns: tuple[int, ...] | None
    learner: Learner

    @property
    def exact_responses(self) -> bool:
        """Whether those of its learner are."""
        return getattr(self.learner, "exact_responses", False)

    @property
    def key(self) -> Hashable:
        """The family and the key of its learner."""
        return MemberKey(self.name, self.columns, self.learner.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row."""
        return self.learner.respond(own_columns(X, self.columns))

    @staticmethod
    def pack(learners: Sequence[MemberLearner]) -> PackSet:
        """Return the learners as arrays, with those of one family on the same columns together."""
        members: dict[tuple[str, tuple[int, ...] | None], list[int]] = {}
        for j, own in enumerate(learners):
            members.setdefault((own.name, own.columns), []).append(j)
        parts = []
        for (name, columns), indices in members.items():
            inner = PackSet.of([learners[j].learner for j in indices])
            parts.append(PackPart(np.array(indices), MemberPack(name, columns, inner)))
        return PackSet(parts)


@dataclass(frozen=True)
class MemberKey:
    """The key of a learner in a mixture."""

    name: str
    columns: tuple[int, ...] | None
    key: Hashable


@register_pack("member")
@dataclass(frozen=True, eq=False)
class MemberPack:
    """The learners of one family of a mixture, and the columns of X that it uses; None: all."""

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
        """Return the name and columns of the family, and the arrays of its pack."""
        own = {"name": np.array(self.name)}
        if self.columns is not None:
            own["columns"] = np.array(self.columns, dtype=np.int64)
        return {**own, **pack_to_arrays(self.pack, "pack.")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack that `to_arrays` was called on."""
        columns = tuple(arrays["columns"].tolist()) if "columns" in arrays else None
        return cls(str(arrays["name"]), columns, pack_from_arrays(arrays, "pack."))


def own_columns(X: AnyArray, columns: Sequence[int] | None) -> AnyArray:
    """Return the columns that a family uses."""
    return X if columns is None else select_columns(X, columns)


class MixturePricer:
    """Prices each family, and returns the best of their columns."""

    def __init__(
        self, members: Sequence[Member], pricers: Sequence[Pricer], rngs: Sequence[np.random.Generator], n_rows: int
    ) -> None:
        self._members, self.pricers, self._rngs, self._n_rows = members, pricers, rngs, n_rows
        self._taken: dict[tuple[str, tuple[int, ...] | None], dict[Hashable, None]] = {
            (member.name, member.columns): {} for member in members
        }
        self._seen: set[Hashable] = set()
        self._complete = True  # every taken learner is in the mixture

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best column by `rule`; the pool is finite if those of all families are."""
        for key in taken - self._seen:
            self._seen.add(key)
            if isinstance(key, MemberKey) and (key.name, key.columns) in self._taken:
                self._taken[key.name, key.columns][key.key] = None
            else:
                self._complete = False
        best, best_merit, found = None, 0.0, []
        for number, (pricer, own) in enumerate(zip(self.pricers, self._taken.values(), strict=True)):
            pricing = pricer.price(duals, own.keys(), rule)
            found.append(checked_pricing(pricing, pricer, own.keys(), self._n_rows, len(taken) + 1))
            column, merit = pricing.column, pricing.merit
            if column is None:
                continue
            if merit is None:
                prices = np.sum(duals.array * column.response[:, None].astype(np.float64), axis=0)
                merit = merit_of(column.response, prices, duals, rule)
            if merit > best_merit:
                best, best_merit = replace(column, learner=self.learner(number, column.learner)), merit
        max_price = max(pricing.largest_price() for pricing in found)
        if not self._complete or any(pricing.energy is None or pricing.n_candidates is None for pricing in found):
            return Pricing(best, max_price=max_price, merit=best_merit)
        n_candidates = sum(pricing.n_candidates or 0 for pricing in found)
        return Pricing(best, n_candidates, sum(pricing.energy or 0.0 for pricing in found), max_price, best_merit)

    def pool_columns(self, most: int) -> PoolColumns | None:
        """Return columns that stand for all pools (see `columns_of_pool`), None if a family has none."""
        found = [columns_of_pool(pricer, max(1, most // len(self.pricers))) for pricer in self.pricers]
        known = [own for own in found if own is not None]
        if len(known) < len(found):
            return None
        return PoolColumns(np.hstack([own.columns for own in known]), sum(own.n_candidates for own in known))

    def get_state(self) -> dict[str, AnyArray]:
        """Return the states of the families, and of their random generators."""
        state: dict[str, AnyArray] = {}
        for number, (pricer, rng) in enumerate(zip(self.pricers, self._rngs, strict=True)):
            own = {"random": save_generator(rng), **resumable_pricer(pricer).get_state()}
            state |= add_prefix(f"{number}.", own)
        return state

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore the states of the families."""
        for number, (member, pricer, rng) in enumerate(zip(self._members, self.pricers, self._rngs, strict=True)):
            own = take_prefix(f"{number}.", state)
            restore_generator(rng, own.pop("random"))
            found = [mine for column in columns for mine in member.own_column(column)]
            resumable_pricer(pricer).set_state(own, found)

    def learner(self, number: int, learner: Learner) -> MemberLearner:
        """Return a learner of one family as a learner of the mixture."""
        member = self._members[number]
        return MemberLearner(member.name, member.columns, learner)
