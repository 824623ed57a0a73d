"""The page docs/reproduction.md, made from the results."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from experiments.experiment import Effort
from experiments.paper import FIGURES, SPEED, figures_of
from experiments.registry import EXPERIMENTS
from experiments.remarks import REMARKS
from experiments.store import FULL_RESULTS, Store, write_whole
from experiments.table3 import ABSENT
from experiments.verdicts import Record, complete_datasets, mean_ranks, verdict

DOCS = Path(__file__).resolve().parents[1] / "docs"
ABOUT = """# The paper, reproduced

Every table and figure of *From Kernel Machines to Ensemble Learning* (Shen & Liu), computed with this library. This
page is written by `python -m experiments report` from `experiments/results/`; `make reproduce` goes on with what is
missing there, `python -m experiments NAME` with one part, `--results FOLDER` begins anew, `--quick` gives a taste. What
the paper leaves open, and how we chose, is in [decision 14](decisions/0014-the-experiments.md).

Errors are in percent, mean and standard deviation over the runs. A figure is *near* where it is within
2 sqrt(sd_ours² + sd_paper²) of the paper's mean, else *better* or *worse*. Parameters are chosen on the training rows
by five folds, as in the paper, which does not tell its grids; on the large sets of Table 3 once, on the training rows
of the first run. Seconds are the mean over the runs, each with its search for parameters if it has one, on one core
beside another run.
"""
TASTE = """**These are results of the quick mode**: at most two runs, two folds, 50 rounds, and a third of the values of
each parameter.
"""
PICTURES = {
    "toy": ("toy.png", "Boundary after 200 rounds, and errors against rounds, mean of the runs"),
    "table3": ("curves.png", "Test error and training time against rounds"),
    "gallery": (
        "gallery.png",
        "For each class two images told rightly, and below them one that was not, as it was told",
    ),
    "spam": ("spam.png", "How often each named feature is chosen by 60 stumps, mean of the runs"),
}


def write_report(store: Store, effort: Effort) -> None:
    """Draw the pictures and write the page: into docs/ from the full results, else beside the results."""
    from experiments.pictures import draw_all  # draws on matplotlib: the page's text does not

    store.save_tables()
    page, images = places(store)
    draw_all(store, images, effort)
    write_whole(page, render(store))
    print(f"wrote {os.path.relpath(page)}")


def places(store: Store) -> tuple[Path, Path]:
    """Return the page and the folder of its pictures."""
    home = DOCS if store.folder == FULL_RESULTS else store.folder
    return home / "reproduction.md", home / "images" / "reproduction"


def render(store: Store) -> str:
    """Return the text of the page."""
    page, images = places(store)
    parts = [ABOUT, *([TASTE] if store.quick else []), _overview(store), _cost(store)]
    for name, experiment in EXPERIMENTS.items():
        records = store.load_table(name)
        if not records or name == "curves":  # the curves are a picture below the table of the same methods
            continue
        parts.append(f"## {experiment.title}\n\n`python -m experiments {name}`\n")
        parts.append(_RENDERERS.get(name, _table)(name, records))
        if name in PICTURES and (images / PICTURES[name][0]).exists():
            parts.append(_picture(name, images, page))
    speed = store.load_table("speed")
    if speed:
        parts.append("## Figure: training time beside LPBoost\n\n`python -m benchmarks.lpboost`\n")
        parts.append(_speed(speed))
        if page.parent == DOCS:
            parts.append("![Training time of CGEns and LPBoost](images/lpboost.png)\n")
    return "\n".join(parts).rstrip() + "\n"


def _overview(store: Store) -> str:
    """Say of each table on how many sets our method is near the paper."""
    lines = ["| | near the paper | better | worse | runs, all methods |", "|---|---|---|---|---|"]
    for name in FIGURES:
        records = store.load_table(name)
        method = "CGEns-SLS" if name == "table3" else "CGEns"
        words = [verdict(r) for r in records if r["method"] == method]
        verdicts = [word for word in words if word in ("near", "better", "worse")]
        if verdicts:
            counts = [str(verdicts.count(word)) for word in ("better", "worse")]
            runs = sum(record["n_runs"] for record in records)
            lines.append(
                f"| {name}, {method} | {verdicts.count('near')} of {len(verdicts)} | {' | '.join(counts)} | {runs} |"
            )
    return "\n".join(lines) + "\n"


def _cost(store: Store) -> str:
    """Say what all runs together took."""
    names = [*EXPERIMENTS, "speed"]
    hours = {name: sum(r["seconds"] * r["n_runs"] for r in store.load_table(name)) / 3600 for name in names}
    longest = ", ".join(f"{name} {hours[name]:.1f}" for name in sorted(hours, key=lambda n: -hours[n])[:4])
    return f"All runs of this page together took {sum(hours.values()):.1f} hours of a core ({longest}).\n"


def _table(name: str, records: list[Record]) -> str:
    """Return our method's figures beside the paper's, the rivals' in one column each, then means and ranks."""
    methods = [method for method in EXPERIMENTS[name].methods if any(r["method"] == method for r in records)]
    known = list(FIGURES.get(name, {}))
    datasets = [*known, *sorted({r["dataset"] for r in records} - set(known))]
    found = {(r["dataset"], r["method"]): r for r in records}
    main = next((m for m in methods if m in ("CGEns", "CGEns-SLS") and name in FIGURES), None)
    others = [method for method in methods if method != main]
    header = [f"{main}: paper", "ours", "", *others] if main else others
    lines = [f"| | {' | '.join(header)} |", "|---" * (len(header) + 1) + "|"]
    for dataset in datasets:
        row = {method: found.get((dataset, method)) or _missing(name, dataset, method) for method in methods}
        cells = [_compared(row[method]) for method in others]
        if main:
            cells = [_theirs(row[main]), _ours(row[main]), verdict(row[main]), *cells]
        lines.append(f"| {dataset} | {' | '.join(cells)} |")
    parts = ["\n".join(lines) + "\n", _summary(records, methods), _remarks(name, records)]
    if others and main:
        parts.insert(0, "Other methods: the paper's figure / ours, and how they compare.\n")
    return "\n".join(part for part in parts if part)


