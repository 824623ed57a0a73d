"""Comparison of our results with the paper's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

#: One data set and method: means over the runs, the paper's mean, and later the verdict.
Record = dict[str, Any]
VERDICTS = ("agrees", "better", "worse")
#: Data sets whose features are not the paper's: their errors are not comparable.
OTHER_FEATURES = ("cifar10_gist", "scene15_gist")


def verdict(record: Record, n_runs: int) -> str:
    """Return "agrees" if our mean is within 2 sqrt(sd_ours^2 + sd_paper^2) of the paper's, else "better" or "worse".

    There is no verdict if the paper reports no error, or if not all runs are computed.
    """
    if record["paper_mean"] is None:
        return ""
    if record["dataset"] in OTHER_FEATURES:
        return "other features"
    if record["n_runs"] < n_runs:
        return f"({record['n_runs']} of {n_runs} runs)"
    tolerance = 2 * np.hypot(record["sd"] or 0.0, record["paper_sd"])
    difference = record["mean"] - record["paper_mean"]
    if abs(difference) <= tolerance:
        return "agrees"
    return "better" if difference < 0 else "worse"


def with_verdicts(records: list[Record], n_runs: Callable[[str], int]) -> list[Record]:
    """Return the records with their "verdict", and with "complete": whether all runs are computed."""
    found = []
    for record in records:
        expected = n_runs(record["dataset"])
        found.append({**record, "verdict": verdict(record, expected), "complete": record["n_runs"] >= expected})
    return found


def common_datasets(records: list[Record], methods: list[str]) -> list[str]:
    """Return the data sets that have a record of every method."""
    found = {(record["dataset"], record["method"]) for record in records}
    datasets = sorted({record["dataset"] for record in records})
    return [dataset for dataset in datasets if all((dataset, method) in found for method in methods)]


def mean_ranks(records: list[Record], methods: list[str], key: str) -> dict[str, tuple[float, float]]:
    """Return mean error and mean rank of each method over the data sets that have an error of every method.

    `key` is "mean" or "paper_mean". Equal errors share their ranks.
    """
    records = [record for record in records if record[key] is not None]
    errors = {(record["dataset"], record["method"]): record[key] for record in records}
    datasets = common_datasets(records, methods)
    if not datasets:
        return {}
    table = np.array([[errors[dataset, method] for method in methods] for dataset in datasets])
    means, ranks = table.mean(axis=0).tolist(), rankdata(table, axis=1).mean(axis=0).tolist()
    return dict(zip(methods, zip(means, ranks, strict=True), strict=True))
