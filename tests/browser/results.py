"""Measurements: printed when they are taken, kept if a later one fails, and written as a table."""

import json
import math
from pathlib import Path

DIGITS = {"rows": 0, "crates": 0, "ms": 1, "MB": 1, "MiB": 1, "KB": 1}


class Results:
    def __init__(self, kept: Path):
        self.lines, self.kept = [], kept

    def add(self, what: str, value: float, unit: str, budget: float | None = None) -> None:
        self.keep({"what": what, "measured": float(value), "unit": unit, "budget": budget})

    def failed(self, what: str, error: Exception) -> None:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        self.keep({"what": what, "failed": reason})

    def keep(self, line: dict) -> None:
        self.lines.append(line)
        print(" · ".join(cell for cell in cells(line) if cell), flush=True)
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.kept.write_text(json.dumps(self.lines, indent=1) + "\n")

    @property
    def complete(self) -> bool:
        return not any("failed" in line for line in self.lines)

    def table(self) -> str:
        rows = ["| what | measured | budget | |", "|---|---:|---:|---|"]
        return "\n".join(rows + [f"| {' | '.join(cells(line))} |" for line in self.lines])


def cells(line: dict) -> list[str]:
    if "failed" in line:
        return [line["what"], "not measured", "", line["failed"].replace("|", "/")]
    value, unit, budget = line["measured"], line["unit"], line["budget"]
    measured = f"{value:,.{DIGITS.get(unit, 2)}f} {unit}"
    over = budget is not None and not (math.isfinite(value) and value <= budget)
    return [line["what"], measured, f"{budget:g} {unit}" if budget else "", "over" if over else ""]