def _missing(name: str, dataset: str, method: str) -> Record:
    """Return the paper's figures alone."""
    paper_mean, paper_sd = figures_of(name, dataset, method)
    return {"dataset": dataset, "mean": None, "sd": None, "paper_mean": paper_mean, "paper_sd": paper_sd}


def _compared(record: Record) -> str:
    """Return the paper's figure, ours, and how they compare, where there are such."""
    if record["paper_mean"] is None:
        return _ours(record)
    return f"{_theirs(record)} / {_ours(record)} {verdict(record)}".rstrip()


def _summary(records: list[Record], methods: list[str]) -> str:
    """Return mean error and mean rank over the sets, and mean seconds."""
    if len({r["dataset"] for r in records}) < 2:
        return ""
    compared = [r for r in records if verdict(r) in ("near", "better", "worse")]
    with_figures = [method for method in methods if any(r["method"] == method for r in compared)]
    n_compared = len(complete_datasets(compared, with_figures))
    rows = {
        f"paper, {n_compared} sets": mean_ranks(compared, with_figures, "paper_mean"),
        f"ours, the same {n_compared}": mean_ranks(compared, with_figures, "mean"),
    }
    if len(methods) > len(with_figures):
        rows[f"ours, all methods, {len(complete_datasets(records, methods))} sets"] = mean_ranks(
            records, methods, "mean"
        )
    lines = [f"| mean error (mean rank) | {' | '.join(methods)} |", "|---" * (len(methods) + 1) + "|"]
    for label, found in rows.items():
        if found:
            cells = [f"{found[m][0]:.2f} ({found[m][1]:.2f})" if m in found else "" for m in methods]
            lines.append(f"| {label} | {' | '.join(cells)} |")
    seconds = [f"{np.mean([r['seconds'] for r in records if r['method'] == m]):.1f}" for m in methods]
    lines.append(f"| seconds of a run, mean | {' | '.join(seconds)} |")
    return "\n".join(lines) + "\n"


