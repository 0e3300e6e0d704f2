"""Many batches: the faces in twenty blocks and row by row, and long streams of random rows."""

import eigenspace
import numpy as np
from sklearn.decomposition import IncrementalPCA as Peer

from . import look, orl, tex
from .measure import orthogonality_loss, sine

CUTS = {"20 x 20": 20, "400 x 1": 1}
FEATURES, LENGTH, SHOWN, KEPT = 1_500, 10_000, 10, 40
"""The long stream: more than 1,024 features, so that directions beyond the rank are dropped."""
MARKS = (100, 300, 1_000, 3_000, 10_000)
PEER_BLOCK = 100
THRESHOLD = 10_000
"""Residuals below this many rounding errors count as zero in Brand's update."""
DEFICIENT, SHORT = 30, 300
"""The short stream: rows of a lower rank than is kept, so that residuals are pure rounding error."""


def run():
    return {"faces": {name: faces(size) for name, size in CUTS.items()}, "stream": stream(), "deficient": deficient()}


def faces(size):
    """The faces in blocks of this many rows."""
    rows, truth = orl.faces(), orl.reference()
    v, largest = truth.v[: orl.K], truth.s[0] ** 2
    found = {}
    for name, rank in {"default": None, "rank 100": 100, "lean": orl.K}.items():
        pca = eigenspace.IncrementalPCA(orl.K, max_rank=rank)
        for start in range(0, len(rows), size):
            pca.partial_fit(rows[start : start + size])
        found[name] = {
            "sine": sine(pca.components_, v),
            "loss": orthogonality_loss(pca.components_),
            "bound": pca.certificate_.error_bound / largest,
            "exact": pca.certificate_.is_exact,
        }
    # scikit-learn does not accept a first block with fewer rows than components.
    peer = Peer(orl.K).partial_fit(rows[: orl.K + 10])
    for start in range(orl.K + 10, len(rows), size):
        peer.partial_fit(rows[start : start + size])
    found["peer"] = {
        "sine": sine(peer.components_, v),
        "loss": orthogonality_loss(peer.components_),
    }
    return found


def drawn():
    """Return random rows whose spectrum decays slowly after a gap, with a mean far from zero."""
    rng = np.random.default_rng(7)
    deviations = np.concatenate([np.linspace(10, 5, SHOWN), 2 / np.sqrt(np.arange(1, 191))])
    directions = np.linalg.qr(rng.normal(size=(FEATURES, len(deviations))))[0].T
    rows = (rng.normal(size=(LENGTH, len(deviations))) * deviations) @ directions
    return rows + 0.05 * rng.normal(size=rows.shape) + 100 * rng.normal(size=FEATURES)


def single_pass(rows, dtype, marks=MARKS, threshold=THRESHOLD):
    """Run the usual form of Brand's rank-one update, which orthogonalizes the residual once.

    Return V after each mark. The mean correction is right; only the second orthogonalization is
    missing. A residual that is shorter than ``threshold`` rounding errors of the row counts as zero, as Brand
    proposes: it adds no direction.
    """
    rows = rows.astype(dtype)
    mean, n = rows[0].copy(), 1
    v, s = np.zeros((0, rows.shape[1]), dtype), np.zeros(0, dtype)
    found = []
    for row in rows[1:]:
        x = np.sqrt(dtype(n / (n + 1))) * (row - mean)
        mean += (row - mean) / dtype(n + 1)
        n += 1
        p = v @ x
        residual = x - p @ v
        rho = np.linalg.norm(residual)
        if len(s) and rho <= threshold * np.finfo(dtype).eps * np.linalg.norm(x):
            _, s, w = np.linalg.svd(np.vstack([np.diag(s), p[None]]), full_matrices=False)
            v = w @ v
            if n in marks:
                found.append(v.astype(np.float64))
            continue
        k = np.zeros((len(s) + 1, len(s) + 1), dtype)
        k[: len(s), : len(s)], k[-1, :-1], k[-1, -1] = np.diag(s), p, rho
        _, s, w = np.linalg.svd(k)
        v = (w @ np.vstack([v, residual / rho]))[:KEPT]
        s = s[:KEPT]
        if n in marks:
            found.append(v.astype(np.float64))
    return found


