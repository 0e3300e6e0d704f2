"""The subspace error against the number of rows streamed, with the certificate. The figure is also in README.

No time is measured here. ``bench/streamed.py`` draws the figure of README from the same results.
"""

import eigenspace
import numpy as np
from sklearn.decomposition import IncrementalPCA as Peer

from . import look, tex
from .measure import sine

FEATURES, LENGTH, BLOCK, K = 2_000, 6_000, 200, 10
KEPT = 2 * K + 32
"""The number of directions that the default keeps; scikit-learn gets as many in one of its rows."""
SIGNALS = 300


def rows():
    """Return rows with ten strong directions, and a slow decay after them."""
    rng = np.random.default_rng(11)
    deviations = np.concatenate([np.linspace(12, 6, K), 3 / np.sqrt(np.arange(1, SIGNALS - K + 1))])
    directions = np.linalg.qr(rng.normal(size=(FEATURES, SIGNALS)))[0].T
    drawn = (rng.normal(size=(LENGTH, SIGNALS)) * deviations) @ directions
    return drawn + 0.05 * rng.normal(size=drawn.shape)


def run():
    data = rows()
    ours = eigenspace.IncrementalPCA(K)
    peers = {"peer": Peer(K), "equal": Peer(KEPT)}
    scatter, total, found = np.zeros((FEATURES, FEATURES)), np.zeros(FEATURES), []
    for start in range(0, LENGTH, BLOCK):
        block = data[start : start + BLOCK]
        for estimator in (ours, *peers.values()):
            estimator.partial_fit(block)
        seen = start + BLOCK
        scatter += block.T @ block
        total += block.sum(axis=0)
        centered = scatter - np.outer(total, total) / seen
        truth = leading(centered)
        found.append(
            {
                "rows": seen,
                "ours": sine(ours.components_, truth),
                "bound": ours.certificate_.angle_bound(K),
                "exact": ours.certificate_.is_exact,
                **{name: sine(peer.components_[:K], truth) for name, peer in peers.items()},
            }
        )
    return {"marks": found, "features": FEATURES, "block": BLOCK, "k": K, "kept": KEPT}


def leading(scatter):
    """Return the leading directions of a scatter, from all of its eigenvectors."""
    from scipy.linalg import eigh

    n = len(scatter)
    return eigh(scatter, subset_by_index=[n - K, n - 1])[1].T[::-1]


def draw(results):
    figure, (axis,) = look.panels(1, 2.4, 6.3)
    marks = results["marks"]
    at = [mark["rows"] for mark in marks]
    axis.fill_between(at, 1e-15, [max(mark["bound"], 1e-15) for mark in marks], color=look.LEAN, alpha=0.35, lw=0)
    series = {
        "ours": (f"eigenspace, default ({results['kept']} kept)", look.OURS, "-"),
        "equal": (f"scikit-learn, {results['kept']} kept", look.BAD, "--"),
        "peer": (f"scikit-learn, {results['k']} kept", look.PEER, "-"),
    }
    for key, (label, color, line) in series.items():
        axis.semilogy(at, [max(mark[key], 1e-15) for mark in marks], line, color=color, label=label)
    axis.plot([], [], color=look.LEAN, alpha=0.5, linewidth=5, label="certificate of eigenspace")
    axis.set(xlabel="rows streamed", ylabel=r"$\sin\theta$ to batch PCA", ylim=(1e-15, 1))
    figure.legend(loc="outside right center")
    return {"streamed": figure}


def tables(results):
    return {}


def numbers(results):
    last = results["marks"][-1]
    held = all(mark["ours"] <= mark["bound"] * (1 + 1e-9) + 1e-11 for mark in results["marks"])
    exact = [mark["rows"] for mark in results["marks"] if mark["exact"]]
    return {
        "features": tex.integer(results["features"]),
        "rows": tex.integer(last["rows"]),
        "block": str(results["block"]),
        "k": str(results["k"]),
        "kept": str(results["kept"]),
        "exact": tex.integer(max(exact, default=0)),
        "ours": tex.sci(last["ours"]),
        "bound": tex.sci(last["bound"]),
        "peer": tex.sci(last["peer"]),
        "equal": tex.sci(last["equal"]),
        "held": "at every block" if held else "not at every block",
    }
