"""The search among cosines in a metric that is learned from the first duals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from cgens.checkpoints.generators import restore_generator, save_generator
from cgens.checkpoints.interfaces import resumable_pricer
from cgens.named_arrays import add_prefix, take_prefix
from cgens.packs import Decider, Pack, PackSet, pack_from_arrays, pack_to_arrays, register_pack
from cgens.packs.pack_set import PackPart
from cgens.types import AnyArray, Column, Duals, Floats, Learner, Pricer, Pricing, Rule, Sample
from cgens.weak_learners.projections.input_metric import InputMetric
from cgens.weak_learners.projections.metric import learn_metric
from cgens.weak_learners.projections.spread import Spread

#: Rows and cosines of the fits from which a metric is learned, at most.
METRIC_ROWS, METRIC_COLUMNS = 3000, 500


def metric_of_duals(
    sample: Sample, spread: Spread, duals: Floats, rng: np.random.Generator, n_threads: int
) -> InputMetric:
    """Return the metric of a fit to the duals of each row over its weight.

    Those of a master without columns are minus the derivative of the loss at the best constant: up to a factor, the
    centred target of least squares and of the logistic loss.
    """
    scale = spread.scale * np.sqrt(spread.variance)
    some = np.sort(rng.permutation(len(sample))[:METRIC_ROWS])
    rows = (sample.matrix()[some].astype(np.float64) - spread.mean) / scale
    weight, target = sample.weight[some], duals[some] / sample.weight[some, None]
    share = weight / weight.sum()
    target = target - np.sum(share[:, None] * target, axis=0)
    largest = np.abs(target).max()
    target, whole = target / largest if largest > 0 else target, np.ones(len(weight))  # weights may be of classes
    factors = learn_metric(rows, target, weight, whole, METRIC_COLUMNS, rng, n_threads)
    return InputMetric(factors, spread.deviation / spread.scale)


class MetricPricer:
    """Learns a metric from the first duals, and then lets another search begin in it.

    A later fit that starts from columns in a metric keeps that metric.

    Parameters
    ----------
    learn : callable
        Returns the metric for duals of shape (m, l).
    begin : callable
        Returns the search in a metric.
    rng : numpy.random.Generator
        That of the search.
    """

    def __init__(
        self, learn: Callable[[Floats], InputMetric], begin: Callable[[InputMetric], Pricer], rng: np.random.Generator
    ) -> None:
        self._learn, self._begin, self._rng = learn, begin, rng
        self._metric: InputMetric | None = None
        self._pricer: Pricer | None = None

    def price(self, duals: Duals, taken: Set[Hashable], rule: Rule) -> Pricing:
        """Return the best column by `rule`."""
        if self._pricer is None:
            earlier = next((key.metric for key in reversed([*taken]) if isinstance(key, MetricKey)), None)
            self._start(self._learn(duals.array) if earlier is None else earlier)
        assert self._pricer is not None
        own = {key.key: None for key in taken if isinstance(key, MetricKey) and key.metric == self._metric}
        found = self._pricer.price(duals, own.keys(), rule)
        if len(own) < len(taken):  # a taken learner is not in the pool
            found = replace(found, n_candidates=None, energy=None)
        if found.column is None:
            return found
        return replace(found, column=replace(found.column, learner=self._in_metric(found.column.learner)))

    def _start(self, metric: InputMetric) -> None:
        self._metric, self._before = metric, save_generator(self._rng)
        self._pricer = self._begin(metric)

    def _in_metric(self, learner: Learner) -> MetricLearner:
        assert self._metric is not None
        return MetricLearner(self._metric, learner)

    def pool(self) -> list[Learner]:
        """Return all candidates of a finite pool, once the metric is known."""
        return [self._in_metric(learner) for learner in self._pricer.pool()]  # type: ignore[union-attr]

    def get_state(self) -> dict[str, AnyArray]:
        """Return the metric and the state of the search in it; nothing before the first duals."""
        if self._metric is None:
            return {}
        own = add_prefix("inner.", resumable_pricer(self._pricer).get_state())
        return {"before": self._before, **add_prefix("metric.", self._metric.to_arrays()), **own}

    def set_state(self, state: Mapping[str, AnyArray], columns: Sequence[Column]) -> None:
        """Restore a state."""
        if not state:
            return
        restore_generator(self._rng, state["before"])
        self._start(InputMetric.from_arrays(take_prefix("metric.", state)))
        own = [
            replace(column, learner=column.learner.learner)
            for column in columns
            if isinstance(column.learner, MetricLearner)
        ]
        resumable_pricer(self._pricer).set_state(take_prefix("inner.", state), own)


@dataclass(frozen=True)
class MetricKey:
    """The key of a learner in a metric."""

    metric: InputMetric
    key: Hashable


@dataclass(frozen=True)
class MetricLearner:
    """A learner that was drawn in a learned metric; it responds like any other."""

    metric: InputMetric
    learner: Learner

    @property
    def exact_responses(self) -> bool:
        """Whether those of its learner are."""
        return getattr(self.learner, "exact_responses", False)

    @property
    def key(self) -> Hashable:
        """The metric and the key of the learner."""
        return MetricKey(self.metric, self.learner.key)

    def respond(self, X: AnyArray) -> AnyArray:
        """Return h(x) for every row."""
        return self.learner.respond(X)

    @staticmethod
    def pack(learners: Sequence[MetricLearner]) -> PackSet:
        """Return the learners as arrays, with those of one metric together."""
        groups: dict[InputMetric, list[int]] = {}
        for j, own in enumerate(learners):
            groups.setdefault(own.metric, []).append(j)
        return PackSet(
            [
                PackPart(np.array(columns), MetricPack(metric, PackSet.of([learners[j].learner for j in columns])))
                for metric, columns in groups.items()
            ]
        )


@register_pack("metric")
@dataclass(frozen=True, eq=False)
class MetricPack:
    """Learners that were drawn in one metric."""

    metric: InputMetric
    inner: Pack

    kind: ClassVar[str]

    def __len__(self) -> int:
        return len(self.inner)

    def learner(self, number: int) -> MetricLearner:
        """Return one of the learners."""
        return MetricLearner(self.metric, self.inner.learner(number))

    def respond(self, X: AnyArray, n_threads: int) -> AnyArray:
        """Return the responses, shape (n, J)."""
        return self.inner.respond(X, n_threads)

    def decider(self, weights: Floats) -> Decider:
        """Prepare responses @ weights."""
        return self.inner.decider(weights)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the arrays of the metric and of the pack."""
        return {**add_prefix("metric.", self.metric.to_arrays()), **pack_to_arrays(self.inner, "inner.")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """Return the pack that `to_arrays` was called on."""
        return cls(InputMetric.from_arrays(take_prefix("metric.", arrays)), pack_from_arrays(arrays, "inner."))
