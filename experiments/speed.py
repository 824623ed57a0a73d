"""The paper's figure on training time: CGEns and LPBoost, as `benchmarks.lpboost` measures them."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.lpboost import compare
from benchmarks.report import load_results
from experiments.comparison import Record
from experiments.experiment import Effort
from experiments.store import Store, write_json

N_ROWS, N_ROWS_QUICK = 10_000, 3000  # of the comparison over rounds


def run_speed(store: Store, effort: Effort) -> None:
    """Store the results of the benchmark; the quick mode measures instead, once."""
    if not effort.quick:
        print("speed: the results of benchmarks.lpboost; run that command to measure again")
        results = load_results("lpboost")
    elif load_speed(store):
        return
    else:
        results = compare(effort.rounds, (1000, N_ROWS_QUICK), repeats=1, max_rows=N_ROWS_QUICK)
    write_json(store.folder / "speed.json", speed_records(results, effort))


def load_speed(store: Store) -> list[Record]:
    """Return the stored records, an empty list if there are none."""
    path = store.folder / "speed.json"
    records: list[Record] = json.loads(path.read_text()) if path.exists() else []
    return records


def speed_records(results: dict[str, Any], effort: Effort) -> list[Record]:
    """Return one record for each measurement: seconds against rounds, then against rows."""
    n_rows = N_ROWS_QUICK if effort.quick else N_ROWS
    records = []
    for method, fit in results["by_rounds"].items():
        for r, seconds in fit["after_rounds"].items():
            if int(r) <= effort.max_rounds:
                records.append(_record(method, fit["errors"][r], seconds, n_rows, int(r), axis="rounds"))
    for rows, methods in results["by_rows"].items():
        for method, fit in methods.items():
            records.append(_record(method, fit["error"], fit["seconds"], int(rows), fit["n_columns"], axis="rows"))
    return records


def _record(method: str, error: float, seconds: float, rows: int, rounds: int, axis: str) -> Record:
    return {
        "experiment": "speed",
        "dataset": "mnist_odd_even",
        "method": method,
        "mean": round(error, 4),
        "sd": None,
        "n_runs": 1,
        "paper_mean": None,
        "paper_sd": None,
        "seconds": round(seconds, 4),
        "params": {"rows": rows, "rounds": rounds, "axis": axis},
    }
