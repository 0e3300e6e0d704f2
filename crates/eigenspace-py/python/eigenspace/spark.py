"""Fit and apply models with Spark: rows stay where they are, accumulators are sent and merged.

Each partition is absorbed by the worker that reads it. The accumulators are merged as a tree that
depends only on the numbers of the partitions, so the order in which tasks finish, and tasks that
run again after an executor was lost, change no bit of the result.

Needs pyspark 4.1 or later, pyarrow and pandas 2, on the workers too, and Java.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ._accumulator import FAN_IN, Accumulator, check_options, group_order
from ._errors import refusal
from ._model import EigenspaceModel, model_of

try:
    import pyarrow  # noqa: F401
    from pyspark.ml import Estimator, Model
    from pyspark.ml.functions import array_to_vector, vector_to_array
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.param.shared import HasInputCol, HasOutputCol, HasWeightCol
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F
    from pyspark.sql.functions import arrow_udf
    from pyspark.sql.types import (
        ArrayType,
        BinaryType,
        BooleanType,
        DoubleType,
        FloatType,
        LongType,
        MapType,
        NumericType,
        StringType,
        StructField,
        StructType,
        UserDefinedType,
        VariantType,
    )
except ImportError as error:
    raise ImportError(
        'eigenspace.spark needs pyspark: pip install "./crates/eigenspace-py[spark]" in a clone of eigenspace, '
        'or pip install "pyspark>=4.1" pyarrow "pandas<3"'
    ) from error

from ._spark_states import Fit, State, merged_rows, merged_tree, projection

__all__ = ["EigenspacePCA", "EigenspacePCAModel", "fit", "fit_by", "transform"]

LEVELS = 2
"""Number of levels of the tree that workers merge. The driver receives a state for FAN_IN ** LEVELS partitions."""


def fit(
    df: Any,
    n_components: int | float | None = None,
    *,
    columns: Sequence[str] | None = None,
    features: str | None = None,
    weights: str | None = None,
    threads: int | None = 1,
    **options: Any,
) -> EigenspaceModel:
    """Return the model of all rows of a Spark data frame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The rows. They are read once. Partitions may be empty.
    n_components : int, float or None
        Number of components, explained variance ratio to reach, or None for all.
    columns : list of str or None
        The columns to use, which contain numbers; by default all except ``weights``.
    features : str or None
        Instead of ``columns``: one column that contains a vector or an array of numbers.
    weights : str or None
        The column that contains the weight of each row.
    threads : int or None
        Number of threads of each Python worker; None for one per core.
    **options
        ``max_rank``, ``truncation``, ``standardize``, ``missing``, ``engine`` and ``weight_kind``,
        as in :class:`eigenspace.Accumulator`. A null is a missing cell.

    Returns
    -------
    EigenspaceModel
    """
    models = _fitted(df, None, n_components, columns, features, weights, threads, options)
    return models[None] if models else Accumulator(n_components, **options).finish()  # raises: no rows


def fit_by(
    df: Any,
    by: str,
    n_components: int | float | None = None,
    *,
    columns: Sequence[str] | None = None,
    features: str | None = None,
    weights: str | None = None,
    threads: int | None = 1,
    **options: Any,
) -> dict[Hashable, EigenspaceModel]:
    """Return one model for each value of a column, as a dictionary, without shuffling the rows.

    Each partition gives an accumulator for each value that it contains. The other parameters are
    those of :func:`fit`. Rows whose value is missing are left out.
    """
    return _fitted(df, by, n_components, columns, features, weights, threads, options)


def transform(
    model: EigenspaceModel,
    df: Any,
    n_components: int | None = None,
    *,
    columns: Sequence[str] | None = None,
    features: str | None = None,
    output: str = "scores",
    threads: int | None = 1,
) -> Any:
    """Return the data frame with one more column, lazily: the scores of each row, as an array of doubles.

    By default, the columns are those whose names the model remembers. If
    ``model.metadata.standardize`` is true, the scores are those of the standardized rows. Each
    worker gets the model with its task; nothing is joined.
    """
    model = model_of(model, "model")
    if n_components is not None:
        model = model.with_components(n_components)
    _check_frame(df)
    if output in df.columns:
        hint = "choose another name with output='NAME' (outputCol in a pipeline)"
        raise refusal(f"the column {output!r} already exists", hint)
    if columns is None and features is None:
        columns = model.feature_names
        if columns is None:
            raise refusal("the model has no feature names", "pass columns=[…] or features='NAME'")
    rows, names = _rows(df, columns, features, [])
    if names is not None and len(names) != model.n_features:
        raise refusal(f"{len(names)} columns for a model of {model.n_features} features", "name one for each feature")
    project = arrow_udf(projection(model, threads), ArrayType(DoubleType(), containsNull=False))
    return df.withColumn(output, project(rows))


def _fitted(
    df: Any,
    by: str | None,
    n_components: int | float | None,
    columns: Sequence[str] | None,
    features: str | None,
    weights: str | None,
    threads: int | None,
    options: dict[str, Any],
) -> dict[Hashable, EigenspaceModel]:
    check_options(n_components, options)
    _check_frame(df)
    if df.isStreaming:
        raise refusal("cannot fit a streaming data frame", "fit its batches in foreachBatch, and merge the models")
    rows, names = _rows(df, columns, features, [name for name in (by, weights) if name is not None])
    needed = [rows.alias("rows")]
    fields = [
        StructField("place", LongType()),
        StructField("origin", LongType()),
        StructField("state", BinaryType()),
        StructField("error", StringType()),
        StructField("hint", StringType()),
    ]
    if weights is not None:
        needed.append(_number(df, weights).cast(DoubleType()).alias("weight"))
    if by is not None:
        kind = df.schema[by].dataType
        if isinstance(kind, (ArrayType, MapType, StructType, UserDefinedType, VariantType)):
            raise refusal(
                f"cannot group by column {by!r} of type {kind.simpleString()}", "use a column of single values"
            )
        needed.append(_column(by).alias("value"))
        fields.append(StructField("value", kind))
    schema = StructType(fields)
    absorb = Fit(n_components, options, names, by, threads)
    states = df.select(*needed).mapInArrow(absorb.partition, schema)
    for _ in range(LEVELS):
        parent = F.floor(F.col("place") / FAN_IN).alias("parent")
        keys = [parent] if by is None else [parent, F.col("value")]
        states = states.groupBy(*keys).applyInArrow(merged_rows, schema)
    found: dict[Hashable, list[State]] = {}
    for row in states.collect():
        found.setdefault(None if by is None else row["value"], []).append(State.of(row))
    wholes = {value: merged_tree(found[value]) for value in group_order(found)}
    failed = [whole for whole in wholes.values() if whole.error is not None]
    if failed:
        first = min(failed, key=lambda whole: whole.origin)
        raise refusal(str(first.error), str(first.hint))
    return {value: whole.accumulator.finish() for value, whole in wholes.items() if whole.accumulator is not None}


def _check_frame(df: Any) -> None:
    if not isinstance(df, DataFrame):
        found = f"{type(df).__module__}.{type(df).__qualname__}"
        raise refusal(
            f"invalid rows: expected a Spark data frame, found {found}",
            "for rows in memory, use EigenspaceModel.fit or IncrementalPCA",
        )


def _rows(
    df: Any, columns: Sequence[str] | None, features: str | None, used: list[str]
) -> tuple[Any, list[str] | None]:
    """Return a column of lists of numbers, and the names of the features."""
    for name in used:
        _check_column(df, name)
    if features is not None:
        if columns is not None:
            raise refusal("cannot use both `columns` and `features`", "pass one of them")
        return _lists(df, features), None
    if isinstance(columns, str):
        raise refusal(f"invalid columns={columns!r}: expected a list of names", f"pass [{columns!r}]")
    chosen = [name for name in df.columns if name not in used] if columns is None else list(columns)
    if not chosen:
        raise refusal("no columns are left to fit", "name at least one column")
    return F.array(*[_number(df, name).cast(DoubleType()) for name in chosen]), chosen


def _lists(df: Any, name: str) -> Any:
    _check_column(df, name)
    kind = df.schema[name].dataType
    if isinstance(kind, UserDefinedType) and type(kind).__name__ == "VectorUDT":
        # vector_to_array fails without a message that names the row if the vector is null.
        return F.when(_column(name).isNotNull(), vector_to_array(_column(name)))
    if not isinstance(kind, ArrayType) or not isinstance(kind.elementType, (NumericType, BooleanType)):
        words = f"column {name!r} has the type {kind.simpleString()}, expected a vector or an array of numbers"
        raise refusal(words, "for several columns of numbers, pass columns=[…]")
    exact = FloatType() if isinstance(kind.elementType, FloatType) else DoubleType()
    return _column(name).cast(ArrayType(exact))


def _number(df: Any, name: str) -> Any:
    _check_column(df, name)
    kind = df.schema[name].dataType
    if not isinstance(kind, (NumericType, BooleanType)):
        words = f"column {name!r} has the type {kind.simpleString()}, expected numbers"
        hint = "use columns=[…] for columns of numbers, or features='NAME' for one column of vectors or arrays"
        raise refusal(words, hint)
    return _column(name)


def _check_column(df: Any, name: str) -> None:
    if name not in df.columns:
        raise refusal(f"no column {name!r}", f"the columns are: {', '.join(df.columns)}")
    if df.columns.count(name) > 1:
        raise refusal(
            f"several columns have the name {name!r}", "give each column a name of its own, for example with toDF"
        )


def _column(name: str) -> Any:
    """Return the column of this name, which may contain dots."""
    return F.col("`" + name.replace("`", "``") + "`")


class _PCAParams(HasInputCol, HasOutputCol, HasWeightCol):
    """The parameters of the estimator and of its model."""

    k = Param(Params._dummy(), "k", "number of components; all if not set", TypeConverters.toInt)
    standardize = Param(
        Params._dummy(), "standardize", "whether to divide features by their deviations", TypeConverters.toBoolean
    )
    maxRank = Param(
        Params._dummy(), "maxRank", "number of directions kept for more than 1,024 features", TypeConverters.toInt
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(standardize=False)

    def setInputCol(self, value: str) -> Any:
        """Set the name of the column of vectors or arrays, and return this object."""
        return self._set(inputCol=value)

    def setOutputCol(self, value: str) -> Any:
        """Set the name of the column of scores, and return this object."""
        return self._set(outputCol=value)

    def _value(self, param: Any) -> Any:
        return self.getOrDefault(param) if self.isDefined(param) else None


class EigenspacePCA(Estimator, _PCAParams, DefaultParamsReadable, DefaultParamsWritable):
    """PCA as an estimator for the pipelines of ``pyspark.ml``.

    Scores are centered, unlike those of ``pyspark.ml.feature.PCA``.

    Parameters
    ----------
    k : int or None
        Number of components; all by default.
    inputCol : str
        Column of vectors, or of arrays of numbers.
    outputCol : str
        Name of the column of scores, which are vectors.
    weightCol : str or None
        Column of weights.
    standardize : bool
        Whether to divide each feature by its standard deviation.
    maxRank : int or None
        Number of directions to keep if there are more than 1,024 features.
    """

    def __init__(
        self,
        *,
        k: int | None = None,
        inputCol: str | None = None,
        outputCol: str | None = None,
        weightCol: str | None = None,
        standardize: bool | None = None,
        maxRank: int | None = None,
    ) -> None:
        super().__init__()
        self.setParams(
            k=k,
            inputCol=inputCol,
            outputCol=outputCol,
            weightCol=weightCol,
            standardize=standardize,
            maxRank=maxRank,
        )

    def setParams(self, **params: Any) -> EigenspacePCA:
        """Set parameters by name, and return the estimator. None leaves a parameter as it is."""
        self._set(**{name: value for name, value in params.items() if value is not None})
        return self

    def _fit(self, dataset: Any) -> EigenspacePCAModel:
        if not self.isDefined(self.inputCol):
            raise refusal("inputCol is not set", "name the column of vectors or arrays")
        model = fit(
            dataset,
            self._value(self.k),
            features=self.getInputCol(),
            weights=self._value(self.weightCol),
            standardize=self.getOrDefault(self.standardize),
            max_rank=self._value(self.maxRank),
        )
        return self._copyValues(EigenspacePCAModel(model))  # type: ignore[no-any-return]


class EigenspacePCAModel(Model, _PCAParams, MLReadable, MLWritable):
    """A fitted :class:`EigenspacePCA`. Its attribute ``model`` is the EigenspaceModel."""

    def __init__(self, model: EigenspaceModel) -> None:
        super().__init__()
        self.model = model

    def _transform(self, dataset: Any) -> Any:
        output = self.getOutputCol()
        scored = transform(self.model, dataset, features=self.getInputCol(), output=output)
        return scored.withColumn(output, array_to_vector(_column(output)))

    def write(self) -> Any:
        """Return a writer: parameters in ``metadata``, the bytes of the model file in ``data``."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader of what ``write`` writes."""
        return _ModelReader()


class _ModelWriter(MLWriter):
    def __init__(self, instance: EigenspacePCAModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession)
        schema = StructType([StructField("model", BinaryType())])
        row = self.sparkSession.createDataFrame([(self.instance.model.to_bytes(),)], schema)
        row.coalesce(1).write.parquet(f"{path}/data")


class _ModelReader(MLReader):
    def load(self, path: str) -> EigenspacePCAModel:
        name = f"{EigenspacePCAModel.__module__}.{EigenspacePCAModel.__qualname__}"
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession, name)
        row = self.sparkSession.read.parquet(f"{path}/data").first()
        instance = EigenspacePCAModel(EigenspaceModel.from_bytes(row["model"]))
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance
