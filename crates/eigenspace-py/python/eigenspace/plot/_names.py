"""Names beside points, where they do not cover each other."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ._figure import HALO

Floats = NDArray[np.float64]

TURNS = np.radians([0, 25, -25, 50, -50, 80, -80, 115, -115, 150, -150, 180])
GAPS = (5.0, 12.0, 21.0)


class Names:
    """Names are written one after another; each looks for a place that is still free."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.taken: list[Floats] = []
        self.busy = np.empty((0, 2))
        self.rivals = np.empty((0, 2))
        self.unit = ax.figure.dpi / 72.0
        box = ax.bbox
        self.frame = np.array([box.x0, box.y0, box.x1, box.y1]) + 3 * self.unit * np.array([1, 1, -1, -1])

    def keep_clear(self, places: Floats) -> None:
        """Places in the units of the data that should not be covered, such as points."""
        places = places[np.isfinite(places).all(axis=1)][:5000]
        self.busy = np.vstack([self.busy, self.ax.transData.transform(places)])

    def others(self, places: Floats) -> None:
        """Places with names of their own: a name that stands nearer to one of them would be read as its."""
        self.rivals = self.ax.transData.transform(places)

    def keep_clear_line(self, start: Floats, end: Floats) -> None:
        """The outer part of an arrow."""
        self.keep_clear(start + np.linspace(0.3, 1.0, 15)[:, None] * (end - start))

    def write(self, text: str, at: Floats, towards: tuple[float, float], colour: str, *, must: bool = True) -> bool:
        """Writes a name near a place, in a direction on the screen if that is free; whether it was written."""
        place = self.ax.transData.transform(at)
        note = self.ax.annotate(
            text if len(text) <= 28 else text[:27] + "…", (float(at[0]), float(at[1])), (0.0, 0.0),
            textcoords="offset points", ha="center", va="center", fontsize="small", color=colour, zorder=5,
            annotation_clip=False, path_effects=HALO,
        )  # fmt: skip
        extent = note.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2
        angle = np.arctan2(towards[1], towards[0])
        best, least = None, np.inf
        for i, gap in enumerate(GAPS):
            for j, turn in enumerate(TURNS):
                way = np.array([np.cos(angle + turn), np.sin(angle + turn)])
                # The box touches the circle of the gap from outside.
                reach = float(np.min(half / np.maximum(np.abs(way), 1e-9)))
                centre = place + way * (gap * self.unit + reach)
                cost = self._cost(np.concatenate([centre - half, centre + half])) + 0.3 * i + 0.1 * j
                cost += 30.0 * self._misread(centre, half, place)
                if cost < least:
                    best, least = centre, cost
        assert best is not None
        if least >= 100.0 and not must:
            note.remove()
            return False
        note.set_position(tuple((best - place) / self.unit))
        self.taken.append(np.concatenate([best - half - 1, best + half + 1]))
        return True

    def _misread(self, centre: Floats, half: Floats, place: Floats) -> bool:
        """Whether another named place is nearer to the box than its own."""

        def away(places: Floats) -> Floats:
            beside: Floats = np.maximum(np.abs(places - centre) - half, 0.0)
            return np.hypot(beside[:, 0], beside[:, 1])

        others = self.rivals[np.abs(self.rivals - place).max(axis=1) > self.unit]
        return len(others) > 0 and bool(away(others).min() < away(place[None])[0])

    def _cost(self, box: Floats) -> float:
        """A hundred for each name that is covered, fifty if it leaves the picture, one for each busy place."""
        left, low, right, high = box
        cost = 100.0 * sum(left < t[2] and t[0] < right and low < t[3] and t[1] < high for t in self.taken)
        if left < self.frame[0] or low < self.frame[1] or right > self.frame[2] or high > self.frame[3]:
            cost += 50.0
        inside = (
            (self.busy[:, 0] > left) & (self.busy[:, 0] < right) & (self.busy[:, 1] > low) & (self.busy[:, 1] < high)
        )
        return float(cost + inside.sum())
