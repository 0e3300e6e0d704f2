"""Labels of points: which classes there are, and the look of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Real
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from numpy.typing import NDArray

from .._core import EigenspaceError
from ._figure import BLUE, NEUTRAL, VERMILION

LISTED = 20
"""With more classes than this the legend would be longer than the picture."""

# The colours of Okabe and Ito, told apart by every kind of eye; the pale yellow comes last, black is a dark grey.
EIGHT = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#404040", "#f0e442")
# Ten hues for more classes; the second ten are the same, darker.
TEN = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
FORMS = ("o", "^", "s", "D")


@dataclass
class Labels:
    """A class for each point (-1 for none), or a number for each, or neither."""

    names: list[str]
    of: NDArray[np.intp]
    values: NDArray[np.float64] | None = None
    title: str | None = None

    def look(self, number: int) -> tuple[str, str]:
        """Colour and form of a class."""
        count = len(self.names)
        if number < 0:
            return NEUTRAL, "o"
        if count <= len(EIGHT):
            return EIGHT[number], "o"
        if count <= LISTED:
            colour = TEN[number % 10]
            return (colour if number < 10 else _darker(colour)), FORMS[number // 10]
        return to_hex(mpl.colormaps["turbo"]((number + 0.5) / count)), FORMS[number % 4]


def labels_of(labels: Any, n: int) -> Labels:
    """Labels of n points.

    Numbers are a continuous scale, unless they are whole and of at most 20 values; everything else is a class.
    """
    if labels is None:
        return Labels([""], np.zeros(n, dtype=np.intp))
    name = getattr(labels, "name", None)
    title = name if isinstance(name, str) else None
    array = np.asarray(labels)
    if array.ndim != 1:
        raise EigenspaceError(f"the labels have {array.ndim} dimensions, expected one label for each row")
    if len(array) != n:
        raise EigenspaceError(f"there are {len(array)} labels for {n} rows")
    values = _numbers(array)
    if values is not None:
        present = np.unique(values[np.isfinite(values)])
        if len(present) > LISTED or (present != np.round(present)).any():
            return Labels([], np.full(n, -1), values, title)
        of = np.where(np.isfinite(values), np.searchsorted(present, values), -1).astype(np.intp)
        return Labels([f"{value:.0f}" for value in present], of, None, title)
    texts = ["" if _missing(value) else str(value) for value in array.tolist()]
    names = sorted(set(texts) - {""}, key=_natural)
    index = {text: number for number, text in enumerate(names)}
    return Labels(names, np.array([index.get(text, -1) for text in texts], dtype=np.intp), None, title)


def cloud(ax: Axes, points: NDArray[Any], labels: Labels, *, own: bool) -> None:
    """The points, class after class, those without a label lowest."""
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
    for number in range(-1, len(labels.names)):
        mine = points[labels.of == number]
        if len(mine):
            colour, form = labels.look(number)
            name = "no label" if number < 0 else labels.names[number]
            ax.scatter(*mine.T, color=colour, marker=form, label=name or "_rows", **style)
    if labels.names != [""] and 0 < len(labels.names) <= LISTED:
        legend(ax, labels.title, own=own)


WEIGHTS = ((60, 48.0, 0.9), (500, 32.0, 0.8), (3000, 16.0, 0.65), (np.inf, 7.0, 0.45))
"""Up to how many points, which area and which opacity."""


def legend(ax: Axes, title: str | None = None, *, own: bool) -> None:
    """Beside a picture of its own, inside axes that were given."""
    handles, names = ax.get_legend_handles_labels()
    if names and names[0] == "no label":
        handles, names = handles[1:] + handles[:1], names[1:] + names[:1]
    place: dict[str, Any] = {"loc": "best"}
    if own:
        # The corners of a picture in space are empty.
        place = {"loc": "upper left", "frameon": False}
        place |= {} if ax.name == "3d" else {"bbox_to_anchor": (1.01, 1.0)}
    ax.legend(handles, names, title=title, **place)


def _numbers(array: NDArray[Any]) -> NDArray[np.float64] | None:
    """Labels that are numbers, with gaps as NaN; truth values are classes."""
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    values = array.tolist()
    if array.dtype.kind != "O" or not all(
        _missing(v) or (isinstance(v, Real) and not isinstance(v, bool)) for v in values
    ):
        return None
    numbers = np.array([np.nan if _missing(value) else float(value) for value in values])
    return numbers if np.isfinite(numbers).any() else None


def _darker(colour: str) -> str:
    red, green, blue = to_rgb(colour)
    return to_hex((0.55 * red, 0.55 * green, 0.55 * blue))


def _missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA has no truth
        return True


def _natural(text: str) -> list[tuple[int, int, str]]:
    """As a person would sort: s2 before s10."""
    runs = re.findall(r"[0-9]+|[^0-9]+", text)
    return [(0, int(run), "") if run[0] in "0123456789" else (1, 0, run) for run in runs]
