"""Weak-learner families: what the ensemble is made of. One a file."""

from cgens.weak_learners.stump import Stump, StumpLearner

__all__ = ["Stump", "StumpLearner"]
