"""Merge trees: one model for each of 2 to 16 parts of the faces, merged in pairs."""

import json
import os

import eigenspace
import numpy as np

from . import look, orl, tex
from .measure import BENCH, interleaved, scatter_error, sine, summary

LEAVES = (2, 4, 8, 16)
RANKS = {"exact": None, "spare": 2 * orl.K + 32, "lean": orl.K}
RUNS = int(os.environ.get("EIGENSPACE_REPORT_RUNS", "20")) // 2


def run():
    rows, truth = orl.faces(), orl.reference()
    found = {}
    for leaves in LEAVES:
        parts = np.array_split(rows, leaves)
        one = {}
        trees = {
            name: [eigenspace.EigenspaceModel.fit(part, max_rank=rank) for part in parts]
            for name, rank in RANKS.items()
        }
        for name, models in trees.items():
            tree = joined(models, RANKS[name])
            chain = models[0]
            for model in models[1:]:
                chain = chain.merge(model, max_rank=RANKS[name])
            certificate = tree.certificate()
            s = tree.with_components(None).singular_values
            one[name] = {
                "sine": sine(shown(tree), truth.v[: orl.K]),
                "chain": sine(shown(chain), truth.v[: orl.K]),
                "value": float(np.abs(s[: orl.K] ** 2 / truth.s[: orl.K] ** 2 - 1).max()),
                "error": scatter_error(truth.centered, s, tree.basis) / truth.s[0] ** 2,
                "bound": certificate.error_bound / truth.s[0] ** 2,
                "exact": certificate.is_exact,
            }
        methods = {
            **{name: (lambda models=models, name=name: joined(models, RANKS[name])) for name, models in trees.items()},
            "recompute": lambda: eigenspace.EigenspaceModel.fit(rows),
        }
        if leaves == LEAVES[0]:
            methods["numpy"] = lambda: np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        seconds = interleaved(methods, RUNS)
        for name in methods:
            one.setdefault(name, {}).update(summary(seconds[name]))
        found[str(leaves)] = one
    return {"trees": found, "runs": RUNS}


def joined(models, rank):
    return eigenspace.EigenspaceModel.merge_all(models, max_rank=rank)


def shown(model):
    return model.with_components(orl.K).components


def draw(results):
    figure, (left, right) = look.panels(2, 2.2)
    trees = results["trees"]
    leaves = [int(number) for number in trees]
    style = {
        "exact": ("nothing dropped", look.OURS, "o-"),
        "spare": (f"rank {RANKS['spare']}", look.LEAN, "o-"),
        "lean": (f"rank {RANKS['lean']}", look.BAD, "o-"),
    }
    for key, (label, color, line) in style.items():
        left.loglog(leaves, [trees[str(n)][key]["sine"] for n in leaves], line, color=color, label=label)
        right.loglog(leaves, [1000 * trees[str(n)][key]["median"] for n in leaves], line, color=color)
    right.axhline(1000 * numpy_seconds(results), color=look.GRAY, linestyle="--", linewidth=0.8)
    look.note(right, 2, 1000 * numpy_seconds(results), "numpy SVD of all")
    right.set_ylim(None, 2500 * numpy_seconds(results))
    left.set(ylabel=r"$\sin\theta$ to batch PCA")
    left.legend(loc="center right")
    right.set(ylabel="ms for the whole tree")
    for axis in (left, right):
        axis.set(xlabel="leaves", xticks=leaves, xticklabels=[str(n) for n in leaves])
        axis.minorticks_off()
    return {"merge_tree": figure}


def numpy_seconds(results):
    return results["trees"][str(LEAVES[0])]["numpy"]["median"]


def tables(results):
    rows = []
    for number, one in results["trees"].items():
        cells = [number, tex.sci(one["exact"]["sine"])]
        for key in ("spare", "lean"):
            cells += [
                tex.sci(one[key]["sine"]),
                tex.sci(one[key]["error"]),
                tex.sci(one[key]["bound"]),
            ]
        rows.append(cells)
    head = ["leaves", r"$\sin\theta$", *([r"$\sin\theta$", "error", "bound"] * 2)]
    groups = [("", 1), ("exact", 1), (f"rank {RANKS['spare']}", 3), (f"rank {RANKS['lean']}", 3)]
    return {"merge_tree": tex.table("rrrrrrrr", head, rows, groups)}


def benchmark():
    """Return the benchmark's ratios for the merge of two halves, which are drawn at random there."""
    rows = json.loads((BENCH / "results" / "W4.json").read_text())["rows"]
    rows = [row for row in rows if row["case"] == "merge" and row["threads"] == 1]
    times = {(row["tool"], row["mode"]): np.array(row["times"]) for row in rows}
    found = {}
    for name, mode in {"exact": "all directions", "lean": "lean"}.items():
        ours, peer = times["eigenspace merge", mode], times["numpy SVD", ""]
        rounds = min(len(ours), len(peer))
        found[name] = float(np.median(peer[:rounds] / ours[:rounds]))
    return found


def numbers(results):
    shuffled = benchmark()
    trees = results["trees"]
    two = trees[str(LEAVES[0])]
    exact = [one["exact"] for one in trees.values()]
    return {
        "runs": str(results["runs"]),
        "sine": tex.sci(max(one["sine"] for one in exact)),
        "chain": tex.sci(max(one["chain"] for one in exact)),
        "certificates": "all exact" if all(one["exact"] for one in exact) else "not all exact",
        "ratio.exact": tex.times(numpy_seconds(results) / two["exact"]["median"]),
        "ratio.spare": tex.times(numpy_seconds(results) / two["spare"]["median"]),
        "ratio.lean": tex.times(numpy_seconds(results) / two["lean"]["median"]),
        "shuffled.exact": tex.times(shuffled["exact"]),
        "shuffled.lean": tex.times(shuffled["lean"]),
        "own.exact": tex.times(two["recompute"]["median"] / two["exact"]["median"]),
        "own.lean": tex.times(two["recompute"]["median"] / two["lean"]["median"]),
    }
