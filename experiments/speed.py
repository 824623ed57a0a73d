"""Figure "speed": CGEns beside LPBoost. It is the benchmark `lpboost`, whose results are taken where they are there."""

from __future__ import annotations

from typing import Any

from benchmarks.lpboost import ROUNDS, ROWS, compare
from benchmarks.report import RESULTS, load_results
from experiments.experiment import Effort
from experiments.store import Store, write_json

NAME = "speed"
N_ROWS, N_ROWS_QUICK = 10_000, 3000  # where rounds are compared


def run_speed(store: Store, effort: Effort) -> None:
    """Write the records; in quick mode, which measures, if they are not there yet."""
    if effort.quick:
        if store.load_table(NAME):
            return
        with store.computing(NAME, alone=True):
            results = compare(effort.rounds, (1000, N_ROWS_QUICK), repeats=1, most_rows=N_ROWS_QUICK)
    elif (RESULTS / "lpboost.json").exists():
        print("speed: as benchmarks.lpboost measured it; that command measures anew")
        results = load_results("lpboost")
    else:
        print("speed: no results of benchmarks.lpboost yet; measuring, some 20 minutes", flush=True)
        with store.computing(NAME, alone=True):
            results = compare(ROUNDS, ROWS, repeats=2)
    write_json(store.folder / f"{NAME}.json", speed_records(results, effort))


def speed_records(results: dict[str, Any], effort: Effort) -> list[dict[str, Any]]:
    """Return what the benchmark measured: seconds after so many rounds, and on so many rows."""
    rows = N_ROWS_QUICK if effort.quick else N_ROWS
    records = []
    for method, reached in results["by_rounds"].items():
        for r, seconds in reached["after_rounds"].items():
            if int(r) <= effort.most_rounds:
                records.append(_record(method, reached["errors"][r], seconds, rows, int(r), axis="rounds"))
    for n_rows, methods in results["by_rows"].items():
        for method, reached in methods.items():
            found = reached["n_columns"]
            records.append(_record(method, reached["error"], reached["seconds"], int(n_rows), found, axis="rows"))
    return records


def _record(method: str, error: float, seconds: float, rows: int, rounds: int, axis: str) -> dict[str, Any]:
    return {
        "experiment": NAME,
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
