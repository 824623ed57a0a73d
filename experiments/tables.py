"""The tables of the report, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.paper import PAPER_ERRORS, SPEEDUP, VARIANTS, paper_error
from experiments.comparison import VERDICTS, Record, common_datasets, mean_ranks
from experiments.experiment import Effort, Experiment
from experiments.notes import NOTES
from experiments.statements import STATEMENTS, check
from experiments.table3 import UNAVAILABLE

OURS = ("CGEns", "CGEns-SLS")
NOT_COMPUTED = "not yet computed"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (header, ["---"] * len(header), *rows))


def errors_table(experiment: Experiment, records: list[Record], effort: Effort) -> str:
    """Return the errors of our method and the paper's, those of the other methods, then mean errors and ranks."""
    name, methods = experiment.name, list(experiment.methods)
    main = next((method for method in methods if method in OURS and name in PAPER_ERRORS), None)
    others = [method for method in methods if method != main]
    found = {(record["dataset"], record["method"]): record for record in records}
    in_paper = list(PAPER_ERRORS.get(name, {}))
    rest = {record["dataset"] for record in records} | set(experiment.datasets(effort))
    rows = []
    for dataset in [*in_paper, *sorted(rest - set(in_paper))]:
        row = {method: found.get((dataset, method)) or _missing(name, dataset, method) for method in methods}
        own = [_theirs(row[main]), _ours(row[main]), row[main]["verdict"]] if main else []
        rows.append([dataset, *own, *(_both(row[method]) for method in others)])
    header = ["", *([f"{main}: paper", "ours", ""] if main else []), *others]
    parts = [markdown(header, rows), _means(experiment, records) if main else "", notes(name, records)]
    if others and main:
        parts.insert(0, "Other methods: the paper's error / ours, and how they compare.\n")
    return "\n".join(part for part in parts if part)


def _missing(name: str, dataset: str, method: str) -> Record:
    """Return a record with only the paper's error."""
    mean, sd = paper_error(name, dataset, method)
    return {"dataset": dataset, "mean": None, "sd": None, "paper_mean": mean, "paper_sd": sd, "verdict": ""}


def _both(record: Record) -> str:
    """Return the paper's error if there is one, ours, and the verdict."""
    if record["paper_mean"] is None:
        return _ours(record)
    return f"{_theirs(record)} / {_ours(record)} {record['verdict']}".rstrip()


def _ours(record: Record) -> str:
    if record["mean"] is None:
        return "no data" if record["dataset"] in UNAVAILABLE else NOT_COMPUTED
    return _mean_sd(record["mean"], record["sd"])


def _theirs(record: Record) -> str:
    return "" if record["paper_mean"] is None else _mean_sd(record["paper_mean"], record["paper_sd"])


def _mean_sd(mean: float, sd: float | None) -> str:
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


def _means(experiment: Experiment, records: list[Record]) -> str:
    """Return mean errors and mean ranks over the data sets with all runs of all published methods."""
    methods = list(experiment.published)
    records = [record for record in records if record["complete"]]
    if len({record["dataset"] for record in records}) < 2:
        return ""
    compared = [record for record in records if record["verdict"] in VERDICTS and record["method"] not in VARIANTS]
    in_paper = [method for method in methods if any(record["method"] == method for record in compared)]
    n_compared = len(common_datasets(compared, in_paper))
    scores = {
        f"paper, {n_compared} data sets": mean_ranks(compared, in_paper, "paper_mean"),
        "ours, the same data sets": mean_ranks(compared, in_paper, "mean"),
    }
    if len(methods) > len(in_paper):
        n_all = len(common_datasets(records, methods))
        scores[f"ours, all methods, {n_all} data sets"] = mean_ranks(records, methods, "mean")
    rows = [
        [label, *(f"{found[m][0]:.2f} ({found[m][1]:.2f})" if m in found else "" for m in methods)]
        for label, found in scores.items()
        if found
    ]
    return markdown(["mean error (mean rank)", *methods], rows)


def notes(name: str, records: list[Record]) -> str:
    """Return the notes on a table; a result that misses the paper's and has none is marked as unexplained."""
    lines = [f"- {text}\n" for text in NOTES.get((name, ""), ())]
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        texts = list(NOTES.get((name, dataset), ()))
        for record in records:
            differs = record["dataset"] == dataset and record["verdict"] in ("better", "worse")
            if differs and not any(record["method"] in text for text in texts):
                texts.append(f"{record['method']} is {record['verdict']} than in the paper; not yet investigated.")
        lines += [f"- {dataset}: {text}\n" for text in texts]
    return "".join(lines)


