"""The chart `figures/overview.svg`: speed relative to the peer and correct digits, by workload.

It is written as plain SVG, so that the same results give the same bytes with any library version.
The colors are readable on a white and on a black page.
"""

import math
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

WIDTH, LABELS, LINE, TOP = 900, 390, 36, 62
FAST = (LABELS + 10, 620)
"""Horizontal range of the speed ratios, on a logarithmic scale."""
RIGHT = (690, WIDTH - 20)
"""Horizontal range of the correct digits, from none to all sixteen of a float64."""
DIGITS = 16.0
TEXT, OURS, PEER = "#768390", "#2f81f7", "#c4841d"
RATE = "numpy product"
"""Comparisons with a plain matrix product are in the table only, because it is not a PCA tool."""


def svg(lines: list[Any]) -> str:
    """Return the chart for the lines of `summary.py`."""
    shown = [line for line in lines if line.ratios and line.peer != RATE]
    height = TOP + LINE * len(shown) + 16
    threads = min((number for line in shown for number in line.ratios), default=1)
    most = max((_ratio(line, threads) for line in shown), default=10.0)
    decades = max(1, math.ceil(math.log10(most)))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="13" fill="{TEXT}">',
        "<title>Speed and accuracy against other libraries</title>",
        *_head(height, decades, threads),
    ]
    for i, line in enumerate(shown):
        parts += _row(TOP + LINE * i, line, decades, threads)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _head(height: int, decades: int, threads: int) -> Iterator[str]:
    number = f"{threads} thread{'s' * (threads > 1)}"
    yield _text(FAST[0], 20, f"speed relative to the peer, {number}", bold=True)
    yield _text(RIGHT[0], 20, "correct digits", bold=True)
    yield _circle(RIGHT[0] + 6, 36, OURS) + _text(RIGHT[0] + 16, 40, "eigenspace", size=11)
    yield _circle(RIGHT[0] + 102, 36, PEER, hollow=True)
    yield _text(RIGHT[0] + 112, 40, "peer", size=11)
    for power in range(decades + 1):
        yield _grid(_fast(10.0**power, decades), height, f"{10**power:,}")
    for digits in range(0, 17, 4):
        yield _grid(_right(10.0**-digits), height, str(digits))


def _row(top: int, line: Any, decades: int, threads: int) -> Iterator[str]:
    ratio = _ratio(line, threads)
    middle = top + LINE / 2
    yield _text(LABELS, middle - 2, line.work, anchor="end", size=12)
    yield _text(LABELS, middle + 12, f"against {line.peer}", anchor="end", size=11)
    start, end = sorted((_fast(1.0, decades), _fast(ratio, decades)))
    yield (
        f'<rect x="{start:.1f}" y="{middle - 7:.1f}" width="{max(end - start, 1):.1f}" '
        f'height="14" rx="2" fill="{OURS if ratio >= 1 else PEER}"/>'
    )
    yield _text(end + 5, middle + 4.5, f"{float(f'{ratio:.2g}'):g}")
    if line.theirs is not None:
        yield _circle(_right(line.theirs), middle, PEER, hollow=True)
    if line.ours is not None:
        yield _circle(_right(line.ours), middle, OURS)


def _ratio(line: Any, threads: int) -> float:
    return line.ratios.get(threads) or max(line.ratios.values())


def _fast(ratio: float, decades: int) -> float:
    """Return the position of a ratio, with space for its label and for ratios below 1."""
    share = min(max(math.log10(ratio), -0.2), decades) / decades
    return FAST[0] + 8 + share * (FAST[1] - FAST[0] - 8)


def _right(sine: float) -> float:
    digits = min(max(-math.log10(max(sine, 10.0**-DIGITS)), 0.0), DIGITS)
    return RIGHT[0] + 6 + digits / DIGITS * (RIGHT[1] - RIGHT[0] - 6)


def _grid(x: float, height: int, label: str) -> str:
    line = f'<path d="M{x:.1f} {TOP - 4}V{height - 12}" stroke="{TEXT}" stroke-opacity="0.35"/>'
    return line + _text(x, TOP - 8, label, anchor="middle", size=11)


def _circle(x: float, y: float, color: str, *, hollow: bool = False) -> str:
    paint = f'fill="none" stroke="{color}" stroke-width="2.5"' if hollow else f'fill="{color}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if hollow else 5}" {paint}/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 13,
    bold: bool = False,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{TEXT}"{weight}>{escape(text)}</text>'
    )
