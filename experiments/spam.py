"""The paper's appendix: which features of Spambase 60 decision stumps select."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from cgens.baselines import AdaBoostClassifier
from evaluation.splits import Split
from experiments.experiment import Effort, Experiment, Fit
from experiments.methods import search_cgens
from experiments.splits import spam_split

ROUNDS = 60


def _cgens(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    search = search_cgens("stump", split, seed, replace(effort, rounds=(ROUNDS,)), (ROUNDS,))
    return Fit(search.model, {"C": search.params["C"], "features": _feature_counts(search.model)})


def _adaboost(split: Split, seed: int, effort: Effort, inherited: dict[str, Any]) -> Fit:
    model = AdaBoostClassifier(n_estimators=ROUNDS, n_jobs=effort.threads).fit(split.X, split.y)
    return Fit(model, {"features": _feature_counts(model)})


def _feature_counts(model: Any) -> dict[int, int]:
    """Return how many stumps use each feature. In JSON the keys become strings."""
    return dict(Counter(int(learner.feature) for learner in model.ensemble_.learners))


SPAM = Experiment(
    name="spam",
    title="Spambase: 60 decision stumps",
    datasets=lambda effort: ("spambase",),
    methods={"AdaBoost": _adaboost, "CGEns": _cgens},
    split=spam_split,
    runs=lambda dataset: 20,
)
