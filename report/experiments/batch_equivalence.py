"""One batch: the specification's Test 1.

IncrementalPCA(50).fit(X)  against  batch PCA, component by component, and as subspaces
"""

import eigenspace
import numpy as np
from sklearn import decomposition

from . import orl, tex
from .measure import captured, orthogonality_loss, sine

TOLERANCE = 1e-10
"""The tolerance of Test 1 for each entry of a component."""
SOLVERS = {
    "auto": "scikit-learn, default (randomized)",
    "full": "scikit-learn, full",
    "arpack": "scikit-learn, ARPACK",
}


def run():
    rows, truth = orl.faces(), orl.reference()
    v, s = truth.v[: orl.K], truth.s[: orl.K]

    def against(components, singular_values):
        signs = np.sign((components * v).sum(axis=1))[:, None]
        return {
            "sine": sine(components, v),
            "entry": float(np.abs(components * signs - v).max()),
            "value": float(np.abs(singular_values / s - 1).max()),
            "captured": captured(components, truth.centered),
            "loss": orthogonality_loss(components),
        }

    results = {"optimum": captured(v, truth.centered), "gap": gap(truth.s)}
    estimator = eigenspace.IncrementalPCA(orl.K).fit(rows)
    results["ours"] = against(estimator.components_, estimator.singular_values_)
    for method in ("svd", "gram"):
        model = eigenspace.EigenspaceModel.fit(rows, method=method).with_components(orl.K)
        results[method] = against(model.components, model.singular_values)
    for solver in SOLVERS:
        seeds = range(5) if solver == "auto" else range(1)
        peers = [decomposition.PCA(orl.K, svd_solver=solver, random_state=seed).fit(rows) for seed in seeds]
        found = [against(peer.components_, peer.singular_values_) for peer in peers]
        worst = max(found, key=lambda one: one["sine"])
        results[solver] = {**worst, "least": min(one["sine"] for one in found)}
    return results


def gap(s):
    """Return the gap after the last component, relative to the largest eigenvalue."""
    return float((s[orl.K - 1] ** 2 - s[orl.K] ** 2) / s[0] ** 2)


def draw(results):
    return {}


def tables(results):
    names = {
        "ours": r"\texttt{IncrementalPCA.fit}",
        "svd": r"\texttt{EigenspaceModel}, SVD",
        "gram": r"\texttt{EigenspaceModel}, Gram",
        **SOLVERS,
    }
    rows = []
    for key, name in names.items():
        found = results[key]
        verdict = "yes" if found["entry"] <= TOLERANCE else "no"
        measured = [tex.sci(found[of]) for of in ("sine", "entry", "value")]
        rows.append([name, *measured, tex.percent(found["captured"], 3), verdict])
        if key == "gram":
            rows.append(None)
    head = ["", r"$\sin\theta$", "entry", r"$s_i$", "captured", "Test 1"]
    return {"batch_equivalence": tex.table("lrrrrc", head, rows)}


def numbers(results):
    exact = ("ours", "svd", "gram")
    passing = all(results[key]["entry"] <= TOLERANCE for key in exact)
    return {
        "tolerance": tex.sci(TOLERANCE, 1),
        "sine": tex.sci(max(results[key]["sine"] for key in exact)),
        "entry": tex.sci(max(results[key]["entry"] for key in exact)),
        "verdict": "passes" if passing else "does not pass",
        "optimum": tex.percent(results["optimum"], 3),
        "randomized": tex.fixed(results["auto"]["sine"], 2),
        "randomized.least": tex.fixed(results["auto"]["least"], 2),
        "randomized.captured": tex.percent(results["auto"]["captured"], 3),
        "full": tex.sci(results["full"]["sine"]),
        "gap": tex.sci(results["gap"]),
    }
