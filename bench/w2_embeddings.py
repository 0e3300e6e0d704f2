"""W2: embeddings, float32, 200,000 x 768, k = 64, from a memory-mapped .npy file.

`fit` of scikit-learn and oneDAL would copy the whole file. They get the rows in blocks of 3,840
instead, which is scikit-learn's default (5 D). faiss and the batch solver need all rows in memory;
loading them is part of their time and memory. The product of two 2,048 x 2,048 matrices measures
the speed of the machine in float32. Its row is the time of as many operations as the scatter of
these rows needs, N D (D + 1).
"""

import data
import numpy as np
from accuracy import Truth
from measure import Case, Tool
from peers import ONEDAL, SKLEARN, components, faiss_pca, onedal, ours, sklearn, streamed

TITLE = "embeddings, float32, 200,000 x 768, k = 64, from .npy"
LEFT_OUT = [
    "scikit-learn PCA(full), numpy SVD: more than a minute for each fit, and covariance_eigh "
    "already answers the same question",
]


def fit(quick: bool) -> Case:
    from sklearn.decomposition import PCA

    n, features, k = (200_000, 768, 64) if not quick else (4000, 96, 8)
    path = data.factors(n, features, "float32")
    mapped = np.load(path, mmap_mode="r")
    truth = Truth(f"embeddings-{n}x{features}", lambda: mapped, k)

    def blocks():
        for start in range(0, n, 5 * features):
            yield np.array(mapped[start : start + 5 * features])

    def fitted(mode: str) -> Tool:
        def run(estimator):
            estimator.fit(np.load(path, mmap_mode="r"))
            components(estimator)
            return estimator

        name = "eigenspace IncrementalPCA"
        return Tool(name, run, lambda: ours(k, mode), components, mode=mode, truth=truth)

    def batch(estimator):
        return estimator.fit(np.load(path))

    def faiss_run(_):
        tool = faiss_pca(k, np.load(path))
        return tool.components(tool.run(tool.prepare()))

    size = 2048 if not quick else 256
    square = np.ones((size, size), dtype=np.float32)
    tools = [
        fitted("lean"),
        fitted("default"),
        streamed(SKLEARN, lambda: sklearn(k), blocks, truth=truth),
        streamed(ONEDAL, lambda: onedal(k), blocks, truth=truth),
        Tool(
            "scikit-learn PCA(covariance_eigh)",
            batch,
            lambda: PCA(k, svd_solver="covariance_eigh"),
            components,
            truth=truth,
        ),
        Tool("faiss PCAMatrix", faiss_run, components=lambda found: found, truth=truth),
        Tool(
            "numpy product",
            lambda _: square @ square,
            mode="as many operations",
            per=2 * size**3 / (n * features * (features + 1)),
        ),
    ]
    return Case("fit", SKLEARN, tools, "fit", memory=True, seconds=110, mapped=True)


def cases(quick: bool) -> dict:
    return {"fit": lambda: fit(quick)}
