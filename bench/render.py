"""Generates the tables and plots from the raw results; no number is typed by hand."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import card
import growth
import overview
import plots
import store
import summary
import targets
from measure import LEAST

HEAD = """# Results

Written by `cargo xtask bench`; do not edit. The raw numbers are in `results/`.
"""
EXPLANATION = """
## How to read the tables

Times are the mean ± standard deviation, the median and the minimum over the runs of one unit of
work. Work that takes less than 50 ms and changes no state is timed in a loop. *Ratio* is the peer's
time divided by the tool's: the median over rounds in which both ran one after the other. Above 1,
the tool is faster than the peer. *Sine* is the sine of the largest principal angle to batch PCA in
float64. *Captured* is the variance along the computed directions, relative to the best possible.
*Error* is that of scores or reconstructed rows: the largest difference to the same formula in
float64, relative to the largest number. In older results of W7, *sine* is the subspace error of the
model that projects. *Memory* is the peak above the input. *Lean* keeps as many directions as
scikit-learn does (`max_rank = n_components`). *Default* keeps more, with a certificate. *Equal
rank* is scikit-learn with the 2 k + 32 directions to which our streams truncate by default. A line
below a table names the tools that ran in fewer than five rounds. The targets are in `TARGETS.md`.
"""


def everything(directory: Path) -> None:
    """Write RESULTS.md, TARGETS.md and the figures of a directory."""
    results = summary.read(directory)
    pages(directory, results)
    figures = directory / "figures"
    figures.mkdir(exist_ok=True)
    plots.draw(results, figures)
    (directory / summary.FIGURE).write_text(overview.svg(summary.lines(results)))


def pages(directory: Path, results: dict[str, Any]) -> None:
    """Write RESULTS.md and TARGETS.md of a directory."""
    text = [HEAD, summary.section(results, card.read(directory)), EXPLANATION, *_machine(results)]
    for name, result in results.items():
        text += [f"\n## {name}: {result['title']}\n", *_table(result["rows"])]
        if name == "W8":
            text += ["", *growth.table(result["rows"])]
        if result["left_out"]:
            text += ["\nNot measured:\n", *(f"* {reason}" for reason in result["left_out"])]
        if plots.compares(result["rows"]):
            text += [f"\n![{name}](figures/{name}.svg)"]
    for result in card.read(directory):
        text += _on_a_card(result)
    (directory / "RESULTS.md").write_text("\n".join(text) + "\n")
    (directory / "TARGETS.md").write_text("\n".join([*_targets(results)]) + "\n")


def _on_a_card(result: dict[str, Any]) -> Iterator[str]:
    """Yield the results of `gpu.py`, which ran on another machine."""
    at = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in at["versions"].items())
    yield f"\n## {result['title']}\n"
    yield f"Written by `python bench/gpu.py`: {at['date']}, commit {at['commit']}, "
    yield f"{at['card']}, driver {at['driver']}, {at['cpu']}, {at['cores']} cores, "
    yield f"{versions}, {result['seconds']} seconds in all.\n"
    yield from _table(result["rows"])
    phases = result.get("phases", [])
    if phases:
        parts = list(phases[0]["milliseconds"])
        yield "\nMilliseconds of the card per block of 1,024 rows; copies and products overlap:\n"
        yield f"| | {' | '.join(parts)} |"
        yield "|---" * (len(parts) + 1) + "|"
        for phase in phases:
            numbers = " | ".join(f"{phase['milliseconds'][part]:.1f}" for part in parts)
            yield f"| {phase['case']} | {numbers} |"
    if result["left_out"]:
        yield "\nNot measured:\n"
        yield from (f"* {reason}" for reason in result["left_out"])


def _machine(results: dict[str, Any]) -> Iterator[str]:
    """Yield machine and date of each workload, whose cases may come from different runs."""
    yield "## Machines and versions\n"
    yield "| workload | cases | date | commit | CPU, cores | load before |"
    yield "|---|---|---|---|---|---|"
    for name, result in results.items():
        machine, quick = result["machine"], ", quick run: meaningless" if result["quick"] else ""
        cpu = f"{machine['cpu']}, {machine['cores']}"
        runs: dict[tuple, set[str]] = {}
        for row in result["rows"]:
            at = row["measured"]
            commit = at["commit"] + (" with changes" if at["changed_since"] else "")
            runs.setdefault((at["date"], commit, at["load_before"]), set()).add(row["case"])
        for (date, commit, load), cases in runs.items():
            yield f"| {name}{quick} | {len(cases)} | {date} | {commit} | {cpu} | {load} |"
    versions = {}
    for result in results.values():
        versions |= result["machine"]["versions"]
        versions["Python"] = result["machine"]["python"]
        versions["rustc"] = result["machine"]["rustc"].removeprefix("rustc ")
    yield "\n" + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."


def _targets(results: dict[str, Any]) -> Iterator[str]:
    yield "# Targets\n"
    yield "Written by `cargo xtask bench`; do not edit. The measurements are those of RESULTS.md.\n"
    lines = list(targets.reached(results))
    known = [line for line in lines if line["reached"] is not None]
    number = sum(line["reached"] for line in known)
    beyond = [line for line in known if (line["ceiling"] or math.inf) < (_least(line) or 0)]
    yield f"{number} of {len(known)} measured targets are reached.\n"
    yield (
        "The *ceiling* is the ratio that we would measure if our operations ran at the speed of a "
        "product of large square matrices on this machine (W7) and nothing else took any time. The "
        f"operation counts are in `targets.py`. {len(beyond)} targets are above the ceiling and "
        "cannot be reached on this machine.\n"
    )
    yield "| workload | mode | peer | threads | target | ceiling | measured | | commit |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for line in lines:
        target, value = line["target"], line["value"]
        if target.column in ("ratio", "scaling"):
            wanted, found = _wanted(line), f"{value:.2f}x" if value is not None else "-"
            peer = target.peer if target.column == "ratio" else "one thread"
        else:
            unit = " MiB" if target.column == "memory_mib" else ""
            wanted, peer = f"≤ {target.most:.3g}{unit}", "-"
            found = f"{value:.3g}{unit}" if value is not None else "-"
        verdict = {True: "reached", False: "**not reached**", None: "not measured"}[line["reached"]]
        threads = line["threads"] or "-"
        ceiling = f"{line['ceiling']:.4g}x" if line["ceiling"] is not None else ""
        commit = line["row"]["measured"]["commit"] if line["row"] else "-"
        cells = [target.work, target.mode, peer, threads, wanted, ceiling, found, verdict, commit]
        yield "| " + " | ".join(map(str, cells)) + " |"
    missed = [line["target"].work for line in lines if line["reached"] is False]
    limits = [
        (name, text)
        for name, text in targets.LIMITS.items()
        if any(work.startswith(name) for work in missed)
    ]
    if limits:
        yield "\n## What limits the targets that are not reached\n"
        yield from (f"* *{name} …*: {text}" for name, text in limits)
    yield f"\n{targets.ELSEWHERE}"


def _least(line: dict[str, Any]) -> float | None:
    return line["target"].limit(line["threads"])


def _wanted(line: dict[str, Any]) -> str:
    """Format a lower limit; without a measurement, that of each thread count."""
    least = line["target"].least
    if line["threads"] is None and isinstance(least, tuple):
        return f"≥ {least[0]:g}x, {least[1]:g}x"
    return f"≥ {_least(line):g}x"


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    cases: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(row["case"], []).append(row)
    for case, found in cases.items():
        unit = found[0]["unit"]
        origin = store.origin(found)
        about = f"times for one {unit}; peer: {found[0]['peer']}" + f"; {origin}" * bool(origin)
        yield f"\n**{case}** ({about})\n"
        clustered = any("cpu_seconds" in row for row in found)
        projects = any("error" in row for row in found)
        heads = ["tool", "mode", "threads", "runs", "mean ± deviation", "median", "min", "ratio"]
        heads += ["error"] if projects else ["sine", "captured"]
        heads += ["memory", *["CPU"] * clustered]
        yield "| " + " | ".join(heads) + " |"
        yield "|" + "---|" * len(heads)
        for row in found:
            cells = [
                row["tool"],
                row["mode"],
                row["threads"],
                row["runs"],
                f"{seconds(row['mean'])} ± {seconds(row['deviation'])}",
                seconds(row["median"]),
                seconds(row["min"]),
                f"{row['ratio']:.3g}",
            ]
            if projects:
                cells.append(f"{row['error']:.1e}" if "error" in row else "")
            else:
                cells.append(f"{row['sine']:.1e}" if "sine" in row else "")
                captured = row.get("captured")
                cells.append(f"{captured:.6f}" if captured is not None else "")
            cells.append(f"{row['memory_mib']:.0f} MiB" if "memory_mib" in row else "")
            if clustered:
                cells.append(seconds(row["cpu_seconds"]) if "cpu_seconds" in row else "")
            yield "| " + " | ".join(map(str, cells)) + " |"
        yield from _few(found)


def _few(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line with the tools that ran in too few rounds."""
    few: dict[str, list[str]] = {}
    for row in rows:
        if row["runs"] < LEAST:
            name = f"{row['tool']} {row['mode']}".strip()
            number = f"{row['threads']} thread{'s' * (row['threads'] > 1)}"
            few.setdefault(name, []).append(f"{row['runs']} with {number}")
    if few:
        each = [f"{name} ({', '.join(numbers)})" for name, numbers in few.items()]
        yield f"\nFewer than {LEAST} rounds: {'; '.join(each)}."


def seconds(value: float) -> str:
    """Format with three digits in a suitable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"
