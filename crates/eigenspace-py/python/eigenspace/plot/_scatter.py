"""Scatter plot of scores, colored by label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from ._figure import axes, checked, equal, settled, zero_lines
from ._labels import cloud, labels_of
from ._plot_source import Drawable, PlotSource


def scatter(
    model: Drawable, X: Any, labels: Any = None, components: Sequence[int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Draw the scores of rows, colored by label, with the same scale on both axes.

    More than 20,000 rows are drawn as the cells of a 2-d histogram, darker where there are more
    rows, unless there are more classes than colors.

    Parameters
    ----------
    model : a fitted estimator, or a model
    X : the rows
    labels : one label for each row. Strings, and integers with at most 20 different values, are
        classes; the 20 largest are colored and the others are gray. Other numbers are a continuous
        scale with a color bar. Rows without a label are gray.
    components : the two components to use as axes, counted from 0; three make a 3-d plot
    ax : the axes to draw into (with ``projection='3d'`` for three components); a new figure by default

    Returns
    -------
    The axes.
    """
    source = PlotSource(model)
    chosen = source.chosen(components, (2, 3))
    space = len(chosen) == 3
    ax = checked(ax, space=space)
    points = source.coordinates(X)[:, chosen]
    classes = labels_of(labels, len(points))

    own = ax is None
    ax = axes(ax, space=space)
    cloud(ax, points, classes, own=own)
    ax.set_xlabel(source.title(chosen[0]))
    ax.set_ylabel(source.title(chosen[1]))
    if space:
        ax.set_zlabel(source.title(chosen[2]))  # type: ignore[attr-defined]
    else:
        equal(ax)
        zero_lines(ax)
        settled(ax, own=own)
    return ax
