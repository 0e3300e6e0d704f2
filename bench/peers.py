"""One adapter for each tool, with the fastest fair settings of each.

* Every run includes computing the components. eigenspace and oneDAL compute them when `components_`
  is read, so reading it is part of the timed work.
* scikit-learn's `copy` stays True, because the rows are used again; it costs about 1 % of the time.
* oneDAL is used through its preview class; scikit-learn is not patched.
* faiss supports only float32, and is configured to use all rows.
* gensim processes all rows in one chunk in memory, which is its fastest mode.
"""

import copy
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import Truth
from data import ROOT
from measure import Timed, Tool

SKLEARN = "scikit-learn IncrementalPCA"
EQUAL_RANK = "equal rank"
"""Mode of a peer that keeps as many directions as our streams after a truncation: 2 k + 32."""
ONEDAL = "oneDAL IncrementalPCA"
OURS = "eigenspace IncrementalPCA"
RUST_PEERS = ROOT / "target" / "rust-peers" / "release" / "rust-peers"
READ_ROWS = ROOT / "target" / "release" / "examples" / "read_rows"


def ours(k: int, mode: str) -> Any:
    """Lean keeps as many directions as the peer; default keeps more, with a certificate."""
    from eigenspace import IncrementalPCA

    return IncrementalPCA(k, max_rank=k if mode == "lean" else None)


def sklearn(k: int) -> Any:
    from sklearn.decomposition import IncrementalPCA

    return IncrementalPCA(n_components=k)


def sklearn_equal(k: int) -> Any:
    """The peer with as many directions as ours keeps by default; its first k are compared."""
    return sklearn(2 * k + 32)


def onedal(k: int) -> Any:
    from sklearnex.preview.decomposition import IncrementalPCA

    return IncrementalPCA(n_components=k)


def components(estimator: Any) -> np.ndarray:
    return estimator.components_


def streamed(
    name: str,
    make: Callable[[], Any],
    blocks: Sequence[np.ndarray] | Callable[[], Iterable[np.ndarray]],
    prime: Sequence[np.ndarray] = (),
    judged: Sequence[np.ndarray] | None = None,
    **more: Any,
) -> Tool:
    """Stream blocks into an estimator that has already absorbed the `prime` blocks.

    If tools are timed on different numbers of blocks, accuracy is measured after `judged` blocks.
    """
    primed: list[Any] = []

    def alone() -> Any:
        estimator = make()
        for block in prime:
            estimator.partial_fit(block)
        return estimator

    def prepare() -> Any:
        if not prime:
            return make()
        if not primed:
            primed.append(alone())
        return copy.deepcopy(primed[0])

    def found(estimator: Any) -> np.ndarray:
        if judged is not None:
            estimator = prepare()
            for block in judged:
                estimator.partial_fit(block)
        return components(estimator)

    def run(estimator: Any) -> Any:
        for block in blocks() if callable(blocks) else blocks:
            estimator.partial_fit(block)
        components(estimator)
        return estimator

    return Tool(name, run, prepare, found, alone=alone, **more)


def streams(
    k: int,
    blocks: Any,
    prime: Sequence[np.ndarray] = (),
    *,
    with_onedal: bool = True,
    **more: Any,
) -> list[Tool]:
    """Our two modes, scikit-learn and oneDAL on the same blocks."""
    tools = [
        streamed(OURS, lambda: ours(k, "lean"), blocks, prime, mode="lean", **more),
        streamed(OURS, lambda: ours(k, "default"), blocks, prime, mode="default", **more),
        streamed(SKLEARN, lambda: sklearn(k), blocks, prime, **more),
    ]
    if with_onedal:
        tools.append(streamed(ONEDAL, lambda: onedal(k), blocks, prime, **more))
    return tools


def fitted(name: str, make: Callable[[], Any], rows: Any, **more: Any) -> Tool:
    """Fit all rows in one call."""

    def run(estimator: Any) -> Any:
        estimator.fit(rows)
        components(estimator)
        return estimator

    return Tool(name, run, make, components, **more)


