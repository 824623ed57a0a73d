"""The README and the examples show what the code does."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits

from cgens import CGEnsClassifier, CGEnsRegressor, CGEnsRegressorCV
from cgens.inspection import check_certificate
from cgens.testing import check_weak_learner

ROOT = Path(__file__).parents[2]


def test_the_example_of_the_readme_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    at = next(k for k, (language, _) in enumerate(blocks) if language == "python")
    exec(compile(blocks[at][1], "README.md", "exec"), {})
    assert capsys.readouterr().out == blocks[at + 1][1]


@pytest.mark.slow
def test_every_readme_example_runs() -> None:
    names: dict[str, object] = {}
    for code in re.findall(r"```py(?:thon)?\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL):
        exec(compile(code, "README.md", "exec"), names)
    shares = names["mixed"].family_shares_  # type: ignore[attr-defined]
    assert set(shares) == {"stump", "fourier", "box"}


def test_own_weak_learner_runs_as_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/own_weak_learner.py"), run_name="__main__")
    printed = capsys.readouterr().out
    accuracies = [float(figure) for figure in re.findall(r"accuracy ([\d.]+)%", printed)]
    assert len(accuracies) == 3
    assert accuracies[0] > 97  # bumps
    assert printed.count("of the best ensemble over all") == 3


def test_own_weak_learner_is_a_family() -> None:
    family = runpy.run_path(str(ROOT / "examples/own_weak_learner.py"))["Bumps"](gamma=0.1, n_candidates=60)
    check_weak_learner(family)
    X, y = load_digits(n_class=2, return_X_y=True)
    model = clone(CGEnsClassifier(family, n_estimators=500)).set_params(weak_learner__gamma=0.2).fit(X / 16, y)
    assert model.certificate_.status == "optimal"
    assert model.n_columns_ <= model.certificate_.n_candidates == 60
    assert model.certificate_.full_relative_gap <= model.tol
    assert np.mean(model.predict(X / 16) == y) > 0.99


def test_own_loss_runs_as_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    source = (ROOT / "examples/own_loss.py").read_text()
    assert len(source.splitlines()) < 60
    runpy.run_path(str(ROOT / "examples/own_loss.py"), run_name="__main__")
    robust, squared = re.findall(r"mean absolute error ([\d.]+)", capsys.readouterr().out)
    assert float(robust) < 50 < 100 < float(squared)


def test_own_loss_is_a_loss() -> None:
    """Certified, searched over C, and equal to least squares if all errors are small."""
    loss = runpy.run_path(str(ROOT / "examples/own_loss.py"))["LogCosh"]
    X, y = load_diabetes(return_X_y=True)
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/own_loss.md").read_text(), flags=re.DOTALL)
    exec(compile(shown, "own_loss.md", "exec"), {"LogCosh": loss, "X": X, "y": y})
    model = CGEnsRegressor("linear", loss=loss(delta=30.0), C=0.1, tol=1e-8).fit(X, y)
    check = check_certificate(model, X, y)
    assert check.agrees, check.problems
    assert model.certificate_.full_relative_gap <= 1e-8
    search = CGEnsRegressorCV("linear", loss=loss(delta=30.0), Cs=3, cv=3, random_state=0).fit(X, y)
    assert search.loss_ == "log_cosh"
    wide, squared = (
        CGEnsRegressor("linear", loss=own, C=0.1, tol=1e-10).fit(X, y).predict(X)
        for own in (loss(delta=1e6), "squared")
    )
    assert np.allclose(wide, squared, rtol=0, atol=1e-3)
