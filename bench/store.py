"""The file of results of a workload, in which cases can be measured one at a time."""

import json
from pathlib import Path
from typing import Any


def store(path: Path, result: dict[str, Any], cases: list[str] | None) -> dict[str, Any]:
    """Write the results of these cases, or of all, and return all that are stored."""
    if cases and path.exists():
        result = joined(json.loads(path.read_text()), result, cases)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A run that is ended now must not leave half a file.
    part = path.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    part.rename(path)
    return result


def joined(before: dict[str, Any], result: dict[str, Any], cases: list[str]) -> dict[str, Any]:
    """Return the results of these cases with those that were measured before, in their order."""
    numbers = {row["threads"] for row in [*result["rows"], *result.get("failures", [])]}

    def is_kept(entry: dict[str, Any]) -> bool:
        return entry.get("key", entry["case"]) not in cases or entry["threads"] not in numbers

    rows = [*filter(is_kept, before["rows"]), *result["rows"]]
    order = list(dict.fromkeys(row["key"] for row in [*before["rows"], *result["rows"]]))
    rows.sort(key=lambda row: order.index(row["key"]))
    about = [line for line in before["left_out"] if not any(f", {case}" in line for case in cases)]
    failures = [*filter(is_kept, before.get("failures", [])), *result.get("failures", [])]
    return result | {
        "rows": rows,
        "left_out": sorted({*about, *result["left_out"]}),
        "failures": failures,
        "seconds": round(before["seconds"] + result["seconds"], 1),
    }