def _remarks(name: str, records: list[Record]) -> str:
    """Return what was found where our method is not near the paper, and what else there is to say."""
    lines = [f"- {text}" for text in REMARKS.get((name, ""), ())]
    for record in records:
        if record["method"] not in ("CGEns", "CGEns-SLS"):
            continue
        texts = REMARKS.get((name, record["dataset"]), ())
        if not texts and verdict(record) in ("better", "worse"):
            texts = (f"{verdict(record)} than the paper; not looked into yet.",)
        lines += [f"- {record['dataset']}: {text}" for text in texts]
    return "\n".join(lines) + "\n" if lines else ""


def _claims(name: str, records: list[Record]) -> str:
    """Return rounds checked and rounds that failed."""
    by_gap = name == "claim1"
    header = [
        "stumps in the pool",
        "rounds checked",
        "failed",
        *(["largest relative error of EQ:DGap1"] if by_gap else []),
    ]
    lines = [f"| | {' | '.join(header)} |", "|---" * (len(header) + 1) + "|"]
    for r in records:
        rounds = r["params"]["rounds"][0]
        cells = [str(r["params"]["pool"][0]), str(rounds), str(round(r["mean"] * rounds / 100))]
        if by_gap:
            cells.append(f"{r['params']['gap_identity'][0]:.0e}")
        lines.append(f"| {r['dataset']} | {' | '.join(cells)} |")
    return "\n".join(["\n".join(lines) + "\n", _remarks(name, records)]).rstrip() + "\n"


def _literal(name: str, records: list[Record]) -> str:
    """Return columns, objective and error of the library and of the letter."""
    lines = ["| | method | columns | distinct | back to one it has | objective | error |", "|---" * 7 + "|"]
    for r in records:
        p = r["params"]
        again = (p.get("first_repeat") or [None])[0]
        told = f"in round {again}" if again else "never"
        lines.append(
            f"| {r['dataset']} | {r['method']} | {p['columns'][0]} | {p['distinct'][0]} | {told} | "
            f"{p['primal'][0]:.4f} | {r['mean']:.2f} |"
        )
    return "\n".join(["\n".join(lines) + "\n", _remarks(name, records)]).rstrip() + "\n"


def _speed(records: list[Record]) -> str:
    """Return seconds of both, their ratio, and the paper's."""
    lines = ["| rows | rounds | CGEns s | LPBoost s | times as fast | paper | CGEns % | LPBoost % |", "|---" * 8 + "|"]
    for axis in ("rounds", "rows"):
        mine = [r for r in records if r["params"]["axis"] == axis]
        pairs: dict[int, dict[str, Record]] = {}
        for record in mine:
            pairs.setdefault(record["params"][axis], {})[record["method"]] = record
        for at, pair in pairs.items():
            ours, theirs = pair["CGEns"], pair["LPBoost"]
            paper = SPEED[axis] if at == {"rounds": 500, "rows": 60_000}[axis] else ""
            lines.append(
                f"| {ours['params']['rows']} | {ours['params']['rounds']} | {ours['seconds']:.2f} | "
                f"{theirs['seconds']:.1f} | {theirs['seconds'] / ours['seconds']:.0f} | {paper} | "
                f"{ours['mean']:.2f} | {theirs['mean']:.2f} |"
            )
    return "\n".join(lines) + "\n"


def _gallery(name: str, records: list[Record]) -> str:
    lines = [f"- {r['dataset']}: {r['mean']:.2f} % of the test images are told wrongly.\n" for r in records]
    return "".join(lines) + "\n" + _remarks(name, records)


def _picture(name: str, images: Path, page: Path) -> str:
    file, caption = PICTURES[name]
    return f"![{caption}]({os.path.relpath(images / file, page.parent)})\n\n*{caption}.*\n"


def _ours(record: Record) -> str:
    if record["mean"] is None:
        return "no data" if record["dataset"] in ABSENT else "not computed"
    return _mean(record["mean"], record["sd"])


def _theirs(record: Record) -> str:
    return "" if record["paper_mean"] is None else _mean(record["paper_mean"], record["paper_sd"])


def _mean(mean: float, sd: float | None) -> str:
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


_RENDERERS = {"claim1": _claims, "claim2": _claims, "literal": _literal, "literal-sls": _literal, "gallery": _gallery}
