"""Figure "speed": CGEns beside LPBoost. It is the benchmark `lpboost`, whose results are taken where they are there."""

from __future__ import annotations

from typing import Any

from benchmarks.lpboost import ROUNDS, ROWS, compare
from benchmarks.report import RESULTS, load_results
from experiments.experiment import Effort
from experiments.store import Store, write_json

NAME = "speed"


def run_speed(store: Store, effort: Effort) -> None:
    """Write the records, if they are not there yet."""
    if store.load_table(NAME):
        return
    rows = 3000 if effort.quick else 10_000
    if effort.quick:
        results = compare(effort.rounds, (1000, rows), repeats=1, most_rows=rows)
    elif (RESULTS / "lpboost.json").exists():
        results = load_results("lpboost")
    else:
        print("speed: no results of benchmarks.lpboost yet; measuring, some 20 minutes", flush=True)
        results = compare(ROUNDS, ROWS, repeats=2)
    records = []
    for method, reached in results["by_rounds"].items():
        for r, seconds in reached["after_rounds"].items():
            if int(r) <= effort.most_rounds:
                records.append(_record(method, reached["errors"][r], seconds, rows, int(r), axis="rounds"))
    for n_rows, methods in results["by_rows"].items():
        for method, reached in methods.items():
            found = reached["n_columns"]
            records.append(_record(method, reached["error"], reached["seconds"], int(n_rows), found, axis="rows"))
    write_json(store.folder / f"{NAME}.json", records)


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
