"""The summary of the measurements: the beginning of RESULTS.md; table and figure of README.md.

    python bench/summary.py            check that both, docs/SCALE.md and docs/GPU.md match them
    python bench/summary.py --write    write them; `cargo xtask bench` does so too

Each comparison of `targets.py` is a line, in the default mode if there is one, otherwise in the
lean mode. Ratios are medians over the rounds. Accuracy is that of the run with fewest threads.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import card
import clusters
import comparisons
import goals
import machine
import overview
import scaling
import store
import streamed
import targets
from comparisons import share as _share

BENCH = Path(__file__).resolve().parent
PAGE = BENCH / "RESULTS.md"
FIGURE = "figures/overview.svg"
BEGIN, END = "<!-- summary:begin -->\n", "<!-- summary:end -->"
HEAD = """## Summary

eigenspace with its default settings against other libraries, on the same rows in the same blocks,
in alternating rounds. In rows marked *lean*, eigenspace keeps no more directions than the other
library. Results are read once, at the end, except in rows marked "read after each update":
scikit-learn computes in every call, eigenspace only when a buffer is full or results are read.

* *Subspace error* is the sine of the largest principal angle to batch PCA of all rows. 0 means
  equal, 1 means that at least one direction is completely wrong.
* *Missed variance* is how much less variance the computed subspace captures than the best subspace
  of the same dimension, as a share of what the best one captures.
* `numpy product` is not a competitor. It is the time of one matrix product, as a reference for the
  speed of the machine.

Two threads are measured only while other programs keep at most {quiet:g} cores busy, watched for
{watched:g} seconds before; otherwise there is no result with two threads. The load average does not
decide this, because it remembers for minutes what ran before, the benchmark itself included.

The code may have changed since the commits that are named below the table. `cargo xtask freshness`
lists results that are older than the last change to the code that they measure.

"""
PROJECTIONS = """### Projecting and reconstructing

*Error* is the largest difference to the same formula in float64 with the components and the mean of
the tool, relative to the largest number.

"""
README = BENCH.parent / "README.md"
README_BEGIN, README_END = "<!-- measured:begin -->\n", "<!-- measured:end -->"
README_ROWS = [
    f"{targets.CALLS}, one row per call",
    f"{targets.CALLS}, 200 rows per call",
    "generated rows, D = 784, k = 50, 200 rows per call",
    targets.EMBEDDINGS,
    targets.BATCH,
]
"""The rows of the table in README, with the first peer of each; the largest loss follows."""
CALLS = (
    "The calls of the first two rows come after 1,000 other rows, and eigenspace already drops\n"
    "directions. The report also times calls on the 400 ORL faces, which eigenspace keeps exactly; "
    "its\nspeeds are therefore different ones."
)
LOSS = (
    "The last row is the case in which eigenspace does worst against a library that is at "
    "least\nas accurate. (Errors within a factor of 2 of each other, or both below 1e-10, count as "
    "equal.)"
)
NOTHING = "-"
RETIRED = {("W1", "add 10 to 390")}
"""Cases that S1 measures now; older results still have them."""
# Stored results keep the names that they were measured under.
RENAMED = {"eigenspace from_rows": "eigenspace EigenspaceModel.fit"}
NAMED = ("numpy", "scikit-learn", "scikit-learn-intelex", "gensim")


@dataclass
class Line:
    """A workload and a peer: speed ratios by thread count, and the accuracy of both."""

    work: str
    peer: str
    ratios: dict[int, float] = field(default_factory=dict)
    spreads: dict[int, tuple[float, float]] = field(default_factory=dict)
    """The smallest and largest ratio of a round."""
    ours: float | None = None
    theirs: float | None = None
    missed: float | None = None
    they_missed: float | None = None
    error: float | None = None
    """Of scores or reconstructed rows, instead of a subspace."""
    their_error: float | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The rows of the results that it shows, which say when they were measured."""


def read(directory: Path) -> dict[str, Any]:
    """Read all results in a directory, by workload, with today's names of what was measured."""

    def text(path: Path) -> str:
        stored = path.read_text()
        for old, new in RENAMED.items():
            stored = stored.replace(json.dumps(old), json.dumps(new))
        return stored

    paths = [*(directory / "results").glob("W*.json"), *(directory / "results").glob("S*.json")]
    paths.sort(key=lambda path: (path.stem[0] != "W", int(path.stem[1:])))
    results = {path.stem: store.stamped(json.loads(text(path))) for path in paths}
    for name, result in results.items():
        result["rows"] = [row for row in result["rows"] if (name, row["case"]) not in RETIRED]
    return results


