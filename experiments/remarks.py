"""What was found out about single figures; the page puts it below their tables."""

from __future__ import annotations

#: Sets of the paper whose features are not to be had.
NO_DATA = ("pascal07", "labelme", "sun", "cifar10_gist", "scene15_gist")

#: By experiment and data set; "" is for the whole table.
REMARKS: dict[tuple[str, str], tuple[str, ...]] = {
    ("table1", ""): (
        "Splits: the canonical ones where they are known (heart, ringnorm: all five; banana, twonorm, waveform: the "
        "first), else random ones of the published sizes. The paper drew its own five.",
    ),
    ("table3", ""): (
        "PASCAL07, LabelMe, SUN: no data. Their features are not to be had; put pascal07.npz, labelme.npz or sun.npz "
        "with arrays X (n, d) and y (n,) into the data folder, and the runner takes them.",
        "cifar10_gist and scene15_gist are GIST features computed for this project, not the paper's features: compare "
        "the methods with each other there, not with the paper.",
        "The paper announces pendigits without a figure, and pedestrian detection without a result.",
    ),
}
