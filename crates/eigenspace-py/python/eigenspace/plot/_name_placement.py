"""Placement of names next to points and arrows, inside the axes and without overlaps.

Names are placed one after another, the most important first. Each takes the free place of lowest
cost around its point. A name that is far from its point, or as close to another point, is connected
to its point by a line. Names without a free place are omitted and counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ._figure import HALO, remark

Floats = NDArray[np.float64]

TURNS = np.radians(np.arange(0, 360, 7.5))
GAPS = np.array([3.0, 6.0, 10.0, 15.0, 21.0, 28.0, 36.0, 46.0, 58.0, 72.0, 90.0, 115.0, 150.0])
"""Distances between a marker and its name in typographic points, nearest first."""
LINE_DISTANCE = 6.0
"""A name further away than this is connected by a line."""
TRIES = (0.0, 0.0, 0.0, 15.0, 28.0, 46.0)
"""The minimal distance in each attempt; names without a place come first in the next attempt."""


class Names:
    """The areas of the axes that names must not cover, in pixels of the figure."""

    def __init__(self, ax: Axes, radius: float = 3.0) -> None:
        self.ax = ax
        self.unit = ax.figure.dpi / 72.0
        self.radius = radius * self.unit
        """The radius of markers."""
        self.frame = np.array([ax.bbox.x0, ax.bbox.y0, ax.bbox.x1, ax.bbox.y1])
        size = np.maximum(np.ceil((self.frame[2:] - self.frame[:2]) / self.unit), 1).astype(int)
        self.marks, self.covered = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)

    def keep_clear(self, places: Floats) -> None:
        """Keep names off markers at these places, in data coordinates."""
        self._paint(places, self.marks, self.covered)

    def keep_clear_line(self, start: Floats, end: Floats) -> None:
        """Keep names off a line, such as an arrow."""
        self._paint(start + np.linspace(0.0, 1.0, 200)[:, None] * (end - start), self.covered)

    def keep_clear_texts(self) -> None:
        """Keep names off the texts that are already in the axes."""
        for text in self.ax.texts:
            box = text.get_window_extent()
            low = np.floor((np.array([box.x0, box.y0]) - self.frame[:2]) / self.unit)
            high = np.ceil((np.array([box.x1, box.y1]) - self.frame[:2]) / self.unit)
            (left, bottom), (right, top) = (np.maximum(corner, 0).astype(int) for corner in (low, high))
            self.covered[left:right, bottom:top] = 1

    def _paint(self, places: Floats, *grids: NDArray[np.int64]) -> None:
        pixels = self.ax.transData.transform(places[np.isfinite(places).all(axis=1)])
        cells = np.floor((pixels - self.frame[:2]) / self.unit)
        inside = ((cells >= 0) & (cells < grids[0].shape)).all(axis=1)
        x, y = cells[inside].astype(int).T
        for grid in grids:
            grid[x, y] = 1

    def write(self, texts: Sequence[str], places: Floats, toward: Floats, color: str) -> None:
        """Write names near places in data coordinates, each in its preferred screen direction if free."""
        self.sums = [np.pad(grid.cumsum(0).cumsum(1), ((1, 0), (1, 0))) for grid in (self.marks, self.covered)]
        notes = [
            self.ax.annotate(
                text if len(text) <= 28 else text[:27] + "…", (float(at[0]), float(at[1])), (0.0, 0.0),
                textcoords="offset points", ha="center", va="center", fontsize="small", color=color, zorder=5,
                annotation_clip=False, path_effects=HALO,
            )
            for text, at in zip(texts, places, strict=True)
        ]  # fmt: skip
        halves = [np.array([box.width, box.height]) / 2 for box in (note.get_window_extent() for note in notes)]
        points = self.ax.transData.transform(places)
        best: dict[int, tuple[Floats, bool]] = {}
        order = list(range(len(notes)))
        for least in TRIES:
            found = self._place_all(order, points, halves, toward, least)
            order.sort(key=lambda i: i in found)
            best = found if len(found) > len(best) else best
            if len(best) == len(notes):
                break
        for i, note in enumerate(notes):
            if i not in best:
                note.remove()
                continue
            center, line = best[i]
            offset = (center - points[i]) / self.unit
            if line:
                note.remove()
                style = {"arrowstyle": "-", "color": color, "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 2.0}
                note = self.ax.annotate(
                    note.get_text(), note.xy, (0.0, 0.0), textcoords="offset points", ha="center", va="center",
                    fontsize="small", color=color, zorder=5, annotation_clip=False, path_effects=HALO,
                    arrowprops=style,
                )  # fmt: skip
            note.set_position(tuple(offset))
        if left := len(notes) - len(best):
            remark(self.ax, f"{left} name{'s' * (left > 1)} omitted for lack of space")

    def _place_all(
        self, order: list[int], points: Floats, halves: list[Floats], toward: Floats, least: float
    ) -> dict[int, tuple[Floats, bool]]:
        """Return the center of each name that finds a place, and whether it needs a line."""
        found: dict[int, tuple[Floats, bool]] = {}
        boxes, lines = np.empty((0, 4)), np.empty((0, 4))
        for i in order:
            point, half = points[i], halves[i]
            first = np.arctan2(toward[i][1], toward[i][0])
            gap, turn = (a.ravel() for a in np.meshgrid(GAPS[least <= GAPS], TURNS, indexing="ij"))
            way = np.column_stack([np.cos(first + turn), np.sin(first + turn)])
            reach = np.min(half / np.maximum(np.abs(way), 1e-9), axis=1)
            centers = point + way * (gap * self.unit + self.radius + reach)[:, None]
            box = np.hstack([centers - half, centers + half])
            near = np.clip(point, box[:, :2], box[:, 2:])
            away = np.hypot(*(near - point).T) - self.radius
            free = (box[:, :2] >= self.frame[:2]).all(axis=1) & (box[:, 2:] <= self.frame[2:]).all(axis=1)
            free &= self._count(1, _grown(box, self.radius)) == 0
            around = _grown(box, np.maximum(away, 0.0) + self.radius)
            own = np.concatenate([point - 1.5 * self.unit, point + 1.5 * self.unit])
            own = np.hstack([np.maximum(around[:, :2], own[:2]), np.minimum(around[:, 2:], own[2:])])
            line = (away > LINE_DISTANCE * self.unit) | (self._count(0, around) > self._count(0, own))
            free &= ~line | (away >= 4.0 * self.unit)
            for other in boxes:
                grown = _grown(other[None], 2.0)[0]
                free &= ~((box[:, :2] < grown[2:]).all(axis=1) & (box[:, 2:] > grown[:2]).all(axis=1))
                free &= ~(line & _crossed(np.broadcast_to(grown, box.shape), point, near))
            for other in lines:
                free &= ~_crossed(_grown(box, 1.0), other[:2], np.broadcast_to(other[2:], near.shape))
            turned = np.minimum(turn, 2 * np.pi - turn)
            cost = np.where(free, away / self.unit + 5.0 * turned + 8.0 * line, np.inf)
            k = int(np.argmin(cost))
            if np.isfinite(cost[k]):
                found[i] = centers[k], bool(line[k])
                boxes = np.vstack([boxes, box[k]])
                if line[k]:
                    lines = np.vstack([lines, np.concatenate([point, near[k]])])
        return found

    def _count(self, which: int, box: Floats) -> NDArray[np.int64]:
        """Count the covered cells in each box."""
        sums = self.sums[which]
        cells = (box - np.tile(self.frame[:2], 2)) / self.unit
        most = np.array(sums.shape) - 1
        x0, y0 = np.clip(np.floor(cells[:, :2]), 0, most).astype(int).T
        x1, y1 = np.clip(np.ceil(cells[:, 2:]), 0, most).astype(int).T
        x1, y1 = np.maximum(x0, x1), np.maximum(y0, y1)
        counts: NDArray[np.int64] = sums[x1, y1] + sums[x0, y0] - sums[x0, y1] - sums[x1, y0]
        return counts


def _grown(box: Floats, by: float | Floats) -> Floats:
    step = np.broadcast_to(np.asarray(by, dtype=np.float64), len(box))[:, None]
    grown: Floats = np.hstack([box[:, :2] - step, box[:, 2:] + step])
    return grown


def _crossed(box: Floats, start: Floats, end: Floats) -> NDArray[np.bool_]:
    """Return whether the lines from one point to many others pass through the boxes."""
    along = np.where(end == start, 1e-9, end - start)
    a, b = (box[:, :2] - start) / along, (box[:, 2:] - start) / along
    enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    crossed: NDArray[np.bool_] = np.maximum(enter, 0.0) <= np.minimum(leave, 1.0)
    return crossed
