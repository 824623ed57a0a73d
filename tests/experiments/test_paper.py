"""The figures of the paper are copied without a slip."""

from __future__ import annotations

import pytest

from benchmarks.data import IDA_SETS
from experiments.paper import FIGURES, figures_of
from experiments.registry import EXPERIMENTS


def test_the_papers_tables_are_whole():
    sizes = {table: (len(rows), {len(methods) for methods in rows.values()}) for table, rows in FIGURES.items()}
    assert sizes == {
        "table1": (13, {4}),
        "table2-fourier": (13, {3}),
        "table2-perceptron": (13, {4}),
        "table3": (14, {4}),
        "spam": (1, {2}),
    }
    for table in ("table1", "table2-fourier", "table2-perceptron"):
        assert set(FIGURES[table]) == set(IDA_SETS)
    for table, rows in FIGURES.items():
        for dataset, methods in rows.items():
            assert set(methods) <= set(EXPERIMENTS[table].methods), f"{table}, {dataset}: ours are called otherwise"
            assert all(0 < sd < mean < 100 for mean, sd in methods.values())


@pytest.mark.parametrize(
    ("cell", "figures"),
    [
        (("table1", "banana", "CGEns"), (26.97, 1.35)),
        (("table1", "breast_cancer", "AdaBoost"), (28.83, 6.12)),
        (("table1", "german", "LPBoost"), (22.88, 1.74)),
        (("table1", "waveform", "SVM"), (12.84, 2.32)),
        (("table2-fourier", "flare_solar", "RFF"), (31.85, 1.66)),
        (("table2-fourier", "ringnorm", "SVM"), (1.66, 0.08)),
        (("table2-fourier", "waveform", "CGEns"), (10.47, 0.23)),
        (("table2-perceptron", "banana", "AdaBoost"), (11.40, 0.48)),
        (("table2-perceptron", "thyroid", "LPBoost"), (7.46, 4.59)),
        (("table2-perceptron", "titanic", "CGEns"), (22.09, 0.83)),
        (("table3", "vowel", "MultiBoost"), (32.7, 11.4)),
        (("table3", "vehicle", "AdaBoost.MH"), (22.0, 1.8)),
        (("table3", "usps", "AdaBoost.ECC"), (6.1, 0.7)),
        (("table3", "sun", "CGEns-SLS"), (53.9, 1.5)),
        (("spam", "spambase", "AdaBoost"), (6.32, 0.66)),
        (("spam", "spambase", "CGEns"), (5.80, 0.46)),
        (("table3", "pendigits", "CGEns-SLS"), (None, None)),
        (("table1", "banana", "RFF"), (None, None)),
        (("toy", "disc", "CGEns"), (None, None)),
    ],
)
def test_some_of_the_papers_figures(cell, figures):
    assert figures_of(*cell) == figures


#: The sums of the means and of the standard deviations of a column: a slip in any number changes one of them.
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
}  # fmt: skip


@pytest.mark.parametrize("table", SUMS)
def test_sums_of_the_papers_columns(table):
    for method, sums in SUMS[table].items():
        column = [FIGURES[table][dataset][method] for dataset in FIGURES[table]]
        assert tuple(round(sum(numbers), 2) for numbers in zip(*column, strict=True)) == sums
