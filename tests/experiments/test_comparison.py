"""Comparisons with the paper: its numbers, verdicts, ranks and statements."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.paper import PAPER_ERRORS, paper_error
from evaluation.splits import IDA_SETS
from experiments.comparison import mean_ranks, verdict, with_verdicts
from experiments.registry import EXPERIMENTS
from experiments.statements import Statement, check, holds


def record(mean, sd=3.0, paper_mean=20.0, paper_sd=4.0, dataset="a", method="CGEns") -> dict:
    """Return a record; 2 sqrt(3^2 + 4^2) is 10."""
    keys = {"dataset": dataset, "method": method, "n_runs": 5}
    return keys | {"mean": mean, "sd": sd, "paper_mean": paper_mean, "paper_sd": paper_sd}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (record(30.0), "agrees"),
        (record(10.0), "agrees"),
        (record(np.nextafter(30.0, 99.0)), "worse"),
        (record(np.nextafter(10.0, 0.0)), "better"),
        (record(28.0, sd=None), "agrees"),
        (record(28.001, sd=None), "worse"),
        (record(20.0, sd=0.0, paper_sd=0.0), "agrees"),
        (record(99.0, dataset="cifar10_gist"), "other features"),
        (record(99.0, paper_mean=None, paper_sd=None), ""),
    ],
)
def test_verdicts(found, expected):
    assert verdict(found, 5) == expected


def test_there_is_no_verdict_before_all_runs_are_computed():
    records = [record(20.0), record(20.0, dataset="b"), record(20.0, dataset="c", paper_mean=None)]
    verdicts = [("agrees", True), ("(5 of 10 runs)", False), ("", False)]
    assert with_verdicts(records, lambda dataset: {"a": 5, "b": 10, "c": 6}[dataset]) == [
        r | {"verdict": verdict, "complete": complete} for r, (verdict, complete) in zip(records, verdicts, strict=True)
    ]


def test_mean_ranks():
    errors = {"a": [1.0, 2.0, 3.0], "b": [30.0, 10.0, 20.0]}
    records = [record(e, dataset=d, method=f"m{k}") for d, row in errors.items() for k, e in enumerate(row)]
    records += [record(0.0, dataset="c", method="m0"), record(0.0, dataset="d", method="m1", paper_mean=None)]
    assert mean_ranks(records, ["m0", "m1", "m2"], "mean") == {"m0": (15.5, 2.0), "m1": (6.0, 1.5), "m2": (11.5, 2.5)}
    assert mean_ranks(records, ["m2", "m0"], "mean") == {"m2": (11.5, 1.5), "m0": (15.5, 1.5)}
    assert mean_ranks(records, ["m0", "m3"], "mean") == {}, "no data set has both"
    ties = [record(50.0, paper_mean=error, method=f"m{k}") for k, error in enumerate((2.0, 1.0, 2.0))]
    assert mean_ranks(ties, ["m0", "m1", "m2"], "paper_mean") == {"m0": (2.0, 2.5), "m1": (1.0, 1.0), "m2": (2.0, 2.5)}


def test_statements_are_checked_by_mean_error_and_mean_rank():
    """On two data sets of Table 2: CGEns is second of three on the first and best on the second."""
    errors = {"banana": {"SVM": 10.0, "RFF": 12.0, "CGEns": 11.0}, "heart": {"SVM": 20.0, "RFF": 16.0, "CGEns": 15.0}}
    paper = {"banana": {"SVM": 1.0, "RFF": 2.0, "CGEns": 3.0}, "heart": {"SVM": 9.0, "RFF": 8.0, "CGEns": 4.0}}
    cells = [(dataset, method) for dataset in errors for method in ("SVM", "RFF", "CGEns")]
    records = [record(errors[d][m], 0.0, paper[d][m], 90.0, d, m) for d, m in cells]
    records = with_verdicts(records, lambda dataset: 5)
    statement = Statement("table2-fourier", "Table 2", "quote", (("CGEns",), ("RFF",)))
    found = check(statement, records)
    assert found.ours == {"CGEns": (13.0, 1.5), "RFF": (14.0, 2.5)}
    assert found.paper == {"CGEns": (3.5, 2.0), "RFF": (5.0, 2.0)}
    assert found.row()[:2] == ['"quote" (Table 2)', "2"]
    assert found.contradiction() == ""
    against = check(Statement("table2-fourier", "Table 2", "quote", (("RFF", "SVM"), ("CGEns",))), records)
    assert against.contradiction() == (
        '"quote" (Table 2) does not hold in our results: the order by mean error is CGEns 13.00, RFF 14.00, SVM 15.00, '
        "by mean rank CGEns, SVM, RFF."
    )
    fresh = Statement("table2-fourier", "", "", (("CGEns",), ("RFF",)), variant={"CGEns": "CGEns fresh"})
    assert check(fresh, records) is None, "not yet computed"
    renamed = [r | {"method": r["method"].replace("CGEns", "CGEns fresh")} for r in records]
    assert check(fresh, renamed).row()[3] == "CGEns fresh 13.00 (1.50), RFF 14.00 (2.50): **holds**"
    only = Statement("table2-fourier", "", "", (("CGEns",), ("RFF",)), datasets=("heart",))
    assert check(only, records).ours == {"CGEns": (15.0, 1.0), "RFF": (16.0, 2.0)}
    assert check(statement, [r | {"complete": False} for r in records]) is None


def test_a_statement_about_groups_compares_each_with_the_later_ones():
    scores = {"a": (1.0, 1.0), "b": (2.0, 3.0), "c": (3.0, 2.0)}
    assert holds(scores, (("a",), ("b", "c"))) == "holds"
    assert holds(scores, (("a",), ("b",), ("c",))) == "holds by mean error only"
    assert holds(scores, (("a",), ("c",), ("b",))) == "holds by mean rank only"
    assert holds({"a": (1.0, 1.0), "b": (1.0, 1.0)}, (("a",), ("b",))) == "does not hold", "equal is not better"


#: Sums of the means and of the standard deviations of each column, added up from the paper: any slip changes one.
SUMS = {
    "table1": {
        "AdaBoost": (227.93, 26.47), "LPBoost": (223.62, 21.97), "SVM": (213.66, 21.76), "CGEns": (214.96, 20.88),
    },
    "table2-fourier": {"RFF": (197.06, 22.15), "SVM": (192.42, 19.24), "CGEns": (195.44, 20.61)},
    "table2-perceptron": {
        "AdaBoost": (214.18, 23.96), "LPBoost": (218.52, 25.23), "SVM": (202.59, 23.74), "CGEns": (196.60, 23.67),
    },
    "table3": {
        "AdaBoost.ECC": (340.2, 21.1), "AdaBoost.MH": (310.5, 18.5), "MultiBoost": (352.4, 33.9),
        "CGEns-SLS": (306.7, 19.8),
    },
    "spam": {"AdaBoost": (6.32, 0.66), "CGEns": (5.80, 0.46)},
}  # fmt: skip


@pytest.mark.parametrize("table", PAPER_ERRORS)
def test_the_papers_errors_are_complete(table):
    rows = PAPER_ERRORS[table]
    sets = {"spam": {"spambase"}, "table3": set(rows)}.get(table, set(IDA_SETS))
    assert (set(rows), len(rows)) == (sets, {"table3": 14, "spam": 1}.get(table, 13))
    assert set(SUMS[table]) <= set(EXPERIMENTS[table].methods)
    for dataset, methods in rows.items():
        assert set(methods) == set(SUMS[table]), dataset
        assert all(0 < sd < mean < 100 for mean, sd in methods.values())
    for method, sums in SUMS[table].items():
        column = [rows[dataset][method] for dataset in rows]
        assert tuple(round(sum(numbers), 2) for numbers in zip(*column, strict=True)) == sums


def test_single_errors_of_the_paper():
    assert paper_error("table3", "vowel", "MultiBoost") == (32.7, 11.4)
    assert paper_error("table2-fourier", "waveform", "CGEns fresh") == (10.47, 0.23)
    assert paper_error("table2-perceptron", "banana", "AdaBoost fresh") == (11.40, 0.48)
    for unknown in (("table3", "pendigits", "CGEns-SLS"), ("table1", "banana", "RFF"), ("toy", "disc", "CGEns")):
        assert paper_error(*unknown) == (None, None)
