"""The mistakes in the source documents, each demonstrated by a number.

Other experiments measure those about centering, rank and the reference.
"""

import eigenspace
import numpy as np

from . import look, tex
from .measure import interleaved

POINTS = [(0.72, 0.14), (0.18, 0.23), (2.50, 2.30), (0.45, 0.17), (0.03, 0.44)]
POINTS += [(0.13, 0.24), (0.30, 0.03), (2.65, 2.10), (0.91, 0.92), (0.46, 0.33)]
"""The table of ten points in the slides."""
CLAIMED = 3.23018
"""The variance along (1, 1) that the slides print for standardized data."""
WIDTHS = (2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
K, M = 50, 10
RUNS = 7


def run():
    return {"factor": factor(), "brand": brand(), "slides": slides(), "width": width()}


def factor():
    """Merge covariances with the last factor as printed, N1 N2 / N3, and as corrected, N1 N2 / N3^2."""
    rng = np.random.default_rng(1)
    one, two = rng.normal(size=(60, 8)) + 1, rng.normal(size=(40, 8)) * 2 - 1
    n, m = len(one), len(two)
    both = np.vstack([one, two])
    difference = one.mean(axis=0) - two.mean(axis=0)
    within = (n * np.cov(one.T, bias=True) + m * np.cov(two.T, bias=True)) / (n + m)
    true = np.cov(both.T, bias=True)
    found = {}
    for name, factor in {"printed": n * m / (n + m), "right": n * m / (n + m) ** 2}.items():
        merged = within + factor * np.outer(difference, difference)
        found[name] = float(np.linalg.norm(merged - true, 2) / np.linalg.norm(true, 2))
    return {**found, "n": n, "m": m}


def brand():
    """Append a column by the six steps as printed, V~ = [V 0] V^, and with V bordered by a one."""
    rng = np.random.default_rng(2)
    a, c = rng.normal(size=(30, 6)), rng.normal(size=30)
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    w = u.T @ c
    p = c - u @ w
    core = np.zeros((7, 7))
    core[:6, :6], core[:6, 6], core[6, 6] = np.diag(s), w, np.linalg.norm(p)
    left, values, right = np.linalg.svd(core)
    new_u = np.column_stack([u, p / np.linalg.norm(p)]) @ left
    printed = np.column_stack([vt.T, np.zeros(6)]) @ right.T
    bordered = np.block([[vt.T, np.zeros((6, 1))], [np.zeros((1, 6)), np.ones((1, 1))]]) @ right.T
    whole = np.column_stack([a, c])
    short = np.column_stack([(new_u * values) @ printed.T, np.zeros(30)])
    full = (new_u * values) @ bordered.T
    size = np.linalg.norm(whole)
    return {
        "printed.rows": printed.shape[0],
        "needed.rows": bordered.shape[0],
        "printed.loss": float(np.abs(printed.T @ printed - np.eye(7)).max()),
        "printed": float(np.linalg.norm(short - whole) / size),
        "right": float(np.linalg.norm(full - whole) / size),
    }


def slides():
    """Compute the PCA of the ten points, and the variance of the standardized points along (1, 1)."""
    points = np.array(POINTS)
    model = eigenspace.EigenspaceModel.fit(points)
    correlation = np.corrcoef(points.T)[0, 1]
    standard = (points - points.mean(axis=0)) / points.std(axis=0)
    return {
        "mean": model.mean,
        "covariance": np.cov(points.T),
        "eigenvalues": model.explained_variance(),
        "direction": model.components[0],
        "along": float((standard @ np.ones(2) / np.sqrt(2)).var()),
        "one plus correlation": float(1 + correlation),
    }


def width():
    """Time an update for increasing numbers of features: ours, and Brand's block step in numpy."""
    rng = np.random.default_rng(4)
    found = {}
    for features in WIDTHS:
        model = eigenspace.EigenspaceModel.fit(rng.normal(size=(K + 10, features)), max_rank=K)
        rows = rng.normal(size=(M, features))
        v, s = model.basis.T, model.singular_values
        methods = {
            "ours": lambda model=model, rows=rows: model.update(rows, max_rank=K),
            "numpy": lambda v=v, s=s, rows=rows: block_step(v, s, rows),
        }
        seconds = interleaved(methods, RUNS)
        found[str(features)] = {name: float(np.median(seconds[name])) for name in methods}
    return found


def block_step(v, s, rows):
    """Update by the five steps of the specification; the rows are centered."""
    p = rows @ v
    q, r = np.linalg.qr((rows - p @ v.T).T)
    core = np.block([[np.diag(s), np.zeros((len(s), len(rows)))], [p, r.T]])
    _, values, turn = np.linalg.svd(core)
    return values[: len(s)], np.hstack([v, q]) @ turn[: len(s)].T


def slope(results, name):
    """Return the fitted exponent of the number of features in the time."""
    widths = np.log([float(features) for features in results["width"]])
    return float(np.polyfit(widths, np.log([one[name] for one in results["width"].values()]), 1)[0])


def draw(results):
    figure, (axis,) = look.panels(1, 2.0, 3.4)
    widths = [int(features) for features in results["width"]]
    for name, label, color in (
        ("ours", "eigenspace", look.OURS),
        ("numpy", "numpy, Brand's step", look.PEER),
    ):
        axis.loglog(
            widths,
            [1000 * results["width"][str(d)][name] for d in widths],
            "o-",
            color=color,
            label=label,
        )
    first = 1000 * results["width"][str(widths[0])]["ours"]
    axis.loglog(widths, [first] * len(widths), "--", color=look.GRAY, label=r"$O(mk^2)$")
    axis.set(xlabel="features $D$", ylabel="ms for an update")
    axis.set_xticks(widths, [f"{d:,}" for d in widths])
    axis.minorticks_off()
    axis.legend()
    return {"width": figure}


def tables(results):
    return {}


def numbers(results):
    slides, brand = results["slides"], results["brand"]
    first, last = (
        results["width"][str(WIDTHS[0])]["ours"],
        results["width"][str(WIDTHS[-1])]["ours"],
    )
    return {
        "factor.printed": tex.sci(results["factor"]["printed"], 3),
        "factor.right": tex.sci(results["factor"]["right"]),
        "factor.n": str(results["factor"]["n"]),
        "factor.m": str(results["factor"]["m"]),
        "brand.printed": tex.percent(brand["printed"]),
        "brand.right": tex.sci(brand["right"]),
        "brand.loss": tex.fixed(brand["printed.loss"], 2),
        "slides.claimed": f"{CLAIMED}",
        "slides.along": tex.fixed(slides["along"], 4),
        "slides.sum": tex.fixed(slides["one plus correlation"], 4),
        "slides.mean": f"({slides['mean'][0]:.3f}, {slides['mean'][1]:.3f})",
        "slides.eigenvalues": f"{slides['eigenvalues'][0]:.6f} and {slides['eigenvalues'][1]:.6f}",
        "slides.direction": f"({slides['direction'][0]:.6f}, {slides['direction'][1]:.6f})",
        "width.first": tex.integer(WIDTHS[0]),
        "width.last": tex.integer(WIDTHS[-1]),
        "width.factor": tex.times(WIDTHS[-1] / WIDTHS[0]),
        "width.ours": tex.times(last / first),
        "width.slope": tex.fixed(slope(results, "ours"), 2),
        "width.numpy": tex.fixed(slope(results, "numpy"), 2),
        "width.k": str(K),
        "width.m": str(M),
    }