def deficient():
    """Return the loss of orthogonality after a short stream of rows of lower rank than is kept."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(SHORT, DEFICIENT)) @ rng.normal(size=(DEFICIENT, FEATURES))
    model = eigenspace.EigenspaceModel(FEATURES)
    for row in rows:
        model = model.update(row[None], max_rank=KEPT)
    found = {"ours": orthogonality_loss(model.basis), "rank": model.rank}
    for name, dtype in {"f64": np.float64, "f32": np.float32}.items():
        for suffix, threshold in {"": 0, ".threshold": THRESHOLD}.items():
            found[name + suffix] = orthogonality_loss(single_pass(rows, dtype, (SHORT,), threshold)[0])
    return found


def stream():
    """Measure angle, loss of orthogonality, certificate and true error in a stream of single rows."""
    rows = drawn()
    pca = eigenspace.IncrementalPCA(SHOWN, max_rank=KEPT)
    peer = Peer(KEPT)  # as many directions as the others; its first components are compared
    naive = {"f64": single_pass(rows, np.float64), "f32": single_pass(rows, np.float32)}
    found, done = [], 0
    for i, mark in enumerate(MARKS):
        for start in range(done, mark):
            pca.partial_fit(rows[start : start + 1])
        for start in range(done, mark, PEER_BLOCK):
            peer.partial_fit(rows[start : start + PEER_BLOCK])
        done = mark
        centered = rows[:mark] - rows[:mark].mean(axis=0)
        scatter = centered.T @ centered
        values, vectors = np.linalg.eigh(scatter)
        v, largest = vectors.T[::-1][:SHOWN], values[-1]
        model = pca.model_
        s, basis = model.with_components(None).singular_values, model.basis
        error = scatter - (basis.T * s**2) @ basis
        certificate = model.certificate()
        found.append(
            {
                "rows": mark,
                "ours": {"sine": sine(pca.components_, v), "loss": orthogonality_loss(basis)},
                "peer": {
                    "sine": sine(peer.components_[:SHOWN], v),
                    "loss": orthogonality_loss(peer.components_),
                },
                **{
                    name: {"sine": sine(kept[i][:SHOWN], v), "loss": orthogonality_loss(kept[i])}
                    for name, kept in naive.items()
                },
                "bound": float(certificate.error_bound / largest),
                "promised": certificate.angle_bound(SHOWN),
                "error": float(np.abs(np.linalg.eigvalsh(error)).max() / largest),
            }
        )
    return found


def draw(results):
    figure, axes = look.panels(3, 2.4)
    marks = results["stream"]
    rows = [mark["rows"] for mark in marks]
    series = {
        "ours": ("eigenspace", look.OURS, "o-"),
        "peer": ("scikit-learn", look.PEER, "s-"),
        "f64": ("Brand, one pass, f64", look.BAD, "^--"),
        "f32": ("Brand, one pass, f32", look.GRAY, "v--"),
    }
    for key, (label, color, line) in series.items():
        # Angles are nearly equal: the first curve is wide, so that it shows beside the others.
        shape = {"linewidth": 3.5, "markersize": 8, "alpha": 0.6} if key == "ours" else {}
        axes[0].loglog(rows, [mark[key]["loss"] for mark in marks], line, color=color, label=label)
        axes[1].loglog(rows, [max(mark[key]["sine"], 1e-16) for mark in marks], line, color=color, **shape)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    axes[0].set(xlabel="rows", title=r"largest entry of $|VV^T-I|$")
    axes[1].set(xlabel="rows", title=r"$\sin\theta$ to batch PCA")
    shown = [(mark["rows"], mark["bound"], mark["error"]) for mark in marks if mark["bound"] > 0]
    axes[2].loglog(
        *zip(*[(n, bound) for n, bound, _ in shown], strict=True),
        "o-",
        color=look.OURS,
        label="certificate",
    )
    axes[2].loglog(
        *zip(*[(n, error) for n, _, error in shown], strict=True),
        "o:",
        color=look.GRAY,
        label="true",
    )
    axes[2].set(xlabel="rows", title=r"$\|M-L\|_2\,/\,\lambda_1$")
    axes[2].set(xlim=axes[1].get_xlim(), ylim=(5e-4, 2e-2))
    axes[2].legend(loc="upper right")
    return {"drift": figure}


def tables(results):
    names = {
        "default": "eigenspace, default",
        "rank 100": "eigenspace, rank 100",
        "lean": "eigenspace, rank 50",
        "peer": "scikit-learn",
    }
    rows = []
    for key, name in names.items():
        cells = [name]
        for cut in results["faces"].values():
            bound = "exact" if cut[key].get("exact") else tex.sci(cut[key]["bound"]) if "bound" in cut[key] else "none"
            cells += [tex.sci(cut[key]["sine"]), tex.sci(cut[key]["loss"], 1), bound]
        rows.append(cells)
    head = ["", *([r"$\sin\theta$", "loss", "certificate"] * 2)]
    groups = [("", 1), ("20 blocks of 20", 3), ("one by one", 3)]
    return {"drift": tex.table("lrrrrrr", head, rows, groups)}


def numbers(results):
    last = results["stream"][-1]
    return {
        "features": tex.integer(FEATURES),
        "length": tex.integer(LENGTH),
        "shown": str(SHOWN),
        "kept": str(KEPT),
        "default": tex.sci(max(cut["default"]["sine"] for cut in results["faces"].values())),
        "same": "the same" if len({cut["lean"]["sine"] for cut in results["faces"].values()}) == 1 else "not the same",
        "lean": tex.sci(max(cut["lean"]["sine"] for cut in results["faces"].values())),
        "peer.blocks": tex.sci(results["faces"]["20 x 20"]["peer"]["sine"]),
        "peer.rows": tex.sci(results["faces"]["400 x 1"]["peer"]["sine"]),
        "deficient": str(DEFICIENT),
        "deficient.rows": str(SHORT),
        "deficient.ours": tex.sci(results["deficient"]["ours"]),
        "deficient.f64": tex.sci(results["deficient"]["f64"]),
        "deficient.f32": tex.sci(results["deficient"]["f32"]),
        "deficient.f64.threshold": tex.sci(results["deficient"]["f64.threshold"]),
        "deficient.f32.threshold": tex.sci(results["deficient"]["f32.threshold"]),
        "threshold": tex.integer(THRESHOLD),
        "stream.loss": tex.sci(max(mark["ours"]["loss"] for mark in results["stream"])),
        "stream.sine": tex.sci(last["ours"]["sine"]),
        "stream.peer": tex.sci(last["peer"]["sine"]),
        "stream.f64": tex.sci(last["f64"]["loss"]),
        "stream.f32": tex.sci(last["f32"]["loss"]),
        "stream.bound": tex.sci(last["bound"]),
        "stream.error": tex.sci(last["error"]),
        "stream.promised": tex.sci(last["promised"]),
    }
