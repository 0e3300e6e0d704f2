"""Models of Spark data frames, on a local cluster of two executor processes."""

import contextlib
import io
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import eigenspace.spark
import numpy as np
import pandas as pd
import pyarrow as pa
import pyspark
import pytest
from eigenspace import Accumulator, EigenspaceError, EigenspaceModel
from eigenspace.spark import EigenspacePCA, EigenspacePCAModel
from pyspark.errors import PythonException
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, FloatType, StringType, StructField, StructType

NAMES = [f"c{number}" for number in range(12)]
X = np.random.default_rng(0).normal(size=(3000, 12)) * np.arange(1, 13)
WEIGHTS = np.random.default_rng(1).integers(0, 3, 3000).astype(float)
SITES = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 3000)]
TABLE = pd.DataFrame(X, columns=NAMES)
FULL = TABLE.assign(site=SITES, weight=WEIGHTS)


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
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def frame_of(spark, table, partitions=12, before=None):
    """Return a data frame of the table with this number of partitions of consecutive rows."""
    table = (
        pa.Table.from_pandas(table, preserve_index=False)
        if isinstance(table, pd.DataFrame)
        else table
    )
    kinds = {pa.float64(): DoubleType(), pa.float32(): FloatType(), pa.string(): StringType()}
    kinds |= {pa.large_string(): StringType(), pa.list_(pa.float64()): ArrayType(DoubleType())}
    kinds |= {pa.list_(pa.float32()): ArrayType(FloatType())}
    schema = StructType([StructField(field.name, kinds[field.type]) for field in table.schema])

    def rows(batches):
        for batch in batches:
            if before is not None:
                before()
            yield from table.take(batch.column(0)).to_batches()

    return spark.range(0, len(table), 1, partitions).mapInArrow(rows, schema)


def lists(rows, kind=None):
    return pa.table(
        {
            "x": pa.array(
                [None if row is None else list(row) for row in rows], pa.list_(kind or pa.float64())
            )
        }
    )


def by_hand(parts, *arguments, **options):
    """Return the model of these parts, merged in the documented tree."""
    states = [Accumulator(*arguments, **options).absorb(part) for part in parts]
    while len(states) > 1:
        states = [sum(states[at : at + 8]) for at in range(0, len(states), 8)]
    return states[0].finish()


def numpy_variances(rows, weights=None):
    weights = np.ones(len(rows)) if weights is None else weights
    centered = rows - np.average(rows, axis=0, weights=weights)
    return np.linalg.eigvalsh((centered * weights[:, None]).T @ centered / (weights.sum() - 1))[
        ::-1
    ]


def check_scores(scores, centered, weights):
    """Compare scores with those of numpy, up to signs.

    Rounding changes the scatter by about D ε λ₁, and a direction by that divided by its gap.
    """
    values, vectors = np.linalg.eigh((centered * weights[:, None]).T @ centered)
    values, vectors, k = values[::-1], vectors[:, ::-1], scores.shape[1]
    angle = len(values) * np.finfo(float).eps * values[0] / np.min(-np.diff(values)[:k])
    largest = np.linalg.norm(centered, axis=1).max()
    expected = centered @ vectors[:, :k]
    assert np.abs(np.abs(scores) - np.abs(expected)).max() <= 8 * angle * largest


def test_the_model_is_that_of_numpy_and_the_tree_decides_every_bit(spark):
    model = eigenspace.spark.fit(frame_of(spark, TABLE), 4)
    assert model.certificate().is_exact
    assert np.allclose(model.explained_variance(), numpy_variances(X)[:4], rtol=1e-13, atol=0)
    assert model.feature_names == NAMES
    parts = [TABLE[start : start + 250] for start in range(0, 3000, 250)]
    assert model.to_bytes() == by_hand(parts, 4).to_bytes()


def test_a_tree_of_more_levels_than_the_workers_merge(spark):
    model = eigenspace.spark.fit(frame_of(spark, TABLE, 100), 4)
    parts = [TABLE[start : start + 30] for start in range(0, 3000, 30)]
    assert model.to_bytes() == by_hand(parts, 4).to_bytes()


