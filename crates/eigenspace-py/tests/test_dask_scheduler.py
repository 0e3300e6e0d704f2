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
        wait_for(lambda: file.exists() or scheduler.poll() is not None)
        assert scheduler.poll() is None
        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            yield client, scheduler
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def wait_for(happened):
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_client_reports_a_scheduler_that_is_killed(cluster, tmp_path):
    client, scheduler = cluster
    begun = tmp_path / "begun"

    def slow(rows):  # defined here, so that it travels with its code: workers cannot import this file
        begun.touch()
        time.sleep(0.3)
        return rows

    blocks = da.from_array(X, chunks=(100, 12)).map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    future = client.compute(eigenspace.dask.fit(blocks, 4, compute=False))
    wait_for(lambda: begun.exists() or future.done())
    assert not future.done(), future
    os.kill(scheduler.pid, signal.SIGKILL)
    with pytest.raises(FutureCancelledError):
        future.result(timeout=120)