def lines(results: dict[str, Any]) -> list[Line]:
    """Return a line for each measured pair of workload and peer, in the order of the targets."""
    chosen: dict[tuple[str, str], targets.Target] = {}
    for target in targets.TARGETS:
        key = (target.work, target.peer)
        if target.column == "ratio" and (key not in chosen or target.mode == "default"):
            chosen[key] = target
    found = [_line(work, target, results) for (work, _), target in chosen.items()]
    return [line for line in found if line.ratios]


def _line(work: str, target: targets.Target, results: dict[str, Any]) -> Line:
    line = Line(work + (", lean" if target.mode == "lean" else ""), target.peer)
    rows = results.get(target.workload, {}).get("rows", [])
    for row in rows:
        if (row["case"], row["tool"], row["mode"]) != (target.case, target.tool, target.mode):
            continue
        peer = targets.of_peer(rows, row, target)
        if peer is None:
            continue
        rounds = targets.rounds(row, peer)
        line.ratios[row["threads"]] = statistics.median(rounds)
        line.spreads[row["threads"]] = min(rounds), max(rounds)
        line.rows += [row, peer]
    if not line.rows:
        return line
    row, peer = min(
        zip(line.rows[::2], line.rows[1::2], strict=True), key=lambda pair: pair[0]["threads"]
    )
    if target.workload == comparisons.PROJECTIONS:
        # Older results have the error of the subspace, which is not what was timed.
        line.error, line.their_error = row.get("error"), peer.get("error")
    else:
        line.ours, line.missed = row.get("sine"), comparisons.missed(row)
        line.theirs, line.they_missed = peer.get("sine"), comparisons.missed(peer)
    return line


def table(results: dict[str, Any]) -> str:
    """Return the lines as Markdown, followed by the memory of a streaming fit."""
    found = lines(results)
    fits = [line for line in found if not _projects(line)]
    projections = [line for line in found if _projects(line)]
    heads = ["subspace error", "peer's subspace error", "missed variance", "peer's missed variance"]
    text = _rows(
        fits,
        heads,
        lambda line: [
            *map(_angle, (line.ours, line.theirs)),
            *map(_share, (line.missed, line.they_missed)),
        ],
    )
    text += ["", *_memory(results), *_machine(results, fits)]
    if projections:
        text += ["", PROJECTIONS.rstrip(), ""]
        text += _rows(
            projections,
            ["error", "peer's error"],
            lambda line: [_error(line.error), _error(line.their_error)],
        )
        text += ["", *_machine(results, projections)]
    return "\n".join(text) + "\n"


def _projects(line: Line) -> bool:
    return line.work.startswith(("project ", "reconstruct "))


def _rows(found: list[Line], heads: list[str], accuracy: Callable[[Line], list[str]]) -> list[str]:
    threads = sorted({number for line in found for number in line.ratios})
    names = [f"{number} thread{'s' * (number > 1)}" for number in threads]
    text = ["| " + " | ".join(["workload", "peer", *names, *heads]) + " |"]
    text.append("|---|---|" + "---:|" * (len(threads) + len(heads)))
    for line in found:
        cells = [line.work, line.peer, *(_cell(line, number) for number in threads)]
        text.append("| " + " | ".join([*cells, *accuracy(line)]) + " |")
    return text


def _times(ratio: float | None) -> str:
    """Format with two digits, because the third differs from run to run."""
    return NOTHING if ratio is None else f"{float(f'{ratio:.2g}'):g}x"


def _cell(line: Line, threads: int) -> str:
    """Format a ratio; with several threads, also the smallest and the largest of a round."""
    text = _times(line.ratios.get(threads))
    if threads == 1 or threads not in line.spreads:
        return text
    low, high = (_times(value) for value in line.spreads[threads])
    return f"{text} ({low} to {high})"


def conclusions(results: dict[str, Any], cards: list[dict[str, Any]]) -> str:
    """Return what all results say, in sentences."""
    text = ["## Conclusions\n", *comparisons.conclusions(results), *_specification(results)]
    for line in lines(results):
        known = line.work.endswith(", lean") and None not in (line.missed, line.they_missed)
        if known and line.missed > 10 * max(line.they_missed, 1e-12):
            text.append(
                f"* In *{line.work}*, eigenspace misses {_share(line.missed)} of the variance, "
                f"{line.peer} {_share(line.they_missed)}: the speed is that of a coarser result."
            )
    text += [*clusters.conclusions(results), *card.conclusions(cards)]
    return "\n".join([*text, "", ""])


