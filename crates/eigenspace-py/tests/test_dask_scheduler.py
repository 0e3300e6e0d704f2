"""A Dask scheduler that is killed in the middle of a fit: the client reports an error, and gets no model."""

import os
import signal
import subprocess
import sys
import time

import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client
from distributed.client import FutureCancelledError

import eigenspace.dask

X = np.random.default_rng(0).normal(size=(3000, 12))


def slow(rows):
    time.sleep(0.3)
    return rows


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], stderr=subprocess.DEVNULL
    )


@pytest.fixture
def cluster(tmp_path):
    file = tmp_path / "scheduler.json"
    scheduler = started(
        "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", f"--scheduler-file={file}"
    )
    worker = started("dask_worker", f"--scheduler-file={file}", "--no-nanny", "--no-dashboard", "--nthreads", "1")
    try:
        while not file.exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            yield client, scheduler
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_the_client_reports_a_scheduler_that_is_killed(cluster):
    client, scheduler = cluster
    blocks = da.from_array(X, chunks=(100, 12)).map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    future = client.compute(eigenspace.dask.fit(blocks, 4, compute=False))
    time.sleep(1.0)
    assert not future.done()
    os.kill(scheduler.pid, signal.SIGKILL)
    with pytest.raises(FutureCancelledError):
        future.result(timeout=120)
