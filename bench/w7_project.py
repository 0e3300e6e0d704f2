"""W7: the speed of projecting and reconstructing rows, compared with a plain product by numpy.

The product does not subtract or add the mean, which every PCA must do. It shows the speed of the
machine. Beside it is the product with the mean, in the two lines of numpy that a user would write.

The accuracy is that of the work that is timed: the error of the scores, or of the rows computed
from scores, relative to the same formula in float64 with the tool's own components and mean.
"""

from collections.abc import Callable
from typing import Any

import data
import numpy as np
from accuracy import Formula
from measure import Case, Tool

TITLE = "project and reconstruct, against the plain product"
LEFT_OUT: list[str] = []
PRODUCT = "numpy product"
WITH_MEAN = "numpy product and mean"
SQUARE = "product of square matrices, float64"


def _setting(n: int, features: int, k: int, dtype: str):
    from eigenspace import PCA
    from sklearn.decomposition import PCA as PEER

    rows = data.rows_of(data.factors(n, features, dtype))
    some = rows[: 4 * k]
    return rows, PCA(k).fit(some), PEER(k, svd_solver="full").fit(some)


def _projects(name: str, run: Callable[[Any], np.ndarray], pca: Any, rows, mode: str = "") -> Tool:
    formula = Formula(lambda cells: (cells - pca.mean_) @ np.float64(pca.components_).T, rows)
    return Tool(name, run, components=lambda found: found, mode=mode, truth=formula)


def _rebuilds(name: str, run: Callable[[Any], np.ndarray], pca: Any, scores, mode="") -> Tool:
    formula = Formula(lambda cells: cells @ np.float64(pca.components_) + pca.mean_, scores)
    return Tool(name, run, components=lambda found: found, mode=mode, truth=formula)


def project(n: int, features: int, k: int, dtype: str) -> Case:
    rows, mine, peer = _setting(n, features, k, dtype)
    turned = np.ascontiguousarray(peer.components_.T)
    origin = (peer.mean_ @ turned).astype(dtype)
    tools = [
        _projects("eigenspace transform", lambda _: mine.transform(rows), mine, rows, "default"),
        # It is the reference for the speed, and its answer is another one.
        Tool(PRODUCT, lambda _: rows @ turned),
        _projects(WITH_MEAN, lambda _: rows @ turned - origin, peer, rows),
        _projects("scikit-learn transform", lambda _: peer.transform(rows), peer, rows),
    ]
    name = f"project, {n:,} x {features:,}, k = {k}, {dtype}"
    return Case(name, PRODUCT, tools, "call", memory=True, seconds=5)


def reconstruct(n: int, features: int, k: int, dtype: str) -> Case:
    rows, mine, peer = _setting(n, features, k, dtype)
    own, others = mine.transform(rows), peer.transform(rows)
    del rows
    mean = peer.mean_.astype(dtype)

    def with_mean(_) -> np.ndarray:
        again = others @ peer.components_
        again += mean
        return again

    def inverse(_) -> np.ndarray:
        return mine.inverse_transform(own)

    tools = [
        _rebuilds("eigenspace inverse", inverse, mine, own, "default"),
        Tool(PRODUCT, lambda _: others @ peer.components_),
        _rebuilds(WITH_MEAN, with_mean, peer, others),
        _rebuilds("scikit-learn inverse", lambda _: peer.inverse_transform(others), peer, others),
    ]
    name = f"reconstruct, {n:,} x {features:,}, k = {k}, {dtype}"
    return Case(name, PRODUCT, tools, "call", memory=True, seconds=5)


def single(features: int, k: int) -> Case:
    """Project one row: what a call costs beside its arithmetic."""
    rows, mine, peer = _setting(4 * k + 1, features, k, "float64")
    row, components, mean = rows[:1].copy(), peer.components_, peer.mean_
    turned = components.T
    tools = [
        _projects("eigenspace transform", lambda _: mine.transform(row), mine, row, "default"),
        _projects(WITH_MEAN, lambda _: (row - mean) @ turned, peer, row),
        _projects("scikit-learn transform", lambda _: peer.transform(row), peer, row),
    ]
    name = f"project, 1 x {features:,}, k = {k}, float64"
    return Case(name, WITH_MEAN, tools, "call", seconds=3)


def square(n: int) -> Case:
    """Measure the highest rate of operations on this machine, for `targets.py`."""
    a = np.random.default_rng(0).normal(size=(n, n))
    tool = Tool(PRODUCT, lambda _: a @ a)
    return Case(SQUARE, PRODUCT, [tool], "call", seconds=3, facts={"operations": 2 * n**3})


def cases(quick: bool) -> dict:
    sizes = [(4000, 10_304, 50), (40_000, 768, 64)] if not quick else [(400, 1200, 5)]
    chosen = {}
    for n, features, k in sizes:
        for dtype in ("float64", "float32"):
            for what in (project, reconstruct):
                name = f"{what.__name__} {features} {dtype}"
                chosen[name] = lambda w=what, s=(n, features, k, dtype): w(*s)
    for features in (64, 784, 10_304) if not quick else (1200,):
        k = 5 if quick else min(50, features // 2)
        chosen[f"project one row {features}"] = lambda d=features, k=k: single(d, k)
    chosen["square"] = lambda: square(200 if quick else 2000)
    return chosen
