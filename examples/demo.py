"""CGEns compared with AdaBoost and an RBF-SVM: four tables, three verified certificates, and five figures in ``demo/``.

All methods run on one thread with default parameters, except for the number of stumps. The data are bundled with
scikit-learn or generated.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from cgens import CGEnsClassifier, CGEnsClassifierCV
from cgens.inspection import check_certificate
from cgens.weak_learners import Fourier

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    from cgens.plotting import plot_cv_surface
except ImportError:
    plt = None

FOLDER = Path("demo")
N_SPLITS = 3
FEW, MANY = 100, 500  # stumps
RADIUS = np.sqrt(2 * np.log(2))  # encloses half of a standard normal distribution in the plane
BLUE, ORANGE = "#0072B2", "#D55E00"  # from the colour-blind-safe palette of Okabe and Ito
COLOURS = {"CGEns": (BLUE, "#8DBFE0"), "AdaBoost": (ORANGE, "#F2B48F")}  # dark for test, light for training
STYLE = {"font.size": 11, "axes.titlesize": 12, "axes.spines.top": False, "axes.spines.right": False}


class Split(NamedTuple):
    """A training set and a test set."""

    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray


def digits_split(seed: int) -> Split:
    """Return scikit-learn's digits, odd against even, split into random halves."""
    X, digit = load_digits(return_X_y=True)
    return Split(*train_test_split(X, np.where(digit % 2 == 1, "odd", "even"), test_size=0.5, random_state=seed))


def ten_digits_split(seed: int) -> Split:
    """Return the same digits with all ten classes."""
    X, digit = load_digits(return_X_y=True)
    return Split(*train_test_split(X, digit, test_size=0.5, random_state=seed))


def disc_split(seed: int) -> Split:
    """Return the paper's toy problem: normal points in the plane, inside a circle against outside."""
    X = np.random.default_rng(seed).standard_normal((5000, 2))
    y = np.where(np.hypot(*X.T) < RADIUS, "inside", "outside")
    return Split(X[:1000], X[1000:], y[:1000], y[1000:])


def methods() -> dict[tuple[str, int], Any]:
    """Return the models to compare, by name and number of stumps."""
    models: dict[tuple[str, int], Any] = {}
    for n in (FEW, MANY):
        models["CGEns", n] = CGEnsClassifier(loss="hinge", n_estimators=n, n_jobs=1)
        models["AdaBoost", n] = AdaBoostClassifier(n_estimators=n, random_state=0)
    models["SVC (RBF)", 0] = SVC()
    return models


def seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """Return the best time of some calls of `work`."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def size(model: Any) -> str:
    """Return the size of a model in words."""
    if isinstance(model, SVC):
        return f"{model.n_support_.sum()} support vectors"
    return f"{len(model.ensemble_ if isinstance(model, CGEnsClassifier) else model.estimators_)} stumps"


def test_error(model: Any, split: Split) -> float:
    """Return the percentage of misclassified test rows."""
    return 100 * float(np.mean(model.predict(split.X_test) != split.y_test))


def fit_and_test(model: Any, splits: list[Split]) -> tuple[Any, str]:
    """Return the model of the first split, and test error and median fit time over all splits as text."""
    models = [clone(model) for _ in splits]
    pairs = list(zip(models, splits, strict=True))
    fit = np.median([seconds(lambda m=m, s=s: m.fit(s.X_train, s.y_train)) for m, s in pairs])
    errors = [test_error(m, s) for m, s in pairs]
    error = f"{np.mean(errors):.2f} +- {np.std(errors, ddof=1):.2f}"
    return models[0], f"{error:>16}{fit:>14.3f}"


def compare(title: str, splits: list[Split]) -> dict[tuple[str, int], Any]:
    """Print the table of all methods over all splits; return the models of the first split."""
    n_train, n_test = len(splits[0].y_train), len(splits[0].y_test)
    print(f"\n{title}: {n_train} training rows, {n_test} test rows\n")
    print(f"  {'method':<10}{'test error %':>16}{'fit seconds':>14}{'prediction us/row':>20}   size")
    models = {}
    for key, method in methods().items():
        model, columns = fit_and_test(method, splits)
        prediction = seconds(lambda model=model: model.predict(splits[0].X_test), repeats=5) / n_test
        print(f"  {key[0]:<10}{columns}{1e6 * prediction:>20.2f}   {size(model)}")
        models[key] = model
    return models


def explain_certificate(model: CGEnsClassifier, split: Split) -> None:
    """Print what the certificate proves, and verify it."""
    proof = model.certificate_
    check = check_certificate(model, split.X_train, split.y_train)
    verdict = "it holds." if check.agrees else "IT DOES NOT HOLD. " + " ".join(check.problems)
    gap = 100 * max(proof.relative_gap, 0.0)  # least squares has a closed form: its gap is rounding
    print(
        f"\n  The problem over the {model.n_columns_} selected stumps is solved to within {gap:.2g} %: its objective is"
        f" {proof.primal:.4f}.\n  No ensemble over all {proof.n_candidates} stumps can be better than"
        f" {proof.full_lower_bound:.4f}, which is {100 * proof.full_relative_gap:.2g} % less.\n"
        f"  Recomputed from the data and the duals in plain NumPy: {verdict}"
    )


def draw_disc(split: Split, models: dict[tuple[str, int], Any]) -> Any:
    """Draw the decision regions of CGEns and AdaBoost, the training points and the true circle."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 5.7), sharex=True, sharey=True, layout="constrained")
    edge, angle = 2.0, np.linspace(0, 2 * np.pi, 400)
    side = np.linspace(-edge, edge, 400)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    shades, box = ListedColormap(["#BBD8EC", "#F6D3B8"]), (-edge, edge)
    for panel, name in zip(panels, COLOURS, strict=True):
        region = (models[name, FEW].predict(grid) == "outside").reshape(len(side), -1)
        panel.imshow(region, extent=(*box, *box), origin="lower", cmap=shades, interpolation="nearest")
        for label, colour in (("inside", BLUE), ("outside", ORANGE)):
            points = split.X_train[split.y_train == label]
            panel.plot(*points.T, ".", color=colour, markersize=5, markeredgewidth=0, label=label)
        panel.plot(RADIUS * np.cos(angle), RADIUS * np.sin(angle), color="black", linewidth=1.3, label="true circle")
        panel.set(xlim=box, ylim=box, xticks=range(-2, 3), yticks=range(-2, 3), xlabel="$x_1$", aspect="equal")
        panel.set_title(f"{name}, {FEW} stumps: test error {test_error(models[name, FEW], split):.1f} %")
    panels[0].set_ylabel("$x_2$")
    legend = figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    for handle in legend.legend_handles[:2]:
        handle.set_markersize(10)
    return figure


