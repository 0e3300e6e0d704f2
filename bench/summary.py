"""The summary of the measurements: the beginning of RESULTS.md; table and figure of README.md.

    python bench/summary.py            check that both, docs/SCALE.md and docs/GPU.md match them
    python bench/summary.py --write    write them; `cargo xtask bench` does so too

Each workload of `targets.py` is a line, in the default mode if there is one, otherwise in the lean
mode. Ratios are medians over the rounds. Subspace errors are those of the run with most threads.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clusters
import goals
import overview
import scaling
import streamed
import targets

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
* *Missed variance* is the variance outside the computed subspace, relative to the variance that the
  best subspace of the same dimension captures.
* `numpy product` is not a competitor. It is the time of one matrix product, as a reference for the
  speed of the machine.

These results were measured before models of float32 rows were computed in float64. Fits of such
rows are slower now and have not been measured again.

"""
README = BENCH.parent / "README.md"
README_BEGIN, README_END = "<!-- measured:begin -->\n", "<!-- measured:end -->"
README_ROWS = [
    "D = 10,304, k = 50, one row per call",
    "D = 10,304, k = 50, 200 rows per call",
    "D = 784, k = 50, 200 rows per call",
    "embeddings, f32, 200,000 x 768, k = 64, from .npy",
    "batch PCA of ORL",
    "ORL, 1 row added, components read after each update",
]
"""The rows of the table in README, with the first peer of each. The last one is a loss."""
NOTHING = "-"
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


def read(directory: Path) -> dict[str, Any]:
    """Read all results in a directory, by workload, with today's names of what was measured."""

    def text(path: Path) -> str:
        stored = path.read_text()
        for old, new in RENAMED.items():
            stored = stored.replace(json.dumps(old), json.dumps(new))
        return stored

    paths = (directory / "results").glob("W*.json")
    paths = sorted(paths, key=lambda path: int(path.stem[1:]))
    return {path.stem: json.loads(text(path)) for path in paths}


def lines(results: dict[str, Any]) -> list[Line]:
    """Return a line for each measured pair of workload and peer, in the order of the targets."""
    chosen: dict[tuple[str, str], targets.Target] = {}
    for target in [*targets.TARGETS, *targets.READS]:
        if target.column == "memory_mib":
            continue
        key = (target.work.removesuffix(", sine of the largest angle to batch PCA"), target.peer)
        if key not in chosen or target.mode == "default":
            chosen[key] = target
    found = [_line(work, target, results) for (work, _), target in chosen.items()]
    return [line for line in found if line.ratios]


def _line(work: str, target: targets.Target, results: dict[str, Any]) -> Line:
    line = Line(work + (", lean" if target.mode == "lean" else ""), target.peer)
    rows = results.get(target.workload, {}).get("rows", [])
    rows = sorted((row for row in rows if row["case"] == target.case), key=lambda r: r["threads"])
    for row in rows:
        if (row["tool"], row["mode"]) == (target.tool, target.mode):
            ratio = targets.ratio(rows, row, target.peer)
            if ratio is not None:
                line.ratios[row["threads"]] = ratio
                line.spreads[row["threads"]] = _spread(rows, row, target.peer)
            line.ours, line.missed = row.get("sine"), _missed(row)
        elif row["tool"] == target.peer:
            line.theirs, line.they_missed = row.get("sine"), _missed(row)
    return line


def _spread(rows: list[dict[str, Any]], ours: dict[str, Any], peer: str) -> tuple[float, float]:
    """Return the smallest and the largest ratio of the peer's time to ours in a round."""
    theirs = next(r for r in rows if r["tool"] == peer and r["threads"] == ours["threads"])
    rounds = [b / a for a, b in zip(ours["times"], theirs["times"], strict=False)]
    return min(rounds), max(rounds)


def _missed(row: dict[str, Any]) -> float | None:
    """Return the missed variance: outside the subspace, relative to the best subspace."""
    return None if row.get("captured") is None else max(1.0 - row["captured"], 0.0)


def table(results: dict[str, Any]) -> str:
    """Return the lines as Markdown, followed by the memory of a streaming fit."""
    found = lines(results)
    threads = sorted({number for line in found for number in line.ratios})
    heads = [f"{number} thread{'s' * (number > 1)}" for number in threads]
    text = [
        "| workload | peer |"
        + "".join(f" {head} |" for head in heads)
        + " subspace error | peer's subspace error | missed variance | peer's missed variance |"
    ]
    text.append("|---|---|" + "---:|" * (len(threads) + 4))
    for line in found:
        cells = [line.work, line.peer]
        cells += [_cell(line, number) for number in threads]
        cells += [_angle(line.ours), _angle(line.theirs)]
        cells += [_share(line.missed), _share(line.they_missed)]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join([*text, "", *_memory(results), *_machine(results)]) + "\n"


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