@pytest.mark.parametrize("kind", ["array", "array of floats", "vector"])
def test_one_column_of_arrays_or_vectors(spark, kind):
    frame = frame_of(
        spark, lists(X, pa.float32() if kind == "array of floats" else pa.float64()), 4
    )
    if kind == "vector":
        frame = frame.select(array_to_vector(F.col("x")).alias("x"))
    rows = X.astype(np.float32) if kind == "array of floats" else X
    model = eigenspace.spark.fit(frame, 4, features="x")
    assert model.to_bytes() == by_hand(np.split(rows, 4), 4).to_bytes()


def test_weights_options_and_columns(spark):
    frame = frame_of(spark, FULL, 5)
    model = eigenspace.spark.fit(frame, 5, columns=NAMES[:9], weights="weight", standardize=True)
    assert model.weight == WEIGHTS.sum()
    expected = numpy_variances(X[:, :9], WEIGHTS)
    assert np.allclose(
        model.with_components(None).explained_variance(), expected, rtol=1e-13, atol=0
    )
    assert model.metadata.standardize
    assert model.feature_names == NAMES[:9]


def test_empty_partitions_change_no_bit(spark):
    table = pa.Table.from_pandas(TABLE, preserve_index=False)
    frame = frame_of(spark, table, 12)
    some = frame.where((F.col("c0") > 0) & (F.spark_partition_id() % 3 == 1))
    parts = [TABLE[start : start + 250] for start in range(0, 3000, 250)]
    kept = [part[part.c0 > 0] if number % 3 == 1 else part[:0] for number, part in enumerate(parts)]
    assert eigenspace.spark.fit(some, 3).to_bytes() == by_hand(kept, 3).to_bytes()
    with pytest.raises(EigenspaceError, match="it has absorbed no rows"):
        eigenspace.spark.fit(frame.where(F.col("c0") > 1e9), 3)


def test_one_model_for_each_group(spark):
    table = FULL.copy()
    table.loc[5, "site"] = None
    frame = frame_of(spark, table, 20)
    models = eigenspace.spark.fit_by(frame, "site", 3, weights="weight")
    assert list(models) == ["a", "b", "c"]
    for site, model in models.items():
        rows = (site == SITES) & (np.arange(3000) != 5)
        expected = numpy_variances(X[rows], WEIGHTS[rows])[:3]
        assert np.allclose(model.explained_variance(), expected, rtol=1e-13, atol=0)
        assert model.count == (WEIGHTS[rows] > 0).sum()
        assert model.feature_names == NAMES
    assert eigenspace.spark.fit_by(frame.where(F.col("c0") > 1e9), "site", 3, columns=NAMES) == {}


def test_groups_by_numbers_and_dates(spark):
    frame = frame_of(spark, TABLE, 3).withColumn("half", F.col("c0") > 0)
    frame = frame.withColumn(
        "day", F.date_add(F.lit("2026-01-30").cast("date"), F.col("half").cast("int"))
    )
    for name in ("half", "day"):
        models = eigenspace.spark.fit_by(frame, name, 2, columns=NAMES)
        assert [model.count for model in models.values()] == [
            (X[:, 0] <= 0).sum(),
            (X[:, 0] > 0).sum(),
        ]
        assert [str(value) for value in models] == (
            ["False", "True"] if name == "half" else ["2026-01-30", "2026-01-31"]
        )


def test_scores_are_those_of_one_machine(spark):
    model = EigenspaceModel.fit(TABLE).with_components(4)
    frame = frame_of(spark, FULL[["site", *reversed(NAMES), "weight"]], 3)
    scored = eigenspace.spark.transform(model, frame, 2)
    assert scored.columns == [*frame.columns, "scores"]
    found = scored.toPandas()
    scores = np.stack(found["scores"])
    assert np.allclose(scores, model.transform(found[NAMES])[:, :2], rtol=0, atol=1e-12)
    check_scores(scores, X - X.mean(axis=0), np.ones(3000))
    assert list(found["site"]) == list(SITES)
    arrays = eigenspace.spark.transform(
        model, frame_of(spark, lists(X), 3), features="x", output="z"
    )
    assert np.allclose(np.stack(arrays.toPandas()["z"]), model.transform(X), rtol=0, atol=1e-12)
    empty = eigenspace.spark.transform(model, frame.where(F.col("c0") > 1e9))
    assert empty.collect() == []


