"""The material of the slides: ten points with their axes, standardization, and views in two and three dimensions."""

import eigenspace
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from . import look, tex
from .errata import POINTS

FOLDS, REPEATS = 5, 10
SHOWN = 3
"""Number of components of the views."""
SHOWN_DIGITS = (0, 1, 3, 4, 6)
"""Digits in the view in three dimensions; ten colors could not be told apart."""
EVERY = 3
"""Only one in so many of their images is drawn."""
PAIRED = 600
"""Distances are compared between so many digits."""


def run():
    return {"points": points(), "wine": wine(), "digits": digits()}


def points():
    """Return the PCA of the ten points, and their scores and reconstructions from one component."""
    rows = np.array(POINTS)
    model = eigenspace.EigenspaceModel.fit(rows)
    one = model.with_components(1)
    kept = eigenspace.distances_kept(rows, one)
    return {
        "mean": model.mean,
        "components": model.components,
        "variance": model.explained_variance(),
        "ratio": model.explained_variance_ratio(),
        "projected": one.reconstruct(one.project(rows)),
        "correlation": float(np.corrcoef(model.project(rows).T)[0, 1]),
        "kept": kept._asdict(),
    }


def wine():
    """Compare PCA of the wines as measured with PCA of standardized features.

    The judge is the nearest neighbor on two components, in cross-validation: the components are computed from
    the training rows of each fold.
    """
    data = load_wine()
    found = {"names": list(data.feature_names), "labels": data.target}
    for name, standardize in {"raw": False, "standardized": True}.items():
        pca = eigenspace.PCA(SHOWN, standardize=standardize).fit(data.data)
        accuracy = []
        for seed in range(REPEATS):
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
            judge = make_pipeline(eigenspace.PCA(2, standardize=standardize), KNeighborsClassifier(1))
            accuracy.append(float(cross_val_score(judge, data.data, data.target, cv=folds).mean()))
        found[name] = {
            "ratio": pca.explained_variance_ratio_,
            "first": np.abs(pca.components_[0]),
            "scores": pca.transform(data.data)[:, :2],
            "accuracy": accuracy,
        }
    return found


def digits():
    """Return scores of handwritten digits on three components, and how far the components keep distances."""
    data = load_digits()
    pca = eigenspace.PCA(SHOWN).fit(data.data)
    chosen = np.isin(data.target, SHOWN_DIGITS)
    kept = {
        str(k): eigenspace.distances_kept(data.data[:PAIRED], pca.model_.with_components(k))._asdict()
        for k in (2, SHOWN)
    }
    return {
        "scores": np.round(pca.transform(data.data[chosen]), 3),
        "labels": data.target[chosen],
        "ratio": pca.explained_variance_ratio_,
        "kept": kept,
    }


COLORS = ("#1b6ca8", "#c0392b", "#3a9b5c", "#d98324", "#7b4fa3")
MARKS = ("o", "s", "^", "D", "v")


def draw(results):
    return {"points": drawn_points(results["points"]), "views": drawn_views(results)}


def drawn_points(found):
    rows, mean = np.array(POINTS), np.array(found["mean"])
    projected = np.array(found["projected"])
    figure, (left, right) = look.panels(2, 2.4, 5.4)
    for point, onto in zip(rows, projected, strict=True):
        left.plot(*zip(point, onto, strict=True), color=look.GRAY, linewidth=0.6)
    left.plot(*rows.T, "o", color=look.OURS)
    left.plot(*projected.T, ".", color=look.BAD)
    for direction, variance in zip(found["components"], found["variance"], strict=True):
        arrow = 2 * np.sqrt(variance) * np.array(direction)
        left.annotate("", mean + arrow, mean, arrowprops={"arrowstyle": "->", "color": look.PEER, "lw": 1.3})
    left.set(xlabel="$x$", ylabel="$y$", title="points, axes, projections", aspect="equal")
    directions = np.array(found["components"])
    scores = (rows - mean) @ directions.T
    right.plot(*scores.T, "o", color=look.OURS)
    right.axhline(0, color=look.PEER, linewidth=0.8)
    right.axvline(0, color=look.PEER, linewidth=0.8)
    right.set(xlabel="component 1", ylabel="component 2", title="scores", aspect="equal", ylim=(-1, 1))
    return figure


