"""Recognition: the nearest neighbor of a face by its scores, over the draws of the command."""

import eigenspace
import numpy as np
from sklearn import decomposition

from . import look, orl, tex
from .classifiers import NOISE, difference, points, splits

SHOWN = 40
KS = (1, 2, 3, 5, 8, 12, 20, 30, 40, 60, 100, 150)
TRAINING = 5
"""Number of known images of each person; the others are to be recognized."""


def run():
    rows, people = orl.faces(), orl.people()
    number = np.arange(len(rows)) % orl.IMAGES
    drawn = [np.isin(np.arange(len(rows)), train) for train, _ in splits(f"random-{TRAINING}")]
    found = [outcome(rows, people, known) for known in [number < TRAINING, *drawn]]
    whitened = {k: float(np.mean([one["whitened"][k] for one in found[1:]])) for k in found[0]["whitened"]}
    return {"first": found[0], "random": found[1:], "ks": list(KS), "whitened": whitened}


def outcome(rows, people, known):
    """Return the shares recognized by a stream in blocks of 20, a merge of two halves, batch PCA, and pixels."""
    stream = eigenspace.IncrementalPCA(max(KS))
    for start in range(0, known.sum(), 20):
        stream.partial_fit(rows[known][start : start + 20])
    halves = [eigenspace.EigenspaceModel.fit(half) for half in np.array_split(rows[known], 2)]
    merged = (halves[0] + halves[1]).with_components(max(KS))
    batch = decomposition.PCA(max(KS), svd_solver="full").fit(rows[known])
    accuracy = {}
    projections = {"stream": stream.transform, "merged": merged.project, "batch": batch.transform}
    for name, project in projections.items():
        old, new = project(rows[known]), project(rows[~known])
        accuracy[name] = {str(k): recognized(old[:, :k], new[:, :k], people, known) for k in KS}
    old, new = (batch.transform(part) / np.sqrt(batch.explained_variance_) for part in (rows[known], rows[~known]))
    accuracy["whitened"] = {str(k): recognized(old[:, :k], new[:, :k], people, known) for k in KS}
    accuracy["pixels"] = recognized(rows[known], rows[~known], people, known)
    named = [
        names(project(rows[known])[:, :SHOWN], project(rows[~known])[:, :SHOWN], people[known])
        for project in projections.values()
    ]
    accuracy["agree"] = bool((named[0] == named[1]).all() and (named[0] == named[2]).all())
    return accuracy


def recognized(old, new, people, known):
    return float((names(old, new, people[known]) == people[~known]).mean())


def names(old, new, people):
    """Return the name of the nearest old face for each new face."""
    distances = np.square(new).sum(axis=1)[:, None] - 2 * new @ old.T + np.square(old).sum(axis=1)
    return people[distances.argmin(axis=1)]


def over(results, name, k):
    return np.array([one[name][str(k)] for one in results["random"]])


def draw(results):
    figure, (axis,) = look.panels(1, 2.2, 3.6)
    means = [100 * over(results, "stream", k).mean() for k in KS]
    deviations = [100 * over(results, "stream", k).std(ddof=1) for k in KS]
    axis.errorbar(
        KS, means, deviations, fmt="o-", color=look.OURS, capsize=2, label=f"{len(results['random'])} random halves"
    )
    axis.plot(KS, [100 * results["whitened"][str(k)] for k in KS], "v:", color=look.PEER, label="the same, whitened")
    first = [100 * results["first"]["stream"][str(k)] for k in KS]
    axis.plot(KS, first, "s--", color=look.BAD, label="first five, last five")
    pixels = 100 * np.mean([one["pixels"] for one in results["random"]])
    axis.axhline(pixels, color=look.GRAY, linestyle=":", label="pixels, random halves")
    axis.set(xscale="log", xlabel="components", ylabel="recognized, %")
    axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axis.minorticks_off()
    axis.legend(loc="lower right")
    return {"recognition": figure}


def tables(results):
    names = {
        "stream": "streamed, blocks of 20",
        "merged": "two halves merged",
        "batch": "batch PCA (scikit-learn)",
    }
    rows = []
    for key, name in names.items():
        random = over(results, key, SHOWN)
        rows.append(
            [name, tex.percent(results["first"][key][str(SHOWN)]), tex.spread(random.mean(), random.std(ddof=1))]
        )
    random = np.array([one["pixels"] for one in results["random"]])
    rows.append(["all pixels", tex.percent(results["first"]["pixels"]), tex.spread(random.mean(), random.std(ddof=1))])
    head = ["", "first 5 / last 5", f"random 5 / 5, {len(results['random'])} draws"]
    return {"recognition": tex.table("lrr", head, rows)}


def level(results):
    """Return the smallest number of components whose share is within one standard error of the best.

    The standard error is that of the mean of the best over the draws.
    """
    shares = {k: over(results, "stream", k) for k in KS}
    best = max(shares.values(), key=np.mean)
    least = best.mean() - best.std(ddof=1) / np.sqrt(len(best))
    return next(k for k in KS if shares[k].mean() >= least)


def change(results):
    """Return where accuracy stops rising, and how it changes with more components."""
    shares = {k: over(results, "stream", k).mean() for k in KS}
    return {
        "level.k": str(level(results)),
        "level.share": tex.percent(shares[level(results)]),
        "most.k": str(KS[-1]),
        "most.share": tex.percent(shares[KS[-1]]),
        "whitened.best.k": str(max(results["whitened"], key=results["whitened"].get)),
        "whitened.best": tex.percent(max(results["whitened"].values())),
        "whitened.most": tex.percent(results["whitened"][str(KS[-1])]),
    }


def numbers(results):
    random = over(results, "stream", SHOWN)
    mean, error = difference([one["pixels"] for one in results["random"]], random)
    same = all(one["agree"] for one in [results["first"], *results["random"]])
    return {
        "shown": str(SHOWN),
        "draws": str(len(results["random"])),
        **change(results),
        "first": tex.percent(results["first"]["stream"][str(SHOWN)]),
        "random": tex.percent(random.mean()),
        "pixels": points(abs(mean), error),
        "pixels.verdict": "is noise" if abs(mean) <= NOISE * error else "is not noise",
        "deviation": tex.percent(random.std(ddof=1)),
        "same": "every face is given the same name" if same else "nearly every face is given the same name",
    }
