"""Where a picture is drawn: axes that were given, or a figure of its own."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from .._core import EigenspaceError

INK, FADED, RULE, PALE = "#222222", "#666666", "#8c8c8c", "#d9d9d9"
BLUE, VERMILION, NEUTRAL = "#0072b2", "#d55e00", "#a6a6a6"
HALO = [patheffects.withStroke(linewidth=2.5, foreground="white", alpha=0.85)]

SIZE = (7.2, 5.0)
"""Inches of a chart."""


def checked(ax: Axes | None, *, space: bool = False) -> Axes | None:
    """The axes, if they are of the kind that is needed."""
    if ax is None:
        return None
    if not isinstance(ax, Axes):
        raise EigenspaceError(f"ax is a {type(ax).__name__}, expected the Axes to draw into")
    if space and ax.name != "3d":
        raise EigenspaceError("three components need axes in space: make them with projection='3d'")
    if not space and ax.name == "3d":
        raise EigenspaceError("these axes are in space: give three components, or axes in the plane")
    return ax


def axes(ax: Axes | None, size: tuple[float, float] = SIZE, *, space: bool = False) -> Axes:
    """The axes given, or those of a new figure without the two lines that bear no numbers."""
    if ax is not None:
        return ax
    settings: dict[str, Any] = {"projection": "3d"} if space else {}
    _, ax = plt.subplots(figsize=size, layout="constrained", subplot_kw=settings)
    if not space:
        ax.spines[["top", "right"]].set_visible(False)
    return ax


def gallery(figure: Figure | SubFigure | None, size: tuple[float, float]) -> Figure | SubFigure:
    """The figure given, or a new one."""
    if figure is None:
        return plt.figure(figsize=size, layout="constrained")
    if not isinstance(figure, Figure | SubFigure):
        raise EigenspaceError(f"figure is a {type(figure).__name__}, expected the Figure or SubFigure to draw into")
    return figure


def zero_lines(ax: Axes) -> None:
    """Faint lines through the origin, where it is in the picture."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    if left < 0 < right:
        ax.axvline(0.0, color=PALE, linewidth=0.8, zorder=0)
    if low < 0 < high:
        ax.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)


def settled(ax: Axes, *, own: bool) -> None:
    """Brings the axes to their final place, so that what is written can be measured."""
    ax.apply_aspect()
    if own and isinstance(ax.figure, Figure):
        ax.figure.draw_without_rendering()


def equal(ax: Axes) -> None:
    """One unit is as long across as upwards: coordinates can be compared."""
    shared = any(len(axes.get_siblings(ax)) > 1 for axes in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def remark(ax: Axes, text: str) -> None:
    """A few words below the axes, after those that stand there."""
    for note in ax.texts:
        if note.get_gid() == "remark":
            note.set_text(f"{note.get_text()} · {text}")
            return
    ax.annotate(
        text, (1.0, 0.0), (0.0, -36.0), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="top", fontsize="small", color=FADED, gid="remark",
    )  # fmt: skip
