"""Sparse rows: our stream against gensim's LsiModel, interleaved, same rows, neither centred.

    python bench/sparse.py --rows 20000 --features 200000 --rounds 3

needs the packages of bench/requirements.txt; it calls `cargo bench --bench sparse` itself. Prints
one line per tool: median seconds, peak memory above the input, captured energy as a share of the
best found, and the ratio of times to gensim's.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

ROOT = Path(__file__).resolve().parent.parent
TOPICS = 80
CELLS = 100


def rows_with_topics(rows: int, features: int) -> scipy.sparse.csr_matrix:
    """Rows of about 100 non-zeros: words of one or two topics, and some of any."""
    random = np.random.default_rng(7)
    words = [random.choice(features, size=3000, replace=False) for _ in range(TOPICS)]
    strength = 0.95 ** np.arange(TOPICS)
    chosen = random.choice(TOPICS, size=(rows, 2), p=strength / strength.sum())
    columns = np.empty((rows, CELLS), dtype=np.int64)
    for i, (one, two) in enumerate(chosen):
        columns[i, :60] = random.choice(words[one], 60)
        columns[i, 60:80] = random.choice(words[two], 20)
    columns[:, 80:] = random.integers(features, size=(rows, CELLS - 80))
    values = 1.0 + random.random((rows, CELLS))
    matrix = scipy.sparse.csr_matrix(
        (values.ravel(), columns.ravel(), np.arange(0, rows * CELLS + 1, CELLS)),
        shape=(rows, features),
    )
    matrix.sum_duplicates()
    return matrix


def ours(folder: Path, features: int, k: int, max_rank: int) -> dict:
    command = ["cargo", "bench", "-q", "-p", "eigenspace", "--bench", "sparse", "--"]
    command += [str(folder), str(features), str(k), str(max_rank)]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = json.loads(printed[printed.index("{") :])
    components = np.fromfile(folder / "components").reshape(k, features)
    return found | {"components": components, "memory": found["peak_kib"] - found["input_kib"]}


def gensim(folder: Path, features: int, k: int) -> dict:
    """In a process of its own, so that its peak memory is its own."""
    command = [
        sys.executable,
        __file__,
        "--peer",
        str(folder),
        "--features",
        str(features),
        "--components",
        str(k),
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    components = np.load(folder / "peer.npy")
    return found | {"components": components, "memory": found["peak_kib"] - found["input_kib"]}


def peer(folder: Path, features: int, k: int) -> None:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LsiModel

    parts = [
        np.fromfile(folder / name, dtype=kind)
        for name, kind in [("values", np.float64), ("indices", np.int64), ("offsets", np.int64)]
    ]
    matrix = scipy.sparse.csr_matrix(tuple(parts), shape=(len(parts[2]) - 1, features))
    corpus = Sparse2Corpus(matrix, documents_columns=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = LsiModel(corpus, num_topics=k, id2word={i: i for i in range(features)}, chunksize=20000)
    seconds = time.perf_counter() - start
    np.save(folder / "peer.npy", model.projection.u.T)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_kib": peak, "input_kib": before}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", type=Path)
    arguments = parser.parse_args()
    k, features = arguments.components, arguments.features
    if arguments.peer:
        return peer(arguments.peer, features, k)
    matrix = rows_with_topics(arguments.rows, features)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        matrix.indptr.astype(np.uint64).tofile(folder / "offsets")
        matrix.indices.astype(np.uint64).tofile(folder / "indices")
        matrix.data.tofile(folder / "values")
        tools = {
            "eigenspace lean": lambda: ours(folder, features, k, k),
            "eigenspace default": lambda: ours(folder, features, k, 0),
            "gensim LsiModel": lambda: gensim(folder, features, k),
        }
        runs = {tool: [] for tool in tools}
        for _ in range(arguments.rounds):
            for tool, run in tools.items():
                runs[tool].append(run())
    captured = {
        tool: float(np.sum((matrix @ found[-1]["components"].T) ** 2))
        for tool, found in runs.items()
    }
    best = max(captured.values())
    median = {
        tool: statistics.median(run["seconds"] for run in found) for tool, found in runs.items()
    }
    shape = f"{matrix.shape[0]} rows, {features} features, {matrix.nnz} non-zeros"
    print(f"{shape}, k = {k}, neither centred")
    for tool, found in runs.items():
        memory = max(run["memory"] for run in found) / 1024
        ratio = median["gensim LsiModel"] / median[tool]
        share = captured[tool] / best
        cost = f"{median[tool]:8.2f} s {memory:8.0f} MiB"
        print(f"{tool:<20} {cost}   captured {share:.6f}   {ratio:5.2f}x gensim")


if __name__ == "__main__":
    main()
