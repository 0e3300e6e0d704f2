"""Times, measured in interleaved rounds, and peak memory, measured in separate processes.

A round runs every tool of a case once. The order is reversed from one round to the next, so that
other load on the machine and warm caches affect all tools. The ratio to the peer is computed within
each round, and its median is reported. The first run of each tool is a warm-up and is discarded,
unless it took so long that warming up does not matter. A tool runs five to ten times, and up to 20
times in the comparison of the specification, which asks for that; only a tool that takes more than
a minute for one run, or 20 seconds on a cluster, may run less often. Each row of the results says
how many times, and RESULTS.md names the tools with fewer than five. A tool that does not finish
within the limit of its case is stopped and not run again, and the results say so. The report
measures with the same code (`interleaved`).
"""

import gc
import signal
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import Formula, Truth

RUNS = 10
"""Largest number of runs of a tool, unless its case says otherwise."""
PAUSE = 0.15
"""Seconds between runs, so that threads of other libraries stop spinning (OpenBLAS needs 0.11)."""
LONG = 10.0
"""A first run that takes longer than this many seconds counts."""
LEAST = 5
"""Fewest runs of a tool, unless one takes longer than MINUTES seconds."""
MINUTES = 60.0
SHORT = 0.05
"""Repeatable work is repeated for this many seconds, as `timeit` does, so that caches and clock
rates are those of a busy program for every tool."""


@dataclass
class Timed:
    """The result of a tool that measured its own time in another process."""

    answer: Any
    seconds: float
    memory_kib: float | None = None
    cpu_seconds: float | None = None
    """CPU time of all processes of a cluster, which other load on the machine hardly changes."""
    driver_kib: float | None = None
    """Memory of the driver of a cluster, if the other memory is that of a worker."""


def nothing() -> None:
    """Prepare nothing: the work changes no state and can be repeated."""


@dataclass
class Tool:
    """One tool in a case. `prepare` is not timed; its result is passed to `run`."""

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = nothing
    components: Callable[[Any], np.ndarray] | None = None
    mode: str = ""
    per: float = 1.0
    """Units of work in one run; times are reported per unit."""
    truth: Truth | Formula | None = None
    alone: Callable[[], Any] | None = None
    """Like `prepare`, but without a cache for the next run; used to measure memory."""
    repeats: int = 1
    """Number of runs that are timed together."""


@dataclass
class Case:
    """Tools that do the same work, and the peer that the others are compared with."""

    name: str
    peer: str
    tools: list[Tool]
    unit: str = "run"
    memory: bool = False
    seconds: float = 20.0
    """Approximate time to spend on it with one thread count."""
    runs: int = RUNS
    """Largest number of runs of a tool."""
    long: float = MINUTES
    """A tool that takes longer than this many seconds may run fewer than LEAST times."""
    limit: float | None = None
    """Seconds after which a run is stopped."""
    mapped: bool = False
    """Rows come from a memory-mapped file, whose pages do not count as memory of the tool."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Numbers for the tables and plots: sizes, operations."""


