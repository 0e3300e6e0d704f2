"""Reconstruction against the number of components: the specification's Test 3, with images."""

import itertools

import eigenspace
import numpy as np

from . import look, orl, tex

TEST = (10, 20, 30, 40, 50)
SHOWN = (1, 2, 5, *TEST, 75, 100, 150, 200, 250, 300, 350, 399)
HELD_OUT = 2
"""Number of images of each person that are not in the second model."""
DIRECTIONS = 13
"""Number of directions drawn next to the mean, in two rows."""


def run():
    rows, truth = orl.faces(), orl.reference()
    tail = np.sqrt(np.concatenate([np.cumsum(np.square(truth.s[::-1]))[::-1], [0.0]]))
    seen = np.arange(len(rows)) % orl.IMAGES < orl.IMAGES - HELD_OUT
    streamed = streamed_model(rows)
    part = streamed_model(rows[seen])
    size = {"all": np.sqrt(rows.size), "new": np.sqrt(rows[~seen].size)}
    found = []
    for k in SHOWN:
        one = {"k": k, "optimum": float(tail[k] / size["all"])}
        one["ours"] = error(streamed, rows, k)
        if k < seen.sum():
            one["new"] = error(part, rows[~seen], k)
        found.append(one)
    return {"ks": found, "deviation": float(tail[0] / size["all"])}


def streamed_model(rows):
    """Return a model with all directions, streamed in blocks of twenty."""
    pca = eigenspace.IncrementalPCA(n_components=None)
    for start in range(0, len(rows), 20):
        pca.partial_fit(rows[start : start + 20])
    return pca.model_


def error(model, rows, k):
    """Return the root mean square error in gray levels."""
    return eigenspace.reconstruction_error(rows, model.with_components(k), kind="rmse")


def draw(results):
    figure, (axis,) = look.panels(1, 2.3, 3.6)
    found = results["ks"]
    ks = [one["k"] for one in found]
    axis.plot(
        ks,
        [one["optimum"] for one in found],
        color=look.GRAY,
        linewidth=3,
        alpha=0.4,
        label="optimum (full SVD)",
    )
    axis.plot(
        ks,
        [one["ours"] for one in found],
        "o-",
        color=look.OURS,
        markersize=2.5,
        label="faces seen",
    )
    new = [(one["k"], one["new"]) for one in found if "new" in one]
    axis.plot(*zip(*new, strict=True), "s-", color=look.BAD, markersize=2.5, label="faces not seen")
    axis.set(xlabel="components", ylabel="error in gray levels", ylim=(0, None))
    axis.legend()
    figures = {"reconstruction": figure}
    if orl.available():
        figures["faces"] = images()
    return figures


def images():
    """Draw the mean and the first directions. Images of people are not drawn: they are not ours to publish."""
    model = streamed_model(orl.faces())
    shown = [("mean", model.mean), *((f"$v_{{{i + 1}}}$", model.basis[i]) for i in range(DIRECTIONS))]
    figure, axes = look.plt.subplots(2, len(shown) // 2, figsize=(6.3, 2.45))
    for axis, (title, row) in zip(axes.flat, shown, strict=True):
        limit = np.abs(row).max()
        low, high = (0, 255) if title == "mean" else (-limit, limit)
        image = row.reshape(orl.HEIGHT, orl.WIDTH)
        axis.imshow(image, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
        axis.set_title(title, pad=2)
        axis.set_axis_off()
    return figure


def frobenius(one, key):
    """Return the Frobenius norm, as the specification asks for, from the error of a pixel."""
    rows = orl.PEOPLE * (HELD_OUT if key == "new" else orl.IMAGES)
    return one[key] * np.sqrt(rows * orl.HEIGHT * orl.WIDTH)


def tables(results):
    chosen = [one for one in results["ks"] if one["k"] in TEST]
    names = {"ours": "all faces, streamed", "optimum": "optimum", "new": "faces not seen"}
    rows = [[name, *[tex.integer(frobenius(one, key)) for one in chosen]] for key, name in names.items()]
    rows.append(None)
    rows += [[f"{name}, a pixel", *[tex.fixed(one[key], 2) for one in chosen]] for key, name in names.items()]
    head = ["$k$", *[str(one["k"]) for one in chosen]]
    return {"reconstruction": tex.table("l" + "r" * len(chosen), head, rows)}


def numbers(results):
    found = {one["k"]: one for one in results["ks"]}
    errors = [found[k]["ours"] for k in TEST]
    falling = all(a > b for a, b in itertools.pairwise(errors))
    excess = max(abs(one["ours"] / one["optimum"] - 1) for one in results["ks"] if one["k"] < 399)
    return {
        "verdict": "passes" if falling else "does not pass",
        "excess": tex.sci(excess),
        "deviation": tex.fixed(results["deviation"], 1),
        "k50": tex.fixed(found[50]["ours"], 1),
        "k50.new": tex.fixed(found[50]["new"], 1),
        "k200.new": tex.fixed(found[200]["new"], 1),
        "heldout": str(HELD_OUT),
    }
