"""W12: a Spark cluster of one or two executor processes, against MLlib's PCA on the same cluster.

The rows are in Parquet files with one column of arrays. Both tools get the same data frame, whose
files the executors read again in every run. MLlib needs vectors, so that its time includes their
conversion from arrays. The memory is the highest that a worker reached, an executor (Java) with its
Python processes, during the first run of a tool, on a new cluster, above what it held before; that
of the driver is reported separately. Java lets its memory grow before it frees any, so that this is
an upper bound on what a tool needs. The CPU time is that of all these processes. A run that does
not finish within five minutes is stopped, and the next one has a new cluster.
"""

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import data
import numpy as np
from accuracy import Truth
from measure import Case, Timed, Tool

TITLE = "a Spark cluster, one executor process per thread: k = 20"
LEFT_OUT: list[str] = []
K = 20
SIZES = {
    "1,000,000 x 50": (1_000_000, 50),
    "200,000 x 784": (200_000, 784),
    "4,000 x 10,000": (4000, 10_000),
}
PARTITIONS = 16
LIMIT = 300.0
"""Seconds after which a run is stopped."""


@cache
def _session() -> Any:
    """Start a cluster once for each process of the benchmark."""
    import pyspark
    from pyspark.sql import SparkSession

    workers = int(os.environ["OMP_NUM_THREADS"])
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,3072]")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.driver.maxResultSize": "0",
        "spark.executor.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.files.maxPartitionBytes": str(1 << 30),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@atexit.register
def _stop() -> None:
    if _session.cache_info().currsize:
        _session().stop()


def _end_session() -> None:
    """End the session, even if its driver still computes; the next run starts another one."""
    import psutil
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    for process in _processes():
        with suppress(psutil.NoSuchProcess):
            process.kill()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    _session.cache_clear()


def _parquet(path: Path) -> Path:
    """Return a directory with the rows of an array as Parquet, one file for each partition."""
    import pyarrow as pa
    import pyarrow.parquet

    directory = path.with_suffix(".parquet")
    if directory.exists():
        return directory
    rows = np.load(path, mmap_mode="r")
    part = directory.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    for i, block in enumerate(np.array_split(rows, PARTITIONS)):
        cells = pa.array(np.ascontiguousarray(block).ravel())
        lists = pa.ListArray.from_arrays(
            np.arange(0, block.size + 1, block.shape[1], dtype=np.int32), cells
        )
        pyarrow.parquet.write_table(pa.table({"x": lists}), part / f"{i:02}.parquet")
    part.rename(directory)
    return directory


def _processes() -> list[Any]:
    import psutil

    return psutil.Process().children(recursive=True)


DRIVER = 0
"""Stands for the driver where executors are named by the number of their process."""
EXECUTOR = "CoarseGrainedExecutorBackend"
"""The main class of an executor."""


class _Cluster:
    """CPU time of all processes of the cluster, and peak memory of a worker and of the driver."""

    def __enter__(self) -> "_Cluster":
        self._seconds: dict[int, float] = {}
        self._peaks: dict[int, float] = {}
        self._over = threading.Event()
        self._executors: dict[int, bool] = {}
        self._before = self._look()
        self._seconds_before = dict(self._seconds)
        self._peaks.clear()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    @property
    def cpu(self) -> float:
        return sum(self._seconds.values()) - sum(self._seconds_before.values())

    @property
    def memory(self) -> float:
        """The peak of the worker that needed most, in bytes above what it held before."""
        return max(self._above(owner) for owner in self._peaks if owner != DRIVER)

    @property
    def driver(self) -> float:
        return self._above(DRIVER)

    def _above(self, owner: int) -> float:
        return self._peaks[owner] - self._before.get(owner, 0.0)

    def _look(self) -> dict[int, float]:
        """Return the memory that the driver and each worker hold now, and note what is new."""
        import psutil

        held: dict[int, float] = {}
        parents: dict[int, int] = {}
        found: dict[int, float] = {}
        for process in _processes():
            try:
                times, memory = process.cpu_times(), process.memory_info().rss
                parents[process.pid] = process.ppid()
                if process.pid not in self._executors:
                    self._executors[process.pid] = any(EXECUTOR in w for w in process.cmdline())
            except psutil.NoSuchProcess:
                continue
            self._seconds[process.pid] = times.user + times.system
            found[process.pid] = memory
        for pid, memory in found.items():
            owner = self._owner(pid, parents)
            held[owner] = held.get(owner, 0.0) + memory
        for owner, memory in held.items():
            self._peaks[owner] = max(self._peaks.get(owner, 0.0), memory)
        return held

    def _owner(self, pid: int, parents: dict[int, int]) -> int:
        """Return the executor that started this process, or DRIVER."""
        while pid in parents:
            if self._executors[pid]:
                return pid
            pid = parents[pid]
        return DRIVER

    def _sample(self) -> None:
        while not self._over.wait(0.1):
            self._look()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()