class _Limit:
    """Raises an error in the main thread after this many seconds; `None` means never."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.passed = False

    def _stop(self, *_: object) -> None:
        self.passed = True
        raise TimeoutError(f"it did not finish in {self.seconds:g} seconds")

    def __enter__(self) -> None:
        if self.seconds:
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *error: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


@dataclass
class Failure:
    """A tool that was stopped or raised an error, and how many of its runs had finished before."""

    case: str
    tool: str
    threads: int
    reason: str
    limit: float | None
    """The seconds after which it was stopped; `None` if it raised an error."""
    runs: int = 0

    def __str__(self) -> str:
        earlier = f"; {self.runs} earlier runs finished" if self.runs else ""
        return f"{self.tool}, {self.case}, {self.threads} threads: {self.reason}{earlier}"


def measured(
    case: Case, threads: int, runs: int | None = None
) -> tuple[list[dict[str, Any]], list[Failure]]:
    """Return a row of results for each tool, and what failed.

    If the peer fails, the first tool that does not takes its place.
    """
    runs = min(runs or case.runs, case.runs)
    times: dict[int, list[float]] = {}
    answers, wanted, failed = {}, {}, []
    cpu: dict[int, list[float]] = {i: [] for i in range(len(case.tools))}

    def attempt(i: int) -> tuple[float, Any] | None:
        tool, done = case.tools[i], len(times.get(i, []))
        time_limit = _Limit(case.limit)
        try:
            with time_limit:
                return _once(tool)
        except Exception as error:
            reason = f"failed with {type(error).__name__}: {str(error).split('. ')[0]}"
        # Spark hides the error of the limit in one of its own.
        limit = case.limit if time_limit.passed else None
        reason = f"it did not finish in {limit:g} seconds" if limit else reason
        failed.append(Failure(case.name, tool.name, threads, reason, limit, done))
        return None

    for i, tool in enumerate(case.tools):
        found = attempt(i)
        if found is None:
            continue
        seconds, answers[i] = found
        if tool.prepare is nothing and not isinstance(answers[i], Timed):
            tool.repeats = max(1, round(SHORT / seconds))
        share = case.seconds / len(case.tools) / max(seconds, 1e-6)
        least = 1 if seconds > case.long else min(LEAST, runs)
        wanted[i] = min(max(int(share), least), runs)
        times[i] = [seconds] if seconds > LONG else []
        if seconds > LONG:
            wanted[i] -= 1
            if isinstance(answers[i], Timed) and answers[i].cpu_seconds is not None:
                cpu[i].append(answers[i].cpu_seconds)
    for turn in range(max(wanted.values(), default=0)):
        order = [i for i in wanted if turn < wanted[i]]
        for i in order if turn % 2 else reversed(order):
            found = attempt(i)
            if found is None:
                wanted[i] = 0
                continue
            seconds, answer = found
            times[i].append(seconds)
            if isinstance(answer, Timed) and answer.cpu_seconds is not None:
                cpu[i].append(answer.cpu_seconds)
    finished = [i for i in answers if times[i]]
    if not finished:
        return [], failed
    peer = next(i for i, tool in enumerate(case.tools) if tool.name == case.peer)
    if peer not in finished:
        peer = finished[0]
    rows = []
    for i in finished:
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
            "peer": case.tools[peer].name,
            "times": [float(f"{t:.6g}") for t in each],
            "facts": case.facts,
        }
        answer = answers[i].answer if isinstance(answers[i], Timed) else answers[i]
        if tool.truth is not None and tool.components is not None:
            row |= tool.truth.score(tool.components(answer))
        if isinstance(answers[i], Timed) and answers[i].memory_kib is not None:
            row["memory_mib"] = answers[i].memory_kib / 1024
        if isinstance(answers[i], Timed) and answers[i].driver_kib is not None:
            row["driver_mib"] = answers[i].driver_kib / 1024
        if cpu[i]:
            row["cpu_seconds"] = statistics.median(cpu[i])
        rows.append(row)
    return rows, failed


def interleaved(methods: dict[str, Any], runs: int) -> dict[str, list[float]]:
    """Return the seconds of each method in each round, measured as the tools of a case are.

    A method is a function, or a pair of functions: the first prepares the argument of the second
    and is not timed. The report measures its experiments with this function.
    """
    tools = {}
    for name, method in methods.items():
        if isinstance(method, tuple):
            tools[name] = Tool(name, method[1], method[0])
        else:
            tools[name] = Tool(name, lambda _, act=method: act())
    for tool in tools.values():
        seconds, _ = _once(tool)
        if tool.prepare is nothing:
            tool.repeats = max(1, round(SHORT / max(seconds, 1e-9)))
    times: dict[str, list[float]] = {name: [] for name in tools}
    for turn in range(runs):
        for name in list(tools) if turn % 2 else reversed(list(tools)):
            times[name].append(_once(tools[name])[0])
    return times


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
    """Return the peak memory of a tool above its input in MiB, including its preparation.

    Call it in a process that has loaded the rows and done nothing else.
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
        # Reset VmHWM to the current resident size.
        Path("/proc/self/clear_refs").write_text("5")
        kept = tool.run(prepare())
        peak = _status("VmHWM")
    del kept
    return (peak - before) / 1024


def _status(field_name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field_name + ":"):
            return int(line.split()[1])
    raise RuntimeError(f"cannot read {field_name} from /proc/self/status")


class _Watch:
    """Samples the anonymous memory of the process every two milliseconds."""

    def __enter__(self) -> "_Watch":
        self.peak, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._over.wait(0.002):
            self.peak = max(self.peak, _status("RssAnon"))

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.peak = max(self.peak, _status("RssAnon"))
