"""W11: a Dask cluster of one or two worker processes, against dask-ml on the same cluster.

The rows are in an .npy file, of which the workers read one block after the other. Every tool gets
the same lazy array. TruncatedSVD does not center rows, so it gets the same array minus its mean,
which is lazy too. The memory is the highest that a worker process reached during the first run of
a tool, on a new cluster, above what it held before. The CPU time is that of the workers. A run that
does not finish within five minutes is stopped, and the next one has a new cluster.
"""

import atexit
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import data
import numpy as np
from accuracy import Truth
from measure import Case, Timed, Tool
from run import POOLS

TITLE = "a Dask cluster, one worker process per thread: k = 20"
LEFT_OUT: list[str] = []
K = 20
LIMIT = 300.0
"""Seconds after which a run is stopped."""
WORKERS = int(os.environ.get("OMP_NUM_THREADS", "2"))
"""Worker processes, with one thread each."""
MEMORY = "7GiB"
"""What a worker may use; Dask ends a worker that uses more."""
SIZES = {
    "1,000,000 x 50": (1_000_000, 50, 50_000),
    "200,000 x 784": (200_000, 784, 10_000),
    "4,000 x 10,000": (4000, 10_000, 500),
}


class _Cluster:
    """A cluster on this machine; ending it is safe while its workers still compute."""

    client: Any = None

    @classmethod
    def started(cls) -> Any:
        """Return the client of the cluster, which is started if there is none."""
        if cls.client is None:
            import dask
            from dask.distributed import Client, LocalCluster

            # A task whose worker ran out of memory would run out of it again.
            dask.config.set({"distributed.scheduler.allowed-failures": 0})
            # Workers inherit these when they start, and with two threads each they would compete
            # for the cores. Setting them in a worker is too late: it has loaded numpy.
            os.environ.update({f"{pool}_NUM_THREADS": "1" for pool in POOLS})
            cls.client = Client(
                LocalCluster(
                    n_workers=WORKERS,
                    threads_per_worker=1,
                    memory_limit=MEMORY,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            )
            cls.client.run(_prepare)
        return cls.client

    @classmethod
    def end(cls) -> None:
        """End the cluster and its processes; the next run starts another one."""
        import psutil

        client, cls.client = cls.client, None
        if client is None:
            return
        with suppress(Exception):
            client.cluster.close(timeout=5)
        with suppress(Exception):
            client.close(timeout=5)
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if "resource_tracker" not in " ".join(process.cmdline()):  # Python's own
                    process.kill()


atexit.register(_Cluster.end)


def _prepare() -> None:
    """Load the packages of all tools, which are not memory of a fit, and check their threads."""
    import dask_ml.decomposition  # noqa: F401
    import eigenspace.dask
    import threadpoolctl

    eigenspace.set_threads(1)
    pools = {pool["filepath"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    if any(number != 1 for number in pools.values()):
        raise RuntimeError(f"a worker must compute with one thread, found {pools}")


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
    runs = 0

    def run(_: Any) -> Timed:
        nonlocal runs
        if runs == 0:
            # Workers keep memory that an earlier tool has freed, so they must be new ones.
            _Cluster.end()
        runs += 1
        client = _Cluster.started()
        try:
            before = client.run(_start_watching)
            start = time.perf_counter()
            found = work()
            seconds = time.perf_counter() - start
            after = client.run(_watched)
        except BaseException:
            _Cluster.end()  # the tasks may still be running
            raise
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
    return Case(name, tools[1].name, tools, "fit", seconds=150, runs=5, long=20, limit=LIMIT)


def cases(quick: bool) -> dict[str, Callable[[], Case]]:
    return {name: lambda name=name: case(name, quick) for name in SIZES}