def drawn_views(results):
    figure = look.plt.figure(figsize=(6.3, 2.5))
    grid = figure.add_gridspec(1, 3, width_ratios=(1, 1, 1.25))
    wines = results["wine"]
    for i, name in enumerate(("raw", "standardized")):
        axis = figure.add_subplot(grid[i])
        scores, labels = np.array(wines[name]["scores"]), np.array(wines["labels"])
        for kind in range(3):
            axis.plot(
                *scores[labels == kind].T, MARKS[kind], color=COLORS[kind], markersize=2, label=f"wine {kind + 1}"
            )
        axis.set(xlabel="component 1", title=f"wines, {name}")
        if i == 0:
            axis.set_ylabel("component 2")
            # Space above the points for the legend.
            axis.set_ylim(top=axis.get_ylim()[1] + 0.4 * np.ptp(axis.get_ylim()))
            axis.legend(loc="upper right", handletextpad=0.2)
    axis = figure.add_subplot(grid[2], projection="3d")
    scores, labels = np.array(results["digits"]["scores"]), np.array(results["digits"]["labels"])
    for i, digit in enumerate(SHOWN_DIGITS):
        some = scores[labels == digit][::EVERY]
        axis.plot(*some.T, MARKS[i], color=COLORS[i], markersize=1.5, label=str(digit))
    axis.set_title("digits, three components", pad=-2)
    for number, side in enumerate((axis.xaxis, axis.yaxis, axis.zaxis), 1):
        side.set_major_locator(look.plt.MultipleLocator(20))
        side.set_tick_params(labelsize=5, pad=-4)
        side.set_label_text(f"component {number}", fontsize=6)
        side.labelpad = -9
    axis.set_box_aspect(None, zoom=0.85)
    axis.legend(loc="upper left", bbox_to_anchor=(0, 0.98), ncols=5, columnspacing=0.6, handletextpad=0, fontsize=6)
    return figure


def tables(results):
    wines = results["wine"]
    rows = []
    for name in ("raw", "standardized"):
        found = wines[name]
        first = np.array(found["first"])
        strongest = wines["names"][int(first.argmax())].replace("_", " ")
        accuracy = np.array(found["accuracy"])
        rows.append(
            [
                name,
                tex.percent(found["ratio"][0]),
                tex.percent(sum(found["ratio"][:2])),
                f"{strongest}, {tex.fixed(float(first.max()), 3)}",
                tex.spread(accuracy.mean(), accuracy.std(ddof=1)),
            ]
        )
    head = ["features", "first", "first two", "largest loading", "recognized"]
    return {"standardization": tex.table("lrrlr", head, rows)}


def numbers(results):
    found, wines, digits = results["points"], results["wine"], results["digits"]
    kept = digits["kept"]
    return {
        "points": str(len(POINTS)),
        "points.ratio": tex.percent(found["ratio"][0]),
        "points.correlation": tex.sci(abs(found["correlation"]), 1) if found["correlation"] else "0",
        "points.least": tex.fixed(found["kept"]["least"], 2),
        "points.mean": tex.fixed(found["kept"]["mean"], 2),
        "points.distances": tex.fixed(found["kept"]["correlation"], 4),
        "wine.features": str(len(wines["names"])),
        "wine.rows": str(len(wines["labels"])),
        "wine.folds": str(FOLDS),
        "wine.repeats": str(REPEATS),
        "wine.raw": tex.percent(float(np.mean(wines["raw"]["accuracy"]))),
        "wine.standardized": tex.percent(float(np.mean(wines["standardized"]["accuracy"]))),
        "digits.ratio": tex.percent(sum(digits["ratio"])),
        "digits.paired": tex.integer(PAIRED),
        "digits.share": tex.percent(kept[str(SHOWN)]["share"]),
        "digits.least": tex.fixed(kept[str(SHOWN)]["least"], 2),
        "digits.correlation": tex.fixed(kept[str(SHOWN)]["correlation"], 2),
    }
