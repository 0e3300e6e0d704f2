"""What Spark's workers run: rows of a partition become accumulators, accumulators are merged, rows become scores.

    rows ─ absorb ─► a state for each partition ─ merge FAN_IN neighbors, level by level ─► one state

A state travels as a row of a data frame, with its place in its level of the tree. An error about the data travels
like a state: Spark would run the task again and again, although the data stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._accumulator import FAN_IN, Accumulator
from ._core import EigenspaceError, View, set_threads
from ._errors import refusal
from ._model import EigenspaceModel

COMPLETE = "fill in the value, drop the row, or pass missing='skip'"
SAME_LENGTH = "every row needs the same number of values"


@dataclass(frozen=True)
class State:
    """The accumulator of some partitions, or the error of the first one that has an error."""

    place: int
    """Position in its level of the tree: the number of the partition at the first level."""
    origin: int
    """The number of its first partition."""
    accumulator: Accumulator | None = None
    error: str | None = None
    hint: str | None = None

    def row(self) -> dict[str, Any]:
        data = None if self.accumulator is None else self.accumulator.to_bytes()
        return {"place": self.place, "origin": self.origin, "state": data, "error": self.error, "hint": self.hint}

    @classmethod
    def of(cls, row: Any) -> State:
        accumulator = None if row["state"] is None else Accumulator.from_bytes(row["state"])
        return cls(row["place"], row["origin"], accumulator, row["error"], row["hint"])


@dataclass(frozen=True)
class Fit:
    """How the workers absorb the rows of a partition."""

    n_components: int | float | None
    options: dict[str, Any]
    names: list[str] | None
    by: str | None
    threads: int | None

    def partition(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the state of a partition, or a state for each value of the column ``by``; none for no rows."""
        set_threads(self.threads)
        number = partition_number()
        reader = Reader(f"partition `{number}`", skip=self.options.get("missing") == "skip", names=self.names)
        states: dict[Any, Accumulator] = {}
        failed, kind = None, None
        for batch in batches:
            kind = None if self.by is None else batch.column("value").type
            try:
                if failed is None:  # otherwise only read on, which Spark expects
                    self._absorb(batch, states, reader, number)
            except EigenspaceError as error:
                failed = State(number, number, error=str(error), hint=error.hint)
        if failed is not None:
            yield batch_of(failed, None, kind)
            return
        for value, accumulator in states.items():
            if accumulator.count:
                yield batch_of(State(number, number, accumulator), value, kind)

    def _absorb(self, batch: pa.RecordBatch, states: dict[Any, Accumulator], reader: Reader, number: int) -> None:
        weighted = "weight" in batch.schema.names
        for value, some in self._groups(batch):
            if value not in states:
                name = str(number) if self.by is None else f"{number}, {self.by} = {value!r}"
                states[value] = Accumulator(self.n_components, partition=name, **self.options)
            accumulator = states[value]
            rows, kept = reader.rows(batch.column("rows"), some)
            weights = reader.weights(batch.column("weight"), some)[kept] if weighted else None
            if self.names is not None and accumulator.count == 0 and len(rows):
                accumulator._core.describe(self.names)
            accumulator.absorb(rows, weights)
        reader.first += batch.num_rows

    def _groups(self, batch: pa.RecordBatch) -> Iterator[tuple[Any, NDArray[np.int64]]]:
        """Yield each value with the positions of its rows. Rows without a value are left out."""
        if self.by is None:
            yield None, np.arange(batch.num_rows)
            return
        column = batch.column("value")
        valid = pc.invert(column.is_null(nan_is_null=True)).to_numpy(zero_copy_only=False)
        encoded = column.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for code, value in enumerate(encoded.dictionary.to_pylist()):
            some = np.flatnonzero(valid & (codes == code))
            if len(some):
                yield value, some


