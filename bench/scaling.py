"""How a fit scales with the number of workers: measured times of its parts, and a formula.

    python bench/scaling.py            check that docs/SCALE.md shows the stored measurements
    python bench/scaling.py --write    write its tables again from them
    cargo xtask bench -- scaling       measure, and write

With w workers and c blocks for each of them there are N = c w blocks. A task merges f = 8 states,
so level l of the tree has N_l = ⌈N_{l-1} / f⌉ tasks. With one level after the other,

    T(w) = c t + Σ_l ⌈N_l / w⌉ (f_l - 1) (m + x) + z + (N + Σ_l N_l) o,    f_l = min(f, N_{l-1})

and level l receives (N_{l-1} - N_l) b bytes. In SQL, one task merges all states of a group: f = N.

| symbol | in the code | |
|---|---|---|
| t | `absorb`   | time to read and absorb a block |
| m | `merge`    | time to merge two states |
| x | `transfer` | time to move a state between workers: s + b / v |
| s | `convert`  | time to turn a state into bytes and back |
| b | `bytes`    | bytes of a state |
| v | NETWORK    | bytes per second between two workers |
| z | `finish`   | time to compute the model of a state and to move it |
| o | `overhead` | time of the scheduler for one task |

The formula is compared with fits on clusters of one and two worker processes on the machine that
measured its parts. There, x is measured too, and a block takes longer if both cores are busy, so t
is measured on each cluster. The tables for more workers use t of two workers, and a network.
"""

import json
import math
import pickle
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated import Generated

BENCH = Path(__file__).resolve().parent
STORED = BENCH / "scaling.json"
PAGE = BENCH.parent / "docs" / "SCALE.md"
BEGIN, END = "<!-- scaling:begin -->\n", "<!-- scaling:end -->"
FAN_IN = 8
K = 20
NETWORK = 1.25e9
"""10 Gbit/s."""
SIZES = {784: (200_000, 10_000, 5), 100_000: (8192, 512, 3)}
"""Number of rows, of rows in a block, and of rounds, for each number of features.

More than FAN_IN blocks, so that the tree of merges has two levels.
"""
WORKERS = (10, 100, 1000)
LAYOUTS = {
    784: ((10_000, 1), (100_000, 1), (1_000_000, 1), (1_000_000, 10), (1_000_000, 100)),
    100_000: ((512, 1), (5120, 1), (5120, 10), (51_200, 10), (51_200, 100)),
}
"""Rows and blocks of each worker in the table of expected times."""


def levels(blocks: int, fan_in: int = FAN_IN) -> list[tuple[int, int]]:
    """Return the numbers of states and of tasks of each level of the tree."""
    found = []
    while blocks > 1:
        found.append((blocks, math.ceil(blocks / fan_in)))
        blocks = found[-1][1]
    return found


def predicted(
    part: dict[str, float], workers: int, blocks: int, transfer: float, fan_in: int = FAN_IN
) -> float:
    """Return T(w) in seconds for this number of blocks in all."""
    tree = levels(blocks, fan_in)
    turns = [math.ceil(tasks / workers) * (min(fan_in, states) - 1) for states, tasks in tree]
    absorbing = math.ceil(blocks / workers) * part["absorb"]
    scheduling = (blocks + sum(tasks for _, tasks in tree)) * part["overhead"]
    return absorbing + sum(turns) * (part["merge"] + transfer) + part["finish"] + scheduling


def measure() -> None:
    """Measure the parts and the fits, and store them."""
    import machine

    stored = {"machine": machine.described(), "sizes": {}}
    for features, size in SIZES.items():
        stored["sizes"][str(features)] = _measured(features, *size)
        STORED.write_text(json.dumps(stored, indent=1) + "\n")


def _measured(features: int, rows: int, block: int, rounds: int) -> dict[str, Any]:
    import data
    import eigenspace.dask
    import w11_dask
    from dask.distributed import Client, LocalCluster

    path = data.factors(rows, features)
    starts = range(0, rows, block)
    lazy = w11_dask._lazy(path, block)
    clients = {}
    for workers in (1, 2):
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        clients[workers] = Client(cluster, set_as_default=False)
    found: dict[str, Any] = {"rows": rows, "block": block, "blocks": len(starts)}
    found |= {"rounds": rounds, "clusters": {}}
    fits: dict[int, list[float]] = {1: [], 2: []}
    parts: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    for turn in range(rounds + 1):
        for workers, client in clients.items():
            start = time.perf_counter()
            model = client.compute(eigenspace.dask.fit(lazy, K, compute=False)).result()
            seconds = time.perf_counter() - start
            assert model.count == rows
            part = {"absorb": _absorbing(client, path, starts[: 4 * workers], block)}
            part["overhead"] = _overhead(client)
            if workers == 2:
                part["transfer"] = _transfer(client, path, block) - part["overhead"]
            else:
                part |= client.submit(_state_parts, path, block, turn, pure=False).result()
            # The first round starts threads and reads the file.
            if turn > 0:
                fits[workers].append(seconds)
                parts[workers].append(part)
    for workers, client in clients.items():
        names = parts[workers][0]
        medians = {name: statistics.median(part[name] for part in parts[workers]) for name in names}
        found["clusters"][str(workers)] = {"fit": fits[workers], "parts": medians}
        client.cluster.close()
        client.close()
    return found


