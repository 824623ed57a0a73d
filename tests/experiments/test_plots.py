"""The figures of the report show the results and the data, and are written where they belong."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from cgens import CGEnsClassifier
from experiments import plots
from experiments.experiment import QUICK
from experiments.splits import disc_split
from experiments.store import Store

CURVES = {
    "AdaBoost.ECC": {"rounds": [1, 2, 5], "errors": [50.0, 40.0, 30.0], "seconds": [0.1, 0.2, 0.4]},
    "CGEns-SLS": {"rounds": [1, 2], "errors": [47.0, 37.0], "seconds": [0.1, 0.3]},
}
TOY = {  # two runs, one of which stopped earlier
    "AdaBoost": {"test": [[40.0, 30.0, 20.0], [20.0, 10.0]], "train": [[9.0, 8.0, 7.0], [7.0, 2.0]]},
    "CGEns": {"test": [[30.0, 10.0], [10.0, 4.0, 1.0]], "train": [[5.0, 3.0], [1.0, 1.0, 0.0]]},
}
SPAM = {"AdaBoost": [{"0": 60}, {"0": 40, "2": 20}], "CGEns": [{"1": 30, "2": 30}, {"1": 60}]}
EXAMPLES = [
    {"correct": [0, 3], "wrong": [6], "predicted": [2]},
    {"correct": [1], "wrong": [], "predicted": []},
    {"correct": [], "wrong": [2], "predicted": [0]},
]


@pytest.fixture
def results(tmp_path, monkeypatch, store) -> Store:
    """Results for all figures, and a data folder with images whose first pixel is the row, and named features."""
    images = np.arange(30.0)[:, None] + np.linspace(0, 0.5, 784)
    arrays = {"X": images, "y": np.arange(30) % 3, "classes": np.array(["shirt", "shoe", "bag"])}
    for name in ("mnist", "fashion_mnist"):
        np.savez(tmp_path / f"{name}.npz", **arrays, train_idx=np.arange(12), test_idx=np.arange(12, 30))
    names = {"feature_names": np.array(["make", "money", "free"]), "classes": np.array(["ham", "spam"])}
    np.savez(tmp_path / "spambase.npz", X=np.zeros((4, 3)), y=np.arange(4) % 2, **names)
    monkeypatch.setenv("CGENS_DATA", str(tmp_path))
    monkeypatch.setattr(plots, "ROUNDS", 5)
    curves = {method: {key: [values] for key, values in curve.items()} for method, curve in CURVES.items()}
    tables = {
        "toy": [record("disc", method, **params) for method, params in TOY.items()],
        "curves": [record(d, m, **params) for d in ("mnist", "scene15_gist") for m, params in curves.items()],
        "gallery": [record(d, "CGEns-SLS", examples=[EXAMPLES]) for d in ("mnist", "fashion_mnist")],
        "spam": [record("spambase", method, features=counts) for method, counts in SPAM.items()],
    }
    monkeypatch.setattr(store, "table", tables.__getitem__)
    yield store
    plt.close("all")


def record(dataset: str, method: str, **params) -> dict:
    return {"dataset": dataset, "method": method, "params": params}


def legend_of(axis) -> list[str]:
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_figures_are_updated_with_the_results_that_they_show(results, tmp_path, capsys):
    folder, others = tmp_path / "new" / "images", plt.get_fignums()
    results.table("curves").clear()
    plots.draw_all(results, folder, QUICK)
    names = {"toy", "gallery", "spam"}
    assert {path.name for path in folder.iterdir()} == {"shown.json", *(f"{name}.png" for name in names)}
    assert plots.shown_results(folder) == {name: plots.fingerprint(results.table(name)) for name in names}
    assert plt.get_fignums() == others, "figures are closed"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    results.table("spam").pop()
    results.table("toy").pop()
    (tmp_path / "spambase.npz").write_bytes(b"damaged")
    plots.draw_all(results, folder, QUICK)
    assert capsys.readouterr().err.startswith("spam.png was not updated: ")
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {name for name in before if before[name] != after[name]} == {"toy.png", "shown.json"}
    assert plots.shown_results(folder)["spam"] != plots.fingerprint(results.table("spam"))


def test_toy(results):
    left, right = plots.draw_toy(results.table("toy"), QUICK).axes
    assert {line.get_label(): line.get_ydata().tolist() for line in right.lines} == {
        "AdaBoost, test": [30.0, 20.0],
        "AdaBoost, train": [8.0, 5.0],
        "CGEns, test": [20.0, 7.0],
        "CGEns, train": [3.0, 2.0],
    }
    assert all(line.get_xdata().tolist() == [1, 2] for line in right.lines), "the rounds of all runs"
    assert legend_of(right) == [line.get_label() for line in right.lines]
    split = disc_split("disc", 0, QUICK)
    contours, outside, inside = left.collections
    for points, label in ((outside, 0), (inside, 1)):
        assert np.array_equal(points.get_offsets(), split.X[split.y == label])
    model = CGEnsClassifier(loss="hinge", n_estimators=5).fit(split.X, split.y)
    region = contours.get_paths()[1].contains_points(split.X_test)
    assert np.mean(region == model.predict(split.X_test)) > 0.98, "up to the width of the grid"
    assert left.patches[0].get_radius() == 1.0


def test_curves(results):
    axes = np.reshape(plots.draw_curves(results.table("curves"), QUICK).axes, (2, 2))
    assert [axis.get_title() for axis in axes[0]] == ["mnist", "scene15_gist"]
    assert [axis.get_ylabel() for axis in axes[:, 0]] == ["test error (%)", "training time (s)"]
    assert [axis.get_yscale() for axis in axes[:, 0]] == ["linear", "log"]
    assert set(legend_of(axes[0, 0])) == set(CURVES)
    for row, values in zip(axes, ("errors", "seconds"), strict=True):
        for axis in row:
            found = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axis.lines}
            assert found == {method: (curve["rounds"], curve[values]) for method, curve in CURVES.items()}


def test_gallery(results):
    for part in plots.draw_gallery(results.table("gallery"), QUICK).subfigs:
        axes = np.reshape(part.axes, (3, 3))
        shown = [[axis.images[0].get_array()[0, 0] - 12 if axis.images else None for axis in line] for line in axes]
        assert shown == [[0, 1, None], [3, None, None], [6, None, 2]], "rows of the test set"
        assert axes[0, 0].images[0].get_array().shape == (28, 28)
        assert [axis.get_title() for axis in axes[0]] == ["shirt", "shoe", "bag"]
        assert [axis.get_title() for axis in axes[2]] == ["as bag", "", "as shirt"]
    assert part.get_suptitle() == "fashion_mnist"


def test_spam(results):
    (axis,) = plots.draw_spam(results.table("spam"), QUICK).axes
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in axis.containers}
    assert heights == {"AdaBoost": [50.0, 0.0, 10.0], "CGEns": [0.0, 45.0, 15.0]}
    assert [label.get_text() for label in axis.get_xticklabels()] == ["make 1", "money 2", "free 3"]
    middles = [[bar.get_x() + bar.get_width() / 2 for bar in bars] for bars in axis.containers]
    assert np.allclose(np.mean(middles, axis=0), [0, 1, 2]), "the bars of a feature are around its name"
