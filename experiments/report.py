"""The page docs/reproduction.md, made from the results."""

from __future__ import annotations

import os
from pathlib import Path

from experiments.experiment import FULL, QUICK, Effort
from experiments.paper import FIGURES
from experiments.registry import EXPERIMENTS
from experiments.store import FULL_RESULTS, Store, write_whole
from experiments.tables import RENDERERS, errors_table, markdown, speed_table
from experiments.verdicts import JUDGED, Record, judged

DOCS = Path(__file__).resolve().parents[1] / "docs"
ABOUT = """# The paper, reproduced

Every table and figure of *From Kernel Machines to Ensemble Learning* (Shen & Liu), computed with this library. This
page is written by `python -m experiments report` from `experiments/results/`; `make reproduce` goes on with what is
missing there, `python -m experiments NAME` with one part, `--results FOLDER` begins anew, `--quick` gives a taste. What
the paper leaves open, and how we chose, is in [decision 14](decisions/0014-the-experiments.md).

Errors are in percent, mean and standard deviation over the runs. A figure is *near* where it is within
2 sqrt(sd_ours² + sd_paper²) of the paper's mean, else *better* or *worse*. Parameters are chosen on the training rows
by five folds, as in the paper, which does not tell its grids; on the large sets of Table 3 once, on the training rows
of the first run. Times are compared only in the last section and in the curves of Table 3.
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
        records = load_judged(store, name)
        if not records or name == "curves":  # the curves are a picture below the table of the same methods
            continue
        parts.append(f"## {experiment.title}\n\n`python -m experiments {name}`\n")
        parts.append(RENDERERS.get(name, errors_table)(name, list(experiment.methods), records))
        if name in PICTURES and (images / PICTURES[name][0]).exists():
            parts.append(_picture(name, images, page))
    speed = store.load_table("speed")
    if speed:
        parts.append("## Figure: training time beside LPBoost\n\n`python -m experiments speed`\n")
        parts.append(speed_table(speed))
        if page.parent == DOCS:
            parts.append("![Training time of CGEns and LPBoost](images/lpboost.png)\n")
    return "\n".join(parts).rstrip() + "\n"


def load_judged(store: Store, name: str) -> list[Record]:
    """Return the records of an experiment with their verdicts."""
    effort = QUICK if store.quick else FULL
    return judged(store.load_table(name), lambda dataset: EXPERIMENTS[name].n_runs(dataset, effort))


def _overview(store: Store) -> str:
    """Say of each table on how many sets our method is near the paper."""
    rows = []
    for name in FIGURES:
        records = load_judged(store, name)
        for method in ("CGEns", "CGEns fresh", "CGEns-SLS"):
            words = [r["verdict"] for r in records if r["method"] == method and r["verdict"] in JUDGED]
            if words:
                near, better, worse = (words.count(word) for word in JUDGED)
                rows.append([f"{name}, {method}", f"{near} of {len(words)}", str(better), str(worse)])
    return markdown(["", "near the paper", "better", "worse"], rows)


def _cost(store: Store) -> str:
    """Say what all runs together took."""
    tables = {name: store.load_table(name) for name in EXPERIMENTS}
    hours = {name: sum(r["seconds"] * r["n_runs"] for r in records) / 3600 for name, records in tables.items()}
    n_runs = sum(record["n_runs"] for records in tables.values() for record in records)
    longest = ", ".join(f"{name} {hours[name]:.1f}" for name in sorted(hours, key=lambda n: -hours[n])[:4])
    return f"All {n_runs} runs together took {sum(hours.values()):.1f} hours of a core ({longest}).\n"


def _picture(name: str, images: Path, page: Path) -> str:
    file, caption = PICTURES[name]
    return f"![{caption}]({os.path.relpath(images / file, page.parent)})\n\n*{caption}.*\n"
