"""Fit and apply models with Dask: rows stay where they are, accumulators are sent and merged.

Each block is read and absorbed by one task, so no block is sent from one worker to another. The exception
is an array whose columns are divided: Dask first puts the parts of each row together, and sends them for
that. The accumulators are merged as a tree that depends only on the number of blocks, so the order in
which workers finish, and tasks that run again after a worker was lost, change no bit of the result.

Needs ``pip install "./crates/eigenspace-py[dask]"`` in a clone of eigenspace, or
``pip install "dask[array,dataframe,distributed]"``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ._accumulator import FAN_IN, Accumulator, check_options, group_order
from ._core import View, set_threads, threads
from ._errors import in_partition, refusal
from ._model import EigenspaceModel, model_of
from ._rows import array_of, pieces_of

try:
    from dask.delayed import Delayed, delayed
except ImportError as error:
    raise ImportError(
        'eigenspace.dask needs Dask: pip install "./crates/eigenspace-py[dask]" in a clone of eigenspace, '
        'or pip install "dask[array,dataframe,distributed]"'
    ) from error

__all__ = ["fit", "fit_by", "transform"]


def fit(
    rows: Any,
    n_components: int | float | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    weights: Any = None,
    compute: bool = True,
    **options: Any,
) -> Any:
    """Return the model of all rows of a Dask collection.

    Parameters
    ----------
    rows : dask.array.Array, dask.dataframe.DataFrame or dask.bag.Bag
        The rows. A bag holds arrays of rows. An array may be divided in any way. If its columns are
        divided, Dask sends parts of rows between workers and puts them together; to avoid that, use
        chunks such as ``(10_000, -1)``. The blocks may be sparse.
    n_components : int, float or None
        Number of components, explained variance ratio to reach, or None for all.
    columns : list or None
        The columns of a data frame to use; by default all except ``weights``.
    weights : dask.array.Array, column of a data frame, or None
        The weight of each row.
    compute : bool
        Whether to compute the model now. If False, the result is a ``dask.delayed.Delayed``.
    **options
        ``max_rank``, ``truncation``, ``standardize``, ``missing``, ``engine`` and ``weight_kind``,
        as in :class:`eigenspace.Accumulator`.

    Returns
    -------
    EigenspaceModel or Delayed

    Examples
    --------
    >>> import dask.array
    >>> import eigenspace.dask
    >>> X = dask.array.random.default_rng(0).normal(size=(100_000, 20), chunks=(10_000, 20))
    >>> eigenspace.dask.fit(X, 3).count
    100000
    """
    check_options(n_components, options)
    kind = _kind(rows, "array", "data frame", "bag")
    if kind == "array":
        _no(columns, "columns", "an array")
        states = _of_array(rows, weights, n_components, options)
    elif kind == "data frame":
        _check_name(weights, "weights")
        chosen = _columns(rows, columns, [weights] if weights is not None else [])
        states = _of_frame(rows, _absorb_frame, (chosen, weights, n_components, options))
    else:
        _no(columns, "columns", "a bag")
        _no(weights, "weights", "a bag")
        states = _of_bag(rows, n_components, options)
    model = delayed(_finished)(_tree(states, _merged))
    return model.compute() if compute else model


def fit_by(
    frame: Any,
    by: Hashable,
    n_components: int | float | None = None,
    *,
    columns: Sequence[Hashable] | None = None,
    weights: Hashable | None = None,
    compute: bool = True,
    **options: Any,
) -> Any:
    """Return one model for each value of a column, as a dictionary, without shuffling the rows.

    Each block gives an accumulator for each value that it contains. The other parameters are those
    of :func:`fit`. Rows whose value is missing are left out, as ``groupby`` does.
    """
    check_options(n_components, options)
    _kind(frame, "data frame")
    _check_name(by, "by")
    _check_name(weights, "weights")
    used = [by] if weights is None else [by, weights]
    chosen = _columns(frame, columns, used)
    states = _of_frame(frame, _absorb_groups, (by, chosen, weights, n_components, options))
    models = delayed(_finished_groups)(_tree(states, _merged_groups))
    return models.compute() if compute else models


def transform(model: EigenspaceModel, rows: Any, n_components: int | None = None) -> Any:
    """Return the scores of the rows lazily, in the same blocks as the rows.

    ``rows`` is a Dask array or data frame. Scores of a data frame are a data frame with the same
    index and the columns PC1, PC2, … If the model has feature names, columns are found by name. If
    ``model.metadata.standardize`` is true, the scores are those of the standardized rows.
    """
    model = model_of(model, "model")
    if n_components is not None:
        model = model.with_components(n_components)
    names = model.metadata.feature_names
    if _kind(rows, "array", "data frame") == "array":
        _check_dimensions(rows)
    elif names is not None:
        rows = rows[_columns(rows, names, [])]
    if rows.shape[1] != model.n_features and not np.isnan(rows.shape[1]):
        words = f"the rows have {rows.shape[1]} columns, but the model has {model.n_features} features"
        raise refusal(words, f"pass rows with exactly {model.n_features} columns, in the order used for fitting")
    return scores_by(_Reported(model), rows, model.n_components)


class _Reported:
    """A model as it is reported: standardized if its metadata says so."""

    def __init__(self, model: EigenspaceModel) -> None:
        self.model = model

    def transform(self, rows: Any) -> Any:
        view = View(self.model._core, standardize=self.model.metadata.standardize)
        parts = [view.project(part, first=start) for start, _, part in pieces_of(array_of(rows))]
        return np.vstack(parts) if parts else np.empty((0, self.model.n_components))


def scores_by(source: Any, rows: Any, k: int) -> Any:
    """Return the k scores of rows by the method ``transform`` of a model or an estimator, lazily."""
    return by_rows(source, "transform", rows, [f"PC{number}" for number in range(1, k + 1)])


def by_rows(source: Any, method: str, rows: Any, columns: Sequence[Hashable] | None = None) -> Any:
    """Return what this method of a model or an estimator computes for each row, lazily and with the blocks of the rows.

    ``columns`` has the names of the results, if there are several for each row: the columns of a data frame.
    """
    sent = delayed(source, pure=True)  # once for each worker, not with each task
    if _kind(rows, "array", "data frame") == "array":
        _check_dimensions(rows)
        whole = rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows
        if columns is None:
            return whole.map_blocks(_apply, sent, method, drop_axis=1, meta=np.empty(0))
        return whole.map_blocks(_apply, sent, method, chunks=(whole.chunks[0], (len(columns),)), meta=np.empty((0, 0)))
    import pandas as pd

    if columns is None:
        return rows.map_partitions(_apply_frame, sent, method, None, meta=pd.Series(dtype=np.float64))
    meta = pd.DataFrame(np.empty((0, len(columns))), columns=list(columns))
    return rows.map_partitions(_apply_frame, sent, method, list(columns), meta=meta)


def mean_of(numbers: Any) -> float:
    """Return the mean of the numbers of a Dask array or series that are not NaN, without collecting them."""
    import dask.array as da

    mean = numbers.mean() if hasattr(numbers, "to_dask_array") else da.nanmean(numbers)
    return float(mean.compute())


def empty_part(rows: Any) -> Any:
    """Return no rows, with the columns and types of the rows of a Dask array or data frame."""
    if _kind(rows, "array", "data frame") == "data frame":
        return rows._meta
    return np.empty((0, *rows.shape[1:]), dtype=rows.dtype)


def _kind(rows: Any, *expected: str) -> str:
    """Return which of these Dask collections the rows are: "array", "data frame" or "bag"."""
    names = {f"{cls.__module__}.{cls.__qualname__}" for cls in type(rows).__mro__}
    ends = {"array": "Array", "data frame": "DataFrame", "bag": "Bag"}
    for kind in expected:
        module = f"dask.{kind.replace('data ', 'data')}."
        if any(name.startswith(module) and name.endswith(f".{ends[kind]}") for name in names):
            return kind
    *first, last = expected
    words = f"a Dask {', '.join(first)} or {last}" if first else f"a Dask {last}"
    found = f"{type(rows).__module__}.{type(rows).__qualname__}"
    raise refusal(
        f"invalid rows: expected {words}, found {found}",
        "for rows in memory, use EigenspaceModel.fit or IncrementalPCA",
    )


def _no(value: Any, name: str, kind: str) -> None:
    if value is not None:
        hints = {"an array": "select columns with indexing", "a bag": "use an array or a data frame"}
        raise refusal(f"{name} is not available for {kind}", hints[kind])


def _check_name(name: Any, setting: str) -> None:
    """Raise an error if this is not the name of one column, for example a list of names, or values."""
    if hasattr(name, "__array__") or hasattr(name, "__dask_graph__") or isinstance(name, list):
        words = f"invalid {setting}: expected the name of a column, found {type(name).__name__}"
        raise refusal(words, "add a column to the data frame with assign, and pass its name")


def _check_dimensions(X: Any) -> None:
    if X.ndim != 2:
        raise refusal(
            f"invalid rows: expected two dimensions, found {X.ndim}", "pass an array of shape (rows, columns)"
        )


def _columns(frame: Any, columns: Sequence[Hashable] | None, used: list[Hashable]) -> list[Hashable]:
    """Return the columns to use, which exist."""
    if isinstance(columns, str):
        raise refusal(f"invalid columns={columns!r}: expected a list of names", f"pass [{columns!r}]")
    chosen = [name for name in frame.columns if name not in used] if columns is None else list(columns)
    missing = [name for name in [*chosen, *used] if name not in list(frame.columns)]
    if missing:
        raise refusal(f"no column {missing[0]!r}", f"the columns are: {', '.join(str(name) for name in frame.columns)}")
    if not chosen:
        raise refusal("no columns are left to fit", "name at least one column")
    shared = [name for name in [*chosen, *used] if list(frame.columns).count(name) > 1]
    if shared:
        raise refusal(f"several columns have the name {shared[0]!r}", "give each column a name of its own")
    return chosen


def _of_array(X: Any, weights: Any, n_components: Any, options: dict[str, Any]) -> list[Delayed]:
    import dask.array as da

    _check_dimensions(X)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    arrays = [X]
    if weights is not None:
        weights = da.asarray(weights)
        if weights.shape != X.shape[:1] and not np.isnan([*weights.shape, X.shape[0]]).any():
            words = f"invalid weights: expected shape {X.shape[:1]}, found {weights.shape}"
            raise refusal(words, "pass exactly one weight for each row")
        if weights.chunks[0] != X.chunks[0] and not np.isnan(X.chunks[0]).any():
            weights = weights.rechunk((X.chunks[0],))
        arrays.append(weights[:, None])
    states = da.map_blocks(
        _absorb_block,
        *arrays,
        n_components=n_components,
        options=options,
        dtype=object,
        chunks=((1,) * X.numblocks[0], (1,)),
        meta=np.empty((0, 0), dtype=object),
    )
    return list(states.to_delayed().ravel())


def _of_frame(frame: Any, absorb: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Delayed]:
    import pandas as pd

    states = frame.map_partitions(absorb, *arguments, meta=pd.Series(dtype=object), enforce_metadata=False)
    return list(states.to_delayed())


def _of_bag(bag: Any, n_components: Any, options: dict[str, Any]) -> list[Delayed]:
    import dask.bag as db
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    # The numbers of the partitions could be a second bag, but Dask would then keep the blocks as values of their own.
    name = f"absorb-{tokenize(bag, n_components, options)}"
    absorb = partial(_absorb_arrays, n_components=n_components, options=options)
    numbers = range(bag.npartitions)
    tasks: dict[Any, Any] = {(name, number): (partial(absorb, number), (bag.name, number)) for number in numbers}
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[bag])
    return list(db.Bag(graph, name, bag.npartitions).to_delayed())


def _tree(states: Iterable[Delayed], merge: Callable[[list[Any]], Any]) -> Delayed:
    """Merge neighbors, FAN_IN at a time, until one is left."""
    states = list(states)
    while len(states) > 1:
        states = [delayed(merge)(states[at : at + FAN_IN]) for at in range(0, len(states), FAN_IN)]
    return states[0]


def _share_cores() -> None:
    """Compute with as many threads as Dask gives this worker process, unless another number was set in it."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):  # another scheduler, or not in a task
        return
    if worker.nanny is not None and threads() == os.cpu_count() != worker.state.nthreads:
        set_threads(worker.state.nthreads)


