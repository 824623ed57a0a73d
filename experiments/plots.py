"""The figures of the report."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from cgens import CGEnsClassifier
from cgens.datasets import load
from experiments.comparison import Record
from experiments.experiment import Effort
from experiments.splits import disc_split, multiclass_split
from experiments.store import Store, write_json
from experiments.toy import ROUNDS

COLOURS = {
    "CGEns": "#0072B2",
    "CGEns-SLS": "#0072B2",
    "AdaBoost": "#D55E00",
    "AdaBoost.ECC": "#E69F00",
    "AdaBoost.MH": "#D55E00",
    "MultiBoost": "#009E73",
}
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}
SHOWN = "shown.json"  # fingerprints of the results that the figures show
Drawing = Callable[[list[Record], Effort], Figure]


def draw_all(store: Store, folder: Path, effort: Effort) -> None:
    """Draw the figure of every experiment that has results, and store the fingerprint of these results."""
    drawings: dict[str, Drawing] = {
        "toy": draw_toy,
        "curves": draw_curves,
        "gallery": draw_gallery,
        "spam": draw_spam,
    }
    folder.mkdir(parents=True, exist_ok=True)
    shown = shown_results(folder)
    for name, draw in drawings.items():
        file, records = f"{name}.png", store.table(name)
        if records:
            with plt.rc_context(STYLE):
                try:
                    figure = draw(records, effort)
                except (OSError, ValueError) as error:  # images and feature names are read from the data folder
                    print(f"{file} was not updated: {error}", file=sys.stderr)
                    continue
                # Without date and version, the same figure is the same file.
                figure.savefig(folder / file, dpi=110, metadata={"Software": None})
                plt.close(figure)
                shown[name] = fingerprint(records)
    write_json(folder / SHOWN, shown)


def shown_results(folder: Path) -> dict[str, str]:
    """Return the fingerprints of the results that the figures in this folder show."""
    path = folder / SHOWN
    found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return found


def fingerprint(records: list[Record]) -> str:
    """Return a short hash of the results."""
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()[:16]


def draw_toy(records: list[Record], effort: Effort) -> Figure:
    """Draw the decision boundary of CGEns on the first run, and the errors of both methods against rounds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
    split = disc_split("disc", 0, effort)
    model = CGEnsClassifier(loss="hinge", n_estimators=ROUNDS).fit(split.X, split.y)
    grid = np.linspace(-3, 3, 301)
    plane = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])
    inside = model.decision_function(plane).reshape(len(grid), -1) > 0
    left.contourf(grid, grid, inside, levels=[-0.5, 0.5, 1.5], colors=["#FBE3D2", "#CFE3F2"])
    for label, colour in ((0, "#D55E00"), (1, "#0072B2")):
        left.scatter(*split.X[split.y == label].T, s=3, color=colour, linewidths=0)
    left.add_patch(plt.Circle((0, 0), 1.0, fill=False, linestyle="--", linewidth=1))
    left.set(
        xlim=(-3, 3), ylim=(-3, 3), aspect="equal", title=f"CGEns, {model.n_columns_} stumps; dashed: true boundary"
    )
    for record in records:
        for part, line in (("test", "-"), ("train", ":")):
            curves = record["params"][part]
            shortest = min(map(len, curves))
            mean = np.mean([curve[:shortest] for curve in curves], axis=0)
            colour = COLOURS[record["method"]]
            right.plot(np.arange(1, shortest + 1), mean, line, color=colour, label=f"{record['method']}, {part}")
    right.set(xlabel="rounds", ylabel="error (%)", xscale="log", ylim=(0, None))
    right.xaxis.set_major_formatter("{x:g}")
    right.legend()
    return figure


def draw_curves(records: list[Record], effort: Effort) -> Figure:
    """Draw test error and training time against rounds, one column per data set."""
    datasets = list(dict.fromkeys(record["dataset"] for record in records))
    figure, axes = plt.subplots(
        2, len(datasets), figsize=(3.6 * len(datasets), 5.4), layout="constrained", squeeze=False
    )
    for record in records:
        upper, lower = axes[:, datasets.index(record["dataset"])]
        rounds = record["params"]["rounds"][0]
        style: dict[str, Any] = {"color": COLOURS[record["method"]], "label": record["method"]}
        upper.plot(rounds, record["params"]["errors"][0], **style)
        lower.plot(rounds, record["params"]["seconds"][0], **style)
        upper.set(title=record["dataset"])
        lower.set(xlabel="rounds", yscale="log")
    axes[0, 0].set(ylabel="test error (%)")
    axes[1, 0].set(ylabel="training time (s)")
    axes[0, 0].legend()
    for axis in axes.ravel():
        axis.grid(alpha=0.3)
    return figure


def draw_gallery(records: list[Record], effort: Effort) -> Figure:
    """Draw two correctly classified images and a misclassified one for each class of each data set."""
    figure = plt.figure(figsize=(10, 3.6 * len(records)), layout="constrained")
    for part, record in zip(figure.subfigures(len(records), 1, squeeze=False)[:, 0], records, strict=True):
        data = load(record["dataset"])
        split = multiclass_split(record["dataset"], 0, effort)
        examples = record["params"]["examples"][0]
        axes = part.subplots(3, len(examples))
        for k, example in enumerate(examples):
            rows = (example["correct"] + [None, None])[:2] + (example["wrong"] or [None])
            for axis, row in zip(axes[:, k], rows, strict=True):
                axis.axis("off")
                if row is not None:
                    axis.imshow(split.X_test[row].reshape(28, 28), cmap="gray_r")
            axes[0, k].set_title(data.classes[k], fontsize=9)
            if example["predicted"]:
                axes[2, k].set_title(f"as {data.classes[example['predicted'][0]]}", fontsize=9, color="#D55E00")
        part.suptitle(record["dataset"])
    return figure


def draw_spam(records: list[Record], effort: Effort) -> Figure:
    """Draw how often each feature is selected."""
    names = load("spambase").feature_names
    figure, axis = plt.subplots(figsize=(11, 4), layout="constrained")
    for k, record in enumerate(records):
        runs = record["params"]["features"]
        counts = [np.mean([run.get(str(f), 0) for run in runs]) for f in range(len(names))]
        axis.bar(
            np.arange(len(names)) + 0.4 * k - 0.2, counts, 0.4, color=COLOURS[record["method"]], label=record["method"]
        )
    axis.set_xticks(range(len(names)), [f"{name} {f + 1}" for f, name in enumerate(names)], rotation=90, fontsize=7)
    axis.set(ylabel="number of stumps (of 60)", xlim=(-1, len(names)))
    axis.legend()
    return figure
