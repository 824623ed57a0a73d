"""The page docs/reproduction.md, generated from the results."""

from __future__ import annotations

import os
from pathlib import Path

from evaluation.paper import PAPER_ERRORS
from experiments.comparison import VERDICTS, Record, with_verdicts
from experiments.experiment import FULL, QUICK, Effort
from experiments.registry import EXPERIMENTS
from experiments.speed import load_speed
from experiments.store import FULL_RESULTS, Store, write_text
from experiments.tables import NOT_COMPUTED, RENDERERS, errors_table, markdown, speed_table, statements_table

DOCS = Path(__file__).resolve().parents[1] / "docs"
INTRODUCTION = """# The paper, reproduced

Every table and figure of *From Kernel Machines to Ensemble Learning* (Shen & Liu), computed with this library. This
page is generated from `experiments/results/` by `python -m experiments report`. `make reproduce` computes the missing
results, `python -m experiments NAME` those of one experiment; `--results FOLDER` uses another results folder, and
`--quick` runs a reduced version that takes minutes. The data sets must be in the folder that the environment variable
`CGENS_DATA` names (`make` sets it to `../shared/data` if that exists). What the paper leaves open, and what we chose,
is in [decision 14](decisions/0014-the-experiments.md).

Errors are in percent: mean and standard deviation over the runs. A result *agrees* with the paper if it is within
2 sqrt(sd_ours² + sd_paper²) of the paper's mean; otherwise it is *better* or *worse*. Parameters are selected on the
training set by five-fold cross-validation, as in the paper, which does not state its grids; on the large data sets of
Table 3 they are selected once, on the training set of the first run. Times are compared only in the last section and in
the curves of Table 3.
"""
QUICK_MODE = """**These are results of the quick mode**: at most two runs, two folds, 50 rounds, and a third of the
values of each parameter.
"""
STATEMENTS = """## What the paper concludes from its tables

Mean error and, in parentheses, mean rank (1 is best) of the methods, over the data sets on which our errors can be
compared with the paper's; both columns refer to the same data sets. A statement holds if both the mean error and the
mean rank order the methods as it says.
"""
FIGURES = {
    "toy": ("toy.png", "Decision boundary after 200 rounds, and errors against rounds, mean over the runs"),
    "table3": ("curves.png", "Test error and training time against rounds"),
    "gallery": (
        "gallery.png",
        "Two correctly classified images of each class, and below them a misclassified one with its predicted class",
    ),
    "spam": ("spam.png", "How often 60 stumps select each feature, mean over the runs"),
}


def write_report(store: Store, effort: Effort) -> None:
    """Write tables, figures and page: into docs/ from the full results, otherwise beside the results."""
    from experiments.plots import draw_all  # imports matplotlib, which `render` does not need

    store.save_tables()
    page, images = report_paths(store)
    draw_all(store, images, effort)
    write_text(page, render(store))
    print(f"wrote {os.path.relpath(page)}")


def report_paths(store: Store) -> tuple[Path, Path]:
    """Return the page and the folder of its figures."""
    home = DOCS if store.folder == FULL_RESULTS else store.folder
    return home / "reproduction.md", home / "images" / "reproduction"


def render(store: Store) -> str:
    """Return the text of the page."""
    effort = QUICK if store.quick else FULL
    page, images = report_paths(store)
    tables = {name: records_with_verdicts(store, name) for name in EXPERIMENTS}
    parts = [INTRODUCTION, *([QUICK_MODE] if store.quick else []), _overview(tables), _cost(tables)]
    missing = [name for name, records in tables.items() if not records]
    if missing:
        parts.append(f"{NOT_COMPUTED.capitalize()}: {', '.join(missing)}.\n")
    statements = statements_table(tables)
    if statements:
        parts += [STATEMENTS, statements]
    for name, experiment in EXPERIMENTS.items():
        if not tables[name] or name == "curves":  # the curves are the figure of Table 3
            continue
        parts.append(f"## {experiment.title}\n\n`python -m experiments {name}`\n")
        parts.append(RENDERERS.get(name, errors_table)(experiment, tables[name], effort))
        if name in FIGURES and (images / FIGURES[name][0]).exists():
            parts.append(_figure(name, images, page))
    speed = load_speed(store)
    if speed:
        parts.append("## Figure: training time of CGEns and LPBoost\n\n`python -m experiments speed`\n")
        parts.append(speed_table(speed))
        if page.parent == DOCS:
            parts.append("![Training time of CGEns and LPBoost](images/lpboost.png)\n")
    return "\n".join(parts).rstrip() + "\n"


def records_with_verdicts(store: Store, name: str) -> list[Record]:
    """Return the records of an experiment with their verdicts."""
    effort = QUICK if store.quick else FULL
    return with_verdicts(store.table(name), lambda dataset: EXPERIMENTS[name].n_runs(dataset, effort))


def _overview(tables: dict[str, list[Record]]) -> str:
    """Return for each table on how many data sets our methods agree with the paper."""
    rows = []
    for name in PAPER_ERRORS:
        for method in ("CGEns", "CGEns fresh", "CGEns-SLS"):
            verdicts = [r["verdict"] for r in tables[name] if r["method"] == method and r["verdict"] in VERDICTS]
            if verdicts:
                agrees, better, worse = (verdicts.count(word) for word in VERDICTS)
                rows.append([f"{name}, {method}", f"{agrees} of {len(verdicts)}", str(better), str(worse)])
    return markdown(["", "agrees with the paper", "better", "worse"], rows)


def _cost(tables: dict[str, list[Record]]) -> str:
    """Return how long all runs took."""
    hours = {name: sum(r["seconds"] * r["n_runs"] for r in records) / 3600 for name, records in tables.items()}
    n_runs = sum(record["n_runs"] for records in tables.values() for record in records)
    longest = ", ".join(f"{name} {hours[name]:.1f}" for name in sorted(hours, key=lambda n: -hours[n])[:4])
    return f"All {n_runs} runs took {sum(hours.values()):.1f} core-hours ({longest}).\n"


def _figure(name: str, images: Path, page: Path) -> str:
    file, caption = FIGURES[name]
    return f"![{caption}]({os.path.relpath(images / file, page.parent)})\n\n*{caption}.*\n"
