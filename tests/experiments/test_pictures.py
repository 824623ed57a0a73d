"""The pictures show what the results and the data say, and are written where they belong."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from cgens import CGEnsClassifier
from cgens.datasets import load
from experiments import pictures
from experiments.experiment import QUICK, Cell, Outcome
from experiments.registry import EXPERIMENTS
from experiments.splits import disc_split, multiclass_split
from experiments.store import Store
from tests.experiments.fakes import some_cell

CURVES = {  # rounds, errors, seconds passed
    "AdaBoost.ECC": ([1, 2, 5], [50.0, 40.0, 30.0], [0.1, 0.2, 0.4]),
    "AdaBoost.MH": ([1, 2], [49.0, 39.0], [0.2, 0.5]),
    "MultiBoost": ([1, 2, 5], [48.0, 38.0, 28.0], [1.0, 2.0, 9.0]),
    "CGEns-SLS": ([1, 2, 5], [47.0, 37.0, 27.0], [0.1, 0.1, 0.2]),
}
TOY = {  # test and training errors of two runs, the second of which ended earlier
    "AdaBoost": ([[40.0, 30.0, 20.0], [20.0, 10.0]], [[9.0, 8.0, 7.0], [7.0, 2.0]]),
    "CGEns": ([[30.0, 10.0], [10.0, 4.0, 1.0]], [[5.0, 3.0], [1.0, 1.0, 0.0]]),
}
SPAM = {"AdaBoost": ({0: 60}, {0: 40, 2: 20}), "CGEns": ({1: 30, 2: 30}, {1: 60})}
EXAMPLES = [
    {"right": [0, 3], "wrong": [6], "told": [2]},
    {"right": [1], "wrong": [], "told": []},
    {"right": [], "wrong": [2], "told": [0]},
]
NAMES = ("curves", "gallery", "spam", "toy")


def add(store: Store, experiment: str, dataset: str, method: str, *runs: dict) -> None:
    for k, params in enumerate(runs):
        store.add(Cell(experiment, dataset, method, k), Outcome(10.0, 1.0, params))


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A folder with images of three classes, whose pixels tell their row, and messages of three named features."""
    folder = tmp_path / "data"
    folder.mkdir()
    images = np.arange(30.0)[:, None] + np.linspace(0, 0.5, 784)
    arrays = {"X": images, "y": np.arange(30) % 3, "classes": np.array(["shirt", "shoe", "bag"])}
    for name in ("mnist", "fashion_mnist"):
        np.savez(folder / f"{name}.npz", **arrays, train_idx=np.arange(12), test_idx=np.arange(12, 30))
    named = {"feature_names": np.array(["make", "money", "free"]), "classes": np.array(["ham", "spam"])}
    np.savez(folder / "spambase.npz", X=np.zeros((4, 3)), y=np.arange(4) % 2, **named)
    monkeypatch.setenv("CGENS_DATA", str(folder))
    monkeypatch.setattr(pictures, "ROUNDS", 5)
    return folder


@pytest.fixture
def filled(tmp_path, data) -> Store:
    """A store with results of all pictures."""
    store = Store(tmp_path / "results")
    store.prepare(QUICK)
    for method, (test, train) in TOY.items():
        add(store, "toy", "disc", method, *({"test": a, "train": b} for a, b in zip(test, train, strict=True)))
    for dataset in ("mnist", "scene15_gist"):
        for method, (rounds, errors, passed) in CURVES.items():
            add(store, "curves", dataset, method, {"rounds": rounds, "errors": errors, "passed": passed})
    for dataset in ("mnist", "fashion_mnist"):
        add(store, "gallery", dataset, "CGEns-SLS", {"examples": EXAMPLES})
    for method, runs in SPAM.items():
        add(store, "spam", "spambase", method, *({"features": chosen} for chosen in runs))
    store.save_tables()
    return Store(store.folder)  # as JSON keeps it


@pytest.fixture
def drawn(filled):
    """Give a function that draws one picture of the store; it is closed in the end."""
    yield lambda name: getattr(pictures, f"draw_{name}")(filled.load_table(name), QUICK)
    plt.close("all")


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def legend_of(axis) -> list[str]:
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_every_picture_is_written_and_nothing_else(filled, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    saved, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **how: (saved.append(path), save(figure, path, **how)))
    before, images, others = files_in(tmp_path), tmp_path / "deep" / "images", plt.get_fignums()
    pictures.draw_all(filled, images, QUICK)
    after = files_in(tmp_path)
    assert sorted(saved) == [images / f"{name}.png" for name in NAMES]
    assert set(after) - set(before) == {*saved, images / "shown.json"}
    assert before.items() <= after.items()
    assert plt.get_fignums() == others, "what was drawn is closed"
    for path in saved:
        with Image.open(path) as image:
            assert image.format == "PNG"
            assert min(image.size) > 300
            assert len(np.unique(np.asarray(image.convert("L")))) > 10, "not one plain colour"
            assert "Software" not in image.info
    pictures.draw_all(filled, images, QUICK)
    assert files_in(tmp_path) == after, "the same results give the same files"


