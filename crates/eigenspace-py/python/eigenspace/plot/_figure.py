"""Axes and figures: those that were given, or new ones."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from .._errors import refusal

INK, FADED, RULE, PALE = "#222222", "#666666", "#8c8c8c", "#d9d9d9"
BLUE, VERMILION, NEUTRAL = "#0072b2", "#d55e00", "#a6a6a6"
HALO = [patheffects.withStroke(linewidth=2.5, foreground="white", alpha=0.85)]

SIZE = (7.2, 5.0)
"""Size of a plot in inches."""


def checked(ax: Axes | None, *, space: bool = False) -> Axes | None:
    """Return the axes, or raise an error if they have the wrong number of dimensions."""
    if ax is None:
        return None
    if not isinstance(ax, Axes):
        words = f"invalid ax: expected the Axes to draw into, found {type(ax).__name__}"
        raise refusal(words, "pass Axes of matplotlib, or omit ax for a new figure")
    if space and ax.name != "3d":
        raise refusal("cannot draw three components into 2-d axes", "create the axes with projection='3d'")
    if not space and ax.name == "3d":
        raise refusal("cannot draw two components into 3-d axes", "pass three components, or 2-d axes")
    return ax


def axes(ax: Axes | None, size: tuple[float, float] = SIZE, *, space: bool = False) -> Axes:
    """Return the given axes, or those of a new figure without the top and right lines."""
    if ax is not None:
        return ax
    settings: dict[str, Any] = {"projection": "3d"} if space else {}
    _, ax = plt.subplots(figsize=size, layout="constrained", subplot_kw=settings)
    if not space:
        ax.spines[["top", "right"]].set_visible(False)
    return ax


def gallery(figure: Figure | SubFigure | None, size: tuple[float, float]) -> Figure | SubFigure:
    """Return the given figure, or a new one."""
    if figure is None:
        return plt.figure(figsize=size, layout="constrained")
    if not isinstance(figure, Figure | SubFigure):
        found = type(figure).__name__
        words = f"invalid figure: expected the Figure or SubFigure to draw into, found {found}"
        raise refusal(words, "pass a Figure of matplotlib, or omit figure for a new one")
    return figure


def zero_lines(ax: Axes) -> None:
    """Draw faint lines through the origin if it is inside the axes."""
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    if left < 0 < right:
        ax.axvline(0.0, color=PALE, linewidth=0.8, zorder=0)
    if low < 0 < high:
        ax.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)


def settled(ax: Axes, *, own: bool) -> None:
    """Compute the final layout of the axes, so that texts can be measured."""
    ax.apply_aspect()
    if own and isinstance(ax.figure, Figure):
        ax.figure.draw_without_rendering()


def equal(ax: Axes) -> None:
    """Use the same scale on both axes, so that scores can be compared."""
    shared = any(len(axes.get_siblings(ax)) > 1 for axes in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def remark(ax: Axes, text: str) -> None:
    """Add a remark below the axes, after any earlier one."""
    for note in ax.texts:
        if note.get_gid() == "remark":
            note.set_text(f"{note.get_text()} · {text}")
            return
    ax.annotate(
        text, (1.0, 0.0), (0.0, -36.0), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="top", fontsize="small", color=FADED, gid="remark",
    )  # fmt: skip