def _warm_up() -> None:
    """Start the cluster, and the Python process of each executor, if they are not there."""

    def load(batches: Any) -> Any:  # sent by value: executors do not have this file
        import eigenspace  # noqa: F401

        yield from batches

    tasks = 4 * int(os.environ["OMP_NUM_THREADS"])
    rows = _session().range(tasks).repartition(tasks)
    assert rows.mapInArrow(load, rows.schema).count() == tasks


def _words(error: BaseException) -> str:
    """Return the message of an error, which one of Java asks its driver for, while there is one."""
    java = getattr(error, "java_exception", None)
    if java is None:
        # Errors of the connection to the driver have no message without it.
        lost = type(error).__module__.startswith("py4j")
        return "the connection to the driver was lost" if lost else str(error)
    return str(java.toString()).splitlines()[0]


def _on_the_cluster(name: str, work: Callable[[], np.ndarray], truth: Truth, mode: str) -> Tool:
    runs = 0

    def run(_: Any) -> Timed:
        nonlocal runs
        if runs == 0:
            # Java keeps memory that an earlier tool has freed, so its processes must be new ones.
            _end_session()
        runs += 1
        _warm_up()  # starting it does not count
        with _Cluster() as cluster:
            start = time.perf_counter()
            try:
                found = work()
            except BaseException as error:
                words = _words(error)
                _end_session()
                raise RuntimeError(words) from None
            seconds = time.perf_counter() - start
        return Timed(found, seconds, cluster.memory / 1024, cluster.cpu, cluster.driver / 1024)

    return Tool(name, run, components=lambda found: found, truth=truth, mode=mode)


def _ours(rows: Any, k: int) -> np.ndarray:
    import eigenspace.spark

    return eigenspace.spark.fit(rows, k, features="x").components[:k]


def _theirs(rows: Any, k: int) -> np.ndarray:
    from pyspark.ml.feature import PCA
    from pyspark.ml.functions import array_to_vector

    vectors = rows.select(array_to_vector("x").alias("v"))
    return PCA(k=k, inputCol="v", outputCol="s").fit(vectors).pc.toArray().T


def case(name: str, quick: bool) -> Case:
    n, features = SIZES[name]
    k = K
    if quick:
        n, features, k = n // 200, min(features, 200), 3
    path = data.factors(n, features)
    truth = Truth(f"factors-{n}x{features}", lambda: data.rows_of(path), k)
    directory = str(_parquet(path))

    def rows() -> Any:
        return _session().read.parquet(directory)

    tools = [
        _on_the_cluster("eigenspace.spark", lambda: _ours(rows(), k), truth, "default"),
        _on_the_cluster("Spark MLlib PCA", lambda: _theirs(rows(), k), truth, ""),
    ]
    return Case(name, tools[1].name, tools, "fit", seconds=100, runs=5, long=20, limit=LIMIT)


def cases(quick: bool) -> dict[str, Callable[[], Case]]:
    return {name: lambda name=name: case(name, quick) for name in SIZES}
