"""Checkpoints: a fit that was killed goes on to the same model, and no other fit takes its checkpoint."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from cgens import CGEnsClassifier, CGEnsOutlierDetector, CGEnsRegressor, Checkpoint, generate_columns
from cgens.checkpoints.checkpoint import CheckpointWriter
from cgens.io import Archive, FormatError, read_archive, write_archive
from cgens.masters import AdaBoost, LeastSquares, Logistic
from cgens.weak_learners import Box, Fourier, Stump
from tests.models import FAMILIES, OTHER_FORMS, PLAIN, assert_same_model, fitted, make

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


class CrashError(Exception):
    pass


def crash(*_):
    raise CrashError


def crash_at(n_columns):
    """Return a callback that ends a fit by an error."""

    def callback(state):
        if state.n_columns == n_columns:
            raise CrashError

    return callback


def crash_and_resume(make_model, path, A, y, at, every=3):
    """Return a model whose fit crashed after so many columns, then went on from its checkpoint."""
    first = make_model().set_params(checkpoint=Checkpoint(path, every_rounds=every)).set_callbacks(crash_at(at))
    with pytest.raises(CrashError):
        first.fit(A, y)
    assert path.exists()
    rounds = []
    second = make_model().set_params(checkpoint=Checkpoint(path)).set_callbacks(rounds.append).fit(A, y)
    assert rounds[0].n_columns == (at - 1) // every * every + 1, "it went on, and did not begin again"
    assert not path.exists()
    assert list(path.parent.iterdir()) == [], "no temporary file is left"
    return second


def assert_same_fit(one, other, A):
    assert_same_model(one, other, A)
    assert np.array_equal(one.duals_, other.duals_)
    for name in ("price", "primal", "dual", "full_lower_bound", "n_iter"):
        assert np.array_equal(getattr(one.trace_, name), getattr(other.trace_, name), equal_nan=True), name
    stages = zip(one.staged_predict(A), other.staged_predict(A), strict=True)
    assert all(np.array_equal(a, b) for a, b in stages)


@pytest.mark.parametrize("name", [*PLAIN, *OTHER_FORMS])
def test_every_loss_goes_on_to_the_same_model(name, tmp_path):
    once, A, y = fitted(name)
    resumed = crash_and_resume(lambda: make(name), tmp_path / "fit", A, y, at=8)
    assert_same_fit(resumed, once, A)


@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "scikit-learn"])
def test_every_family_goes_on_to_the_same_model(family, loss, tmp_path):
    def make_model():
        return CGEnsClassifier(FAMILIES[family], loss=loss, n_estimators=25, random_state=0, n_jobs=1)

    A, y = X[:150], Y[:150]
    once = make_model().fit(A, y)
    at = min(20, once.n_columns_)
    resumed = crash_and_resume(make_model, tmp_path / "fit", A, y, at=at, every=2 if at > 2 else 1)
    assert_same_fit(resumed, once, A)


@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
@pytest.mark.parametrize("own_rows", [False, True])
def test_early_stopping_goes_on(loss, own_rows, tmp_path):
    given = {"X_val": X[400:], "y_val": Y[400:]} if own_rows else {}

    def fit(**options):
        model = CGEnsClassifier(loss=loss, early_stopping=True, n_iter_no_change=5, n_estimators=80, **options)
        return model

    once = fit().fit(X[:400], Y[:400], **given)
    path = tmp_path / "fit"
    crashed = fit(checkpoint=Checkpoint(path, every_rounds=2)).set_callbacks(crash_at(min(9, once.n_iter_)))
    with pytest.raises(CrashError):
        crashed.fit(X[:400], Y[:400], **given)
    resumed = fit(checkpoint=path).fit(X[:400], Y[:400], **given)
    assert_same_fit(resumed, once, X)
    assert np.array_equal(resumed.validation_losses_, once.validation_losses_)


def test_many_columns_of_a_smooth_loss(tmp_path):
    """Most rounds then change the weights by rank one."""
    once = CGEnsClassifier(loss="logistic", n_estimators=70).fit(X, Y)
    resumed = crash_and_resume(
        lambda: CGEnsClassifier(loss="logistic", n_estimators=70), tmp_path / "fit", X, Y, at=59, every=10
    )
    assert_same_fit(resumed, once, X)


def test_several_crashes_another_order_of_rows_and_more_columns(tmp_path):
    path, order = tmp_path / "fit", np.random.default_rng(0).permutation(len(Y))
    for at, n_estimators in ((5, 10), (9, 12), (14, 40)):
        model = CGEnsClassifier("tree", random_state=3, n_estimators=n_estimators, n_jobs=at % 2 + 1)
        model.set_params(checkpoint=Checkpoint(path, every_rounds=1)).set_callbacks(crash_at(at))
        with pytest.raises(CrashError):
            model.fit(X[order], Y[order])
        order = order[::-1]
    resumed = CGEnsClassifier("tree", random_state=3, n_estimators=40, checkpoint=path).fit(X, Y)
    assert_same_fit(resumed, CGEnsClassifier("tree", random_state=3, n_estimators=40).fit(X, Y), X)


def test_without_a_random_state_the_seed_is_saved(tmp_path):
    path, columns = tmp_path / "fit", []
    crashed = CGEnsClassifier("tree", n_estimators=20, checkpoint=Checkpoint(path, every_rounds=5))
    crashed.set_callbacks(lambda state: columns.append(state.learner), crash_at(15))
    with pytest.raises(CrashError):
        crashed.fit(X, Y)
    resumed = CGEnsClassifier("tree", n_estimators=20, checkpoint=path).fit(X, Y)
    assert resumed.ensemble_.learners[:15] == columns


def test_a_warm_start_goes_on(tmp_path):
    def fit(first, **options):
        return pickle.loads(first).set_params(n_estimators=30, warm_start=True, **options)

    first = pickle.dumps(CGEnsClassifier(loss="logistic", n_estimators=10).fit(X, Y))
    once, path = fit(first).fit(X, Y), tmp_path / "fit"
    crashed = fit(first, checkpoint=Checkpoint(path, every_rounds=1)).set_callbacks(crash_at(20))
    with pytest.raises(CrashError):
        crashed.fit(X, Y)
    resumed = fit(first, checkpoint=path).fit(X, Y)
    assert_same_model(resumed, once, X)


@pytest.mark.parametrize("family", ["stump", "tree", "box", "perceptron"])
@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
def test_a_warm_start_on_few_values_goes_on(family, loss, tmp_path):
    """Many learners then have equal responses: a search must know which of them it has found."""
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, (60, 4)).astype(float)
    y = A[:, 0] + A[:, 1] * A[:, 2] + rng.normal(size=60) > 2.5
    first = pickle.dumps(CGEnsClassifier(family, loss=loss, n_estimators=5, random_state=0, n_jobs=1).fit(A, y))

    def again(**options):
        return pickle.loads(first).set_params(n_estimators=25, warm_start=True, **options)

    once, path = again().fit(A, y), tmp_path / "fit"
    crashed = again(checkpoint=Checkpoint(path, every_rounds=1)).set_callbacks(crash_at(min(12, once.n_columns_)))
    with pytest.raises(CrashError):
        crashed.fit(A, y)
    assert path.exists()
    assert_same_model(again(checkpoint=path).fit(A, y), once, A)


@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
def test_killed_after_the_decision_to_stop(loss, tmp_path, monkeypatch):
    """In the solve on all rows: the fit then stops at the same round again."""
    options = {"loss": loss, "early_stopping": True, "n_iter_no_change": 3, "n_estimators": 80}
    once, path = CGEnsClassifier(**options).fit(X, Y), tmp_path / "fit"
    model = CGEnsClassifier(**options, checkpoint=Checkpoint(path, every_rounds=1))
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointWriter, "finish", crash)
        with pytest.raises(CrashError):
            model.fit(X, Y)
    resumed = CGEnsClassifier(**options, checkpoint=path).fit(X, Y)
    assert_same_fit(resumed, once, X)
    assert np.array_equal(resumed.validation_losses_, once.validation_losses_)


def test_a_function_that_stops_does_so_again(tmp_path, monkeypatch):
    path = tmp_path / "fit"

    def stops_at_7():
        model = CGEnsClassifier(checkpoint=Checkpoint(path, every_rounds=1))
        return model.set_callbacks(lambda state: state.n_columns == 7)

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointWriter, "finish", crash)
        with pytest.raises(CrashError):
            stops_at_7().fit(X, Y)
    assert stops_at_7().fit(X, Y).n_columns_ == 7


def test_callbacks_of_scikit_learn_see_all_columns(tmp_path):
    monitor = pytest.importorskip("sklearn.callback").ScoringMonitor
    logs = []
    for checkpoint in (tmp_path / "other", saved(tmp_path)):
        own = monitor(scoring="accuracy")
        CGEnsClassifier(n_estimators=10, checkpoint=checkpoint).set_callbacks(own).fit(X, Y)
        logs.append([row["accuracy"] for row in own.get_logs().data if row["task_name"] == "round"])
    assert logs[1] == logs[0][3:]


@pytest.mark.parametrize("family", [Stump(), Fourier(n_candidates=50), Fourier(learn=True), Box(2, 50)], ids=repr)
def test_a_snapshot_does_not_change(family):
    """The loop goes on after it was taken."""
    snapshots, target = [], 2.0 * Y - 1.0

    def run(**options):
        rng = np.random.default_rng(0)
        master = LeastSquares(C=0.01)
        return generate_columns(master, family, X, target, pricing="gain", max_columns=20, rng=rng, **options)

    once, _ = run(resumable=True, callback=lambda state: state.n_columns == 6 and snapshots.append(state.snapshot()))
    resumed, _ = run(resume=snapshots[0])
    assert np.array_equal(resumed.decision(X), once.decision(X))
    with pytest.raises(ValueError, match="resumable=True"):
        run(callback=lambda state: state.snapshot() is None)


def test_a_file_of_another_fit_is_not_deleted(tmp_path):
    path = tmp_path / "fit"
    CGEnsClassifier(n_estimators=3, checkpoint=path).set_callbacks(lambda _: path.write_text("mine") and None).fit(X, Y)
    assert path.read_text() == "mine"


def test_a_fit_goes_on_if_a_checkpoint_cannot_be_written(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    model = CGEnsClassifier(n_estimators=5, checkpoint=Checkpoint(folder / "fit", every_rounds=2))
    model.set_callbacks(lambda state: folder.rmdir() if state.n_columns == 1 else None)
    with pytest.warns(UserWarning, match=r"folder/fit was not written.*goes on"):
        model.fit(X, Y)
    assert model.n_columns_ == 5


def test_what_a_killed_process_left_is_removed(tmp_path):
    path = saved(tmp_path)
    (tmp_path / ".fit.0a1b2c3d.part").write_bytes(b"half")
    (tmp_path / ".fit.part").write_bytes(b"not ours")
    CGEnsClassifier(n_estimators=10, checkpoint=path).fit(X, Y)
    assert [own.name for own in tmp_path.iterdir()] == [".fit.part"]


def test_another_start_is_refused(tmp_path):
    path = saved(tmp_path, CGEnsClassifier(n_estimators=10, warm_start=True))
    first = CGEnsClassifier(n_estimators=5, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"did not start from these 5 columns \(warm_start\)"):
        first.set_params(n_estimators=10, checkpoint=path).fit(X, Y)


def test_entries_that_overlap_are_refused(tmp_path):
    """A small file must not take much memory: each of these entries contains the next."""
    path, whole, n_entries = tmp_path / "fit", bytes(100_000), 20
    arrays = {f"a{k}": np.frombuffer(whole, dtype=np.uint8) for k in range(n_entries)}
    write_archive(path, Archive("x", 1, {}, arrays))
    with zipfile.ZipFile(path) as archived:
        header = archived.read("header.json")
    with zipfile.ZipFile(path, "w") as archived:
        archived.writestr("header.json", header)
        archived.writestr("arrays/0", whole)
        first = archived.getinfo("arrays/0")
        for k in range(1, n_entries):
            entry = copy.copy(first)
            entry.filename = entry.orig_filename = f"arrays/{k}"
            archived.filelist.append(entry)
            archived.NameToInfo[entry.filename] = entry
    assert path.stat().st_size < 2 * len(whole)
    with pytest.raises(FormatError):
        read_archive(path, "x", 1)


def test_time_between_checkpoints(tmp_path):
    path, written = tmp_path / "fit", []

    def watch(state):
        written.append(path.exists())

    model = CGEnsClassifier(n_estimators=5, checkpoint=Checkpoint(path, every_seconds=1e-9)).set_callbacks(watch)
    model.fit(X, Y)
    assert written == [False, True, True, True, True]
    CGEnsClassifier(n_estimators=5, checkpoint=path).set_callbacks(watch).fit(X, Y)
    assert not any(written[5:]), "the first is due after a minute"


def saved(tmp_path, model=None, A=X, y=Y):
    """Return the path of a checkpoint of a fit with three columns."""
    path = tmp_path / "fit"
    model = CGEnsClassifier(n_estimators=10) if model is None else model
    with pytest.raises(CrashError):
        model.set_params(checkpoint=Checkpoint(path, every_rounds=1)).set_callbacks(crash_at(4)).fit(A, y)
    return path


OTHER_FITS = {
    "other rows": (CGEnsClassifier(n_estimators=10), (X[1:], Y[1:]), r"other data.*delete"),
    "another value": (CGEnsClassifier(n_estimators=10), (np.where(X[0, 0] == X, 0.0, X), Y), r"other data"),
    "other labels": (CGEnsClassifier(n_estimators=10), (X, 1 - Y), r"other data"),
    "float32": (CGEnsClassifier(n_estimators=10), (X.astype(np.float32), Y), r"other data"),
    "weights": (CGEnsClassifier(n_estimators=10, class_weight="balanced"), (X, Y), r"other data|class_weight"),
    "another C": (CGEnsClassifier(n_estimators=10, C=0.5), (X, Y), r"C='scale', not 0\.5"),
    "another family": (CGEnsClassifier(Stump(9), n_estimators=10), (X, Y), r"weak_learner='auto', not Stump"),
    "another loss": (CGEnsClassifier(n_estimators=10, loss="logistic"), (X, Y), r"loss='auto', not 'logistic'"),
    "another seed": (CGEnsClassifier(n_estimators=10, random_state=1), (X, Y), r"random_state=None, not 1"),
    "another estimator": (CGEnsOutlierDetector(n_estimators=10), (X, None), r"other data|estimator"),
    "fewer columns": (CGEnsClassifier(n_estimators=2), (X, Y), r"3 columns.*n_estimators=2"),
}


@pytest.mark.parametrize("what", OTHER_FITS)
def test_another_fit_refuses_it(what, tmp_path):
    model, data, pattern = OTHER_FITS[what]
    path = saved(tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=pattern):
        model.set_params(checkpoint=path).fit(*data)
    assert path.read_bytes() == before
    assert not hasattr(model, "ensemble_")


@pytest.mark.parametrize(
    "damage",
    ["truncated", "one byte", "text", "empty", "another format", "no header", "pickle", "no duals", "short duals"],
)
def test_a_damaged_file_is_refused(damage, tmp_path):
    path = saved(tmp_path, CGEnsClassifier(loss="hinge", n_estimators=10))
    content = path.read_bytes()
    if damage == "another format":
        archive = read_archive(path, "cgens checkpoint", 2)
        write_archive(path, Archive("cgens model", 1, archive.content, archive.arrays))
    elif damage == "no header":
        write_archive(path, Archive("cgens checkpoint", 2, {}, {}))
    elif damage in ("no duals", "short duals"):
        archive = read_archive(path, "cgens checkpoint", 2)
        arrays = dict(archive.arrays)
        duals = arrays.pop("master.0.duals")
        arrays |= {"master.0.duals": duals[1:]} if damage == "short duals" else {}
        write_archive(path, Archive("cgens checkpoint", 2, archive.content, arrays))
    else:
        with zipfile.ZipFile(path) as archive:
            largest = max(archive.infolist(), key=lambda entry: entry.file_size)
        middle = largest.header_offset + largest.file_size // 2  # within its bytes
        changed = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        broken = {
            "truncated": content[:-100],
            "one byte": changed,
            "text": b"abc",
            "empty": b"",
            "pickle": b"cos\nsystem",
        }
        path.write_bytes(broken[damage])
    with pytest.raises(FormatError, match=r"(fit|checkpoint).*[Dd]elete"):
        CGEnsClassifier(loss="hinge", n_estimators=10, checkpoint=path).fit(X, Y)


@pytest.mark.parametrize(
    ("checkpoint", "error", "pattern"),
    [
        (3, TypeError, r"checkpoint.*\b3\b"),
        (Checkpoint("fit", every_seconds=None), ValueError, r"every_seconds or every_rounds"),
        (Checkpoint("fit", every_seconds=-1.0), ValueError, r"every_seconds.*-1"),
        (Checkpoint("fit", every_rounds=0), ValueError, r"every_rounds.*\b0\b"),
        ("no/such/folder/fit", ValueError, r"folder.*no/such/folder/fit"),
        (os.curdir, ValueError, r"is a folder"),
    ],
)
def test_invalid_checkpoints_are_refused(checkpoint, error, pattern):
    with pytest.raises(error, match=pattern):
        CGEnsClassifier(checkpoint=checkpoint).fit(X, Y)


def test_another_version_is_refused(tmp_path):
    path = saved(tmp_path)
    archive = read_archive(path, "cgens checkpoint", 2)
    write_archive(path, replace(archive, content={**archive.content, "cgens": "0.0.1"}))
    with pytest.raises(ValueError, match=r"written by cgens 0\.0\.1, not .*delete"):
        CGEnsClassifier(n_estimators=10, checkpoint=path).fit(X, Y)


def test_learners_that_are_no_arrays_cannot_be_saved(tmp_path):
    model = CGEnsClassifier(FAMILIES["scikit-learn"], checkpoint=tmp_path / "fit")
    with pytest.raises(TypeError, match=r"FittedLearner.*arrays"):
        model.fit(X, Y)
    assert list(tmp_path.iterdir()) == []


class Stateless:
    """Prices like stumps, but has no state."""

    def __init__(self, pricer):
        self.price = pricer.price


class StatelessStump(Stump):
    def begin(self, *arguments):
        return Stateless(super().begin(*arguments))


@pytest.mark.parametrize("family", [StatelessStump(), [Fourier(n_candidates=50), StatelessStump()]], ids=repr)
def test_searches_without_a_state_cannot_be_saved(family, tmp_path):
    """Which is said at once, not when the first checkpoint is due."""
    with pytest.raises(TypeError, match=r"get_state.*Stateless"):
        CGEnsClassifier(family, checkpoint=tmp_path / "fit").fit(X, Y)


class StatelessLoss(Logistic):
    def begin(self, *arguments):
        restricted = super().begin(*arguments)
        return SimpleNamespace(add=restricted.add, solve=restricted.solve, pool_bound=restricted.pool_bound)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_losses_without_a_state_cannot_be_saved(early_stopping, tmp_path):
    model = CGEnsClassifier(loss=StatelessLoss(), early_stopping=early_stopping, checkpoint=tmp_path / "fit")
    with pytest.raises(TypeError, match=r"get_state.*SimpleNamespace"):
        model.fit(X, Y)


def test_masters_without_a_state_cannot_be_saved():
    with pytest.raises(TypeError, match=r"get_state"):
        generate_columns(
            AdaBoost(), Stump(), X, 2.0 * Y - 1.0, resumable=True, callback=lambda state: state.snapshot() is None
        )


FULL_DISK = """
import resource, sys
import numpy as np
from cgens.io import Archive, write_archive
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    write_archive(sys.argv[1], Archive("x", 1, {}, {"a": np.zeros(100_000)}))
except OSError as error:
    print(type(error).__name__)
