"""W6: sparse rows, D = 100,000, about 100 non-zeros a row, N = 20,000, k = 50.

gensim's LsiModel does not center the rows, so in the case where it is the peer, ours are not
centered either. In the centered case, which is PCA, the peer is scikit-learn's ARPACK solver.
*Passes* streams the rows in blocks and then reads them again once or more.
"""

from typing import Any

import data
import numpy as np
from accuracy import Truth
from measure import Case, Tool
from peers import components, ours

TITLE = "sparse, D = 100,000, 100 non-zeros a row, k = 50"
LEFT_OUT = [
    "scikit-learn IncrementalPCA: makes the rows dense, which would be 80 GB of cells",
]


def _setting(quick: bool):
    n, features, k = (20_000, 100_000, 50) if not quick else (500, 2000, 5)
    return data.topics(n, features), n, features, k


def uncentered(quick: bool) -> Case:
    from eigenspace._core import Stream
    from eigenspace._settings import settings
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LsiModel
    from sklearn.decomposition import TruncatedSVD

    rows, n, features, k = _setting(quick)
    truth = Truth(f"topics-{n}x{features}-origin", lambda: rows, k, centered=False)
    corpus = Sparse2Corpus(rows, documents_columns=False)
    words = {i: i for i in range(features)}

    def stream(mode: str) -> Tool:
        chosen = settings(k, k if mode == "lean" else None) | {"centered": False}

        def run(_: Any) -> Any:
            stream = Stream(features, chosen)
            for start in range(0, n, 2000):
                block = rows[start : start + 2000]
                offsets, indices = block.indptr.astype(np.int64), block.indices.astype(np.int64)
                stream.update((features, offsets, indices, block.data), None, start)
            return stream.model().basis()[:k]

        return Tool(
            "eigenspace stream", run, components=lambda found: found, mode=mode, truth=truth
        )

    def lsi(_: Any) -> np.ndarray:
        model = LsiModel(corpus, num_topics=k, id2word=words, chunksize=n, random_seed=0)
        return model.projection.u.T

    def truncated(algorithm: str) -> Tool:
        def run(_: Any) -> Any:
            return TruncatedSVD(k, algorithm=algorithm, random_state=0).fit(rows)

        name = f"scikit-learn TruncatedSVD({algorithm})"
        return Tool(name, run, components=components, truth=truth)

    tools = [
        stream("lean"),
        stream("default"),
        Tool("gensim LsiModel", lsi, components=lambda found: found, truth=truth),
        truncated("randomized"),
        truncated("arpack"),
    ]
    return Case("about the origin", "gensim LsiModel", tools, "fit", memory=True, seconds=50)


def centered(quick: bool) -> Case:
    from sklearn.decomposition import PCA

    rows, n, features, k = _setting(quick)
    truth = Truth(f"topics-{n}x{features}-centered", lambda: rows, k)

    def fit(name: str, make: Any, mode: str = "") -> Tool:
        def run(estimator: Any) -> Any:
            estimator.fit(rows)
            components(estimator)
            return estimator

        return Tool(name, run, make, components, mode=mode, truth=truth)

    tools = [
        fit("eigenspace IncrementalPCA", lambda: ours(k, "lean"), "lean"),
        fit("eigenspace IncrementalPCA", lambda: ours(k, "default"), "default"),
        fit("scikit-learn PCA(arpack)", lambda: PCA(k, svd_solver="arpack", random_state=0)),
    ]
    return Case("centered", "scikit-learn PCA(arpack)", tools, "fit", memory=True, seconds=25)


def passes(quick: bool) -> Case:
    """Stream blocks of rows, then read them again: the spectrum falls too slowly for one pass."""
    from sklearn.decomposition import PCA

    rows, n, features, k = _setting(quick)
    truth = Truth(f"topics-{n}x{features}-centered", lambda: rows, k)
    blocks = [rows[start : start + 2000] for start in range(0, n, 2000)]

    def stream(number: int) -> Tool:
        def run(estimator: Any) -> np.ndarray:
            for block in blocks:
                estimator.partial_fit(block)
            model = estimator.model_
            for _ in range(number - 1):
                model = model.refine(rows)
            return model.basis[:k]

        mode = f"{number} pass{'es' * (number > 1)}"
        return Tool(
            "eigenspace stream",
            run,
            lambda: ours(k, "default"),
            lambda found: found,
            mode=mode,
            truth=truth,
        )

    def peer(_: Any) -> np.ndarray:
        return PCA(k, svd_solver="arpack", random_state=0).fit(rows).components_

    peers = [Tool("scikit-learn PCA(arpack)", peer, components=lambda found: found, truth=truth)]
    tools = [stream(number) for number in (1, 2, 3, 5)] + peers
    return Case("stream, more passes", peers[0].name, tools, "fit", seconds=40)


def cases(quick: bool) -> dict:
    return {
        "about the origin": lambda: uncentered(quick),
        "centered": lambda: centered(quick),
        "passes": lambda: passes(quick),
    }
