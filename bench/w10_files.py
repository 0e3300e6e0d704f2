"""W10: reading the same table from .npy, .csv and .parquet, without computing anything.

Every tool returns the rows as numbers in memory. eigenspace reads block by block, as
`eigenspace fit` does (`examples/read_rows.rs`, which times itself). The files are in the cache of
the system for all tools, so this measures decoding, not the disk.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import numpy as np
from measure import Case, Timed, Tool
from peers import READ_ROWS

TITLE = "reading files: 200,000 x 100 doubles (CSV: 50,000 x 100)"
LEFT_OUT = ["pandas for Parquet: it reads with pyarrow"]


def _ours(path: Path) -> Tool:
    def run(_: Any) -> Timed:
        found = subprocess.run([READ_ROWS, path], check=True, capture_output=True, text=True)
        said = json.loads(found.stdout)
        return Timed((said["rows"], said["columns"]), said["seconds"])

    return Tool("eigenspace", run, mode="default")


def _peer(name: str, read: Callable[[], Any]) -> Tool:
    return Tool(name, lambda _: read())


def _table(rows: int, quick: bool) -> np.ndarray:
    return np.random.default_rng(10).normal(size=(rows // 100 if quick else rows, 100))


def _written(rows: int, quick: bool, ending: str) -> Path:
    """Write the table with the names x0, x1, ... to a file, and return its path."""
    import pandas

    table = pandas.DataFrame(_table(rows, quick)).add_prefix("x")
    path = data.DIRECTORY / f"files-{len(table)}.{ending}"
    if not path.exists():
        data.DIRECTORY.mkdir(parents=True, exist_ok=True)
        write = table.to_csv if ending == "csv" else table.to_parquet
        write(path, index=False)
    return path


def npy(quick: bool) -> Case:
    path = data.saved("files", _table(200_000, quick))
    peer = _peer("numpy.load(mmap_mode)", lambda: np.array(np.load(path, mmap_mode="r")))
    return Case(".npy", peer.name, [_ours(path), peer], "file")


def csv(quick: bool) -> Case:
    import pandas
    import polars
    import pyarrow.csv

    path = _written(50_000, quick, "csv")
    tools = [
        _ours(path),
        _peer("pandas.read_csv", lambda: pandas.read_csv(path).to_numpy()),
        _peer("polars.read_csv", lambda: polars.read_csv(path).to_numpy()),
        _peer("pyarrow read_csv", lambda: pyarrow.csv.read_csv(path).to_pandas().to_numpy()),
    ]
    return Case(".csv", "polars.read_csv", tools, "file")


def parquet(quick: bool) -> Case:
    import polars
    from pyarrow.parquet import read_table

    path = _written(200_000, quick, "parquet")
    tools = [
        _ours(path),
        _peer("pyarrow read_table", lambda: read_table(path).to_pandas().to_numpy()),
        _peer("polars.read_parquet", lambda: polars.read_parquet(path).to_numpy()),
    ]
    return Case(".parquet", "pyarrow read_table", tools, "file")


def cases(quick: bool) -> dict[str, Callable[[], Case]]:
    return {"npy": lambda: npy(quick), "csv": lambda: csv(quick), "parquet": lambda: parquet(quick)}