def test_more_features_than_a_scatter_matrix_holds(spark):
    wide = np.random.default_rng(3).normal(size=(900, 6)) @ np.random.default_rng(4).normal(
        size=(6, 1100)
    )
    wide += 1e-3 * np.random.default_rng(5).normal(size=wide.shape)
    model = eigenspace.spark.fit(frame_of(spark, lists(wide), 6), 6, features="x")
    exact = np.linalg.svd(wide - wide.mean(axis=0), full_matrices=False)[2][:6]
    sine = np.linalg.norm(exact - exact @ model.components.T @ model.components, 2)
    assert sine <= model.certificate().angle_bound(6) + 1e-12
    assert sine < 1e-3
    assert model.to_bytes() == by_hand(np.split(wide, 6), 6).to_bytes()


def wrong_rows(what):
    rows = [list(row) for row in X]
    if what == "nan":
        rows[1777][3] = float("nan")
    elif what == "null value":
        rows[1777][3] = None
    elif what == "null list":
        rows[1777] = None
    elif what == "ragged":
        rows[1777] = rows[1777][:11]
    elif what == "other partition":
        rows[1750:2000] = [row[:11] for row in rows[1750:2000]]
    elif what == "no values":
        rows = [[] for _ in rows]
    return lists(rows)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nan", "partition `7`: row 27, column 3: the value is NaN, expected a finite number"),
        (
            "null value",
            "partition `7`: row 27, column 3: the value is null, expected a finite number",
        ),
        ("null list", "partition `7`: row 27: the list is null, expected a list of numbers"),
        (
            "ragged",
            "partition `7`: row 27: the list has 11 values, expected 12 as in the rows before it",
        ),
        (
            "other partition",
            "partition `7`: the rows have 11 values, expected 12 as in partition `0`",
        ),
        ("no values", "partition `0`: the rows have no columns"),
    ],
)
def test_an_error_names_the_partition_and_the_row(spark, what, words):
    with pytest.raises(EigenspaceError, match=words) as caught:
        eigenspace.spark.fit(frame_of(spark, wrong_rows(what)), 3, features="x")
    assert caught.value.hint


def test_errors_about_columns_weights_and_groups(spark):
    table = FULL.copy()
    table.loc[1777, "c3"] = np.nan
    broken = frame_of(spark, pa.Table.from_pandas(table, preserve_index=False))  # NaN becomes null
    with pytest.raises(
        EigenspaceError, match=r"^partition `7`: row 27, column 3: the value is null"
    ):
        eigenspace.spark.fit(broken, 3, columns=NAMES)
    with pytest.raises(
        EigenspaceError, match=r"^partition `7`: row 27, column 3: the value is null"
    ):
        eigenspace.spark.fit_by(broken, "site", 3, columns=NAMES)
    assert eigenspace.spark.fit(broken, 3, columns=NAMES, missing="skip").count == 2999
    nan = broken.withColumn("c3", F.coalesce(F.col("c3"), F.lit(float("nan"))))
    words = f"^partition `7, site = '{SITES[1777]}'`: row [0-9]+, column 3: the value is NaN"
    with pytest.raises(EigenspaceError, match=words):
        eigenspace.spark.fit_by(nan, "site", 3, columns=NAMES)
    weights = broken.withColumn("weight", F.when(F.col("c3").isNotNull(), F.col("weight")))
    with pytest.raises(EigenspaceError, match=r"^partition `7`: row 27: the weight is null"):
        eigenspace.spark.fit(weights, 3, columns=["c0"], weights="weight")


def test_null_lists_are_skipped_if_asked(spark):
    model = eigenspace.spark.fit(
        frame_of(spark, wrong_rows("null list")), 3, features="x", missing="skip"
    )
    assert model.count == 2999
    assert np.allclose(
        model.explained_variance(),
        numpy_variances(np.delete(X, 1777, axis=0))[:3],
        rtol=1e-13,
        atol=0,
    )


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nan", "partition `7`: row 27, column 3: the value is NaN"),
        ("null value", "partition `7`: row 27, column 3: the value is null"),
        ("ragged", "partition `7`: row 27: the list has 11 values, expected 12"),
    ],
)
def test_an_error_while_scoring_names_the_partition_and_the_row(spark, what, words):
    scored = eigenspace.spark.transform(
        EigenspaceModel.fit(X), frame_of(spark, wrong_rows(what)), features="x"
    )
    with pytest.raises(PythonException, match=words):
        scored.select(F.sum(F.col("scores")[0])).collect()


