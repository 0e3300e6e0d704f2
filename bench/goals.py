"""The goals for fits on a GPU, and what was measured: a section of docs/GPU.md.

    python bench/goals.py            check that docs/GPU.md shows the stored measurements
    python bench/goals.py --write    write the section again from them

The times are those of `gpu.py`, medians over its rounds. For a goal that was not reached, the
section says what limits the time: the parts of a block that the GPU works on, as the profiler saw
them, and the rest of its time. Parts can overlap, so the GPU waits for the CPU at least as long as
the rest. The sizes are those of `size.py`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generated import Generated

BENCH = Path(__file__).resolve().parent
STORED = BENCH / "results" / "gpu-h200.json"
SIZES = BENCH / "size.json"
PAGE = BENCH.parent / "docs" / "GPU.md"
BEGIN, END = "<!-- goals:begin -->\n", "<!-- goals:end -->"

LEAST_SCIKIT_LEARN = 600
MOST_BYTES = 1_000_000
"""Goal for the size of the support for GPUs."""
ROWS, CELL = 1024, 8
"""Rows in a block, and bytes of a number in it."""
WIDE = "D = 100,000, k = 100, 1,024 rows"
BESIDE_CPU = f"{WIDE}, beside the CPU"
FACES = "D = 10,304, k = 50, 1,024 rows"
EMBEDDINGS = "D = 4,096, float32, k = 64, 40,960 rows from .npy, without the read of the model"
BATCH = "batch 200,000 x 4,096, float32, k = 50"
HOST, CARD = "cuda, from the host", "cuda, from the card"
COPIES, BACK = "copies to the card", "copies from the card"


class Measured:
    """The results of `gpu.py`."""

    def __init__(self, stored: dict[str, Any]) -> None:
        self.stored = stored

    def row(self, case: str, tool: str, mode: str | None = None) -> dict[str, Any]:
        """Return what was measured with a tool in this mode, or in its only one."""
        rows = (row for row in self.stored["rows"] if (row["case"], row["tool"]) == (case, tool))
        return next(row for row in rows if mode in (None, row["mode"]))

    def ours(self, case: str, mode: str = "cuda") -> float:
        """Return our median time in seconds."""
        return self.row(case, "eigenspace", mode)["median"]

    def parts(self, case: str) -> dict[str, float]:
        """Return the milliseconds of the GPU in a block."""
        return next(p["milliseconds"] for p in self.stored["phases"] if p["case"] == case)


@dataclass
class Goal:
    """A goal: what it says, the number that must be reached, and the one that was measured."""

    work: str
    wanted: Callable[[Measured], str]
    found: Callable[[Measured], str]
    reached: Callable[[Measured], bool]
    limit: Callable[[Measured], str] | None = None
    """What limits the time, if the goal was not reached."""


def _at_most(work: str, case: str, mode: str, milliseconds: float, limit: Any) -> Goal:
    return Goal(
        work,
        lambda _: f"≤ {milliseconds:g} ms a block",
        lambda m: f"{_ms(m.ours(case, mode))} a block",
        lambda m: m.ours(case, mode) <= milliseconds / 1e3,
        limit,
    )


def _at_least(work: str, peer: str, least: float, ratio: Any, limit: Any = None) -> Goal:
    return Goal(
        work,
        lambda _: f"≥ {least:g}x {peer}",
        lambda m: f"{ratio(m):.3g}x",
        lambda m: ratio(m) >= least,
        limit,
    )


def _scikit_learn(m: Measured) -> float:
    return m.row(BESIDE_CPU, "scikit-learn")["median"]


def _copy_limit(m: Measured) -> str:
    copies, size = m.parts("D = 100,000, k = 100, from the host")[COPIES], 100_000 * ROWS * CELL
    rest = m.ours(WIDE, HOST) * 1e3 - copies
    return (
        f"copying the {size / 1e6:.0f} MB of a block to the GPU takes {copies:.1f} ms "
        f"({size / copies / 1e6:.0f} GB/s), and {rest:.1f} ms of work and waiting do not overlap "
        "with the copies."
    )


def _scikit_learn_limit(m: Measured) -> str:
    needed = _scikit_learn(m) / LEAST_SCIKIT_LEARN
    return (
        f"scikit-learn took {_scikit_learn(m):.1f} s a block in the same run, so the goal is "
        f"{_ms(needed)} a block. The limit is the same as above: the copy, and what does not "
        "overlap with it."
    )


def _card_limit(m: Measured) -> str:
    parts = m.parts("D = 100,000, k = 100, from the card")
    rest = m.ours(WIDE, CARD) * 1e3 - sum(parts.values())
    return (
        f"the GPU works for {sum(parts.values()):.1f} ms: {parts['products']:.1f} ms on products, "
        f"{parts['eigenproblem']:.1f} ms on the eigenproblem, {parts[BACK]:.1f} ms on copying the "
        f"factor back to main memory, and {_other(parts):.1f} ms on the rest. For at least "
        f"{rest:.1f} ms it waits between small steps."
    )


def _faces_limit(m: Measured) -> str:
    parts = m.parts("D = 10,304, k = 50, from the host")
    rest = m.ours(FACES, HOST) * 1e3 - sum(parts.values())
    return (
        f"the eigenproblem ({parts['eigenproblem']:.1f} ms) and the products "
        f"({parts['products']:.1f} ms) take longer than the copy ({parts[COPIES]:.1f} ms). For at "
        f"least {rest:.1f} ms, the GPU waits between small steps."
    )


def _other(parts: dict[str, float]) -> float:
    named = (COPIES, BACK, "products", "eigenproblem")
    return sum(ms for part, ms in parts.items() if part not in named)


def _wide(place: str) -> str:
    return f"D = 100,000, k = 100, blocks of 1,024 rows {place}"


GOALS = [
    _at_most(_wide("in main memory"), WIDE, HOST, 25, _copy_limit),
    _at_least(
        _wide("in main memory"),
        "the SVD of the stack on the GPU",
        6,
        lambda m: m.row(WIDE, "eigenspace", HOST)["ratio"],
    ),
    _at_least(
        _wide("in main memory"),
        "scikit-learn",
        LEAST_SCIKIT_LEARN,
        lambda m: _scikit_learn(m) / m.ours(BESIDE_CPU, HOST),
        _scikit_learn_limit,
    ),
    _at_most(_wide("on the GPU"), WIDE, CARD, 15, _card_limit),
    Goal(
        "D = 10,304, k = 50, blocks of 1,024 rows in main memory",
        lambda m: (
            f"as fast as the copy to the GPU: "
            f"{m.parts('D = 10,304, k = 50, from the host')[COPIES]:.2g} ms a block"
        ),
        lambda m: f"{_ms(m.ours(FACES, HOST))} a block",
        lambda m: m.ours(FACES, HOST) * 1e3 <= m.parts("D = 10,304, k = 50, from the host")[COPIES],
        _faces_limit,
    ),
    Goal(
        "D = 4,096, k = 64, 40,960 rows of float32 from .npy",
        lambda m: (
            f"as fast as reading the file with numpy: {_ms(m.row(EMBEDDINGS, 'numpy')['median'])}"
        ),
        lambda m: _ms(m.ours(EMBEDDINGS)),
        lambda m: m.ours(EMBEDDINGS) <= m.row(EMBEDDINGS, "numpy")["median"],
    ),
    _at_least(
        "batch of 200,000 x 4,096, k = 50",
        "the CPU",
        10,
        lambda m: m.row(BATCH, "eigenspace", "cuda")["ratio"],
    ),
]


def _sizes(stored: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each program that can be built with support for GPUs."""
    for name, built in stored.items():
        more = built["with"]["bytes"] - built["without"]["bytes"]
        new = sorted(set(built["with"]["libraries"]) - set(built["without"]["libraries"]))
        verdict = "reached" if more < MOST_BYTES and not new else "**not reached**"
        wanted = f"< {MOST_BYTES / 1e6:g} MB, no library that must be installed"
        found = (
            f"{more / 1e6:.2f} of {built['with']['bytes'] / 1e6:.1f} MB, {', '.join(new) or 'none'}"
        )
        yield f"| size of the support for GPUs in the {name} | {wanted} | {found} | {verdict} |"