def _absorbing(client: Any, path: Path, starts: Any, block: int) -> float:
    """Return the median time of a block while all workers are busy."""
    tasks = [client.submit(_absorb, path, start, block, pure=False) for start in starts]
    return statistics.median(client.gather(tasks))


def _absorb(path: Path, start: int, block: int) -> float:
    before = time.perf_counter()
    _state(path, start, block)
    return time.perf_counter() - before


def _state(path: Path, start: int, block: int) -> Any:
    import eigenspace
    import numpy as np

    eigenspace.set_threads(1)
    rows = np.array(np.load(path, mmap_mode="r")[start : start + block])
    return eigenspace.Accumulator(K).absorb(rows)


def _state_parts(path: Path, block: int, turn: int) -> dict[str, float]:
    """Measure what happens to states, in one worker."""
    states = [_state(path, at * block, block) for at in (turn % 2, 2)]
    start = time.perf_counter()
    written = pickle.dumps(states[1], protocol=5)
    other = pickle.loads(written)
    converted = time.perf_counter()
    states[0].merge(other)
    merged = time.perf_counter()
    pickle.loads(pickle.dumps(states[0].finish(), protocol=5))
    finished = time.perf_counter()
    return {
        "bytes": len(written),
        "convert": converted - start,
        "merge": merged - converted,
        "finish": finished - merged,
    }


def _overhead(client: Any) -> float:
    """Return the time per task of many tasks that do nothing."""
    number = 500
    start = time.perf_counter()
    client.gather(client.map(int, range(number), pure=False))
    return (time.perf_counter() - start) / number


def _transfer(client: Any, path: Path, block: int) -> float:
    """Return the time of a task that uses a state of the other worker."""
    one, two = client.scheduler_info()["workers"]
    state = client.submit(_state, path, 0, block, workers=[one], pure=False)
    # The state is there, and the other worker has loaded the package.
    client.submit(_absorb, path, 0, block, workers=[two], pure=False).result()
    client.submit(type, state, workers=[one], pure=False).result()
    start = time.perf_counter()
    client.submit(type, state, workers=[two], pure=False).result()
    return time.perf_counter() - start


def section(stored: dict[str, Any]) -> str:
    """Return the tables between the two markers."""
    at, dask = stored["machine"], stored["machine"]["versions"]["dask"]
    place = f"{at['cpu']}, {at['cores']} cores, {at['date'][:10]}"
    rounds = " and ".join(str(size["rounds"]) for size in stored["sizes"].values())
    text = [
        BEGIN.rstrip(),
        "<!-- Written by `python bench/scaling.py --write`; do not edit. -->",
        "",
        f"Measured on {place}: worker processes with one thread each, Dask {dask}, k = {K}, "
        f"medians of {rounds} rounds.",
        "",
        *_parts(stored),
        "",
        "The formula against whole fits on this machine, with one and two workers:",
        "",
        *_check(stored),
        "",
        f"What the formula gives for clusters with a network of {8e-9 * NETWORK:g} Gbit/s. "
        "*Efficiency* is the time of absorbing divided by the whole time.",
        "",
        *_expected(stored),
        "",
        "The same for SQL, where one task merges all states of a group (f = N), with a single",
        "group, and with one partition for each worker. It uses the times of the parts above; no",
        "Ballista cluster was measured.",
        "",
        *_one_task(stored),
        "",
        "What travels, level by level, with one block for each worker. A task receives all its",
        "states except the one that it already has:",
        "",
        "```text",
        "bytes of level l = (N_(l−1) − N_l) b",  # noqa: RUF001
        "time of level l  = ⌈N_l / w⌉ (f_l − 1) (m + s + b / v)",  # noqa: RUF001
        "```",
        "",
        *_levels(stored),
        END,
    ]
    return "\n".join(text)


