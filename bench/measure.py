"""Times, in interleaved rounds, and peak memory, in a process of its own.

A round runs every tool of a case once, in an order that is turned round from one to the next, so
that a noisy neighbor and a warm cache hit all of them. The ratio to the peer is taken within each
round; its median is what is reported. The first run of each tool is thrown away, unless it took so
long that nothing of it can be warming up. A tool runs up to 20 times, fewer where that would take
too long; each row says how many.
"""

import gc
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import Truth

RUNS = 20
PAUSE = 0.15
"""Seconds between runs, in which threads of other libraries stop spinning: OpenBLAS' need 0.11."""
LONG = 10.0
"""Seconds from which a first run counts."""
SHORT = 0.05
"""Seconds for which work that can be repeated is repeated, as `timeit` does: caches and clocks are
those of a program that is at work, for every tool."""


@dataclass
class Timed:
    """The answer of a tool that took its own time, in another process."""

    answer: Any
    seconds: float
    memory_kib: float | None = None


def nothing() -> None:
    """For work that changes nothing, and can be repeated."""


@dataclass
class Tool:
    """One competitor in a case. `prepare` is not timed; `run` gets what it made."""

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = nothing
    components: Callable[[Any], np.ndarray] | None = None
    mode: str = ""
    per: float = 1.0
    """Units in one run: times are reported for one unit."""
    truth: Truth | None = None
    alone: Callable[[], Any] | None = None
    """As `prepare`, but with nothing kept for the next run: for the memory of a single one."""
    repeats: int = 1
    """Runs that are timed together."""


@dataclass
class Case:
    """Tools that do the same work, and the one the others are compared with."""

    name: str
    peer: str
    tools: list[Tool]
    unit: str = "run"
    memory: bool = False
    seconds: float = 20.0
    """Time to spend on it with one thread count, roughly."""
    mapped: bool = False
    """Rows come from a mapped file, whose pages are not memory of the tool."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Numbers the rendering needs: sizes, operations."""


def measured(case: Case, threads: int, runs: int = RUNS) -> tuple[list[dict[str, Any]], list[str]]:
    """A row of results for each tool, and what failed."""
    times: dict[int, list[float]] = {}
    answers, wanted, failed = {}, {}, []
    for i, tool in enumerate(case.tools):
        try:
            seconds, answers[i] = _once(tool)
        except Exception as error:
            failed.append(f"{tool.name}, {case.name}: failed with {type(error).__name__}: {error}")
            continue
        if tool.prepare is nothing and not isinstance(answers[i], Timed):
            tool.repeats = max(1, round(SHORT / seconds))
        share = case.seconds / len(case.tools) / max(seconds, 1e-6)
        least = 1 if seconds > LONG else 3
        wanted[i] = min(max(int(share), least), runs)
        times[i] = [seconds] if seconds > LONG else []
        if seconds > LONG:
            wanted[i] -= 1
    peer = next(i for i, tool in enumerate(case.tools) if tool.name == case.peer)
    if peer not in answers:
        return [], [*failed, f"{case.name}: nothing to compare with"]
    for turn in range(max(wanted.values())):
        order = [i for i in wanted if turn < wanted[i]]
        for i in order if turn % 2 else reversed(order):
            times[i].append(_once(case.tools[i])[0])
    rows = []
    for i in answers:
        tool = case.tools[i]
        each = [t / tool.per for t in times[i]]
        base = [t / case.tools[peer].per for t in times[peer]]
        row = {
            "case": case.name,
            "place": i,
            "tool": tool.name,
            "mode": tool.mode,
            "threads": threads,
            "unit": case.unit,
            "runs": len(each),
            "mean": statistics.fmean(each),
            "deviation": statistics.stdev(each) if len(each) > 1 else 0.0,
            "median": statistics.median(each),
            "min": min(each),
            "ratio": statistics.median(b / t for b, t in zip(base, each, strict=False)),
            "peer": case.peer,
            "times": [float(f"{t:.6g}") for t in each],
            "facts": case.facts,
        }
        answer = answers[i].answer if isinstance(answers[i], Timed) else answers[i]
        if tool.truth is not None and tool.components is not None:
            row |= tool.truth.score(tool.components(answer))
        if isinstance(answers[i], Timed) and answers[i].memory_kib is not None:
            row["memory_mib"] = answers[i].memory_kib / 1024
        rows.append(row)
    return rows, failed


def _once(tool: Tool) -> tuple[float, Any]:
    state = tool.prepare()
    gc.collect()
    time.sleep(PAUSE)
    start = time.perf_counter()
    for _ in range(tool.repeats):
        answer = tool.run(state)
    seconds = (time.perf_counter() - start) / tool.repeats
    return (answer.seconds if isinstance(answer, Timed) else seconds), answer


def peak_memory(case: Case, tool: Tool) -> float:
    """MiB that a tool takes above its input, everything it prepares included.

    To be called in a process that has loaded the rows and done nothing else.
    """
    gc.collect()
    watched = "RssAnon" if case.mapped else "VmRSS"
    before = _status(watched)
    prepare = tool.alone or tool.prepare
    if case.mapped:
        with _Watch() as watch:
            kept = tool.run(prepare())
        peak = watch.peak
    else:
        # Sets VmHWM back to what is resident now.
        Path("/proc/self/clear_refs").write_text("5")
        kept = tool.run(prepare())
        peak = _status("VmHWM")
    del kept
    return (peak - before) / 1024


def _status(field_name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field_name + ":"):
            return int(line.split()[1])
    raise RuntimeError(f"the system does not tell {field_name}")


class _Watch:
    """Looks at the memory that is not of a file, every two milliseconds."""

    def __enter__(self) -> "_Watch":
        self.peak, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.002):
            self.peak = max(self.peak, _status("RssAnon"))

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.peak = max(self.peak, _status("RssAnon"))
