"""A store in a temporary folder, and an experiment that takes no time."""

from __future__ import annotations

import pytest

from experiments.experiment import QUICK
from experiments.registry import EXPERIMENTS
from experiments.store import Store
from tests.experiments.fakes import Fake


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(tmp_path)
    store.prepare(QUICK)
    return store


@pytest.fixture
def fake(monkeypatch) -> Fake:
    fake = Fake()
    monkeypatch.setitem(EXPERIMENTS, "fake", fake.experiment)
    return fake