def _specification(results: dict[str, Any]) -> Iterator[str]:
    """Yield a line about the comparison of the specification, which the report has too."""
    rows = results.get(targets.SPECIFICATION, {}).get("rows", [])
    rows = [row for row in rows if row["case"] == targets.TEN_FACES and row["threads"] == 1]
    ours = {row["mode"]: row for row in rows if row["tool"] == "eigenspace update"}
    peer = next((row for row in rows if row["tool"] == targets.NUMPY), None)
    if not ours or peer is None:
        yield (
            "* The comparison of the specification, ten faces added to 390, was not measured. "
            f"`cargo xtask bench -- {targets.SPECIFICATION}` measures it."
        )
        return
    names = {
        "lean": "rank 50",
        "rank 132": "rank 132",
        "default": "nothing dropped, the default",
    }
    each = [
        f"{_times(statistics.median(targets.rounds(ours[mode], peer)))} with {name}"
        for mode, name in names.items()
        if mode in ours
    ]
    yield (
        "* The comparison of the specification, ten faces added to 390 against numpy's SVD of all "
        f"400: {'; '.join(each)} ({store.origin([peer, *ours.values()])})."
    )


def readme(results: dict[str, Any]) -> str:
    """Return the section of README between its two markers."""
    every = lines(results)
    found = [next((line for line in every if line.work == work), None) for work in README_ROWS]
    loss = _loss(results)
    shown = [line for line in [*found, loss] if line is not None]
    text = [
        "| workload | peer | speed, one thread | missed variance | peer's "
        "| subspace error | peer's |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for line in shown:
        cells = [line.work, line.peer, _times(line.ratios.get(1)), _share(line.missed)]
        cells += [_share(line.they_missed), _angle(line.ours), _angle(line.theirs)]
        text.append("| " + " | ".join(cells) + " |")
    if any(line.work.startswith(targets.CALLS) for line in shown):
        text += ["", CALLS]
    if loss is not None:
        text += ["", LOSS]
    text += ["", *_machine(results, shown, (1,))]
    return README_BEGIN + "\n".join(text) + "\n" + README_END


def _loss(results: dict[str, Any]) -> Line | None:
    """Return the largest loss against a tool that is at least as accurate."""
    worst = comparisons.worst(results)
    if worst is None:
        return None
    title = results[worst.workload]["title"]
    line = Line(f"{title}, {worst.ours['case']} ({worst.workload})", worst.peer)
    line.ratios, line.rows = {1: worst.ratio}, [worst.ours, worst.theirs]
    line.ours, line.missed = worst.ours.get("sine"), comparisons.missed(worst.ours)
    line.theirs, line.they_missed = worst.theirs.get("sine"), comparisons.missed(worst.theirs)
    return line


def with_readme(text: str, results: dict[str, Any]) -> str:
    """Return the text of README with the section of these results."""
    before, found, rest = text.partition(README_BEGIN)
    _, closed, after = rest.partition(README_END)
    if not (found and closed):
        raise SystemExit(
            f"README.md does not have the markers {README_BEGIN.strip()} and {README_END}"
        )
    return before + readme(results) + after


def _angle(sine: float | None) -> str:
    return NOTHING if sine is None else f"{sine:.0e}" if sine < 0.1 else f"{sine:.1f}"


def _error(error: float | None) -> str:
    return NOTHING if error is None else f"{error:.0e}"


def _memory(results: dict[str, Any]) -> Iterator[str]:
    """Yield a line with the memory that the same fit takes in each tool."""
    target = next(target for target in targets.TARGETS if target.column == "memory_mib")
    rows = results.get(target.workload, {}).get("rows", [])
    found = [row for row in rows if row["case"] == target.case and "memory_mib" in row]
    threads = min((row["threads"] for row in found), default=0)
    found = [row for row in found if row["threads"] == threads]
    if found:
        each = [
            f"{row['tool']} {row['mode']}".strip() + f" {row['memory_mib']:.0f} MiB"
            for row in found
        ]
        yield target.work[0].upper() + target.work[1:] + ": " + ", ".join(each) + "."


def _machine(
    results: dict[str, Any], shown: list[Line], threads: tuple[int, ...] = (1, 2)
) -> Iterator[str]:
    """Yield a line with the machines, dates and versions of the lines that are shown."""
    rows = [row for line in shown for row in line.rows if row["threads"] in threads]
    if not rows:
        return
    machines = [result["machine"] for name, result in results.items() if name[0] in "WS"]
    seen = {f"{at['cpu']}, {at['cores']} cores" for at in machines}
    dates = sorted(row["measured"]["date"][:10] for row in rows)
    span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    versions = {name: at["versions"][name] for at in machines for name in at["versions"]}
    peers = ", ".join(f"{name} {number}" for name, number in versions.items() if name in NAMED)
    commits = sorted({row["measured"]["commit"] for row in rows})
    loads = sorted({row["measured"]["load_before"] for row in rows})
    at = f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}"
    load = f"load average before the runs {' to '.join(map(str, loads[:1] + loads[1:][-1:]))}"
    busy = _busy(rows)
    yield f"Measured on {'; '.join(sorted(seen))}, {span}, at {at}, {load}, with {peers}.{busy}"


