"""A local cluster of Spark with two executor processes, started once for all tests."""

import contextlib
import os
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    directory = tmp_path_factory.mktemp("spark")
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_WORKER_DIR"] = str(directory / "work")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config(
        "spark.ui.enabled", "false"
    )
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.local.dir": str(directory / "local"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    # Java resolves paths in the directory in which it was started.
    with contextlib.chdir(directory):
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
