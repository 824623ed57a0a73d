"""The paper's own conclusions about the methods in its tables, checked against our results."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluation.paper import PAPER_ERRORS
from experiments.comparison import VERDICTS, Record, common_datasets, mean_ranks

Scores = dict[str, tuple[float, float]]  # mean error and mean rank of each method
Order = tuple[tuple[str, ...], ...]  # groups of methods, each said to be better than the later ones


@dataclass(frozen=True)
class Statement:
    """A sentence of the paper that ranks methods."""

    experiment: str
    table: str
    quote: str
    order: Order
    variant: dict[str, str] = field(default_factory=dict)  # our method in place of one of the paper's
    datasets: tuple[str, ...] = ()  # only these; default: all on which errors can be compared with the paper's


STATEMENTS = (
    Statement(
        "table1",
        "Table 1",
        "all the methods achieve comparable accuracy, with CGEns being marginally the best, and SVM the second best",
        (("CGEns",), ("SVM",), ("AdaBoost", "LPBoost")),
    ),
    Statement("table2-fourier", "Table 2", "CGEns still slightly outperforms RFF", (("CGEns",), ("RFF",))),
    Statement(
        "table2-fourier",
        "Table 2, new candidates in each round",
        "CGEns still slightly outperforms RFF",
        (("CGEns",), ("RFF",)),
        variant={"CGEns": "CGEns fresh"},
    ),
    Statement("table2-fourier", "Table 2", "RBF SVM is slightly better [than] CGEns", (("SVM",), ("CGEns",))),
    Statement(
        "table2-perceptron",
        "Table 2",
        "CGEns and SVM again outperform AdaBoost and LPBoost",
        (("CGEns", "SVM"), ("AdaBoost", "LPBoost")),
    ),
    Statement(
        "table3",
        "Table 3",
        "[CGEns-SLS] achieves overall best performance",
        (("CGEns-SLS",), ("AdaBoost.ECC", "AdaBoost.MH", "MultiBoost")),
    ),
    Statement(
        "table3",
        "Table 3, image data with our features",
        "especially on the vision datasets",
        (("CGEns-SLS",), ("AdaBoost.ECC", "AdaBoost.MH", "MultiBoost")),
        datasets=("cifar10_gist", "scene15_gist"),
    ),
    Statement("spam", "Spambase", "our method slightly outperformed AdaBoost", (("CGEns",), ("AdaBoost",))),
)


@dataclass(frozen=True)
class Check:
    """The scores of the methods that a statement names, in the paper and ours, on the same data sets."""

    statement: Statement
    n_datasets: int
    paper: Scores
    ours: Scores

    def row(self) -> list[str]:
        """Return the statement, its data sets, and the paper's scores and ours, as text."""
        order, ours = self.statement.order, self._renamed()
        return [
            f'"{self.statement.quote}" ({self.statement.table})',
            str(self.n_datasets),
            f"{_text(self.paper)}: {holds(self.paper, order)}",
            f"{_text(ours)}: **{holds(self.ours, order)}**",
        ]

    def contradiction(self) -> str:
        """Return a sentence on a statement that our results do not fully support, otherwise an empty string."""
        result = holds(self.ours, self.statement.order)
        if result == "holds":
            return ""
        ours = self._renamed()
        by_error, by_rank = (sorted(ours, key=lambda method: ours[method][k]) for k in (0, 1))
        same = by_rank == by_error
        ranks = "and the order by mean rank is the same" if same else f"by mean rank {', '.join(by_rank)}"
        return (
            f'"{self.statement.quote}" ({self.statement.table}) {result} in our results: the order by mean error is '
            f"{', '.join(f'{method} {ours[method][0]:.2f}' for method in by_error)}, {ranks}."
        )

    def _renamed(self) -> Scores:
        return {self.statement.variant.get(method, method): scores for method, scores in self.ours.items()}


def check(statement: Statement, records: list[Record]) -> Check | None:
    """Return the scores that a statement is about, or None if no data set has complete results of all methods.

    `records` are those of the statement's experiment, with verdicts.
    """
    in_paper = next(iter(PAPER_ERRORS[statement.experiment].values()))
    ours = {method: statement.variant.get(method, method) for method in in_paper}
    usable = [
        record
        for record in records
        if record["complete"]
        and (record["dataset"] in statement.datasets if statement.datasets else record["verdict"] in VERDICTS)
    ]
    methods = list(ours.values())
    datasets = common_datasets(usable, methods)
    if not datasets:
        return None
    named = [method for group in statement.order for method in group]
    scores = [mean_ranks(usable, methods, key) for key in ("paper_mean", "mean")]
    return Check(statement, len(datasets), *({method: found[ours[method]] for method in named} for found in scores))


def holds(scores: Scores, order: Order) -> str:
    """Return whether each method has a lower mean error and a lower mean rank than those of the later groups."""
    by_error, by_rank = (
        all(
            scores[better][k] < scores[worse][k]
            for g, group in enumerate(order)
            for better in group
            for later in order[g + 1 :]
            for worse in later
        )
        for k in (0, 1)
    )
    if by_error == by_rank:
        return "holds" if by_error else "does not hold"
    return f"holds by mean {'error' if by_error else 'rank'} only"


def _text(scores: Scores) -> str:
    return ", ".join(f"{method} {error:.2f} ({rank:.2f})" for method, (error, rank) in scores.items())
