"""Time to add ten faces to 390, compared with recomputing from all 400; and blocks of other sizes.

The times of the ten faces are those of the benchmark (``bench/s1_specification.py``), which bench/RESULTS.md
shows too. As in the specification, the mean and standard deviation over the runs are reported. As in the
benchmark, a ratio is the median of the ratios of the rounds. The methods are interleaved, so that other
load on the machine affects all of them. Every method uses one thread.
"""

import copy
import json
import os

import eigenspace
import numpy as np
from sklearn import decomposition

from . import look, orl, tex
from .measure import BENCH, interleaved, summary

RUNS = int(os.environ.get("EIGENSPACE_REPORT_RUNS", "20"))
OLD = 390
CLAIM = 200
"""The claim of the specification: about 200 times faster at k = 50 (features / components)."""
BLOCKS = {1: 40, 10: 20, 50: 4, 200: 1}
"""Number of rows in a block, and number of such blocks for the slow methods."""
BLOCK_RUNS = 5
SPARE = 2 * orl.K + 32
"""Number of directions to which a stream truncates by default."""

SPECIFICATION = BENCH / "results" / "S1.json"
"""The benchmark's times of adding ten faces to 390, which bench/RESULTS.md shows too."""
TOOLS = {
    ("numpy SVD", ""): "numpy",
    ("numpy Gram matrix", ""): "gram",
    ("scikit-learn PCA(full)", ""): "full",
    ("scikit-learn PCA(randomized)", ""): "randomized",
    ("scikit-learn IncrementalPCA", ""): "peer",
    ("scikit-learn IncrementalPCA", "equal rank"): "peer132",
    ("eigenspace PCA", "default"): "batch",
    ("eigenspace update", "default"): "exact",
    ("eigenspace update", f"rank {SPARE}"): "spare",
    ("eigenspace update", "lean"): "lean",
}


def run():
    found, at = ten()
    return {"ten": found, "blocks": blocks(), "runs": found["numpy"]["runs"], "flops": flops(), "ten_measured": at}


def ten():
    """Return the times of the benchmark with one thread, and when they were measured; and that of appending rows."""
    if not SPECIFICATION.exists():
        raise SystemExit("bench/results/S1.json is missing: run `cargo xtask bench -- S1` first")
    stored = json.loads(SPECIFICATION.read_text())
    found = {}
    for row in stored["rows"]:
        key = TOOLS.get((row["tool"], row["mode"]))
        if key and row["threads"] == 1 and row["case"] == "ten faces added to 390":
            at = row.get("measured", stored["machine"])
            found[key] = {"seconds": row["times"]}
            found[key] |= {name: row[name] for name in ("runs", "mean", "deviation", "median")}
            found[key] |= {"sine": row["sine"], "captured": row["captured"] * best_captured()}
    missing = set(TOOLS.values()) - set(found)
    if missing:
        raise SystemExit(f"bench/results/S1.json has no times of {', '.join(sorted(missing))}")
    found["append"] = appended()
    return found, {key: at[key] for key in ("commit", "date", "load_before")}


def best_captured():
    """Return the share of the variance along the first components of batch PCA."""
    s = orl.reference().s
    return float(np.square(s[: orl.K]).sum() / np.square(s).sum())


def appended():
    """Time appending ten rows to a stream, without reading a result."""
    rows = orl.faces()
    old, new = rows[:OLD], rows[OLD:]
    stream = eigenspace.IncrementalPCA(orl.K).fit(old[:-10])

    def flowing():
        """Copy the stream and add rows, because the buffer of a new copy has no spare capacity."""
        return copy.deepcopy(stream).partial_fit(old[-10:])

    seconds = interleaved({"append": (flowing, lambda own: own.partial_fit(new))}, RUNS)["append"]
    return {"seconds": seconds, **summary(seconds)}


def shown(model):
    return model.with_components(orl.K).components


