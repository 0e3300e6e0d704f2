"""The figure of README: the subspace error against rows streamed, with the certificate as a band.

It is drawn from `report/results/streamed.json`, as plain SVG, so that the same results give the
same bytes with any library version. The colors are readable on a white and on a black page.
"""

import json
import math
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "report" / "results" / "streamed.json"
FIGURE = "docs/images/streamed.svg"
WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 500, 24, 292
"""The frame of the plot, in pixels. The legend is to the right of it, over no curve."""
LOWEST = -15
"""The exponent at the bottom; smaller errors are drawn there."""
TEXT, OURS, PEER, EQUAL = "#768390", "#2f81f7", "#c4841d", "#a371f7"


def svg(results: dict[str, Any]) -> str:
    """Return the figure."""
    marks = results["marks"]
    most = marks[-1]["rows"]

    def across(rows: float) -> float:
        return LEFT + rows / most * (RIGHT - LEFT)

    def up(value: float) -> float:
        exponent = max(math.log10(max(value, 10.0**LOWEST)), LOWEST)
        return BOTTOM + (exponent - LOWEST) / -LOWEST * (TOP - BOTTOM)

    def path(key: str) -> str:
        return " ".join(f"{across(mark['rows']):.1f},{up(mark[key]):.1f}" for mark in marks)

    first, last = across(marks[0]["rows"]), across(most)
    band = f"{first:.1f},{BOTTOM} {path('bound')} {last:.1f},{BOTTOM}"
    kept, k = results["kept"], results["k"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="{TEXT}">',
        "<title>Subspace error against rows streamed, with the certificate</title>",
    ]
    for exponent in range(LOWEST, 1, 3):
        y = up(10.0**exponent)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="{TEXT}" stroke-opacity="0.3"/>'
            + _text(LEFT - 8, y + 4, f"1e{exponent}" if exponent else "1", "end")
        )
    for i in range(5):
        rows = most * i / 4
        parts.append(_text(across(rows), BOTTOM + 18, f"{rows:,.0f}", "middle"))
    parts.append(_text((LEFT + RIGHT) / 2, BOTTOM + 38, "rows streamed", "middle"))
    parts.append(_text(LEFT, TOP - 8, "subspace error: sine of the largest angle to batch PCA"))
    parts.append(f'<polygon points="{band}" fill="{OURS}" fill-opacity="0.22"/>')
    series = [
        ("peer", PEER, "", f"scikit-learn, {k} directions"),
        ("equal", EQUAL, ' stroke-dasharray="6 4"', f"scikit-learn, {kept} directions"),
        ("ours", OURS, "", f"eigenspace, default ({kept})"),
    ]
    for key, color, dash, _ in series:
        line = f'<polyline points="{path(key)}" fill="none" stroke="{color}"'
        parts.append(f'{line} stroke-width="2.2"{dash}/>')
    for i, (_, color, dash, label) in enumerate(series):
        y = TOP + 30 + 24 * i
        parts.append(f'<path d="M520 {y}h26" stroke="{color}" stroke-width="2.2"{dash}/>')
        parts.append(_text(554, y + 4, label))
    y = TOP + 30 + 24 * len(series)
    parts.append(
        f'<rect x="520" y="{y - 7}" width="26" height="14" fill="{OURS}" fill-opacity="0.22"/>'
    )
    parts.append(_text(554, y + 4, "what its certificate allows"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def read() -> dict[str, Any] | None:
    """Return the stored results, if there are any."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else None


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