def _table(heads: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---:|" * len(heads)
    yield from ("| " + " | ".join(row) + " |" for row in rows)


def _part(size: dict[str, Any], workers: int) -> dict[str, float]:
    """Return the parts as one cluster measured them, the others as the other one did."""
    both = [size["clusters"][name]["parts"] for name in ("1", "2")]
    return both[2 - workers] | both[workers - 1]


def _parts(stored: dict[str, Any]) -> Iterator[str]:
    heads = ["features", "rows in a block", "absorb a block", "bytes of a state"]
    heads += ["to bytes and back", "merge two", "finish", "scheduler, per task"]
    rows = []
    for features, size in stored["sizes"].items():
        part = _part(size, 2)
        times = [part[name] for name in ("convert", "merge", "finish", "overhead")]
        cells = [f"{int(features):,}", f"{size['block']:,}", _seconds(part["absorb"])]
        rows.append([*cells, _bytes(part["bytes"]), *map(_seconds, times)])
    return _table(heads, rows)


def _check(stored: dict[str, Any]) -> Iterator[str]:
    heads = ["features", "rows", "blocks", "workers", "measured", "formula", "formula / measured"]
    rows = []
    for features, size in stored["sizes"].items():
        for workers in (1, 2):
            part = _part(size, workers)
            # One worker moves nothing.
            transfer = part["transfer"] if workers > 1 else 0.0
            formula = predicted(part, workers, size["blocks"], transfer)
            fit = statistics.median(size["clusters"][str(workers)]["fit"])
            cells = [f"{int(features):,}", f"{size['rows']:,}", str(size["blocks"]), str(workers)]
            rows.append([*cells, _seconds(fit), _seconds(formula), f"{formula / fit:.2f}"])
    return _table(heads, rows)


def _expected(stored: dict[str, Any]) -> Iterator[str]:
    heads = ["features", "rows per worker", "blocks per worker"]
    heads += [f"{workers:,} workers" for workers in WORKERS]
    rows = []
    for features, size in stored["sizes"].items():
        for per_worker, blocks in LAYOUTS[int(features)]:
            cells = [f"{int(features):,}", f"{per_worker:,}", str(blocks)]
            rows.append([*cells, *_on_clusters(size, per_worker, blocks)])
    return _table(heads, rows)


def _one_task(stored: dict[str, Any]) -> Iterator[str]:
    heads = ["features", "rows per worker", *(f"{workers:,} workers" for workers in WORKERS)]
    rows = []
    for features, size in stored["sizes"].items():
        for per_worker, blocks in LAYOUTS[int(features)]:
            if blocks == 1:
                cells = [f"{int(features):,}", f"{per_worker:,}"]
                rows.append([*cells, *_on_clusters(size, per_worker, 1, one_task=True)])
    return _table(heads, rows)


def _on_clusters(
    size: dict[str, Any], per_worker: int, blocks: int, *, one_task: bool = False
) -> Iterator[str]:
    """Yield time and efficiency for each number of workers with this many rows and blocks each."""
    measured = _part(size, 2)
    transfer = measured["convert"] + measured["bytes"] / NETWORK
    # Absorbing takes as long for every row.
    share = per_worker / blocks / size["block"]
    part = measured | {"absorb": share * measured["absorb"]}
    for workers in WORKERS:
        number = blocks * workers
        seconds = predicted(part, workers, number, transfer, number if one_task else FAN_IN)
        efficiency = 100 * blocks * part["absorb"] / seconds
        yield f"{_seconds(seconds)}, {efficiency:.{0 if efficiency >= 1 else 1}f} %"


def _levels(stored: dict[str, Any]) -> Iterator[str]:
    heads = ["features", "workers", "level", "tasks", "states received", "bytes in all"]
    heads += ["time of the level"]
    rows = []
    for features, size in stored["sizes"].items():
        part = _part(size, 2)
        each = part["merge"] + part["convert"] + part["bytes"] / NETWORK
        for workers in WORKERS:
            for level, (states, tasks) in enumerate(levels(workers), 1):
                received = states - tasks
                cells = [f"{int(features):,}", f"{workers:,}", str(level), f"{tasks:,}"]
                seconds = math.ceil(tasks / workers) * (min(FAN_IN, states) - 1) * each
                cells += [f"{received:,}", _bytes(received * part["bytes"]), _seconds(seconds)]
                rows.append(cells)
    return _table(heads, rows)


def _seconds(value: float) -> str:
    """Format with two digits: the third differs from run to run."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{float(f'{value / 1e-6:.2g}'):g} µs"


def _bytes(value: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if value >= size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{float(f'{value / 1e3:.2g}'):g} kB"


def _stored_section() -> str:
    # Without measurements there are no tables.
    return section(json.loads(STORED.read_text())) if STORED.exists() else BEGIN + END


PART = Generated(
    PAGE, BEGIN, END, _stored_section, "the tables of docs/SCALE.md do not match bench/scaling.json"
)


if __name__ == "__main__":
    PART.main(__doc__)
