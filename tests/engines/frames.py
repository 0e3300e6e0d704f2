"""Data frames of Spark with known partitions, and what numpy makes of their rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
from eigenspace import Accumulator
from pyspark.sql.types import ArrayType, DoubleType, FloatType, StringType, StructField, StructType

NAMES = [f"c{number}" for number in range(12)]
X = np.random.default_rng(0).normal(size=(3000, 12)) * np.arange(1, 13)
WEIGHTS = np.random.default_rng(1).integers(0, 3, 3000).astype(float)
SITES = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 3000)]
TABLE = pd.DataFrame(X, columns=NAMES)
FULL = TABLE.assign(site=SITES, weight=WEIGHTS)


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
