"""Labels of points: the classes, and the color and marker of each."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb
from numpy.typing import NDArray

from .._errors import counted, refusal
from ._figure import BLUE, NEUTRAL, VERMILION, remark

LISTED = 20
"""At most this many classes, the largest, get their own color and marker."""
CELLS = 20_000
"""More points than this are drawn as the cells of a 2-d histogram."""

# The colors of Okabe and Ito, which can be distinguished with any kind of color vision. Yellow is
# slightly darker here, to be visible on white, and black is a dark gray.
COLORS = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#404040", "#e3d62b")
# 3 markers and 8 colors have no common divisor: classes of the same color differ in marker, and
# consecutive classes differ in both.
FORMS = ("o", "^", "s")


@dataclass
class Labels:
    """A class for each point (-1 for none), a number for each point, or neither."""

    names: list[str]
    of: NDArray[np.intp]
    values: NDArray[np.float64] | None = None
    title: str | None = None
    others: int = 0
    """Number of classes drawn in gray, beyond the largest."""

    def style(self, number: int) -> tuple[str, str]:
        """Return the color and marker of a class."""
        if number < 0:
            return NEUTRAL, "o"
        form = FORMS[number % len(FORMS)] if len(self.names) > len(COLORS) else "o"
        return COLORS[number % len(COLORS)], form


def labels_of(labels: Any, n: int) -> Labels:
    """Return the labels of n points.

    Numbers are a continuous scale, unless they are integers with at most 20 different values.
    Everything else is a class.
    """
    if labels is None:
        return Labels([""], np.zeros(n, dtype=np.intp))
    name = getattr(labels, "name", None)
    title = name if isinstance(name, str) else None
    array = np.asarray(labels)
    if array.ndim != 1:
        words = f"the labels have {counted(array.ndim, 'dimension')}, expected one label for each row"
        raise refusal(words, "pass a list or a 1-d array")
    if len(array) != n:
        words = f"expected {counted(n, 'label')}, one for each row; found {len(array)}"
        raise refusal(words, "pass a label for each row of X")
    values = _numbers(array)
    if values is not None:
        present = np.unique(values[np.isfinite(values)])
        if len(present) > LISTED or (present != np.round(present)).any():
            return Labels([], np.full(n, -1), values, title)
        of = np.where(np.isfinite(values), np.searchsorted(present, values), -1).astype(np.intp)
        return Labels([f"{value:.0f}" for value in present], of, None, title)
    texts = ["" if _missing(value) else str(value) for value in array.tolist()]
    sizes = Counter(text for text in texts if text)
    largest = sorted(sizes, key=lambda text: (-sizes[text], _natural(text)))[:LISTED]
    names = sorted(largest, key=_natural)
    index = {text: number for number, text in enumerate(names)}
    of = np.array([index.get(text, -1) for text in texts], dtype=np.intp)
    return Labels(names, of, None, title, len(sizes) - len(names))


def cloud(ax: Axes, points: NDArray[Any], labels: Labels, *, own: bool) -> None:
    """Draw the points class by class, those without a label first."""
    n = len(points)
    size, opacity = next((s, a) for most, s, a in WEIGHTS if n <= most)
    style: dict[str, Any] = {"s": size, "alpha": opacity, "rasterized": n > 20_000}
    style |= {"linewidths": 0.5, "edgecolors": "white"} if n <= 500 else {"linewidths": 0}
    if labels.values is not None:
        drawn = np.isfinite(labels.values)
        if not drawn.all():
            ax.scatter(*points[~drawn].T, color=NEUTRAL, label="no label", **style)
        style |= {"c": labels.values[drawn], "cmap": "viridis"}
        image = ax.scatter(*points[drawn].T, **style)
        room: dict[str, Any] = {"shrink": 0.7, "pad": 0.12} if ax.name == "3d" else {}
        bar = ax.figure.colorbar(image, ax=ax, label=labels.title or "", **room)
        bar.solids.set_alpha(1.0)  # type: ignore[union-attr]
        bar.outline.set_visible(False)
        return
    cells = n > CELLS and len(labels.names) <= len(COLORS) and ax.name != "3d"
    if cells:
        density(ax, points, labels)
    for number in range(-1, len(labels.names)):
        mine = points[labels.of == number]
        if len(mine):
            color, form = labels.style(number)
            name = (
                (f"{labels.others} other classes" if labels.others else "no label")
                if number < 0
                else labels.names[number]
            )
            mine = mine[:0] if cells else mine
            ax.scatter(*mine.T, color=color, marker=form, label=name or "_rows", **style)
    if labels.others:
        count = len(labels.names)
        remark(ax, f"{count + labels.others} classes: the {count} largest are colored, the others are gray")
    if labels.names != [""] and labels.names:
        legend(ax, labels.title, own=own)


def density(ax: Axes, points: NDArray[Any], labels: Labels) -> None:
    """Draw a 2-d histogram: each cell has the color of its most frequent class, darker if it has more points."""
    finite = np.isfinite(points).all(axis=1)
    logs = [scale == "log" for scale in (ax.get_xscale(), ax.get_yscale())]
    places = [np.log10(points[finite, i]) if logs[i] else points[finite, i] for i in range(2)]
    edges = [np.histogram_bin_edges(place, bins) for place, bins in zip(places, (220, 160), strict=True)]
    numbers = range(-1, len(labels.names))
    of = labels.of[finite]
    x, y = places
    counts = np.array([np.histogram2d(x[of == k], y[of == k], bins=edges)[0] for k in numbers])
    total, largest = counts.sum(axis=0), counts.argmax(axis=0)
    bounds = [10**edge if log else edge for edge, log in zip(edges, logs, strict=True)]
    for layer, number in enumerate(numbers):
        mine = np.ma.masked_where((total == 0) | (largest != layer), total)
        if mine.count():
            shades = LinearSegmentedColormap.from_list("cells", _shades(labels.style(number)[0]))
            norm = LogNorm(1, max(float(total.max()), 2.0))
            ax.pcolormesh(*bounds, mine.T, cmap=shades, norm=norm, rasterized=True, zorder=1)
    remark(ax, f"{len(points):,} points in cells: {int(total.max()):,} in the darkest, 1 in the palest")


def _shades(color: str) -> list[tuple[float, ...]]:
    """Return a pale tint of a color, the color itself, and a dark shade of it."""
    rgb = np.array(to_rgb(color))
    return [tuple(shade) for shade in (1.0 - 0.35 * (1.0 - rgb), rgb, 0.6 * rgb)]


WEIGHTS = ((60, 48.0, 0.9), (500, 32.0, 0.8), (3000, 16.0, 0.65), (np.inf, 7.0, 0.45))
"""(maximal number of points, marker area, opacity)"""


def legend(ax: Axes, title: str | None = None, *, own: bool) -> None:
    """Add a legend: beside the plot in a new figure, inside the axes if they were given."""
    handles, names = ax.get_legend_handles_labels()
    if names and (names[0] == "no label" or names[0].endswith(" other classes")):
        handles, names = handles[1:] + handles[:1], names[1:] + names[:1]
    place: dict[str, Any] = {"loc": "best"}
    if own:
        # The corners of a 3-d plot are empty.
        place = {"loc": "upper left", "frameon": False}
        place |= {} if ax.name == "3d" else {"bbox_to_anchor": (1.01, 1.0)}
    key = ax.legend(handles, names, title=title, **place)
    for handle in key.legend_handles:
        if isinstance(handle, PathCollection):  # large and opaque, however many points there are
            handle.set_sizes([36.0])
            handle.set_alpha(1.0)


def _numbers(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return numeric labels, with NaN for missing ones, or None; booleans are classes."""
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    values = array.tolist()
    if array.dtype.kind != "O" or not all(
        _missing(v) or (isinstance(v, Real) and not isinstance(v, bool)) for v in values
    ):
        return None
    numbers = np.array([np.nan if _missing(value) else float(value) for value in values])
    return numbers if np.isfinite(numbers).any() else None


def _missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Return a key for natural sorting: s2 before s10."""
    runs = re.findall(r"[0-9]+|[^0-9]+", text)
    return [(0, int(run), "") if run[0] in "0123456789" else (1, 0, run) for run in runs]
