"""How near a figure is to the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.remarks import OTHER_FEATURES

Record = dict[str, Any]
JUDGED = ("near", "better", "worse")


def verdict(record: Record, n_runs: int) -> str:
    """Return "near" within 2 sqrt(sd_ours^2 + sd_paper^2) of the paper's mean, else on which side it is.

    There is none before all runs are done.
    """
    if record["paper_mean"] is None:
        return ""
    if record["dataset"] in OTHER_FEATURES:
        return "other features"
    if record["n_runs"] < n_runs:
        return f"({record['n_runs']} of {n_runs} runs)"
    reach = 2 * np.hypot(record["sd"] or 0.0, record["paper_sd"])
    difference = record["mean"] - record["paper_mean"]
    if abs(difference) <= reach:
        return "near"
    return "better" if difference < 0 else "worse"


def judged(records: list[Record], n_runs: Callable[[str], int]) -> list[Record]:
    """Return the records with their verdicts, and whether they are whole: whether all runs are done."""
    found = []
    for record in records:
        expected = n_runs(record["dataset"])
        found.append({**record, "verdict": verdict(record, expected), "whole": record["n_runs"] >= expected})
    return found


def complete_datasets(records: list[Record], methods: list[str]) -> list[str]:
    """Return the data sets that have a figure of every method."""
    found = {(record["dataset"], record["method"]) for record in records}
    datasets = sorted({record["dataset"] for record in records})
    return [dataset for dataset in datasets if all((dataset, method) in found for method in methods)]


def mean_ranks(records: list[Record], methods: list[str], key: str) -> dict[str, tuple[float, float]]:
    """Return mean error and mean rank of each method over the data sets that have a figure of all of them.

    `key` is "mean" or "paper_mean". Equal errors share their ranks.
    """
    records = [record for record in records if record[key] is not None]
    found = {(record["dataset"], record["method"]): record[key] for record in records}
    datasets = complete_datasets(records, methods)
    if not datasets:
        return {}
    whole = np.array([[found[dataset, method] for method in methods] for dataset in datasets])
    ranks = np.array([[np.mean(row < e) * len(row) + (np.sum(row == e) + 1) / 2 for e in row] for row in whole])
    return {method: (float(whole[:, k].mean()), float(ranks[:, k].mean())) for k, method in enumerate(methods)}