def section(stored: dict[str, Any], sizes: dict[str, Any]) -> str:
    """Return the table of goals between the two markers, and what limits those not reached."""
    m, at = Measured(stored), stored["machine"]
    rounds = [row["runs"] for row in stored["rows"]]
    text = [
        BEGIN.rstrip(),
        "<!-- Written by `python bench/goals.py --write`; do not edit. -->",
        "",
        f"Measured on one {at['card']} with {at['cores']} CPU cores, {at['date'][:10]}, "
        f"commit {at['commit']}, medians of {min(rounds)} to {max(rounds)} rounds:",
        "",
        "| work | goal | measured | |",
        "|---|---|---:|---|",
    ]
    missed = []
    for goal in GOALS:
        reached = goal.reached(m)
        verdict = "reached" if reached else "**not reached**"
        text.append(f"| {goal.work} | {goal.wanted(m)} | {goal.found(m)} | {verdict} |")
        if not reached:
            missed.append(goal)
    text += _sizes(sizes)
    for name, built in sizes.items():
        at = built["machine"]
        measured = f"`python bench/size.py`, {at['date'][:10]}, commit {at['commit']}"
        text += ["", f"The size of the {name}: {measured}."]
    if missed:
        text += ["", "What limits the times that miss their goal:", "", *_limits(missed, m)]
    return "\n".join([*text, END])


def _limits(missed: list[Goal], m: Measured) -> Iterator[str]:
    for goal in missed:
        limit = goal.limit(m) if goal.limit else "unknown."
        yield f"* *{goal.work}, {goal.wanted(m)}*: {limit}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def _stored_section() -> str:
    sizes = json.loads(SIZES.read_text()) if SIZES.exists() else {}
    return section(json.loads(STORED.read_text()), sizes)


PART = Generated(
    PAGE,
    BEGIN,
    END,
    _stored_section,
    "the goals in docs/GPU.md do not match bench/results/gpu-h200.json and size.json",
)


if __name__ == "__main__":
    PART.main(__doc__)