def draw_convergence(split: Split, models: dict[tuple[str, int], Any]) -> Any:
    """Draw errors and gaps against rounds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
    for name, (dark, light) in COLOURS.items():
        model = models[name, MANY]
        training = [100 * np.mean(labels != split.y_train) for labels in model.staged_predict(split.X_train)]
        test = [100 * np.mean(labels != split.y_test) for labels in model.staged_predict(split.X_test)]
        rounds = np.arange(1, len(test) + 1)
        left.plot(rounds, test, color=dark, linewidth=1.3, zorder=3, label=f"{name}, test")
        left.plot(rounds, training, color=light, linewidth=1, label=f"{name}, training")
    left.set(xlabel="rounds", ylabel="error (%)", ylim=(0, 10), title="Errors on the disc")
    left.legend(frameon=False)

    model = models["CGEns", MANY]
    trace, rounds = model.trace_, np.arange(len(model.trace_))
    right.semilogy(rounds, trace.relative_gap, ".", color="#56B4E9", markersize=4, label="over the selected stumps")
    # The models of all rounds are ensembles of stumps, and all bounds hold for all stumps: use the best so far of each.
    full_gap = 1 - np.maximum.accumulate(trace.full_lower_bound) / np.minimum.accumulate(trace.primal)
    right.semilogy(rounds, full_gap, color="black", label=f"over all {model.certificate_.n_candidates} stumps")
    right.axhline(model.tol, color="0.4", linewidth=1, linestyle="--", label=f"tol = {model.tol:g}")
    right.set(xlabel="rounds", ylabel="relative duality gap", ylim=(2e-5, 2), title="Optimality of CGEns on the disc")
    right.legend(frameon=False)
    return figure


def draw_digits(split: Split, model: CGEnsClassifier) -> Any:
    """Draw the importance of each pixel, and correct and wrong test digits in the order of their decision values."""
    figure = plt.figure(figsize=(10, 3.3), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 2), wspace=0.05)
    left.suptitle("What the model looks at")
    panel = left.subplots()
    image = panel.imshow(100 * model.feature_importances_.reshape(8, 8), cmap="Blues")
    panel.set(xticks=[], yticks=[])
    panel.spines[:].set_visible(True)
    left.colorbar(image, label="importance of the pixel (%)", shrink=0.9)

    right.suptitle("Test digits and their decision values, positive for odd")
    decisions, labels = model.decision_function(split.X_test), model.predict(split.X_test)
    for panels, correct in zip(right.subplots(2, 7), (True, False), strict=True):
        rows = np.flatnonzero((labels == split.y_test) == correct)
        ranked = rows[np.argsort(decisions[rows])]
        for panel, i in zip(panels, ranked[np.linspace(0, len(ranked) - 1, len(panels)).astype(int)], strict=True):
            panel.imshow(split.X_test[i].reshape(8, 8), cmap="gray_r")
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
            panel.set_title(f"{decisions[i]:+.1f} {labels[i]}".replace("-", "\N{MINUS SIGN}"), fontsize=10)
        panels[0].set_ylabel("correct" if correct else "wrong", fontsize=12)
    return figure


def cross_validate(split: Split) -> CGEnsClassifierCV:
    """Select C and the number of stumps by five-fold cross-validation, and print the result."""
    model = CGEnsClassifierCV(loss="least_squares", n_estimators=MANY)
    spent = seconds(lambda: model.fit(split.X_train, split.y_train))
    print(
        f"\n  Five folds, {len(model.Cs_)} values of C, {len(model.stages_)} numbers of stumps, {spent:.1f} s:"
        f" selected C = {model.C_:.2g} and {model.n_columns_} stumps,\n  test error {test_error(model, split):.2f} %."
    )
    return model


def compare_families(splits: list[Split]) -> CGEnsClassifier:
    """Compare stumps with other weak learners on the digits; return the model of learned cosines."""
    print("\nDigits, all ten, with other weak learners, 300 columns; a mixture with the shares of its families\n")
    print(f"  {'weak learners':<44}{'test error %':>16}{'fit seconds':>14}   families")
    families: dict[str, Any] = {
        "stumps": "stump",
        "trees of 8 leaves": "tree",
        "perceptrons": "perceptron",
        "Fourier cosines, selected from 2000": Fourier(learn=False),
        "Fourier cosines, learned": Fourier(learn=True),
        "stumps, cosines and raw features, mixed": ["stump", Fourier(learn=False), "linear"],
    }
    models: dict[str, CGEnsClassifier] = {}
    for name, family in families.items():
        method = CGEnsClassifier(family, loss="least_squares", n_estimators=300, n_jobs=1, random_state=0)
        models[name], columns = fit_and_test(method, splits)
        shares = ", ".join(f"{key} {share:.0%}" for key, share in getattr(models[name], "family_shares_", {}).items())
        print(f"  {name:<44}{columns}   {shares}")
    return models["Fourier cosines, learned"]


def draw_cosines(model: CGEnsClassifier) -> Any:
    """Draw the directions of the first learned cosines as images."""
    figure, panels = plt.subplots(3, 10, figsize=(10, 3.4), layout="constrained")
    figure.suptitle(r"The first thirty learned columns, $\sqrt{2}\,\cos(\theta\cdot x - \kappa)$: their $\theta$")
    for panel, learner in zip(panels.ravel(), model.ensemble_.learners, strict=False):
        largest = np.abs(learner.theta).max()
        panel.imshow(learner.theta.reshape(8, 8), cmap="RdBu_r", vmin=-largest, vmax=largest)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
    return figure


def draw_surface(model: CGEnsClassifierCV) -> Any:
    """Draw the cross-validated scores."""
    figure, panel = plt.subplots(figsize=(8, 4.3), layout="constrained")
    plot_cv_surface(model, panel)
    return figure


def main() -> None:
    """Compare the methods, verify the certificates, and draw the figures."""
    print(f"Test error: mean and standard deviation over {N_SPLITS} random splits; fit: median of {N_SPLITS}.")
    print("Prediction: the whole test set at once, best of 5. One thread. Sizes are those of the first split.")
    digits, ten, disc = (
        [make(seed) for seed in range(N_SPLITS)] for make in (digits_split, ten_digits_split, disc_split)
    )
    on_digits = compare("Digits, odd against even", digits)
    explain_certificate(on_digits["CGEns", MANY], digits[0])
    on_ten = compare("Digits, all ten", ten)
    explain_certificate(on_ten["CGEns", MANY], ten[0])
    searched = cross_validate(ten[0])
    learned = compare_families(ten)
    on_disc = compare("A disc in the plane, inside against outside", disc)
    explain_certificate(on_disc["CGEns", MANY], disc[0])
    if plt is None:
        print("\nNo figures, because matplotlib is not installed: pip install 'cgens[plot]'.")
        return
    FOLDER.mkdir(exist_ok=True)
    print("\nFigures:")
    with plt.rc_context(STYLE):
        for name, figure in (
            ("disc", draw_disc(disc[0], on_disc)),
            ("convergence", draw_convergence(disc[0], on_disc)),
            ("digits", draw_digits(digits[0], on_digits["CGEns", MANY])),
            ("surface", draw_surface(searched)),
            ("cosines", draw_cosines(learned)),
        ):
            figure.savefig(FOLDER / f"{name}.png", dpi=150)
            print(f"  {FOLDER / name}.png")


if __name__ == "__main__":
    main()
