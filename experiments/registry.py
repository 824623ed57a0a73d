"""All experiments by name, in the order of the report."""

from __future__ import annotations

from experiments.claims import CLAIM1, CLAIM2
from experiments.curves import CURVES
from experiments.experiment import Experiment
from experiments.gallery import GALLERY
from experiments.literal import LITERAL, LITERAL_SLS
from experiments.oracle import ORACLE
from experiments.spam import SPAM
from experiments.table1 import TABLE1
from experiments.table2 import TABLE2_FOURIER, TABLE2_PERCEPTRON
from experiments.table3 import TABLE3
from experiments.toy import TOY

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        TOY, TABLE1, TABLE2_FOURIER, TABLE2_PERCEPTRON, TABLE3, CURVES, ORACLE, GALLERY, SPAM, CLAIM1, CLAIM2, LITERAL,
        LITERAL_SLS,
    )
}  # fmt: skip
