"""The summary of the workloads on clusters: time, memory and accuracy of every tool.

Unlike the other workloads they have tools that did not finish, which are rows of the table too.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import store

ENGINES = {"W11": "Dask, two workers", "W12": "Spark, two executors"}
OURS = ("eigenspace.dask", "eigenspace.spark")
WORKERS = 2
HEAD = """### On clusters

`eigenspace.dask` and `eigenspace.spark` with their default settings against other libraries on the
same cluster of two worker processes with one thread each, in alternating rounds, with k = 20.

* *Speed* is the tool's time divided by ours: above 1, eigenspace is faster.
* *CPU* is the time of all processes of the cluster.
{memory}
* *Runs*: tools that take seconds run five times, slower ones less often.
* The rows of Spark are arrays; the time of MLlib, which needs vectors, includes their conversion.
* With more than 1,024 features, eigenspace drops directions by default, so its result is not exact.

"""

MEMORY = """\
* *Memory* is, for Dask, the peak of a worker process above what it held before. For Spark, it is
  that of an executor with its Python processes, and that of the driver; Java processes take memory
  before they free any, so it is an upper bound on what a tool needs."""
TOGETHER = """\
* *Memory* is, for Dask, the peak of a worker process above what it held before. For Spark, it is
  the peak of all processes of the cluster together, driver included; Java processes take memory
  before they free any, so it is an upper bound on what a tool needs."""
"""For results of W12 that do not tell workers from the driver."""


@dataclass
class Entry:
    """A tool in a case: its row of the results, or the seconds after which it was stopped."""

    case: str
    tool: str
    row: dict[str, Any] | None
    ours: dict[str, Any] | None
    """The row of eigenspace in the same case."""
    failure: dict[str, Any] | None = None

    @property
    def speed(self) -> float | None:
        """The median over the rounds of its time divided by ours."""
        if self.row is None or self.ours is None:
            return None
        pairs = zip(self.row["times"], self.ours["times"], strict=False)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def entries(results: dict[str, Any]) -> list[Entry]:
    """Return all tools of all cases, ours first in each."""
    found = []
    for name, engine in ENGINES.items():
        result = results.get(name, {})
        rows = [row for row in result.get("rows", []) if row["threads"] == WORKERS]
        failures = [each for each in result.get("failures", []) if each["threads"] == WORKERS]
        for case in dict.fromkeys(each["case"] for each in [*rows, *failures]):
            here = [row for row in rows if row["case"] == case]
            ours = next((row for row in here if row["tool"] in OURS), None)
            title = f"{engine}, {case}"
            found += [Entry(title, row["tool"], row, ours) for row in here]
            measured = {row["tool"] for row in here}
            found += [
                Entry(title, each["tool"], None, ours, each)
                for each in failures
                if each["case"] == case and each["tool"] not in measured
            ]
    return found


def conclusions(results: dict[str, Any]) -> Iterator[str]:
    """Yield what was stopped, and what is lost in memory; `comparisons.py` has times and errors."""
    peers = [entry for entry in entries(results) if entry.tool not in OURS]
    known = [entry for entry in peers if entry.speed is not None]
    if not known:
        return
    stopped = [entry for entry in peers if entry.row is None]
    for entry in stopped:
        yield f"* {entry.tool} in *{entry.case}*: {_reason(entry)}."
    for entry in known:
        mine, theirs = entry.ours.get("memory_mib"), entry.row.get("memory_mib")
        if mine is not None and theirs is not None and theirs < mine:
            yield (
                f"* {entry.tool} needs less memory in *{entry.case}*: {theirs:.0f} MiB, "
                f"eigenspace {mine:.0f} MiB."
            )


def table(results: dict[str, Any]) -> str:
    """Return all tools as Markdown, or nothing without results."""
    found = entries(results)
    if not found:
        return ""
    heads = ["cluster and rows", "tool", "runs", "time", "speed", "CPU", "memory"]
    heads += ["subspace error", "missed variance"]
    text = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    text += ["| " + " | ".join(_cells(entry)) + " |" for entry in found]
    rows = results.get("W12", {}).get("rows", [])
    memory = MEMORY if all("driver_mib" in row for row in rows) else TOGETHER
    return HEAD.format(memory=memory) + "\n".join([*text, "", *_machines(results)]) + "\n\n"


def _cells(entry: Entry) -> list[str]:
    row = entry.row
    if row is None:
        return [entry.case, entry.tool, "0", _reason(entry), *["-"] * 5]
    missed = None if row.get("captured") is None else max(1.0 - row["captured"], 0.0)
    return [
        entry.case,
        entry.tool,
        str(row["runs"]),
        seconds(row["median"]),
        "" if entry.tool in OURS else times(entry.speed) if entry.speed is not None else "-",
        seconds(row["cpu_seconds"]) if "cpu_seconds" in row else "-",
        _memory(row),
        angle(row.get("sine")),
        "-" if missed is None else "0" if missed < 1e-12 else f"{missed:.0e}",
    ]


def _memory(row: dict[str, Any]) -> str:
    if "memory_mib" not in row:
        return "-"
    driver = f", driver {row['driver_mib']:.0f} MiB" if "driver_mib" in row else ""
    return f"{row['memory_mib']:.0f} MiB{driver}"


def _reason(entry: Entry) -> str:
    limit = entry.failure["limit"]
    return f"did not finish in {limit:g} s" if limit else entry.failure["reason"]


def _machines(results: dict[str, Any]) -> Iterator[str]:
    names = {"W11": ("dask", "dask-ml"), "W12": ("pyspark",)}
    for name, packages in names.items():
        if name in results:
            at, rows = results[name]["machine"], results[name]["rows"]
            versions = ", ".join(f"{each} {at['versions'][each]}" for each in packages)
            place = f"{at['cpu']}, {at['cores']} cores, {store.origin(rows)}"
            yield f"{name}: {place}, with {versions}."


def times(ratio: float) -> str:
    """Format with two digits, because the third differs from run to run."""
    return f"{float(f'{ratio:.2g}'):g}x"


def angle(sine: float | None) -> str:
    return "-" if sine is None else f"{sine:.0e}" if sine < 0.1 else f"{sine:.2f}"


def seconds(value: float) -> str:
    return f"{float(f'{value:.2g}'):g} s"