def _busy(rows: list[dict[str, Any]]) -> str:
    """Say what other programs did before the runs with two threads; older results do not know."""
    rows = [row for row in rows if row["threads"] == 2]
    known = [row["measured"].get("busy_before") for row in rows]
    found = [number for number in known if number is not None]
    if not found:
        return ""
    where = "" if len(found) == len(known) else " for which this was recorded"
    return (
        f" Other programs kept at most {max(found):g} cores busy before runs with two threads"
        f"{where}."
    )


def section(results: dict[str, Any], cards: list[dict[str, Any]]) -> str:
    """Return the section of RESULTS.md between its two markers."""
    head = HEAD.format(quiet=machine.QUIET, watched=machine.WATCHED)
    parts = [conclusions(results, cards), head, table(results), "\n", clusters.table(results)]
    return BEGIN + "".join([*parts, comparisons.tables(results)]) + END


def with_section(text: str, results: dict[str, Any], cards: list[dict[str, Any]]) -> str:
    """Return the text of RESULTS.md with the section of these results."""
    before, found, rest = text.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise SystemExit(f"{PAGE.name} does not have the markers {BEGIN.strip()} and {END}")
    return before + section(results, cards) + after


def write(results: dict[str, Any], cards: list[dict[str, Any]]) -> None:
    """Write the section into RESULTS.md, the table into README.md, and the chart of all cases."""
    PAGE.write_text(with_section(PAGE.read_text(), results, cards))
    README.write_text(with_readme(README.read_text(), results))
    figure = BENCH / FIGURE
    figure.parent.mkdir(exist_ok=True)
    figure.write_text(overview.svg(lines(results)))
    scaling.PART.write()
    goals.PART.write()
    curves = streamed.read()
    if curves is not None:
        (BENCH.parent / streamed.FIGURE).write_text(streamed.svg(curves))


def faults(results: dict[str, Any], cards: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the differences between the results and the two files made from them."""
    if not results:
        yield "there are no results in bench/results: run `cargo xtask bench` and commit them"
        return
    for name, result in results.items():
        if result["quick"]:
            yield f"bench/results/{name}.json is from a quick run, whose times are meaningless"
    yield from scaling.PART.faults()
    yield from goals.PART.faults()
    if PAGE.read_text() != with_section(PAGE.read_text(), results, cards):
        yield "the summary in bench/RESULTS.md does not match bench/results"
    if README.read_text() != with_readme(README.read_text(), results):
        yield "the table in README.md does not match bench/results"
    curves, picture = streamed.read(), BENCH.parent / streamed.FIGURE
    if curves is None:
        yield "report/results/streamed.json is missing: run `python report/build.py streamed`"
    elif not picture.exists() or picture.read_text() != streamed.svg(curves):
        yield f"{streamed.FIGURE} does not match report/results/streamed.json"
    figure = BENCH / FIGURE
    if not figure.exists() or figure.read_text() != overview.svg(lines(results)):
        yield f"bench/{FIGURE} does not match bench/results"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the table and the chart")
    results, cards = read(BENCH), card.read(BENCH)
    if parser.parse_args().write and results:
        write(results, cards)
    found = list(faults(results, cards))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
