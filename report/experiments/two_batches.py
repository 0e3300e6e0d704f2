"""Two batches of 200: the specification's Test 2 for different centering rules and ranks."""

import eigenspace
import numpy as np
from sklearn.decomposition import IncrementalPCA as Peer

from . import look, orl, tex
from .measure import scatter_error, sine

HALF = 200
TOLERANCE = 1e-6
"""The tolerance of Test 2."""
RANKS = (50, 60, 75, 100, 125, 150, 175, 190, 199)
SEEDS = range(5)


def run():
    rows, v = orl.faces(), orl.reference().v[: orl.K]
    orders = {"file": np.arange(len(rows)), **{str(seed): orl.shuffled(seed) for seed in SEEDS}}
    results = {"rules": rules(), "ranks": list(RANKS), "orders": {}}
    for name, order in orders.items():
        first = eigenspace.EigenspaceModel.fit(rows[order[:HALF]])
        found = []
        for rank in RANKS:
            model = first.truncate(rank).update(rows[order[HALF:]]).with_components(orl.K)
            certificate = model.certificate()
            found.append(
                {
                    "sine": sine(model.components, v),
                    "promised": certificate.angle_bound(orl.K),
                    "error": error(model),
                    "bound": certificate.error_bound / orl.reference().s[0] ** 2,
                }
            )
        peer = Peer(orl.K)
        for part in (order[:HALF], order[HALF:]):
            peer.partial_fit(rows[part])
        results["orders"][name] = {"ours": found, "peer": sine(peer.components_, v)}
    default = eigenspace.IncrementalPCA(orl.K)
    default.partial_fit(rows[:HALF]).partial_fit(rows[HALF:])
    results["default"] = {
        "sine": sine(default.components_, v),
        "exact": default.certificate_.is_exact,
    }
    return results


def error(model):
    """Return the spectral error of a model relative to the largest eigenvalue."""
    truth, s = orl.reference(), model.with_components(None).singular_values
    return scatter_error(truth.centered, s, model.basis) / truth.s[0] ** 2


def rules():
    """Return the error of each centering rule for the second batch with nothing dropped, by numpy alone."""
    rows = orl.coordinates()
    v = orl.batch(rows).v[: orl.K]
    old, new = rows[:HALF], rows[HALF:]
    n, m = len(old), len(new)
    old_mean, block_mean, new_mean = old.mean(axis=0), new.mean(axis=0), rows.mean(axis=0)
    _, s, directions = np.linalg.svd(old - old_mean, full_matrices=False)
    factor = s[:, None] * directions
    row = np.sqrt(n * m / (n + m)) * (old_mean - block_mean)
    shift = old_mean + (1 - np.sqrt(n / (n + m))) * (block_mean - old_mean)
    stacks = {
        "old mean": [factor, new - old_mean],
        "new mean": [factor, new - new_mean],
        "block mean": [factor, new - block_mean],
        "correction": [factor, new - block_mean, row],
        "one center": [factor, new - shift],
    }
    return {
        name: sine(np.linalg.svd(np.vstack(stack), full_matrices=False)[2][: orl.K], v)
        for name, stack in stacks.items()
    }


def at(results, rank, of="sine"):
    """Return the value in file order, and the median over the shuffled orders."""
    i = results["ranks"].index(rank)
    values = {name: found["ours"][i][of] for name, found in results["orders"].items()}
    return values["file"], float(np.median([values[str(seed)] for seed in SEEDS]))


def draw(results):
    figure, (left, right) = look.panels(2, 2.4)
    ranks = results["ranks"]
    for name, found in results["orders"].items():
        color = look.OURS if name == "file" else look.LEAN
        label = {"file": "file order", "0": "shuffled"}.get(name)
        order = 3 if name == "file" else 2
        sines = [one["sine"] for one in found["ours"]]
        left.semilogy(ranks, sines, "o-", color=color, label=label, zorder=order)
    left.axhline(TOLERANCE, color=look.GRAY, linewidth=0.8, linestyle="--")
    left.text(52, TOLERANCE * 2, "Test 2", color=look.GRAY, fontsize=7)
    peer = results["orders"]["file"]["peer"]
    left.plot([orl.K], [peer], "s", color=look.PEER, label="scikit-learn, file order", zorder=4)
    left.set(xlabel="rank kept after the first batch", ylabel=r"$\sin\theta$ to batch PCA")
    left.legend(loc="lower left")
    found = results["orders"]["file"]["ours"][:-1]
    right.semilogy(ranks[:-1], [one["bound"] for one in found], "o-", color=look.OURS, label="certificate")
    right.semilogy(ranks[:-1], [one["error"] for one in found], "x", color=look.BAD, markersize=5, label="true")
    right.set(xlabel="rank kept after the first batch", ylabel=r"$\|M-L\|_2\,/\,\lambda_1$, file order")
    right.set_yticks([1e-3, 2e-3, 3e-3, 5e-3], ["0.001", "0.002", "0.003", "0.005"])
    right.minorticks_off()
    right.legend()
    return {"two_batches": figure}


def tables(results):
    names = {
        "old mean": "old mean",
        "new mean": "new mean (the specification)",
        "block mean": "mean of the block",
        "correction": "mean of the block, with the extra row $c$",
        "one center": r"the point $t$ of \eqref{eq:center}",
    }
    rows = []
    for key, name in names.items():
        found = results["rules"][key]
        rows.append([name, tex.sci(found), "yes" if found < TOLERANCE else "no"])
    return {"rules": tex.table("lrc", ["second batch centered at", r"$\sin\theta$", "Test 2"], rows)}


def numbers(results):
    found = {"tolerance": tex.sci(TOLERANCE, 1), "half": str(HALF), "seeds": str(len(SEEDS))}
    for key, name in {
        "old": "old mean",
        "new": "new mean",
        "row": "correction",
        "center": "one center",
    }.items():
        found[f"rule.{key}"] = tex.sci(results["rules"][name])
    for rank in RANKS:
        file, shuffled = at(results, rank)
        found[f"rank{rank}.file"], found[f"rank{rank}.shuffled"] = (
            tex.sci(file),
            tex.sci(shuffled),
        )
    peers = [found["peer"] for found in results["orders"].values()]
    found["peer.file"] = tex.fixed(results["orders"]["file"]["peer"], 2)
    found["peer.least"], found["peer.most"] = tex.fixed(min(peers), 2), tex.fixed(max(peers), 2)
    found["default"] = tex.sci(results["default"]["sine"])
    found["default.exact"] = "exact" if results["default"]["exact"] else "not exact"
    return found
