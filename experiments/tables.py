"""The tables of the page, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.paper import FIGURES, READINGS, SPEED, figures_of
from experiments.remarks import REMARKS
from experiments.table3 import ABSENT
from experiments.verdicts import JUDGED, Record, complete_datasets, mean_ranks

OURS = ("CGEns", "CGEns-SLS")


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (header, ["---"] * len(header), *rows))


def errors_table(name: str, methods: list[str], records: list[Record]) -> str:
    """Return our method's figures beside the paper's, the rivals' in one column each, then means and ranks."""
    methods = [method for method in methods if any(r["method"] == method for r in records)]
    main = next((method for method in methods if method in OURS and name in FIGURES), None)
    others = [method for method in methods if method != main]
    known = list(FIGURES.get(name, {}))
    found = {(r["dataset"], r["method"]): r for r in records}
    rows = []
    for dataset in [*known, *sorted({r["dataset"] for r in records} - set(known))]:
        row = {method: found.get((dataset, method)) or _missing(name, dataset, method) for method in methods}
        mine = [_theirs(row[main]), _ours(row[main]), row[main]["verdict"]] if main else []
        rows.append([dataset, *mine, *(_compared(row[method]) for method in others)])
    header = ["", *([f"{main}: paper", "ours", ""] if main else []), *others]
    parts = [markdown(header, rows), _summary(methods, records) if main else "", remarks(name, records)]
    if others and main:
        parts.insert(0, "Other methods: the paper's figure / ours, and how they compare.\n")
    return "\n".join(part for part in parts if part)


def _missing(name: str, dataset: str, method: str) -> Record:
    """Return the paper's figures alone."""
    mean, sd = figures_of(name, dataset, method)
    return {"dataset": dataset, "mean": None, "sd": None, "paper_mean": mean, "paper_sd": sd, "verdict": ""}


def _compared(record: Record) -> str:
    """Return the paper's figure, ours, and how they compare, where there are such."""
    if record["paper_mean"] is None:
        return _ours(record)
    return f"{_theirs(record)} / {_ours(record)} {record['verdict']}".rstrip()


def _ours(record: Record) -> str:
    if record["mean"] is None:
        return "no data" if record["dataset"] in ABSENT else "not computed"
    return _mean(record["mean"], record["sd"])


def _theirs(record: Record) -> str:
    return "" if record["paper_mean"] is None else _mean(record["paper_mean"], record["paper_sd"])


def _mean(mean: float, sd: float | None) -> str:
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


def _summary(methods: list[str], records: list[Record]) -> str:
    """Return mean error and mean rank over the sets of which all runs of all methods are done."""
    records = [r for r in records if r["whole"]]
    if len({r["dataset"] for r in records}) < 2:
        return ""
    compared = [r for r in records if r["verdict"] in JUDGED and r["method"] not in READINGS]
    with_figures = [method for method in methods if any(r["method"] == method for r in compared)]
    n_compared = len(complete_datasets(compared, with_figures))
    means = {
        f"paper, {n_compared} sets": mean_ranks(compared, with_figures, "paper_mean"),
        f"ours, the same {n_compared}": mean_ranks(compared, with_figures, "mean"),
    }
    if len(methods) > len(with_figures):
        means[f"ours, all methods, {len(complete_datasets(records, methods))} sets"] = mean_ranks(
            records, methods, "mean"
        )
    rows = [
        [label, *(f"{found[m][0]:.2f} ({found[m][1]:.2f})" if m in found else "" for m in methods)]
        for label, found in means.items()
        if found
    ]
    return markdown(["mean error (mean rank)", *methods], rows)


def remarks(name: str, records: list[Record]) -> str:
    """Return what was found where a method is not near the paper, and what else there is to say."""
    lines = [f"- {text}\n" for text in REMARKS.get((name, ""), ())]
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        texts = list(REMARKS.get((name, dataset), ()))
        for record in (r for r in records if r["dataset"] == dataset and r["verdict"] in ("better", "worse")):
            if not any(record["method"] in text for text in texts):
                texts.append(f"{record['method']} {record['verdict']} than in the paper; not looked into yet.")
        lines += [f"- {dataset}: {text}\n" for text in texts]
    return "".join(lines)


def claims_table(name: str, methods: list[str], records: list[Record]) -> str:
    """Return rounds checked and rounds that failed."""
    header = ["", "stumps in the pool", "rounds checked", "failed"]
    rows = []
    for r in records:
        n_rounds = r["params"]["rounds"][0]
        failed = round(r["mean"] * n_rounds / 100)
        rows.append([r["dataset"], str(r["params"]["pool"][0]), str(n_rounds), str(failed)])
        if name == "claim1":
            rows[-1].append(f"{r['params']['gap_identity'][0]:.0e}")
    if name == "claim1":
        header.append("largest relative error of EQ:DGap1")
    return _with_remarks(name, markdown(header, rows), records)


def literal_table(name: str, methods: list[str], records: list[Record]) -> str:
    """Return columns, objective and error of the library and of the letter."""
    rows = []
    for r in records:
        params = {key: values[0] for key, values in r["params"].items()}
        again = params.get("first_repeat")
        counts = [str(params["columns"]), str(params["distinct"]), f"in round {again}" if again else "never"]
        rows.append([r["dataset"], r["method"], *counts, f"{params['primal']:.4f}", f"{r['mean']:.2f}"])
    header = ["", "method", "columns", "distinct", "back to one it has", "objective", "error"]
    return _with_remarks(name, markdown(header, rows), records)


def gallery_table(name: str, methods: list[str], records: list[Record]) -> str:
    """Return the errors."""
    rows = [[r["dataset"], f"{r['mean']:.2f}"] for r in records]
    return _with_remarks(name, markdown(["", "test images told wrongly, %"], rows), records)


def _with_remarks(name: str, table: str, records: list[Record]) -> str:
    return "\n".join(part for part in (table, remarks(name, records)) if part)


def speed_table(records: list[Record]) -> str:
    """Return seconds of both, their ratio, and the paper's."""
    pairs: dict[tuple[str, int], dict[str, Record]] = {}
    for r in records:
        pairs.setdefault((r["params"]["axis"], r["params"][r["params"]["axis"]]), {})[r["method"]] = r
    rows = []
    for (axis, at), pair in pairs.items():
        ours, theirs = pair["CGEns"], pair["LPBoost"]
        rows.append(
            [
                str(ours["params"]["rows"]),
                str(ours["params"]["rounds"]),
                f"{ours['seconds']:.2f}",
                f"{theirs['seconds']:.1f}",
                f"{theirs['seconds'] / ours['seconds']:.0f}",
                str(SPEED[axis]) if at == {"rounds": 500, "rows": 60_000}[axis] else "",
                f"{ours['mean']:.2f}",
                f"{theirs['mean']:.2f}",
            ]
        )
    header = ["rows", "rounds", "CGEns s", "LPBoost s", "times as fast", "paper", "CGEns %", "LPBoost %"]
    return _with_remarks("speed", markdown(header, rows), [])


RENDERERS: dict[str, Callable[[str, list[str], list[Record]], str]] = {
    "claim1": claims_table,
    "claim2": claims_table,
    "literal": literal_table,
    "literal-sls": literal_table,
    "gallery": gallery_table,
}