def test_invalid_arguments_are_refused_before_anything_is_computed(spark):
    frame = frame_of(spark, FULL, 1)
    model = EigenspaceModel.fit(TABLE)
    calls = [
        (lambda: eigenspace.spark.fit(X, 3), "expected a Spark data frame, found numpy.ndarray"),
        (lambda: eigenspace.spark.fit(frame, 0, columns=NAMES), "n_components|components"),
        (lambda: eigenspace.spark.fit(frame, 1, columns=NAMES, missing="impute"), "missing|impute"),
        (
            lambda: eigenspace.spark.fit(frame, 1),
            "column 'site' has the type string, expected numbers",
        ),
        (lambda: eigenspace.spark.fit(frame, 1, columns=["z"]), "no column 'z'"),
        (lambda: eigenspace.spark.fit(frame, 1, columns=[]), "no columns are left"),
        (
            lambda: eigenspace.spark.fit(frame, 1, columns=["c0"], features="c1"),
            "exclude each other",
        ),
        (
            lambda: eigenspace.spark.fit(frame, 1, features="c1"),
            "expected a vector or an array of numbers",
        ),
        (
            lambda: eigenspace.spark.fit(frame, 1, columns=["c0"], weights="site"),
            "column 'site' has the type string",
        ),
        (lambda: eigenspace.spark.fit_by(frame, "z", 1), "no column 'z'"),
        (
            lambda: eigenspace.spark.transform(model, frame, output="c1"),
            "the column 'c1' already exists",
        ),
        (
            lambda: eigenspace.spark.transform(model, frame, columns=["c1"]),
            "1 columns for a model of 12 features",
        ),
        (lambda: eigenspace.spark.transform(model, frame.select("c1")), "no column 'c0'"),
        (
            lambda: eigenspace.spark.transform(EigenspaceModel.fit(X), frame),
            "the model has no feature names",
        ),
        (lambda: EigenspacePCA(k=2).fit(frame), "inputCol is not set"),
    ]
    for call, words in calls:
        with pytest.raises(EigenspaceError, match=words) as caught:
            call()
        assert caught.value.hint


def test_a_name_with_dots_and_backticks(spark):
    frame = frame_of(spark, TABLE[["c0", "c1"]].rename(columns={"c0": "a.b", "c1": "c`d"}), 2)
    assert eigenspace.spark.fit(frame).feature_names == ["a.b", "c`d"]


def test_a_pipeline_is_fitted_saved_and_loaded(spark, tmp_path):
    frame = frame_of(spark, FULL, 4)
    assembler = VectorAssembler(inputCols=NAMES, outputCol="features")
    pca = EigenspacePCA(
        k=3, inputCol="features", outputCol="scores", weightCol="weight", standardize=True
    )
    Pipeline(stages=[assembler, pca]).save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    model = fitted.stages[1].model
    assert (
        model.to_bytes()
        == eigenspace.spark.fit(
            fitted.stages[0].transform(frame),
            3,
            features="features",
            weights="weight",
            standardize=True,
        ).to_bytes()
    )
    fitted.save(str(tmp_path / "fitted"))
    again = PipelineModel.load(str(tmp_path / "fitted"))
    assert isinstance(again.stages[1], EigenspacePCAModel)
    assert again.stages[1].model == model
    assert again.stages[1].uid == fitted.stages[1].uid
    scores = [
        np.stack([row.scores.toArray() for row in each.transform(frame).collect()])
        for each in (fitted, again)
    ]
    assert np.array_equal(*scores)
    centered = X - np.average(X, axis=0, weights=WEIGHTS)
    standardized = centered / np.sqrt(np.average(centered**2, axis=0, weights=WEIGHTS))
    check_scores(scores[0], standardized, WEIGHTS)


def test_the_examples_in_the_documentation(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs/PYTHON.md").read_text()
    found = re.findall(
        r"^```python spark\n(.*?)^```\n```text spark\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    assert len(found) == 2
    namespace = {}
    for code, expected in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        assert printed.getvalue() == expected


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
