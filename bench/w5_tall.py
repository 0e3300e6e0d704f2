"""W5: 20,000 rows of 64, 784 and 4,096 features, streamed in blocks, and fitted at once.

W9 fits 20,000 x 4,096 at once, so this workload does not.
"""

import data
import numpy as np
from accuracy import Truth
from measure import Case
from peers import OURS, SKLEARN, batch, faiss_pca, fitted, numpy_svd, ours, rust_peers, streams
from peers import sklearn as make_sklearn

TITLE = "N = 20,000 at D = 64, 784 and 4,096"
LEFT_OUT = [
    "oneDAL IncrementalPCA at D = 4,096 and in calls of 50 and 200 rows: it solves an "
    "eigenproblem of all features in every call, up to an hour for a stream",
]
COMPONENTS = {64: 20, 784: 50, 4096: 50}


def _setting(features: int, quick: bool):
    k = COMPONENTS[features] if not quick else 5
    n, features = (20_000, features) if not quick else (600, min(features, 1100))
    path = data.factors(n, features)
    rows = data.rows_of(path)
    return path, rows, k, Truth(f"factors-{n}x{features}", lambda: rows, k)


def stream(features: int, block: int, quick: bool) -> Case:
    _, rows, k, truth = _setting(features, quick)
    blocks = np.split(rows, range(block, len(rows), block))
    tools = streams(k, blocks, with_onedal=features < 1000 and block == 1000, truth=truth)
    name = f"D = {features}, calls of {block} rows"
    # Measure memory only for the widest rows.
    memory = features == max(COMPONENTS)
    return Case(name, SKLEARN, tools, "20,000 rows", memory, seconds=30 if memory else 15)


def whole(features: int, quick: bool) -> Case:
    path, rows, k, truth = _setting(features, quick)
    tools = [
        fitted(OURS, lambda: ours(k, "default"), rows, mode="default", truth=truth),
        fitted(SKLEARN, lambda: make_sklearn(k), rows, truth=truth),
        *batch(k, rows, ["full", "covariance_eigh", "randomized", "arpack"], truth=truth),
        faiss_pca(k, rows, truth=truth),
        numpy_svd(k, rows, truth=truth),
        *rust_peers(["petal", "petal-randomized", "linfa"], k, path, truth),
    ]
    name = f"D = {features}, whole fit"
    return Case(name, SKLEARN, tools, "fit", memory=features > 64, seconds=25)


def cases(quick: bool) -> dict:
    chosen = {}
    for features, blocks in {784: (50, 200, 1000), 4096: (200,)}.items():
        for block in blocks:
            name = f"D {features} calls {block}"
            chosen[name] = lambda f=features, b=block: stream(f, b, quick)
    for features in (64, 784):
        chosen[f"D {features} whole"] = lambda f=features: whole(f, quick)
    return chosen
