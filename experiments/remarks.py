"""What was found out about single figures; the page puts it below their tables."""

from __future__ import annotations

#: Sets with features of our own: no verdict, and no place in the means beside the paper's.
OTHER_FEATURES = ("cifar10_gist", "scene15_gist")

#: By experiment and data set; "" is for the whole table.
REMARKS: dict[tuple[str, str], tuple[str, ...]] = {
    ("table1", ""): (
        "Splits: the canonical ones where they are known (heart, ringnorm: all five; banana, twonorm, waveform: "
        "the first), else random ones of the published sizes. The paper drew its own five.",
    ),
    ("table2-fourier", ""): (
        "CGEns, RFF, *learned* and *mixture* take the width of the SVM, as in the paper; *own sigma* chooses it "
        "by cross-validation with CGEns itself, which the paper calls ideal. *learned*: each column is improved "
        "by gradient ascent on its price. *mixture*: stumps, perceptrons and cosines compete.",
    ),
    ("table2-fourier", "splice"): (
        "Our 500 columns come from one pool of 2000 cosines, and a quarter of it, chosen on 1000 rows of 60 "
        "letters, errs more than all 2000 together (RFF). The paper may be read as drawing 2000 new candidates "
        'in each round. With `Fourier(pool="fresh")`, which does that, C fixed at 0.003 and 0.01 and the width '
        "of the SVM, the first split has 13.4 and 13.1 %, the second 12.7 and 13.2 % (one pool: 16.9, 17.5, 17.2 "
        "and 17.8 %). A smaller width helps one pool as well: *own sigma*.",
    ),
    ("table2-perceptron", ""): (
        "*learned*: `Perceptron()` as the library has it, which improves columns by gradient ascent where that "
        "holds on rows it has not seen.",
    ),
    ("table2-perceptron", "splice"): (
        "One pool of 2000 again, as with cosines. AdaBoost, which has the same pool, errs more than the paper's "
        "on ringnorm, splice and waveform too: the paper's candidates seem to be new ones in each round.",
    ),
    ("spam", ""): (
        "The paper's picture is here as well: AdaBoost turns to george (27), meeting (42) and edu (46) more "
        "often, CGEns to you (19); of remove (7) and the dollar sign (53) we do not see what the paper saw.",
    ),
    ("claim1", ""): ("Against a matrix of all stumps, at the duals of each round, solved to a relative gap of 1e-8.",),
    ("literal", ""): (
        "C = 30 / m, epsilon = 0.01, at most 500 rounds (50 in quick mode). Under an l2 norm a column of the working "
        "set has the price w_j, not 0: to the letter, the algorithm comes back to columns it has as soon as the "
        "others' prices are smaller, and copies share a weight that is then penalised less. Its objective is of that "
        "other problem. The library searches outside the working set, and stops when no column outside it has a "
        "price.",
    ),
    ("literal-sls", ""): (
        "C = 30 / m, U = C / 2 at the start, epsilon = 0.01, at most 500 rounds (50 in quick mode). A constant U "
        "prices a stump by how many rows are on its one side: the first column is the stump that tells least. What "
        "was said of columns that come back holds here as well.",
    ),
    ("gallery", ""): ("500 stumps (50 in quick mode) with the default C.",),
    ("table3", ""): (
        "pascal07, labelme, sun: the paper's features are not to be had. Whoever has them puts pascal07.npz, "
        "labelme.npz or sun.npz with arrays X (n, d) and y (n,) into the data folder, and the runner takes them.",
        "cifar10_gist and scene15_gist are GIST features computed for this project, not the paper's features: "
        "compare the methods with each other there, not with the paper.",
        "The paper announces pendigits without a figure, and pedestrian detection without a result.",
    ),
    ("table3", "usps"): (
        "AdaBoost.ECC, AdaBoost.MH and CGEns-SLS all err more here than in the paper, by 1.4 to 2.3 points, "
        "which points to the data: ours are the 9298 images of the usual training and test sets, thrown together "
        "and split 3:1. There is also a USPS of 11 000 images, 1100 of each digit; the paper does not say which "
        "one it has.",
    ),
    ("table3", "vowel"): (
        "On the first two splits no C from 1e-4 to 10 gives less than 29 % with 500 columns, or 26 % with 1500, "
        "even if it is chosen on the test rows; thresholds without bins, the other pricing, Algorithm 2 to the "
        "letter (32 to 54 % for C from 1 / m to 30 000 / m) or the speaker as a feature do not change that. The data "
        "are right: AdaBoost.MH has the paper's error on them. "
        "AdaBoost.ECC, on the other hand, has 17.7 % where the paper has 31.1 %, and on segment as well the "
        "paper's figures of the two (4.2 and 2.6 %) look like ours the other way round (2.0 and 4.0 %). Whether "
        "they were exchanged we cannot know.",
    ),
}