def conclusions(results: dict[str, Any]) -> str:
    """Return what the table says, in sentences, from the ratios with one thread."""
    found = [line for line in lines(results) if 1 in line.ratios and line.peer != overview.RATE]
    if not any(line.ratios[1] >= 1 for line in found):
        return ""
    won = [line for line in found if line.ratios[1] >= 1]
    lost = sorted((line for line in found if line.ratios[1] < 1), key=lambda line: line.ratios[1])
    defaults = [line for line in won if not line.work.endswith(", lean")]
    best = max(defaults or won, key=lambda line: line.ratios[1])
    closer = [line for line in found if None not in (line.missed, line.they_missed)]
    worse = [line for line in closer if line.missed > 10 * max(line.they_missed, 1e-12)]
    text = [
        "## Conclusions\n",
        f"* With one thread, eigenspace is faster in {len(won)} of {len(found)} comparisons with "
        f"other libraries; most in *{best.work}*, {_times(best.ratios[1])} as fast as {best.peer}.",
    ]
    for line in lost:
        text.append(
            f"* {line.peer} is faster in *{line.work}*: eigenspace reaches "
            f"{_times(line.ratios[1])} of its speed."
        )
    for line in worse:
        text.append(
            f"* In *{line.work}*, eigenspace misses {_share(line.missed)} of the variance, "
            f"{line.peer} {_share(line.they_missed)}: the speed is that of a coarser result."
        )
    text += clusters.conclusions(results)
    return "\n".join([*text, "", ""])


def readme(results: dict[str, Any]) -> str:
    """Return the section of README between its two markers."""
    every = lines(results)
    text = [
        "| workload | peer | speed, one thread | missed variance | peer's "
        "| subspace error | peer's |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for work in README_ROWS:
        line = next((line for line in every if line.work == work), None)
        if line is not None:
            cells = [line.work, line.peer, _times(line.ratios.get(1)), _share(line.missed)]
            cells += [_share(line.they_missed), _angle(line.ours), _angle(line.theirs)]
            text.append("| " + " | ".join(cells) + " |")
    return README_BEGIN + "\n".join([*text, "", *_machine(results)]) + "\n" + README_END


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


def _share(missed: float | None) -> str:
    return NOTHING if missed is None else "0" if missed < 1e-12 else f"{missed:.0e}"


def _memory(results: dict[str, Any]) -> Iterator[str]:
    """Yield a line with the memory that the same fit takes in each tool."""
    target = next(target for target in targets.TARGETS if target.column == "memory_mib")
    rows = results.get(target.workload, {}).get("rows", [])
    found = [row for row in rows if row["case"] == target.case and "memory_mib" in row]
    if found:
        names = [f"{row['tool']} {row['mode']}".strip() for row in found]
        each = [
            f"{name} {row['memory_mib']:.0f} MiB" for name, row in zip(names, found, strict=True)
        ]
        yield target.work[0].upper() + target.work[1:] + ": " + ", ".join(each) + "."


def _machine(results: dict[str, Any]) -> Iterator[str]:
    """Yield a line with the machines, dates and versions of the measurements."""
    seen = {f"{at['cpu']}, {at['cores']} cores" for at in (r["machine"] for r in results.values())}
    dates = sorted(result["machine"]["date"][:10] for result in results.values())
    span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    versions = next(iter(results.values()))["machine"]["versions"]
    peers = ", ".join(f"{name} {number}" for name, number in versions.items() if name in NAMED)
    commits = sorted({result["machine"]["commit"] for result in results.values()})
    loads = [result["machine"]["load_before"] for result in results.values()]
    at = f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}"
    load = f"load average before the runs {min(loads)} to {max(loads)}"
    yield f"Measured on {'; '.join(sorted(seen))}, {span}, at {at}, {load}, with {peers}."


def section(results: dict[str, Any]) -> str:
    """Return the section of RESULTS.md between its two markers."""
    return (
        BEGIN + conclusions(results) + HEAD + table(results) + "\n" + clusters.table(results) + END
    )


def with_section(text: str, results: dict[str, Any]) -> str:
    """Return the text of RESULTS.md with the section of these results."""
    before, found, rest = text.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise SystemExit(f"{PAGE.name} does not have the markers {BEGIN.strip()} and {END}")
    return before + section(results) + after


def write(results: dict[str, Any]) -> None:
    """Write the section into RESULTS.md, and the chart that README includes."""
    PAGE.write_text(with_section(PAGE.read_text(), results))
    README.write_text(with_readme(README.read_text(), results))
    figure = BENCH / FIGURE
    figure.parent.mkdir(exist_ok=True)
    figure.write_text(overview.svg(lines(results)))
    scaling.write()
    goals.write()
    curves = streamed.read()
    if curves is not None:
        (BENCH.parent / streamed.FIGURE).write_text(streamed.svg(curves))


def faults(results: dict[str, Any]) -> Iterator[str]:
    """Yield the differences between the results and the two files made from them."""
    if not results:
        yield "there are no results in bench/results: run `cargo xtask bench` and commit them"
        return
    for name, result in results.items():
        if result["quick"]:
            yield f"bench/results/{name}.json is from a quick run, whose times are meaningless"
    yield from scaling.faults()
    yield from goals.faults()
    if PAGE.read_text() != with_section(PAGE.read_text(), results):
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
    results = read(BENCH)
    if parser.parse_args().write and results:
        write(results)
    found = list(faults(results))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
