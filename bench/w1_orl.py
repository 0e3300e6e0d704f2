"""W1: the ORL faces, 400 x 10,304, k = 50, and longer streams of the same width.

* *update*: m faces are added to a model of 200 faces in one call, and its components are read.
* *reads*: m faces are added to a model of 300 faces in one call, and the components or the scores
  of one other face are read after each call. Times are per call; the first read is not timed.
* *stream*: all 400 faces, block by block.
* *batch*: all 400 faces at once.
* *calls*: after 1,000 generated rows of the same width, 2,000 more in calls of m rows. The
  components are read once at the end, and times are per call. Our stream already has more rows than
  it keeps exactly, as in any long stream.

scikit-learn's IncrementalPCA is measured with k components and, as *equal rank*, with the 2 k + 32
that ours keeps by default, of which the first k are compared.
"""

from collections.abc import Callable
from typing import Any

import data
import numpy as np
from accuracy import Truth
from measure import Case, Tool
from peers import (
    EQUAL_RANK,
    OURS,
    SKLEARN,
    batch,
    components,
    faiss_pca,
    numpy_svd,
    ours,
    rust_peers,
    sklearn_equal,
    streamed,
    streams,
)
from peers import sklearn as make_sklearn

TITLE = "ORL faces, 400 x 10,304, k = 50"
LEFT_OUT = [
    "oneDAL IncrementalPCA and scikit-learn PCA(covariance_eigh): they solve an eigenproblem of "
    "10,304 features, which takes minutes for each fit",
]
READS = 8
"""Number of timed calls with a read after each."""
CALLS = {1: (2000, 10), 10: (200, 10), 50: (40, 6), 200: (10, 3), 1000: (2, 1)}
"""Rows per call: (number of timed calls of ours, number of timed calls of the peer). Ours needs
more, because it postpones work; all calls of the peer cost the same. The accuracy of both is
measured after the same number of calls."""


def _faces(quick: bool) -> tuple[np.ndarray, int]:
    faces = data.faces()
    return (faces[:80, ::16].copy(), 10) if quick else (faces, 50)


def _truth(name: str, rows: np.ndarray, k: int) -> Truth:
    return Truth(f"{name}-{rows.shape[0]}x{rows.shape[1]}", lambda: rows, k)


def update(rows: int, quick: bool) -> Case:
    faces, k = _faces(quick)
    half = len(faces) // 2
    truth = _truth("orl", faces[: half + rows], k)
    tools = streams(k, [faces[half : half + rows]], [faces[:half]], with_onedal=False, truth=truth)
    return Case(f"update, {rows} rows", SKLEARN, tools, "call", seconds=8)


def reads(rows: int, scores: bool, quick: bool) -> Case:
    faces, k = _faces(quick)
    seen = len(faces) * 3 // 4
    blocks = [faces[seen + i * rows : seen + (i + 1) * rows] for i in range(READS)]
    truth = _truth("orl", faces[: seen + READS * rows], k)

    def use(estimator: Any) -> np.ndarray:
        return estimator.transform(faces[-1:]) if scores else estimator.components_

    def run(estimator: Any) -> Any:
        for block in blocks:
            estimator.partial_fit(block)
            use(estimator)
        return estimator

    def tool(name: str, make: Callable[[], Any], mode: str = "") -> Tool:
        def prepare() -> Any:
            estimator = make().partial_fit(faces[:seen])
            use(estimator)
            return estimator

        return Tool(name, run, prepare, components, mode=mode, per=READS, truth=truth)

    tools = [
        tool(OURS, lambda: ours(k, "default"), "default"),
        tool(SKLEARN, lambda: make_sklearn(k)),
        tool(SKLEARN, lambda: sklearn_equal(k), EQUAL_RANK),
    ]
    what = "scores of a row" if scores else "components"
    return Case(f"{what} after each {rows} rows", SKLEARN, tools, "call", seconds=15)


def stream(rows: int, quick: bool) -> Case:
    faces, k = _faces(quick)
    blocks = np.array_split(faces, len(faces) // rows)
    truth = _truth("orl", faces, k)
    tools = streams(k, blocks, with_onedal=False, truth=truth)
    return Case(f"stream, blocks of {rows}", SKLEARN, tools, "400 faces", seconds=12)


def whole(quick: bool) -> Case:
    faces, k = _faces(quick)
    truth = _truth("orl", faces, k)
    tools = batch(k, faces, ["full", "randomized", "arpack"], truth=truth)
    tools += [numpy_svd(k, faces, truth=truth), faiss_pca(k, faces, truth=truth)]
    path = data.saved("orl", faces)
    tools += rust_peers(["petal", "petal-randomized", "linfa"], k, path, truth)
    return Case("batch", "scikit-learn PCA(full)", tools, "fit", memory=True, seconds=35)


def calls(rows: int, quick: bool) -> Case:
    ours, theirs = (2, 1) if quick else CALLS[rows]
    k, features, primed = (50, 10_304, 1000) if not quick else (5, 1200, 100)
    total = primed + max(count * m for m, (count, _) in CALLS.items())
    if quick:
        total, rows = 400, min(rows, 100)
    everything = data.rows_of(data.factors(total, features))

    def blocks(number: int) -> list[np.ndarray]:
        return [everything[primed + i * rows : primed + (i + 1) * rows] for i in range(number)]

    prime = np.split(everything[:primed], range(max(rows, k), primed, max(rows, k)))
    # The first block of scikit-learn needs as many rows as it has components.
    step = max(rows, 2 * k + 32)
    truth = _truth("factors", everything[: primed + ours * rows], k)
    tools = [
        *streams(k, blocks(ours), prime, with_onedal=False, per=ours, truth=truth)[:2],
        streamed(
            SKLEARN,
            lambda: make_sklearn(k),
            blocks(theirs),
            prime,
            judged=blocks(ours),
            per=theirs,
            truth=truth,
        ),
        streamed(
            SKLEARN,
            lambda: sklearn_equal(k),
            blocks(theirs),
            np.split(everything[:primed], range(step, primed, step)),
            mode=EQUAL_RANK,
            judged=blocks(ours),
            per=theirs,
            truth=truth,
        ),
    ]
    return Case(f"calls of {rows} rows", SKLEARN, tools, "call", memory=rows >= 100, seconds=20)


def cases(quick: bool) -> dict:
    chosen = {}
    for rows in (1, 10, 50, 200) if not quick else (1, 10):
        chosen[f"update {rows}"] = lambda rows=rows: update(rows, quick)
    all_reads = ((1, True), (1, False), (10, False))
    for rows, scores in all_reads if not quick else all_reads[:2]:
        name = f"{'scores' if scores else 'components'} {rows}"
        chosen[name] = lambda rows=rows, scores=scores: reads(rows, scores, quick)
    for rows in (50, 200) if not quick else (20,):
        chosen[f"stream {rows}"] = lambda rows=rows: stream(rows, quick)
    chosen["batch"] = lambda: whole(quick)
    for rows in CALLS if not quick else (1, 100):
        chosen[f"calls {rows}"] = lambda rows=rows: calls(rows, quick)
    return chosen
