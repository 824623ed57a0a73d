"""The appendix: Spambase, and which of its named features are chosen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from benchmarks.data import Split
from cgens.baselines import AdaBoostClassifier
from experiments.experiment import Effort, Experiment, Fit
from experiments.methods import searched_cgens
from experiments.splits import spam_split

ROUNDS = 60


def _cgens(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    search = searched_cgens("stump", split, seed, replace(effort, rounds=(ROUNDS,)), (ROUNDS,))
    return Fit(search.model, {"C": search.params["C"], "features": _chosen(search.model)})


def _adaboost(split: Split, seed: int, effort: Effort, given: dict[str, Any]) -> Fit:
    model = AdaBoostClassifier(n_estimators=ROUNDS, n_jobs=effort.threads).fit(split.X, split.y)
    return Fit(model, {"features": _chosen(model)})


def _chosen(model: Any) -> dict[int, int]:
    """Return how often each feature was chosen; JSON makes the numbers words."""
    return dict(Counter(int(learner.feature) for learner in model.ensemble_.learners))


SPAM = Experiment(
    name="spam",
    title="Spambase: 60 stumps",
    datasets=lambda effort: ("spambase",),
    methods={"AdaBoost": _adaboost, "CGEns": _cgens},
    split=spam_split,
    runs=lambda dataset: 20,
)
