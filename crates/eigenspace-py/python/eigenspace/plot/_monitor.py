"""Monitoring of rows: the distance inside the subspace (T²) against the distance to it (Q)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from .._errors import counted, refusal
from ._figure import FADED, HALO, INK, VERMILION, axes, checked, settled
from ._labels import Labels, cloud, labels_of, legend
from ._name_placement import Names
from ._plot_source import Drawable, PlotSource

Floats = NDArray[np.float64]

NAMED = 8
"""At most this many of the rows beyond a limit are named."""
RIMMED = 60
"""Up to this many rows beyond a limit, all get a dark outline; otherwise only the named ones."""
WIDE = 100.0
"""The axis is logarithmic if the ratio of the largest to the smallest value is larger than this."""
DECADES = 6.0
"""A logarithmic axis has at most this many decades; smaller values are drawn at its low end."""


def monitor(
    model: Drawable,
    X: Any,
    confidence: float = 0.99,
    ax: Axes | None = None,
    *,
    labels: Any = None,
    names: Sequence[str] | None = None,
) -> Axes:
    """Draw T² against Q, with their limits; mark rows beyond a limit and name the farthest.

    For a standardized estimator, T² and Q are those of the standardized rows.

    Parameters
    ----------
    model : a fitted estimator, or a model, with fewer components than directions
    X : the rows
    confidence : the share of normally distributed rows that stay below each limit
    ax : the axes to draw into; a new figure by default
    labels : one label for each row, as in :func:`scatter`
    names : one name for each row; by default the row number, counted from 0

    Returns
    -------
    The axes.
    """
    source, ax = PlotSource(model), checked(ax)
    readings = np.column_stack(source.readings(X))
    limits = np.array(source.core.limits(confidence))
    classes = labels_of(labels, len(readings))
    if names is not None and len(names) != len(readings):
        words = f"expected {counted(len(readings), 'name')}, one for each row; found {len(names)}"
        raise refusal(words, "pass a name for each row of X, or omit names")
    if source.core.n_components == source.core.rank and source.core.certificate().is_exact:
        text = "every direction is a component, so Q is only rounding error: pass a smaller n_components"
        warnings.warn(text, UserWarning, stacklevel=2)

    own = ax is None
    ax = axes(ax)
    _scale(ax, "x", readings[:, 0], limits[0])
    _scale(ax, "y", readings[:, 1], limits[1])
    lifted = np.maximum(readings, [ax.get_xlim()[0], ax.get_ylim()[0]])
    cloud(ax, lifted, classes, own=own)
    _limits(ax, limits, confidence)
    ax.set_xlabel("T²")
    ax.set_ylabel("Q")
    excess = (readings / np.maximum(limits, 1e-290)).max(axis=1)
    beyond = np.flatnonzero((readings > limits).any(axis=1))
    beyond = beyond[np.argsort(-excess[beyond], kind="stable")]
    if len(beyond):
        _mark(ax, lifted[beyond], classes, beyond, len(readings), own=own)
        settled(ax, own=own)
        written = Names(ax)
        written.keep_clear(lifted)
        written.keep_clear_texts()
        worst = beyond[:NAMED]
        called = [f"row {row}" if names is None else str(names[row]) for row in worst]
        written.write(called, lifted[worst], np.tile([1.0, 0.15], (len(worst), 1)), INK)
    return ax


def _scale(ax: Axes, which: str, values: Floats, limit: float) -> None:
    """Set up a linear axis from 0, or a logarithmic axis if the values differ widely."""
    values = np.append(values[np.isfinite(values)], limit)
    positive = values[values > 0]
    high = float(positive.max(initial=0.0)) or 1.0
    if len(positive) and high > WIDE * positive.min():
        low = max(float(positive.min()), high / 10**DECADES)
        ax.set(**{f"{which}scale": "log", f"{which}lim": (low / 1.5, high * 2.0)})
    else:
        ax.set(**{f"{which}lim": (0.0, 1.1 * high)})


def _limits(ax: Axes, limits: Floats, confidence: float) -> None:
    """Draw the limits as dashed lines, labeled at the ends away from the named rows."""
    style: dict[str, Any] = {"color": FADED, "linestyle": "--", "linewidth": 1.0, "zorder": 1}
    text: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small", "color": FADED, "path_effects": HALO}
    level = f"limit {100 * confidence:g} %"
    ax.axvline(limits[0], label="_T² limit", **style)
    ax.axhline(limits[1], label="_Q limit", **style)
    across, up = ax.get_xaxis_transform(), ax.get_yaxis_transform()
    ax.annotate(f"T² {level}", (limits[0], 0.0), (-4, 4), xycoords=across, rotation=90, ha="right", va="bottom", **text)
    ax.annotate(f"Q {level}", (1.0, limits[1]), (-2, 3), xycoords=up, ha="right", va="bottom", **text)


def _mark(ax: Axes, places: Floats, classes: Labels, beyond: NDArray[np.intp], n: int, *, own: bool) -> None:
    """Outline the rows beyond a limit; if there are many, only the farthest, to keep them visible."""
    labeled = classes.values is not None or classes.names != [""]
    fill = "none" if labeled else VERMILION
    size = 26.0 if n > 500 else 44.0
    name = f"beyond: {len(beyond):,} of {n:,}"
    rimmed = places
    if len(beyond) > RIMMED:
        rimmed, size = places[:NAMED], 18.0
        if not labeled:
            ax.scatter(
                places[:, 0],
                places[:, 1],
                s=5.0,
                color=VERMILION,
                alpha=0.5,
                linewidths=0,
                rasterized=True,
                label="_beyond",
            )
    ax.scatter(
        rimmed[:, 0], rimmed[:, 1], s=size, facecolors=fill, edgecolors=INK, linewidths=1.0, label=name, zorder=3
    )
    if labeled and classes.names:
        legend(ax, classes.title, own=own)
    else:
        handles, names = ax.get_legend_handles_labels()
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)} if own else {"loc": "best"}
        ax.legend(handles[-1:], names[-1:], frameon=not own, **place)