def batch(k: int, rows: np.ndarray, solvers: Sequence[str], **more: Any) -> list[Tool]:
    """Our batch PCA, with k directions (as the peers) and with all, and scikit-learn's PCA."""
    from eigenspace import PCA, EigenspaceModel
    from sklearn.decomposition import PCA as PEER

    def peer(solver: str) -> Any:
        seed = {"random_state": 0} if solver in ("randomized", "arpack") else {}
        return PEER(n_components=k, svd_solver=solver, **seed)

    tools = [
        Tool(
            "eigenspace EigenspaceModel.fit",
            lambda _: EigenspaceModel.fit(rows, max_rank=k).components,
            components=lambda found: found,
            mode="lean",
            **more,
        ),
        fitted("eigenspace PCA", lambda: PCA(k), rows, mode="default", **more),
    ]
    for solver in solvers:
        name = f"scikit-learn PCA({solver})"
        tools.append(fitted(name, lambda solver=solver: peer(solver), rows, **more))
    return tools


def whole_batch(rows: np.ndarray, **more: Any) -> Tool:
    """Our batch PCA with all directions, as an exact merge has them."""
    from eigenspace import EigenspaceModel

    return Tool(
        "eigenspace EigenspaceModel.fit",
        lambda _: EigenspaceModel.fit(rows),
        components=(lambda model: model.basis) if "truth" in more else None,
        mode="all directions",
        **more,
    )


def numpy_svd(k: int, rows: np.ndarray, **more: Any) -> Tool:
    """Textbook PCA: subtract the mean, thin SVD."""

    def run(_: Any) -> np.ndarray:
        return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:k]

    return Tool("numpy SVD", run, components=lambda found: found, **more)


def faiss_pca(k: int, rows: np.ndarray, **more: Any) -> Tool:
    """PCA of faiss, in float32, which is all it supports; the conversion is not timed."""
    import faiss

    narrow = np.ascontiguousarray(rows, dtype=np.float32)

    def run(matrix: Any) -> Any:
        matrix.train(narrow)
        return matrix

    def prepare() -> Any:
        matrix = faiss.PCAMatrix(rows.shape[1], k)
        matrix.max_points_per_d = rows.shape[0]
        return matrix

    def found(matrix: Any) -> np.ndarray:
        return faiss.vector_to_array(matrix.PCAMat).reshape(-1, rows.shape[1])[:k]

    return Tool("faiss PCAMatrix", run, prepare, found, mode="float32", **more)


def rust(peer: str, k: int, path: Path, **more: Any) -> Tool:
    """A Rust library in a separate process, which reads the rows and then times its work."""

    def run(_: Any) -> Timed:
        with tempfile.TemporaryDirectory() as directory:
            out = Path(directory) / "components"
            command = [str(RUST_PEERS), peer, str(path), str(k), "1", str(out)]
            found = subprocess.run(command, check=True, capture_output=True, text=True)
            said = json.loads(found.stdout)
            answer = np.fromfile(out).reshape(k, -1)
        return Timed(answer, said["seconds"][0], said["peak_kib"])

    return Tool(RUST_NAMES[peer], run, components=lambda answer: answer, **more)


RUST_NAMES = {
    "linfa": "linfa-reduction Pca",
    "petal": "petal-decomposition Pca",
    "petal-randomized": "petal-decomposition RandomizedPca",
}


def rust_peers(names: Sequence[str], k: int, path: Path, truth: Truth) -> list[Tool]:
    """Return the Rust peers if they were built; `left_out` gives the reason if not."""
    return [rust(name, k, path, truth=truth) for name in names] if RUST_PEERS.exists() else []


def left_out() -> list[str]:
    """Return the peers that could not be measured, with the reason."""
    if RUST_PEERS.exists():
        return []
    why = os.environ.get("RUST_PEERS_FAILED", "their build failed; `cargo xtask bench` shows why")
    return [f"petal-decomposition, linfa-reduction: {why}"]