def test_a_picture_without_its_data_stays_as_it_is(filled, data, tmp_path, capsys):
    pictures.draw_all(filled, tmp_path, QUICK)
    before, shown = files_in(tmp_path), pictures.shown_results(tmp_path)
    assert shown == {name: pictures.fingerprint(filled.load_table(name)) for name in NAMES}
    add(filled, "spam", "spambase", "CGEns", {"features": {"0": 60}})
    add(filled, "curves", "mnist", "CGEns-SLS", {"rounds": [1], "errors": [2.0], "passed": [3.0]})
    filled.save_tables()
    (data / "spambase.npz").write_bytes(b"damaged")
    pictures.draw_all(filled, tmp_path, QUICK)
    assert capsys.readouterr().err.startswith("spam.png stays as it is: ")
    now = pictures.shown_results(tmp_path)
    for name in NAMES:
        changed = name == "curves"
        assert (before[tmp_path / f"{name}.png"] != (tmp_path / f"{name}.png").read_bytes()) is changed, name
        assert (shown[name] != now[name]) is changed, name


def test_experiments_without_results_have_no_picture(store, tmp_path):
    store.add(some_cell(), Outcome(1.0, 1.0, {}))
    store.save_tables()
    pictures.draw_all(store, tmp_path / "images", QUICK)
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["shown.json"]
    assert pictures.shown_results(tmp_path / "images") == {}


def test_the_toy_has_means_over_the_rounds_that_all_runs_have(drawn):
    right = drawn("toy").axes[1]
    assert (right.get_xlabel(), right.get_ylabel(), right.get_xscale()) == ("rounds", "error (%)", "log")
    assert {line.get_label(): line.get_ydata().tolist() for line in right.lines} == {
        "AdaBoost, test": [30.0, 20.0],
        "AdaBoost, train": [8.0, 5.0],
        "CGEns, test": [20.0, 7.0],
        "CGEns, train": [3.0, 2.0],
    }
    assert all(line.get_xdata().tolist() == [1, 2] for line in right.lines)
    assert legend_of(right) == [line.get_label() for line in right.lines]


def test_the_toy_has_the_boundary_of_a_model_and_the_true_one(drawn):
    left, split = drawn("toy").axes[0], disc_split("disc", 0, QUICK)
    contours, outside, inside = left.collections
    for points, label in ((outside, 0), (inside, 1)):
        assert np.array_equal(points.get_offsets(), split.X[split.y == label])
    assert left.patches[0].get_radius() == 1.0
    model = CGEnsClassifier(n_estimators=5).fit(split.X, split.y)
    told = contours.get_paths()[1].contains_points(split.X_test)
    assert np.mean(told == model.predict(split.X_test)) > 0.98, "but for the width of the grid"
    assert left.get_title() == "CGEns, 5 stumps; dashed: the truth"


def test_the_curves_have_all_methods_on_all_sets(drawn):
    axes = np.reshape(drawn("curves").axes, (2, 2))
    assert [axis.get_title() for axis in axes[0]] == ["mnist", "scene15_gist"]
    assert (axes[0, 0].get_ylabel(), axes[1, 0].get_ylabel()) == ("test error (%)", "training time (s)")
    assert [axis.get_xlabel() for axis in axes[1]] == ["rounds", "rounds"]
    assert [axis.get_yscale() for axis in axes[:, 0]] == ["linear", "log"]
    assert set(legend_of(axes[0, 0])) == set(EXPERIMENTS["curves"].methods) == set(CURVES)
    for row, what in ((0, 1), (1, 2)):
        for axis in axes[row]:
            found = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axis.lines}
            assert found == {method: (curve[0], curve[what]) for method, curve in CURVES.items()}


def test_the_gallery_shows_the_images_and_how_they_were_told(drawn):
    figure = drawn("gallery")
    assert [part.get_suptitle() for part in figure.subfigs] == ["fashion_mnist", "mnist"]
    for part in figure.subfigs:
        rows = multiclass_split(part.get_suptitle(), 0, QUICK).X_test
        axes = np.reshape(part.axes, (3, 3))
        shown = [[axis.images[0].get_array()[0, 0] if axis.images else None for axis in line] for line in axes]
        assert shown == [[rows[0, 0], rows[1, 0], None], [rows[3, 0], None, None], [rows[6, 0], None, rows[2, 0]]]
        assert axes[0, 0].images[0].get_array().shape == (28, 28)
        assert tuple(axis.get_title() for axis in axes[0]) == load("mnist").classes
        assert [axis.get_title() for axis in axes[2]] == ["as bag", "", "as shirt"]


def test_the_bars_are_means_over_the_runs(drawn):
    (axis,) = drawn("spam").axes
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in axis.containers}
    assert heights == {"AdaBoost": [50.0, 0.0, 10.0], "CGEns": [0.0, 45.0, 15.0]}
    assert [label.get_text() for label in axis.get_xticklabels()] == ["make 1", "money 2", "free 3"]
    assert set(legend_of(axis)) == set(EXPERIMENTS["spam"].methods)
    middles = [[bar.get_x() + bar.get_width() / 2 for bar in bars] for bars in axis.containers]
    assert np.allclose(np.mean(middles, axis=0), [0, 1, 2]), "the bars of a feature are around its name"