def _absorb_block(
    rows: Any, weights: Any = None, n_components: Any = None, options: Any = None, block_id: Any = None
) -> Any:
    _share_cores()
    held = np.empty((1, 1), dtype=object)
    name = None if block_id is None else str(block_id[0])
    column = None if weights is None else np.asarray(weights).ravel()
    held[0, 0] = _absorbed(Accumulator(n_components, partition=name, **options), name, rows, column)
    return held


def _absorbed(state: Accumulator, name: str | None, rows: Any, weights: Any) -> Accumulator:
    """Absorb rows. All errors name the partition, also those about rows that are not a table of numbers."""
    with in_partition(name):
        return state.absorb(rows, weights)


def _part(part: Any, columns: list[Hashable], weights: Any, name: str | None) -> tuple[Any, Any]:
    """Return the rows and the weights of a part of a data frame, which has the columns that its schema says."""
    needed = columns if weights is None else [*columns, weights]
    missing = [column for column in needed if column not in part.columns]
    if missing:
        words = f"partition `{name}`: no column {missing[0]!r}, although the data frame has it"
        raise refusal(words, "check the function or the file that this partition comes from")
    return part[columns], None if weights is None else part[weights].to_numpy()


def _absorb_frame(
    part: Any, columns: Any, weights: Any, n_components: Any, options: Any, partition_info: Any = None
) -> Any:
    _share_cores()
    name = _name(partition_info)
    rows, column = _part(part, columns, weights, name)
    return _held(_absorbed(Accumulator(n_components, partition=name, **options), name, rows, column))