@dataclass
class Reader:
    """Arrays of the lists in a column; errors name the partition and the row in the partition."""

    where: str
    skip: bool = False
    first: int = 0
    width: int | None = None
    names: list[str] | None = None

    def rows(self, column: pa.Array, some: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return an array of these rows, and which of them it contains."""
        lists = column if len(some) == len(column) else column.take(pa.array(some))
        kept = np.arange(len(some))
        if lists.null_count:
            absent = np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))
            if not self.skip:
                raise self._refusal(some[absent[0]], "the list is null, expected a list of numbers", COMPLETE)
            kept = np.delete(kept, absent)
        if len(kept) == 0:
            return np.empty((0, self.width or 0)), kept
        lengths = lists.value_lengths().drop_null().to_numpy(zero_copy_only=False)
        if self.width is None:
            self.width = int(lengths[0])
        other = np.flatnonzero(lengths != self.width)
        if len(other):
            words = f"the list has {lengths[other[0]]} values, expected {self.width} as in the rows before it"
            raise self._refusal(some[kept[other[0]]], words, SAME_LENGTH)
        values = lists.flatten()
        if values.null_count and not self.skip:
            at = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
            words = "the value is null, expected a finite number"
            raise self._refusal(some[kept[at // self.width]], words, COMPLETE, at % self.width)
        rows = values.to_numpy(zero_copy_only=False).reshape(len(kept), self.width)
        if len(kept) == len(some):
            return rows, kept
        whole = np.full((len(some), self.width), np.nan)  # skipped later, so that rows keep their numbers
        whole[kept] = rows
        return whole, np.arange(len(some))

    def weights(self, column: pa.Array, some: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of these rows."""
        weights = column.take(pa.array(some))
        if weights.null_count:
            at = int(np.flatnonzero(weights.is_null().to_numpy(zero_copy_only=False))[0])
            hint = "fill in the weight, or drop the row"
            raise self._refusal(some[at], "the weight is null, expected a number >= 0", hint)
        return np.asarray(weights.to_numpy(zero_copy_only=False), dtype=np.float64)

    def _refusal(self, row: Any, words: str, hint: str, column: int | None = None) -> EigenspaceError:
        cell = "" if column is None else f", column {self._name(column)}"
        return refusal(f"{self.where}: row {self.first + int(row)}{cell}: {words}", hint)

    def _name(self, column: int) -> str:
        """Return how errors of the native code call a column: by its name if it has one, or by its number."""
        return str(column) if self.names is None else f"`{self.names[column]}`"


def merged_rows(table: pa.Table) -> pa.Table:
    """Merge neighbors: rows of the data frame of states whose places have the same parent."""
    rows = table.to_pylist()
    state = merged([State.of(row) for row in rows])
    row = state.row() | ({"value": rows[0]["value"]} if "value" in rows[0] else {})
    return pa.Table.from_pylist([row], schema=_in_utc(table.schema))


def _in_utc(schema: pa.Schema) -> pa.Schema:
    """Return the schema that Spark expects: it passes timestamps in the time zone of the session, and takes UTC."""
    at = schema.get_field_index("value")
    if at < 0 or not pa.types.is_timestamp(schema.field(at).type) or schema.field(at).type.tz is None:
        return schema
    return schema.set(at, pa.field("value", pa.timestamp(schema.field(at).type.unit, "UTC")))


def merged_tree(states: list[State]) -> State:
    """Merge all states, level by level."""
    while len(states) > 1:
        states = sorted(states, key=_parent)
        states = [merged(list(neighbors)) for _, neighbors in groupby(states, key=_parent)]
    return states[0]


def _parent(state: State) -> int:
    return state.place // FAN_IN


def merged(states: list[State]) -> State:
    """Merge neighbors in the order of their places, whatever the order in which they arrive."""
    states = sorted(states, key=lambda state: state.place)
    place = states[0].place // FAN_IN
    failed = [state for state in states if state.error is not None]
    if failed:
        return replace(min(failed, key=lambda state: state.origin), place=place)
    whole, *others = states
    total = whole.accumulator
    assert total is not None
    for state in others:
        assert state.accumulator is not None
        if state.accumulator.n_features != total.n_features:
            words = f"partition `{state.origin}`: the rows have {state.accumulator.n_features} values"
            expected = f"expected {total.n_features} as in partition `{whole.origin}`"
            return State(place, state.origin, error=f"{words}, {expected}", hint=SAME_LENGTH)
        total = total + state.accumulator
    return State(place, whole.origin, total)


def batch_of(state: State, value: Any, kind: Any) -> pa.RecordBatch:
    """Return a batch of one row: the state, and the value of its group if the type of the value is given."""
    fields = [
        pa.field("place", pa.int64()),
        pa.field("origin", pa.int64()),
        pa.field("state", pa.binary()),
        pa.field("error", pa.string()),
        pa.field("hint", pa.string()),
    ]
    row = state.row()
    if kind is not None:
        fields.append(pa.field("value", kind))
        row["value"] = value
    return pa.RecordBatch.from_pylist([row], schema=_in_utc(pa.schema(fields)))


def projection(model: EigenspaceModel, threads: int | None) -> Callable[[Iterator[pa.Array]], Iterator[pa.Array]]:
    """Return a function that turns lists of features into lists of scores."""

    def project(columns: Iterator[pa.Array]) -> Iterator[pa.Array]:
        set_threads(threads)
        view = View(model._core, model.metadata.standardize)
        reader = Reader(f"partition `{partition_number()}`", width=model.n_features, names=model.feature_names)
        for column in columns:
            rows, _ = reader.rows(column, np.arange(len(column)))
            try:
                scores = view.project(rows, first=reader.first) if len(rows) else np.empty((0, view.n_components))
            except EigenspaceError as error:
                raise refusal(f"{reader.where}: {error}", error.hint or COMPLETE) from None
            reader.first += len(column)
            ends = view.n_components * np.arange(len(column) + 1, dtype=np.int32)
            yield pa.ListArray.from_arrays(ends, np.asarray(scores, dtype=np.float64).ravel())

    return project


def partition_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())
