"""W11: a Dask cluster of one or two worker processes, against dask-ml on the same cluster.

The rows are in an .npy file, of which the workers read one block after the other. Every tool gets
the same lazy array. TruncatedSVD does not center rows, so it gets the same array minus its mean,
which is lazy too. The memory is the highest that a worker process reached during the run, above
what it held before. The CPU time is that of the workers. A run that does not finish within two
minutes is stopped.
"""

import atexit
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import data
import numpy as np
from accuracy import Truth
from measure import Case, Timed, Tool

TITLE = "a Dask cluster, one worker process per thread: k = 20"
LEFT_OUT: list[str] = []
K = 20
LIMIT = 120.0
"""Seconds after which a run is stopped."""
MEMORY = "7GiB"
"""What a worker may use; Dask ends a worker that uses more."""
SIZES = {
    "1,000,000 x 50": (1_000_000, 50, 50_000),
    "200,000 x 784": (200_000, 784, 10_000),
    "4,000 x 10,000": (4000, 10_000, 500),
}


@cache
def _client() -> Any:
    """Start a cluster once for each process of the benchmark."""
    import dask
    from dask.distributed import Client, LocalCluster

    # A task whose worker ran out of memory would run out of it again.
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    workers = int(os.environ["OMP_NUM_THREADS"])
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=None
    )
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


def _read(path: Path, block_info: Any = None) -> np.ndarray:
    (start, end), _ = block_info[None]["array-location"]
    return np.array(np.load(path, mmap_mode="r")[start:end])


def _lazy(path: Path, block: int) -> Any:
    import dask.array

    shape = np.load(path, mmap_mode="r").shape
    chunks = dask.array.core.normalize_chunks((block, shape[1]), shape)
    return dask.array.map_blocks(
        _read, path, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0))
    )


def _start_watching() -> tuple[int, float]:
    Path("/proc/self/clear_refs").write_text("5")
    return _kib("VmRSS"), time.process_time()


def _watched() -> tuple[int, float]:
    return _kib("VmHWM"), time.process_time()


def _kib(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _on_the_cluster(
    name: str, work: Callable[[], np.ndarray], truth: Truth, mode: str = ""
) -> Tool:
    def run(_: Any) -> Timed:
        before = _client().run(_start_watching)
        start = time.perf_counter()
        try:
            found = work()
        except BaseException:
            _client().restart()  # ends tasks that are still running
            raise
        seconds = time.perf_counter() - start
        after = _client().run(_watched)
        memory = max(after[worker][0] - before[worker][0] for worker in after)
        return Timed(found, seconds, memory, sum(after[w][1] - before[w][1] for w in after))

    return Tool(name, run, components=lambda found: found, truth=truth, mode=mode)


def _ours(rows: Any, k: int) -> np.ndarray:
    import eigenspace.dask

    return eigenspace.dask.fit(rows, k).components[:k]


def _theirs(rows: Any, k: int, solver: str) -> np.ndarray:
    from dask_ml.decomposition import PCA, IncrementalPCA, TruncatedSVD

    if solver == "incremental":
        return IncrementalPCA(k).fit(rows).components_
    if solver == "truncated":
        return TruncatedSVD(k).fit(rows - rows.mean(axis=0)).components_
    return PCA(k, svd_solver=solver, random_state=0).fit(rows).components_


def case(name: str, quick: bool) -> Case:
    n, features, block = SIZES[name]
    k = K
    if quick:
        n, features, block, k = n // 200, min(features, 200), max(block // 200, 5), 3
    path = data.factors(n, features)
    truth = Truth(f"factors-{n}x{features}", lambda: data.rows_of(path), k)
    rows = _lazy(path, block)
    labels = {
        "full": "dask-ml PCA(full)",
        "auto": "dask-ml PCA(auto)",
        "randomized": "dask-ml PCA(randomized)",
        "incremental": "dask-ml IncrementalPCA",
        "truncated": "dask-ml TruncatedSVD",
    }
    tools = [_on_the_cluster("eigenspace.dask", lambda: _ours(rows, k), truth, "default")]
    for solver, label in labels.items():
        tools.append(_on_the_cluster(label, lambda solver=solver: _theirs(rows, k, solver), truth))
    return Case(name, tools[1].name, tools, "fit", seconds=200, runs=5, limit=LIMIT)


def cases(quick: bool) -> dict[str, Callable[[], Case]]:
    return {name: lambda name=name: case(name, quick) for name in SIZES}