"""


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path):
    """The operating system refuses to write more than a small file."""
    path = saved(tmp_path)
    before = path.read_bytes()
    child = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert child.stdout == "OSError\n"
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


CHILD = """
import sys
import numpy as np
from cgens import CGEnsClassifier, Checkpoint
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 10))
y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=3000) > 0).astype(int) + (X[:, 3] > 1)
loss, path, output = sys.argv[1:]
y = y if loss == "least_squares" else y > 0
checkpoint = Checkpoint(path, every_rounds=1) if path != "none" else None
model = CGEnsClassifier("tree", loss=loss, n_estimators=60, random_state=0, checkpoint=checkpoint, n_jobs=1)
model.set_callbacks(lambda state: print(state.n_columns, flush=True)).fit(X, y)
np.savez(output, decision=model.decision_function(X), weights=model.ensemble_.weights, duals=model.duals_)
"""


def run_child(loss, path, output):
    command = [sys.executable, "-c", CHILD, loss, str(path), str(output)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "least_squares", "logistic"])
def test_kill_9_at_random_rounds(loss, tmp_path):
    """Seven trials per loss, 21 in all; the signal comes at any moment, also while a file is written."""
    run_child(loss, "none", tmp_path / "once.npz").communicate()
    expected, rng = np.load(tmp_path / "once.npz"), np.random.default_rng(len(loss))
    for trial in range(7):
        path, output = tmp_path / f"fit{trial}", tmp_path / f"resumed{trial}.npz"
        child, last = run_child(loss, path, output), int(rng.integers(2, 58))
        for line in child.stdout:
            if int(line) >= last:
                break
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        resumed = run_child(loss, path, output)
        first = int(resumed.stdout.readline())
        resumed.communicate()
        assert resumed.returncode == 0
        assert first >= last, "it went on"
        found = np.load(output)
        for name in ("decision", "weights", "duals"):
            assert found[name].tobytes() == expected[name].tobytes(), (trial, name)


def test_regression_and_outliers_have_the_parameter(tmp_path):
    A, y = load_diabetes(return_X_y=True)
    for model in (CGEnsRegressor(n_estimators=5), CGEnsOutlierDetector(n_estimators=5)):
        path = tmp_path / "fit"
        model.set_params(checkpoint=Checkpoint(path, every_rounds=1)).fit(A, y)
        assert not path.exists()
