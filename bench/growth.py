"""Fitted exponents of growth, next to the claimed ones."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import store
from w8_growth import CLAIMED

Curve = tuple[list[float], list[float]]


def curves(rows: list[dict[str, Any]], column: str) -> dict[tuple[str, ...], Curve]:
    """Return sizes and values for each (engine, axis, tool, mode).

    They are those of one thread, or of the smallest thread count that has this column.
    """
    threads = threads_of(rows, column)
    found: dict[tuple[str, ...], Curve] = {}
    for row in rows:
        if row["threads"] == threads and row.get(column):
            facts = row["facts"]
            key = (facts["engine"], facts["axis"], row["tool"], row["mode"])
            sizes, values = found.setdefault(key, ([], []))
            sizes.append(facts["size"])
            values.append(row[column])
    return found


def threads_of(rows: list[dict[str, Any]], column: str) -> int:
    """Return the smallest thread count that has this column."""
    return min((row["threads"] for row in rows if row.get(column)), default=0)


def exponent(curve: Curve) -> float:
    """Return the slope of a line fitted to the logarithms, or NaN if it cannot be fitted."""
    sizes, values = curve
    if len(set(sizes)) < 2 or min(values) <= 0:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of fitted exponents of time and memory; claims apply only to eigenspace."""
    times, memory = curves(rows, "median"), curves(rows, "memory_mib")
    origin = store.origin(row for row in rows if row["threads"] == threads_of(rows, "median"))
    yield f"\n**Exponents** (time or memory as a power of the size; {origin})\n"
    yield "| engine | doubled | tool | mode | time | claimed | memory | claimed |"
    yield "|---|---|---|---|---|---|---|---|"
    for key, curve in times.items():
        engine, axis, tool, mode = key
        claim = CLAIMED[engine, axis] if tool.startswith("eigenspace") else {}
        space = exponent(memory[key]) if key in memory else math.nan
        cells = [engine, axis, tool, mode, f"{exponent(curve):.2f}", claim.get("time", "")]
        cells += [f"{space:.2f}", claim.get("memory", "")]
        yield "| " + " | ".join(map(str, cells)) + " |"