def statements_table(tables: dict[str, list[Record]]) -> str:
    """Return whether the paper's conclusions hold in our results, the records of all experiments with verdicts."""
    checks = [check(statement, tables[statement.experiment]) for statement in STATEMENTS]
    found = [check for check in checks if check is not None]
    if not found:
        return ""
    table = markdown(["the paper says", "data sets", "its results", "our results"], [check.row() for check in found])
    contradictions = [f"- {sentence}\n" for check in found if (sentence := check.contradiction())]
    return "\n".join([table, "".join(contradictions)]) if contradictions else table


def claims_table(experiment: Experiment, records: list[Record], effort: Effort) -> str:
    """Return the number of rounds checked and failed."""
    with_gap = experiment.name == "claim1"
    rows = []
    for record in records:
        n_rounds = record["params"]["rounds"][0]
        n_failed = round(record["mean"] * n_rounds / 100)
        rows.append([record["dataset"], str(record["params"]["pool"][0]), str(n_rounds), str(n_failed)])
        if with_gap:
            rows[-1].append(f"{record['params']['gap_identity'][0]:.0e}")
    header = ["", "stumps in the pool", "rounds checked", "failed"]
    return _with_notes(experiment, header + ["largest relative error of EQ:DGap1"] * with_gap, rows, records, effort)


def literal_table(experiment: Experiment, records: list[Record], effort: Effort) -> str:
    """Return columns, objective and error of the library and of the literal algorithm."""
    rows = []
    for record in records:
        params = {key: values[0] for key, values in record["params"].items()}
        repeat = params.get("first_repeat")
        counts = [str(params["columns"]), str(params["distinct"]), f"round {repeat}" if repeat else "none"]
        rows.append([record["dataset"], record["method"], *counts, f"{params['primal']:.4f}", f"{record['mean']:.2f}"])
    header = ["", "method", "columns", "distinct", "first repeat", "objective", "error"]
    return _with_notes(experiment, header, rows, records, effort)


def gallery_table(experiment: Experiment, records: list[Record], effort: Effort) -> str:
    """Return the test errors."""
    rows = [[record["dataset"], f"{record['mean']:.2f}"] for record in records]
    return _with_notes(experiment, ["", "test error, %"], rows, records, effort)


def _with_notes(
    experiment: Experiment, header: list[str], rows: list[list[str]], records: list[Record], effort: Effort
) -> str:
    """Return a table, what is missing in it, and its notes."""
    found = {(record["dataset"], record["method"]) for record in records}
    missing = [
        f"{method} on {dataset}"
        for dataset in experiment.datasets(effort)
        for method in experiment.methods
        if (dataset, method) not in found
    ]
    pending = f"{NOT_COMPUTED.capitalize()}: {', '.join(missing)}.\n" if missing else ""
    return "\n".join(part for part in (markdown(header, rows), pending, notes(experiment.name, records)) if part)


def speed_table(records: list[Record]) -> str:
    """Return the seconds of CGEns and LPBoost, and their ratio here and in the paper."""
    pairs: dict[tuple[str, int], dict[str, Record]] = {}
    for record in records:
        axis = record["params"]["axis"]
        pairs.setdefault((axis, record["params"][axis]), {})[record["method"]] = record
    rows = []
    for (axis, value), pair in pairs.items():
        ours, theirs = pair["CGEns"], pair["LPBoost"]
        rows.append(
            [
                str(ours["params"]["rows"]),
                str(ours["params"]["rounds"]),
                f"{ours['seconds']:.2f}",
                f"{theirs['seconds']:.1f}",
                f"{theirs['seconds'] / ours['seconds']:.0f}",
                str(SPEEDUP[axis]) if value == {"rounds": 500, "rows": 60_000}[axis] else "",
                f"{ours['mean']:.2f}",
                f"{theirs['mean']:.2f}",
            ]
        )
    header = ["rows", "rounds", "CGEns s", "LPBoost s", "ratio", "paper", "CGEns error %", "LPBoost error %"]
    return f"{markdown(header, rows)}\n{notes('speed', [])}"


RENDERERS: dict[str, Callable[[Experiment, list[Record], Effort], str]] = {
    "claim1": claims_table,
    "claim2": claims_table,
    "literal": literal_table,
    "literal-sls": literal_table,
    "gallery": gallery_table,
}