def _absorb_groups(
    part: Any, by: Any, columns: Any, weights: Any, n_components: Any, options: Any, partition_info: Any = None
) -> Any:
    _share_cores()
    name = _name(partition_info)
    states = {}
    for value, group in part.groupby(by, sort=True, observed=True):
        where = f"{by} = {value!r}" if name is None else f"{name}, {by} = {value!r}"
        rows, column = _part(group, columns, weights, where)
        states[value] = _absorbed(Accumulator(n_components, partition=where, **options), where, rows, column)
    return _held(states)


def _absorb_arrays(number: int, arrays: Iterable[Any], n_components: Any, options: Any) -> list[Any]:
    _share_cores()
    name = str(number)
    state = Accumulator(n_components, partition=name, **options)
    for rows in arrays:
        _absorbed(state, name, rows, None)
    return [state]


def _name(info: Any) -> str | None:
    return str(info["number"]) if info else None


def _held(state: Any) -> Any:
    import pandas as pd

    held = np.empty(1, dtype=object)
    held[0] = state
    return pd.Series(held)


def _state(held: Any) -> Any:
    """Return the state inside a block of states; a merged state is not inside one."""
    if isinstance(held, np.ndarray):
        return held[0, 0]
    if isinstance(held, list):
        return held[0]
    return held.iloc[0] if hasattr(held, "iloc") else held


