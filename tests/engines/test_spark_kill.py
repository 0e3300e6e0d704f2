"""Processes of Spark that are killed in the middle of a fit change no bit of the model."""

import os
import signal
import threading
import time
from pathlib import Path

import eigenspace.spark
import pyspark
import pytest
from eigenspace._spark_states import merged_rows
from frames import (
    TABLE,
    frame_of,
)


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def ours(process):
    """Return whether this process was started by the tests."""
    while process > 1:
        process = parent_of(process)
        if process == os.getpid():
            return True
    return False


@pytest.mark.parametrize("victim", ["executor", "python worker"])
def test_a_process_that_is_killed_changes_no_bit(spark, tmp_path, victim):
    expected = eigenspace.spark.fit(frame_of(spark, TABLE, 30), 4).to_bytes()

    def slow():
        """Leave a file named after the partition, the executor and the worker, and take time."""
        partition = pyspark.TaskContext.get().partitionId()
        daemon = os.getppid()
        executor = Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1]
        (tmp_path / f"{partition}-{executor}-{os.getpid()}").touch()
        time.sleep(0.3)

    def started():
        return [tuple(map(int, path.name.split("-"))) for path in tmp_path.iterdir()]

    results = []
    run = threading.Thread(
        target=lambda: results.append(
            eigenspace.spark.fit(frame_of(spark, TABLE, 30, slow), 4).to_bytes()
        )
    )
    run.start()
    while len(started()) < 6:
        time.sleep(0.05)
        assert run.is_alive()
    partition, executor, worker = max(
        started(), key=lambda each: (tmp_path / "-".join(map(str, each))).stat().st_mtime
    )
    process = executor if victim == "executor" else worker
    command = Path(f"/proc/{process}/cmdline").read_bytes()
    assert (
        b"CoarseGrainedExecutorBackend" if victim == "executor" else b"pyspark.daemon"
    ) in command
    assert ours(process)
    os.kill(process, signal.SIGKILL)
    run.join(timeout=180)
    assert results == [expected]
    attempts = [each for each in started() if each[0] == partition]
    assert len(attempts) > 1  # the partition was absorbed again, by another process


def test_an_executor_that_is_killed_while_it_merges_changes_no_bit(spark, tmp_path, monkeypatch):
    expected = eigenspace.spark.fit(frame_of(spark, TABLE, 30), 4).to_bytes()

    def slowly(table):
        """Leave a file named after the executor, and take time."""
        daemon = os.getppid()
        executor = Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1]
        (tmp_path / f"{time.monotonic_ns()}-{executor}").touch()
        time.sleep(0.5)
        return merged_rows(table)

    monkeypatch.setattr(eigenspace.spark, "merged_rows", slowly)
    results = []
    run = threading.Thread(
        target=lambda: results.append(
            eigenspace.spark.fit(frame_of(spark, TABLE, 30), 4).to_bytes()
        )
    )
    run.start()
    while not list(tmp_path.iterdir()):
        time.sleep(0.02)
        assert run.is_alive()
    executor = int(max(path.name for path in tmp_path.iterdir()).split("-")[1])
    assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
    assert ours(executor)
    before = len(list(tmp_path.iterdir()))
    os.kill(executor, signal.SIGKILL)
    run.join(timeout=180)
    assert results == [expected]
    # Four merges at the first level, one at the second, and those that were repeated.
    assert len(list(tmp_path.iterdir())) > max(5, before)
