"""Features as arrows: the biplot, and the circle of correlations.

The arrow of feature j has the coordinates √λᵢ Vᵢⱼ, its covariance with the scores along component i
scaled to unit variance. Divided by the standard deviation of the feature they are correlations, so
no arrow leaves the unit circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Circle
from numpy.typing import NDArray

from .._errors import refusal
from ._figure import BLUE, RULE, axes, checked, equal, remark, settled, zero_lines
from ._labels import cloud, labels_of
from ._name_placement import Names
from ._plot_source import Drawable, PlotSource, at_least_one

Floats = NDArray[np.float64]

ARROW = "#404040"


def biplot(
    model: Drawable,
    X: Any = None,
    names: Sequence[str] | None = None,
    labels: Any = None,
    components: Sequence[int] = (0, 1),
    ax: Axes | None = None,
    n: int | None = None,
) -> Axes:
    """Draw the scores of rows, with the features as arrows.

    All arrows are scaled by the same factor to fit the points; the factor is printed below the axes.

    Parameters
    ----------
    model : a fitted estimator, or a model
    X : the rows; without them only arrows are drawn
    names : names of the features; by default those of the fitted data frame, or of the model file
    labels : one label for each row, as in :func:`scatter`
    components : the two components to use as axes, counted from 0
    ax : the axes to draw into; a new figure by default
    n : draw only the n longest arrows; by default all. Without n, if there are more than 24 arrows,
        only the 12 longest are named

    Returns
    -------
    The axes.
    """
    source, ax, n = PlotSource(model), checked(ax), at_least_one(n, "n")
    chosen = source.chosen(components, (2,))
    called, arrows = source.names(names), source.native.loadings()[:, chosen]
    points = np.empty((0, 2)) if X is None else source.coordinates(X)[:, chosen].astype(np.float64)
    if X is None and labels is not None:
        raise refusal("cannot draw labels without rows", "pass X as well")
    classes = labels_of(labels, len(points))

    factor = 1.0 if X is None else _stretch(points, arrows)
    own = ax is None
    ax = axes(ax)
    if X is not None:
        cloud(ax, points, classes, own=own)
        remark(ax, f"arrows × {factor:.3g}")
    reach = np.vstack([1.15 * factor * arrows, np.zeros((1, 2))])
    ax.update_datalim(reach)
    ax.autoscale_view()
    _name_axes(ax, source, chosen)
    equal(ax)
    zero_lines(ax)
    settled(ax, own=own)
    _draw(ax, factor * arrows, called, ARROW, n, 12, points)
    return ax


def circle(
    model: Drawable,
    names: Sequence[str] | None = None,
    components: Sequence[int] = (0, 1),
    ax: Axes | None = None,
    n: int | None = None,
) -> Axes:
    """Draw the correlations of the features with two components.

    Parameters
    ----------
    model : a fitted estimator, or a model
    names : names of the features; by default those of the fitted data frame, or of the model file
    components : the two components to use as axes, counted from 0
    ax : the axes to draw into; a new figure by default
    n : draw only the n longest arrows; by default all. Without n, if there are more than 40 arrows,
        only the 20 longest are named

    Returns
    -------
    The axes.
    """
    source, ax, n = PlotSource(model), checked(ax), at_least_one(n, "n")
    chosen = source.chosen(components, (2,))
    called, arrows = source.names(names), source.native.correlations()[:, chosen]

    own = ax is None
    ax = axes(ax, (5.8, 5.8))
    ax.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    ticks = np.linspace(-1.0, 1.0, 5)
    ax.set(xticks=ticks, yticks=ticks)
    zero_lines(ax)
    ax.add_patch(Circle((0.0, 0.0), 1.0, fill=False, edgecolor=RULE, linewidth=1.2))
    _name_axes(ax, source, chosen)
    settled(ax, own=own)
    _draw(ax, arrows, called, BLUE, n, 20, np.empty((0, 2)))
    return ax


def _stretch(points: Floats, arrows: Floats) -> float:
    """Return the factor that makes the arrows fill four fifths of the range of the points."""
    room = np.nanmax(np.abs(points), axis=0, initial=0.0)
    reach = np.abs(arrows).max(axis=0)
    fits = (room > 0) & (reach > 0) & np.isfinite(room)
    return float(np.min(0.8 * room[fits] / reach[fits])) if fits.any() else 1.0


def _name_axes(ax: Axes, source: PlotSource, chosen: list[int]) -> None:
    ax.set_xlabel(source.title(chosen[0]))
    ax.set_ylabel(source.title(chosen[1]))


def _draw(ax: Axes, tips: Floats, called: list[str], color: str, n: int | None, named: int, points: Floats) -> None:
    """Draw arrows from the origin and name the longest; if there are many, the others are pale."""
    order = np.argsort(-np.hypot(*tips.T), kind="stable")[:n]
    named = len(order) if n is not None else named
    many = len(order) > 2 * named
    if many:
        _arrows(ax, tips[order[: named - 1 : -1]], _pale(color), zorder=0.5)
    _arrows(ax, tips[order[:named] if many else order], color, zorder=4)
    names = Names(ax)
    names.keep_clear(points)
    names.keep_clear(tips[order])
    for j in order:
        names.keep_clear_line(np.zeros(2), tips[j])
    if not many:
        named = len(order)
    ways = ax.transData.transform(tips) - ax.transData.transform(np.zeros(2))
    chosen = [j for j in order[:named] if np.hypot(*ways[j]) > 4 * names.unit]
    names.write([called[j] for j in chosen], tips[chosen].reshape(-1, 2), ways[chosen].reshape(-1, 2), color)


def _pale(color: str) -> str:
    red, green, blue = (0.35 * share + 0.65 for share in to_rgb(color))
    return to_hex((red, green, blue))


def _arrows(ax: Axes, tips: Floats, color: str, **style: Any) -> None:
    zeros = np.zeros(len(tips))
    form: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "inches", "width": 0.018}
    ax.quiver(zeros, zeros, tips[:, 0], tips[:, 1], color=color, **form, **style)