def blocks():
    """Time a block after the first 200 rows, reading components after every block or once at the end."""
    rows = orl.faces()
    start, stop = 200, 400
    streams = {
        "default": eigenspace.IncrementalPCA(orl.K).fit(rows[:start]),
        "lean": eigenspace.IncrementalPCA(orl.K, max_rank=orl.K).fit(rows[:start]),
    }
    peer = decomposition.IncrementalPCA(orl.K, batch_size=start).fit(rows[:start])
    lean = eigenspace.EigenspaceModel.fit(rows[:start], max_rank=orl.K)
    found = {}

    def fed(estimator, size, end):
        for first in range(start, end, size):
            estimator.partial_fit(rows[first : first + size])
        return estimator.components_

    def updated(size, end):
        model = lean
        for first in range(start, end, size):
            model = model.update(rows[first : first + size], max_rank=orl.K)
        return shown(model)

    for size, number in BLOCKS.items():
        few = start + size * number
        methods = {
            "peer": (
                lambda: copy.deepcopy(peer),
                lambda own, size=size, few=few: fed(own, size, few),
            ),
            "read": lambda size=size, few=few: updated(size, few),
            **{
                name: (
                    lambda own=own: copy.deepcopy(own),
                    lambda own, size=size: fed(own, size, stop),
                )
                for name, own in streams.items()
            },
        }
        seconds = interleaved(methods, BLOCK_RUNS)
        counts = {"peer": number, "read": number, "default": (stop - start) // size}
        counts["lean"] = counts["default"]
        found[str(size)] = {name: summary([one / counts[name] for one in seconds[name]]) for name in methods}
    return found


def flops():
    """Return ratios of operation counts: by the specification, and with the true cost of an update."""
    d, n, m, k = orl.faces().shape[1], len(orl.faces()), len(orl.faces()) - OLD, orl.K
    batch, claimed, needed = d * n**2, m * k**2, d * (k + m) ** 2
    return {"claimed": batch / claimed, "simple": d / k, "needed": batch / needed}


def ratio(results, name, to="numpy"):
    """Return how many times as fast it is, as in bench/RESULTS.md: the median over the rounds."""
    ours, theirs = results["ten"][name]["seconds"], results["ten"][to]["seconds"]
    return float(np.median([b / a for a, b in zip(ours, theirs, strict=False)]))


def draw(results):
    figure, (left, right) = look.panels(2, 2.4)
    names = {
        "numpy": "numpy SVD",
        "full": "scikit-learn full",
        "gram": "numpy Gram",
        "randomized": "scikit-learn randomized",
        "batch": "eigenspace batch",
        "peer": f"scikit-learn rank {orl.K}",
        "peer132": f"scikit-learn rank {SPARE}",
        "exact": "eigenspace, default",
        "spare": f"eigenspace rank {SPARE}",
        "lean": f"eigenspace rank {orl.K}",
    }
    ordered = sorted(names, key=lambda name: results["ten"][name]["median"])
    times = [1000 * results["ten"][name]["median"] for name in ordered]
    ours = ("batch", "exact", "spare", "lean")
    left.barh(
        [names[name] for name in ordered],
        times,
        color=[look.OURS if n in ours else look.PEER for n in ordered],
    )
    left.set(xscale="log", xlabel="ms, median", title="ten faces added to 390")
    left.grid(axis="y", visible=False)
    left.set_axisbelow(True)
    sizes = [int(size) for size in results["blocks"]]
    series = {
        "peer": ("scikit-learn, reading each", look.PEER, "s-"),
        "read": ("rank 50, reading each", look.LEAN, "o-"),
        "default": ("default, reading at the end", look.OURS, "o-"),
        "lean": ("rank 50, reading at the end", look.OURS, "o:"),
    }
    for key, (label, color, line) in series.items():
        values = [1000 * results["blocks"][str(size)][key]["median"] for size in sizes]
        right.loglog(sizes, values, line, color=color, label=label)
    right.axhline(1000 * results["ten"]["numpy"]["median"], color=look.GRAY, linestyle="--", linewidth=0.8)
    look.note(right, 1, 1000 * results["ten"]["numpy"]["median"], "numpy SVD of all")
    right.set(xlabel="rows of a block", ylabel="ms for a block", title="other blocks")
    look.ticks(right, sizes)
    right.set_ylim(None, 200 * 1000 * results["ten"]["numpy"]["median"])
    right.legend(loc="upper left", fontsize=6, borderaxespad=0.2)
    return {"speed": figure}


def tables(results):
    names = {
        "numpy": "numpy, full SVD of 400",
        "gram": "numpy, Gram matrix of 400",
        "full": "scikit-learn PCA, full",
        "randomized": "scikit-learn PCA, default",
        "batch": "eigenspace, batch of 400",
        None: None,
        "peer": f"scikit-learn IncrementalPCA, rank {orl.K}",
        "peer132": f"scikit-learn IncrementalPCA, rank {SPARE}",
        "exact": "eigenspace, nothing dropped (default)",
        "spare": f"eigenspace, rank {SPARE}",
        "lean": f"eigenspace, rank {orl.K}",
    }
    rows = []
    for key, name in names.items():
        if key is None:
            rows.append(None)
            continue
        one = results["ten"][key]
        mean = f"{tex.milliseconds(one['mean'], False)} $\\pm$ {tex.milliseconds(one['deviation'], False)}"
        cells = [mean, tex.milliseconds(one["median"], False), tex.times(ratio(results, key))]
        rows.append([name, *cells, tex.sci(one["sine"]), tex.percent(one["captured"], 2)])
    head = ["", "mean $\\pm$ sd", "median", "ratio", r"$\sin\theta$", "captured"]
    return {"speed": tex.table("lrrrrr", head, rows), "complexity": complexity(results)}


def complexity(results):
    """Return table 4.1 of the specification as it is printed, with a column of measured values."""
    ten, flops = results["ten"], results["flops"]
    rows = [
        ["Batch PCA", "$O(nm^2)$", "full SVD every time", tex.milliseconds(ten["numpy"]["median"])],
        ["Incremental PCA (per batch)", "$O(mk^2)$", r"$k\ll n$", tex.milliseconds(ten["lean"]["median"])],
        [
            r"\textbf{Speedup}",
            r"$\sim n/k$",
            rf"for $k={orl.K}$, $\approx{CLAIM}$",
            tex.times(ratio(results, "lean")),
        ],
        None,
        ["operations, as printed", r"$nm^2/(10\,k^2)$", "", tex.times(flops["claimed"])],
        ["operations, with the factor $n$", r"$m^2/(k+10)^2$", "", tex.times(flops["needed"])],
    ]
    return tex.table("lllr", ["method", "complexity", "notes", "measured"], rows)


def numbers(results):
    best = ratio(results, "lean")
    blocks, measured = results["blocks"], results["ten_measured"]
    found = {
        "ten.commit": measured["commit"],
        "ten.date": measured["date"][:10],
        "ten.load": f"{measured['load_before']:.2f}",
        "runs": str(results["runs"]),
        "block.runs": str(BLOCK_RUNS),
        "claim": str(CLAIM),
        "claim.simple": tex.integer(results["flops"]["simple"]),
        "claim.formulas": tex.integer(results["flops"]["claimed"]),
        "claim.needed": tex.integer(results["flops"]["needed"]),
        "verdict": "reached" if best >= CLAIM else "not reached",
        "spare": str(SPARE),
        "append": tex.milliseconds(results["ten"]["append"]["median"]),
        "numpy": tex.milliseconds(results["ten"]["numpy"]["median"]),
        "against.gram": tex.times(ratio(results, "lean", "gram")),
        "against.peer": tex.times(ratio(results, "lean", "peer")),
        "against.peer132": tex.times(ratio(results, "spare", "peer132")),
        "sine.lean": tex.sci(results["ten"]["lean"]["sine"]),
    }
    for name in ("batch", "exact", "spare", "lean", "peer", "peer132"):
        found[f"ratio.{name}"] = tex.times(ratio(results, name))
    for size in blocks:
        for name in ("default", "lean", "read"):
            peer = blocks[size]["peer"]["median"]
            found[f"block{size}.{name}"] = tex.times(peer / blocks[size][name]["median"])
    return found
