"""What an automatic model decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PartReport:
    """One part of the model.

    Attributes
    ----------
    name : str
    weight : float
        By how much its decisions are multiplied.
    C : float
    n_columns : int
    n_candidates : int or None
        From how many the weak learners were selected; None if they were grown.
    """

    name: str
    weight: float
    C: float
    n_columns: int
    n_candidates: int | None

    def __str__(self) -> str:
        return f"{self.name} ({self.n_columns}{f' of {self.n_candidates}' if self.n_candidates else ''})"


@dataclass(frozen=True, eq=False)
class AutomaticReport:
    """What an automatic model decided, and by which errors.

    Attributes
    ----------
    parts : tuple of PartReport
        In descending order of their weights.
    groups : dict of str to float
        Groups of cosines that are used, with their weights.
    group_errors, chain_errors : dict of str to float
        Mean squared errors of all groups of cosines (leave-one-out) and chains of trees (held-out rows).
    group_penalties : dict of str to float
        Penalty 1 / C of each group, by its leave-one-out error.
    metrics : dict of str to dict
        For each view of the inputs whose learned metric is used: how much the target changes along each input, the root
        mean square derivative of a fit times the standard deviation of the input. The numbers of a view sum to 1; their
        keys are the names of the inputs: "age", "age is missing", "color=red", "color is rare".
    honest_error : float
        Mean squared error of the weighted sum on rows that its parts were not fitted on, relative to that of the mean.
        The cosines are then all of their pool: a model with much fewer columns has a larger error.
    n_rows, n_honest_rows : int
    seconds : dict of str to float
        Of each step.
    left_out : dict of str to tuple of str
        What `time_budget` left no time for, by its kind.
    """

    parts: tuple[PartReport, ...]
    groups: Mapping[str, float]
    group_errors: Mapping[str, float]
    chain_errors: Mapping[str, float]
    group_penalties: Mapping[str, float]
    metrics: Mapping[str, Mapping[str, float]]
    honest_error: float
    n_rows: int
    n_honest_rows: int
    seconds: Mapping[str, float]
    left_out: Mapping[str, tuple[str, ...]]

    def summary(self) -> str:
        """Return a paragraph about the model."""
        honest_rows = f"{self.n_honest_rows} row{'s' * (self.n_honest_rows != 1)}"
        if not self.parts:
            return f"Nothing predicts better than a constant on {honest_rows}: the model is constant."
        total = sum(part.weight for part in self.parts)
        parts = ", ".join(f"{part.weight / total:.0%} {part}" for part in self.parts)
        seconds = sum(self.seconds.values())
        missing = ", ".join(
            f"{len(own)} {kind}" if len(own) > 2 else " and ".join(own) for kind, own in self.left_out.items()
        )
        missing = f" The time budget left no time for {missing}." if missing else ""
        told = f"Choosing on {self.n_rows} rows took {seconds:.1f} s.{missing}"
        return (
            f"{parts}. On {honest_rows} that a part was not fitted on, the squared error is "
            f"{self.honest_error:.0%} of that of a constant. {told}"
        )