def _merged(states: list[Any]) -> Accumulator:
    merged: Accumulator = copy(_state(states[0]))  # Dask may use the same state again
    for state in states[1:]:
        merged.merge(_state(state))
    return merged


def _merged_groups(states: list[Any]) -> dict[Hashable, Accumulator]:
    merged: dict[Hashable, Accumulator] = {}
    for groups in map(_state, states):
        for value, state in groups.items():
            merged[value] = merged[value] + state if value in merged else state
    return merged


def _finished(state: Any) -> EigenspaceModel:
    model: EigenspaceModel = _state(state).finish()
    return model


def _finished_groups(states: Any) -> dict[Hashable, EigenspaceModel]:
    groups = _state(states)
    return {value: groups[value].finish() for value in group_order(groups)}


def _apply(rows: Any, source: Any, method: str, block_id: Any = None) -> Any:
    with in_partition(None if block_id is None else str(block_id[0])):
        return np.asarray(getattr(source, method)(rows), dtype=np.float64)


def _apply_frame(
    part: Any, source: Any, method: str, columns: list[Hashable] | None, partition_info: Any = None
) -> Any:
    import pandas as pd

    with in_partition(_name(partition_info)):
        found = getattr(source, method)(part)
        if columns is None:
            return pd.Series(found, index=part.index)
        return pd.DataFrame(found, index=part.index, columns=columns)
