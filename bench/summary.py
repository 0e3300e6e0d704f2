"""The summary of the measurements: the first table of RESULTS.md and the chart in README.md.

    python bench/summary.py            check that both match the raw results
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

import overview
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

    paths = sorted((directory / "results").glob("W*.json"))
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
            line.ours, line.missed = row.get("sine"), _missed(row)
        elif row["tool"] == target.peer:
            line.theirs, line.they_missed = row.get("sine"), _missed(row)
    return line


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
        cells += [_times(line.ratios.get(number)) for number in threads]
        cells += [_angle(line.ours), _angle(line.theirs)]
        cells += [_share(line.missed), _share(line.they_missed)]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join([*text, "", *_memory(results), *_machine(results)]) + "\n"


def _times(ratio: float | None) -> str:
    """Format with two digits, because the third differs from run to run."""
    return NOTHING if ratio is None else f"{float(f'{ratio:.2g}'):g}x"


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
    yield f"Measured on {'; '.join(sorted(seen))}, {span}, with {peers}."


def section(results: dict[str, Any]) -> str:
    """Return the section of RESULTS.md between its two markers."""
    return BEGIN + HEAD + table(results) + END


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
    figure = BENCH / FIGURE
    figure.parent.mkdir(exist_ok=True)
    figure.write_text(overview.svg(lines(results)))


def faults(results: dict[str, Any]) -> Iterator[str]:
    """Yield the differences between the results and the two files made from them."""
    if not results:
        yield "there are no results in bench/results: run `cargo xtask bench` and commit them"
        return
    for name, result in results.items():
        if result["quick"]:
            yield f"bench/results/{name}.json is from a quick run, whose times are meaningless"
    if PAGE.read_text() != with_section(PAGE.read_text(), results):
        yield "the summary in bench/RESULTS.md does not match bench/results"
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
