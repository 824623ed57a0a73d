"""Whether our figures are near the paper's, and the ranks of methods."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata

from experiments.verdicts import judged, mean_ranks, verdict


def figure(mean, sd=3.0, paper_mean=20.0, paper_sd=4.0, dataset="a", method="CGEns") -> dict:
    """A record; 2 sqrt(3^2 + 4^2) is 10."""
    return {
        "dataset": dataset,
        "method": method,
        "mean": mean,
        "sd": sd,
        "n_runs": 5,
        "paper_mean": paper_mean,
        "paper_sd": paper_sd,
    }


@pytest.mark.parametrize(
    ("record", "word"),
    [
        (figure(20.0), "near"),
        (figure(30.0), "near"),
        (figure(10.0), "near"),
        (figure(np.nextafter(30.0, 99.0)), "worse"),
        (figure(np.nextafter(10.0, 0.0)), "better"),
        (figure(28.0, sd=None), "near"),
        (figure(28.001, sd=None), "worse"),
        (figure(11.999, sd=None), "better"),
        (figure(20.0, sd=0.0, paper_sd=0.0), "near"),
        (figure(20.1, sd=0.0, paper_sd=0.0), "worse"),
        (figure(99.0, paper_mean=None, paper_sd=None), ""),
    ],
)
def test_verdicts(record, word):
    assert verdict(record, 5) == word


def test_no_verdict_before_all_runs_are_done():
    assert verdict(figure(20.0), 6) == "(5 of 6 runs)"
    records = [figure(20.0), figure(20.0, dataset="b"), figure(20.0, dataset="c", paper_mean=None)]
    found = judged(records, lambda dataset: {"a": 5, "b": 10, "c": 6}[dataset])
    assert [record["verdict"] for record in found] == ["near", "(5 of 10 runs)", ""]
    assert [record["whole"] for record in found] == [True, False, False]
    assert [{k: r[k] for k in records[0]} for r in found] == records


def test_mean_ranks():
    errors = {"a": [1.0, 2.0, 3.0], "b": [30.0, 10.0, 20.0]}
    records = [figure(e, dataset=d, method=f"m{k}") for d, row in errors.items() for k, e in enumerate(row)]
    assert mean_ranks(records, ["m0", "m1", "m2"], "mean") == {"m0": (15.5, 2.0), "m1": (6.0, 1.5), "m2": (11.5, 2.5)}
    assert mean_ranks(records, ["m2", "m0"], "mean") == {"m2": (11.5, 1.5), "m0": (15.5, 1.5)}


def test_equal_errors_share_their_ranks():
    for row in itertools.product([1.0, 2.0, 3.0], repeat=4):
        records = [figure(50.0, paper_mean=error, method=str(k)) for k, error in enumerate(row)]
        found = mean_ranks(records, list("0123"), "paper_mean")
        assert [found[method] for method in "0123"] == list(zip(row, rankdata(row), strict=True))


def test_ranks_are_over_the_sets_that_have_every_method():
    records = [figure(1.0), figure(2.0, method="SVM"), figure(9.0, dataset="b"), figure(9.0, dataset="c", method="SVM")]
    records += [figure(5.0, dataset="d"), figure(4.0, dataset="d", method="SVM", paper_mean=None)]
    assert mean_ranks(records, ["CGEns", "SVM"], "mean") == {"CGEns": (3.0, 1.5), "SVM": (3.0, 1.5)}
    assert mean_ranks(records, ["CGEns", "SVM"], "paper_mean") == {"CGEns": (20.0, 1.5), "SVM": (20.0, 1.5)}
    assert mean_ranks(records, ["CGEns", "LPBoost"], "mean") == {}
    assert mean_ranks([], ["CGEns"], "mean") == {}
