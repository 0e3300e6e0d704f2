"""Errors about the rows of a Spark data frame name the partition and the row."""

import eigenspace.spark
import numpy as np
import pyarrow as pa
import pytest
from eigenspace import EigenspaceError, EigenspaceModel
from eigenspace.spark import EigenspacePCA
from frames import (
    FULL,
    NAMES,
    SITES,
    TABLE,
    X,
    frame_of,
    lists,
    numpy_variances,
)
from pyspark.errors import PythonException
from pyspark.sql import functions as F  # noqa: N812


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
        EigenspaceError, match=r"^partition `7`: row 27, column `c3`: the value is null"
    ):
        eigenspace.spark.fit(broken, 3, columns=NAMES)
    with pytest.raises(
        EigenspaceError, match=r"^partition `7`: row 27, column `c3`: the value is null"
    ):
        eigenspace.spark.fit_by(broken, "site", 3, columns=NAMES)
    assert eigenspace.spark.fit(broken, 3, columns=NAMES, missing="skip").count == 2999
    nan = broken.withColumn("c3", F.coalesce(F.col("c3"), F.lit(float("nan"))))
    words = f"^partition `7, site = '{SITES[1777]}'`: row [0-9]+, column `c3`: the value is NaN"
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
            "cannot use both `columns` and `features`",
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
        (
            lambda: eigenspace.spark.fit(frame, 1, columns="c0"),
            "invalid columns='c0': expected a list",
        ),
        (
            lambda: eigenspace.spark.fit(frame.toDF("c0", *frame.columns[:-1]), 1, columns=["c0"]),
            "several columns have the name 'c0'",
        ),
        (
            lambda: eigenspace.spark.fit(frame, 1, columns=NAMES, forgetting=0.9),
            "forgetting is not available on a cluster",
        ),
    ]
    for call, words in calls:
        with pytest.raises(EigenspaceError, match=words) as caught:
            call()
        assert caught.value.hint
