"""One SVG for each workload: ratios to the peer as bars, growth as lines."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import growth
import matplotlib.pyplot as plt
import store

OURS, OTHERS = "#1b6ca8", "#b0b0b0"
MODES = {"lean": "#7fb3d8"}


def draw(results: dict[str, Any], directory: Path) -> None:
    """Draw the figures. The same results give the same bytes: no date, no random names."""
    plt.rcParams.update({"svg.hashsalt": "eigenspace", "font.size": 8, "svg.fonttype": "none"})
    for name, result in results.items():
        rows = result["rows"]
        if not compares(rows):
            continue
        figure = _growth(rows) if name == "W8" else _bars(rows)
        origin = store.origin(_fewest(rows))
        figure.suptitle(f"{name}: {result['title']}\n{origin}", fontsize=9)
        figure.savefig(directory / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)


def compares(rows: list[dict[str, Any]]) -> bool:
    """Return whether there is anything to draw, in any case."""
    return any(row["tool"] != row["peer"] for row in rows)


def _fewest(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of each case with its smallest thread count."""
    least: dict[str, int] = {}
    for row in rows:
        least[row["case"]] = min(row["threads"], least.get(row["case"], row["threads"]))
    return [row for row in rows if row["threads"] == least[row["case"]]]


def _bars(rows: list[dict[str, Any]]) -> plt.Figure:
    """Draw the speed relative to the peer, with one thread if that was measured."""
    rows = _fewest(rows)
    # Skip cases with a product only, which have nothing to compare.
    cases = list(dict.fromkeys(row["case"] for row in rows if row["tool"] != row["peer"]))
    heights = [0.55 + 0.2 * sum(row["case"] == case for row in rows) for case in cases]
    figure, grid = plt.subplots(
        len(cases),
        1,
        squeeze=False,
        figsize=(7, 0.5 + sum(heights)),
        gridspec_kw={"height_ratios": heights},
        layout="constrained",
    )
    for axes, case in zip(grid[:, 0], cases, strict=True):
        found = [row for row in rows if row["case"] == case][::-1]
        names = [f"{row['tool']} {row['mode']}".strip() for row in found]
        colors = [_color(row) for row in found]
        # Bars start at 1, the peer; faster tools go to the right, slower ones to the left.
        widths = [row["ratio"] - 1.0 for row in found]
        bars = axes.barh(names, widths, left=1.0, color=colors)
        axes.bar_label(bars, [f"{row['ratio']:.3g}" for row in found], padding=2)
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xscale("log")
        low, high = min(row["ratio"] for row in found), max(row["ratio"] for row in found)
        axes.set_xlim(min(low, 0.5) / 2, max(high, 2.0) * 3)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: "")
        threads = f"{found[0]['threads']} thread{'s' * (found[0]['threads'] > 1)}"
        axes.set_title(f"{case}, {threads} (1 is {found[0]['peer']})", loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _color(row: dict[str, Any]) -> str:
    return MODES.get(row["mode"], OURS) if row["tool"].startswith("eigenspace") else OTHERS


def _growth(rows: list[dict[str, Any]]) -> plt.Figure:
    """Draw time above and memory below, for each size that is doubled."""
    sweeps = list(dict.fromkeys((row["facts"]["engine"], row["facts"]["axis"]) for row in rows))
    figure, grid = plt.subplots(
        2, len(sweeps), squeeze=False, figsize=(2.6 * len(sweeps), 6.4), layout="constrained"
    )
    for line, (column, unit) in enumerate((("median", "seconds"), ("memory_mib", "MiB"))):
        curves, threads = growth.curves(rows, column), growth.threads_of(rows, column)
        unit = f"{unit}, {threads} thread{'s' * (threads > 1)}"
        for axes, sweep in zip(grid[line], sweeps, strict=True):
            sizes: list[float] = []
            for (engine, axis, tool, mode), curve in curves.items():
                if (engine, axis) == sweep:
                    ours = tool.startswith("eigenspace")
                    color = MODES.get(mode, OURS) if ours else OTHERS
                    label = f"{tool.split()[0]} {mode}: {growth.exponent(curve):.2f}"
                    axes.plot(*curve, marker="o", markersize=3, color=color, label=label)
                    sizes = curve[0]
            axes.set(xscale="log", yscale="log", xlabel=sweep[1], ylabel=unit)
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.set_title(f"{sweep[0]}, {sweep[1]}")
            if axes.lines:
                # Below the axes, over no curve.
                place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.25)}
                axes.legend(frameon=False, fontsize=6, title="exponent", title_fontsize=6, **place)
            axes.minorticks_off()
    return figure
