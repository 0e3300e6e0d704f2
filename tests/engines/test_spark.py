"""Models of Spark data frames, on a local cluster of two executor processes."""

import contextlib
import io
import re
from pathlib import Path

import eigenspace.spark
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from eigenspace import EigenspaceError, EigenspaceModel
from eigenspace.spark import EigenspacePCA, EigenspacePCAModel
from frames import (
    FULL,
    NAMES,
    SITES,
    TABLE,
    WEIGHTS,
    X,
    by_hand,
    check_scores,
    frame_of,
    lists,
    numpy_variances,
)
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType


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


def test_groups_by_times_in_any_time_zone_and_in_their_own_order(spark):
    frame = frame_of(spark, TABLE, 3).withColumn("group", (F.abs("c0") * 10).cast("int"))
    groups = list(eigenspace.spark.fit_by(frame, "group", 2, columns=NAMES))
    assert groups == sorted(groups)
    assert len(groups) > 10
    noon = F.lit("2026-01-30 12:00:00").cast("timestamp")
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        for name in ("UTC", "Etc/UTC", "America/New_York"):
            spark.conf.set("spark.sql.session.timeZone", name)
            timed = frame.withColumn(
                "time", F.when(F.col("c0") > 0, noon).otherwise(noon + F.expr("INTERVAL 1 DAY"))
            )
            models = eigenspace.spark.fit_by(timed, "time", 2, columns=NAMES)
            counts = [model.count for model in models.values()]
            assert counts == [(X[:, 0] > 0).sum(), (X[:, 0] <= 0).sum()]
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_columns_of_every_numeric_type(spark):
    whole = np.round(X)
    frame = frame_of(spark, pd.DataFrame(whole, columns=NAMES), 3)
    for kind in ("tinyint", "int", "bigint", "float", "decimal(20,6)"):
        cast = frame.select(*[F.col(name).cast(kind).alias(name) for name in NAMES])
        arrays = cast.select(F.array(*NAMES).alias("x"))
        for model in (eigenspace.spark.fit(cast, 4), eigenspace.spark.fit(arrays, 4, features="x")):
            found = model.explained_variance()
            assert np.allclose(found, numpy_variances(whole)[:4], rtol=1e-13, atol=0), kind


def test_vectors_that_are_dense_sparse_or_null(spark):
    some = np.where(np.abs(X) > np.abs(X).mean(axis=0), X, 0)[:300]
    vectors = [
        Vectors.sparse(12, {int(at): float(row[at]) for at in np.flatnonzero(row)})
        if number % 2
        else Vectors.dense(row)
        for number, row in enumerate(some)
    ]
    kind = StructType([StructField("x", VectorUDT())])
    model = eigenspace.spark.fit(
        spark.createDataFrame([(row,) for row in vectors], kind), 4, features="x"
    )
    assert np.allclose(model.explained_variance(), numpy_variances(some)[:4], rtol=1e-13, atol=0)
    lacking = spark.createDataFrame([(row,) for row in [*vectors, None]], kind)
    assert eigenspace.spark.fit(lacking, 4, features="x", missing="skip").count == 300
    with pytest.raises(
        EigenspaceError, match=r"^partition `1`: row [0-9]+: the list is null"
    ) as caught:
        eigenspace.spark.fit(lacking, 4, features="x")
    assert caught.value.hint


def test_scores_of_a_model_without_components_are_empty(spark):
    constant = EigenspaceModel.fit(np.ones((5, 12)))
    scored = eigenspace.spark.transform(constant, frame_of(spark, lists(X[:10]), 2), features="x")
    assert [row.scores for row in scored.collect()] == [[]] * 10


def test_scores_are_those_of_one_machine(spark):
    model = EigenspaceModel.fit(TABLE).with_components(4)
    frame = frame_of(spark, FULL[["site", *reversed(NAMES), "weight"]], 3)
    scored = eigenspace.spark.transform(model, frame, 2)
    assert scored.columns == [*frame.columns, "scores"]
    found = scored.toPandas()
    scores = np.stack(found["scores"])
    assert np.allclose(scores, model.project(found[NAMES])[:, :2], rtol=0, atol=1e-12)
    check_scores(scores, X - X.mean(axis=0), np.ones(3000))
    assert list(found["site"]) == list(SITES)
    arrays = eigenspace.spark.transform(
        model, frame_of(spark, lists(X), 3), features="x", output="z"
    )
    assert np.allclose(np.stack(arrays.toPandas()["z"]), model.project(X), rtol=0, atol=1e-12)
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


def test_a_name_with_dots_and_backticks(spark):
    frame = frame_of(spark, TABLE[["c0", "c1"]].rename(columns={"c0": "a.b", "c1": "c`d"}), 2)
    assert eigenspace.spark.fit(frame).feature_names == ["a.b", "c`d"]


def test_a_pipeline_is_fitted_saved_and_loaded(spark, tmp_path):
    frame = frame_of(spark, FULL, 4)
    assembler = VectorAssembler(inputCols=NAMES, outputCol="features")
    pca = EigenspacePCA(k=3, weightCol="weight", standardize=True)
    pca.setInputCol("features").setOutputCol("scores")
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


def test_the_examples_in_the_documentation(spark, tmp_path):
    text = (Path(__file__).parents[2] / "docs/PYTHON.md").read_text()
    # Spark resolves relative paths where it was started.
    text = text.replace('"pipeline"', repr(str(tmp_path / "pipeline")))
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
