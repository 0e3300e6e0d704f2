"""The file of results of a workload, whose cases and thread counts can be measured separately.

Every row says when and at which commit it was measured. A case that is measured again replaces its
rows. Its rows of other thread counts stay only if the code that they measured has not changed
since, so that all rows of a case measure the same code.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import freshness

MEASURED = ("date", "commit", "changed_since", "load_before", "busy_before")
"""What a row says about its measurement.

`busy_before` is how many cores other programs kept busy before the run of this workload with two
threads. Older results, and workloads that were run with one thread only, lack it.
"""


def store(path: Path, result: dict[str, Any], cases: list[str] | None) -> dict[str, Any]:
    """Write the results of these cases, or of all, and return all that are stored."""
    for entry in [*result["rows"], *result["failures"]]:
        entry["measured"] = stamp(result)
    if path.exists():
        # Quick runs are in another directory, but measure the same code.
        code = freshness.measured_code(Path("bench/results") / path.name)
        result = joined(json.loads(path.read_text()), result, cases, code)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A run that is ended now must not leave half a file.
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    part.rename(path)
    return result


def stamp(result: dict[str, Any]) -> dict[str, Any]:
    """Return when and at which commit the last run of a workload was measured."""
    return {key: result["machine"][key] for key in MEASURED if key in result["machine"]}


def stamped(result: dict[str, Any]) -> dict[str, Any]:
    """Return the results with a stamp in every row; older files have one for all rows."""
    for entry in [*result["rows"], *result.get("failures", [])]:
        entry.setdefault("measured", stamp(result))
    return result


def joined(
    before: dict[str, Any], result: dict[str, Any], cases: list[str] | None, code: list[str]
) -> dict[str, Any]:
    """Return the results of these cases, or of all, with those of before that still hold."""
    before = stamped(before)
    numbers = {row["threads"] for row in [*result["rows"], *result["failures"]]}
    same: dict[str, bool] = {}

    def is_same(then: dict[str, Any]) -> bool:
        if then["changed_since"] or result["machine"]["changed_since"]:
            return False  # nobody knows what was measured
        commit = then["commit"]
        if commit not in same:
            same[commit] = freshness.is_same_code(commit, result["machine"]["commit"], code)
        return same[commit]

    def is_kept(entry: dict[str, Any]) -> bool:
        if cases is not None and entry.get("key", entry["case"]) not in cases:
            return True
        return entry["threads"] not in numbers and is_same(entry["measured"])

    rows = [*filter(is_kept, before["rows"]), *result["rows"]]
    first, second = (before, result) if cases else (result, before)
    order = list(dict.fromkeys(row["key"] for row in [*first["rows"], *second["rows"]]))
    rows.sort(key=lambda row: (order.index(row["key"]), row["threads"]))
    kept = [*filter(is_kept, before.get("failures", []))]
    about = _left_out(before, result, cases, numbers, kept)
    return result | {
        "rows": rows,
        "left_out": sorted({*about, *result["left_out"]}),
        "failures": [*kept, *result["failures"]],
        "seconds": round(result["seconds"] + (before["seconds"] if cases else 0.0), 1),
    }


def _left_out(
    before: dict[str, Any],
    result: dict[str, Any],
    cases: list[str] | None,
    numbers: set[int],
    kept: list[dict[str, Any]],
) -> list[str]:
    """Return the lines about what was not measured before that are still true."""
    again = [*(cases or []), *(row["case"] for row in [*result["rows"], *result["failures"]])]
    refused = tuple(f"{number} threads:" for number in numbers)

    def is_true(line: str) -> bool:
        if any(each["tool"] in line and f", {each['case']}" in line for each in kept):
            return True
        if cases is None or line.startswith(refused):
            return False
        return not any(f", {case}" in line for case in again)

    return [line for line in before["left_out"] if is_true(line)]


def origin(rows: Iterable[dict[str, Any]]) -> str:
    """Return commit and date of these rows, by thread count if they differ."""
    found: dict[str, set[int]] = {}
    for row in rows:
        if "measured" in row:
            found.setdefault(_when(row["measured"]), set()).add(row["threads"])
    if len({frozenset(each) for each in found.values()}) < 2:
        return "; ".join(found)
    return "; ".join(f"{_threads(each)}: {when}" for when, each in found.items())


def _when(at: dict[str, Any]) -> str:
    changes = " with changes" if at["changed_since"] else ""
    return f"commit {at['commit']}{changes}, {at['date'][:10]}"


def _threads(numbers: set[int]) -> str:
    text = " and ".join(map(str, sorted(numbers)))
    return f"{text} thread{'s' * (numbers != {1})}"
