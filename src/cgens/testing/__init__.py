"""Checks of new losses, masters and weak-learner families, for authors of extensions."""

from cgens.testing.families import check_weak_learner
from cgens.testing.masters import check_master

__all__ = ["check_master", "check_weak_learner"]
