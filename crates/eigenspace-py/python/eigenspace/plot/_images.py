"""Rows and components as images: eigenfaces and reconstructions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from .._errors import refusal
from .._rows import array_of, is_sparse
from ._figure import FADED, gallery
from ._plot_source import Drawable, PlotSource, at_least_one

Floats = NDArray[np.float64]

SIGNED = "RdBu_r"
"""Blue below zero, red above it."""
COLUMNS = 8
STEPS = "pass, for example, k=(5, 10, 20)"
STRIPS = 20
"""Maximal number of rows in a plot of reconstructions."""


def components(
    model: Drawable,
    shape: tuple[int, ...],
    n: int = 16,
    columns: int | None = None,
    figure: Figure | SubFigure | None = None,
) -> NDArray[Any]:
    """Draw the mean and the components as images (eigenfaces).

    The mean is gray. Components are blue below zero and red above it; the color scale of each ends
    at its largest entry.

    Parameters
    ----------
    model : a fitted estimator, or a model
    shape : (height, width) of an image; with three times as many features the images are in color
    n : number of images including the mean; at most one for the mean and one for each component
    columns : number of images side by side; at most 8 by default
    figure : the figure or subfigure to draw into; a new one by default

    Returns
    -------
    An array of axes; the first is the mean.
    """
    source = PlotSource(model)
    form = _form(shape, source.features)
    tiles = min(at_least_one(n, "n") or 1, source.reported + 1)
    across = min(at_least_one(columns, "columns") or COLUMNS, tiles)
    down = -(-tiles // across)

    width, height = _inches(form, 1.15)
    figure = gallery(figure, (across * (width + 0.12) + 0.2, down * (height + 0.32) + 0.15))
    grid = figure.add_gridspec(down, across)
    drawn = [figure.add_subplot(grid[divmod(i, across)]) for i in range(tiles)]
    for i, ax in enumerate(drawn):
        if i == 0:
            _gray(ax, source.mean, form)
            caption = "mean"
        else:
            _signed(ax, source.directions[i - 1], form)
            caption = f"{i} ({100 * source.shares[i - 1]:.1f} %)"
        ax.set_xlabel(caption, fontsize="small", color=FADED, labelpad=3)
    return np.array(drawn, dtype=object)


def reconstructions(
    model: Drawable,
    X: Any,
    shape: tuple[int, ...],
    k: Sequence[int] | int = (5, 10, 20, 50),
    figure: Figure | SubFigure | None = None,
) -> NDArray[Any]:
    """Draw rows as images: original, reconstructions from the first k components, and residuals.

    The error below each reconstruction is the root mean square of its residuals.

    Parameters
    ----------
    model : a fitted estimator, or a model
    X : the rows, at most 20
    shape : (height, width) of an image; with three times as many features the images are in color
    k : numbers of components; a number larger than the model's stands for all components
    figure : the figure or subfigure to draw into; a new one by default

    Returns
    -------
    An array of axes: [row, 0, 0] is the original, [row, 0, j] the reconstruction from the j-th
    number of components, [row, 1, j] its residual, and [row, 1, 0] the color scale of the residuals.
    """
    source = PlotSource(model)
    form, steps = _form(shape, source.features), _steps(k, source.reported)
    rows = array_of(source.rows(X))
    if rows.shape[0] > STRIPS:
        words = f"X has {rows.shape[0]} rows, expected at most {STRIPS}"
        raise refusal(words, "pass a selection, for example X[:3]")
    rows = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    coordinates = source.coordinates(X)
    again = [_first(source, coordinates, step) for step in steps]

    width, height = _inches(form, 1.3)
    lines = 2 * len(rows)
    figure = gallery(figure, ((len(steps) + 1) * (width + 0.12) + 0.2, lines * (height + 0.2) + 0.3))
    grid = figure.add_gridspec(lines, len(steps) + 1)
    drawn = np.empty((len(rows), 2, len(steps) + 1), dtype=object)
    for place in np.ndindex(drawn.shape):
        drawn[place] = figure.add_subplot(grid[2 * place[0] + place[1], place[2]])
    for i, row in enumerate(rows):
        low, high = float(row.min()), float(row.max())
        residuals = [row - rebuilt[i] for rebuilt in again]
        size = max(float(np.abs(residual).max()) for residual in residuals)
        _gray(drawn[i, 0, 0], row, form, low, high)
        for j, residual in enumerate(residuals, 1):
            _gray(drawn[i, 0, j], again[j - 1][i], form, low, high)
            error = f"rmse {np.sqrt(np.mean(np.square(residual))):.3g}"
            drawn[i, 0, j].set_xlabel(error, fontsize="small", color=FADED, labelpad=3)
            _signed(drawn[i, 1, j], residual, form, size)
        _color_scale(drawn[i, 1, 0], size, colored=len(form) == 3)
    for ax, heading in zip(drawn[0, 0], ["original", *(f"k = {step}" for step in steps)], strict=True):
        ax.set_title(heading, fontsize="medium")
    return drawn


def _first(source: PlotSource, coordinates: NDArray[Any], k: int) -> Floats:
    """Reconstruct rows from their first k scores."""
    kept = coordinates.copy()
    kept[:, k:] = 0.0
    return source.reconstruct(kept)


def _steps(k: Sequence[int] | int, reported: int) -> list[int]:
    try:
        wanted = [operator.index(step) for step in (k if isinstance(k, Iterable) else [k])]
    except TypeError:
        raise refusal(f"invalid k={k!r}: expected numbers of components", STEPS) from None
    if not wanted or min(wanted) < 0:
        raise refusal(f"invalid k={k!r}: expected numbers of components >= 0", STEPS)
    return list(dict.fromkeys(min(step, reported) for step in wanted))


def _form(shape: tuple[int, ...], features: int) -> tuple[int, ...]:
    """Return (height, width), or (height, width, 3) for color images."""
    try:
        form = tuple(operator.index(side) for side in shape)
    except TypeError:
        words = f"invalid shape={shape!r}: expected (height, width)"
        raise refusal(words, "pass, for example, shape=(112, 92)") from None
    if len(form) == 2 and form[0] * form[1] * 3 == features:
        form = (*form, 3)
    good = len(form) == 2 or (len(form) == 3 and form[2] in (1, 3))
    if not good or min(form) < 1 or np.prod(form, dtype=object) != features:
        sides = " × ".join(str(side) for side in form)
        raise refusal(
            f"invalid shape of {sides}: the model has {features} features",
            "pass (height, width) with as many pixels as features, or a third of that for color images",
        )
    return form if form[-1] == 3 and len(form) == 3 else form[:2]


def _inches(form: tuple[int, ...], longest: float) -> tuple[float, float]:
    """Return the size of a tile with this longer side, but wide enough for its caption."""
    height, width = form[:2]
    factor = longest / max(height, width)
    return max(width * factor, 0.85), max(height * factor, 0.2)


def _bare(ax: Axes) -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _gray(
    ax: Axes, row: NDArray[Any], form: tuple[int, ...], low: float | None = None, high: float | None = None
) -> None:
    """Draw an image from black for the lowest value to white for the highest."""
    low, high = float(row.min()) if low is None else low, float(row.max()) if high is None else high
    image = row.reshape(form)
    if len(form) == 3:
        image = np.clip((image - low) / ((high - low) or 1.0), 0.0, 1.0)
    ax.imshow(image, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
    _bare(ax)


def _signed(ax: Axes, row: NDArray[Any], form: tuple[int, ...], size: float | None = None) -> None:
    """Draw a signed image: blue, white at zero, red; color images are mid-gray at zero."""
    size = (float(np.abs(row).max()) if size is None else size) or 1.0
    image = row.reshape(form)
    if len(form) == 3:
        image = np.clip(0.5 + image / (2 * size), 0.0, 1.0)
    ax.imshow(image, cmap=SIGNED, vmin=-size, vmax=size, interpolation="nearest")
    _bare(ax)


def _color_scale(ax: Axes, size: float, *, colored: bool) -> None:
    """Draw the color scale of the residuals: a bar labeled at zero and at both ends."""
    _bare(ax)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.text(0.5, 0.64, "residual", ha="center", va="bottom")
    bar = ax.inset_axes((0.1, 0.5, 0.8, 0.07))
    bar.imshow(np.linspace(-1, 1, 121)[None], cmap="gray" if colored else SIGNED, aspect="auto", extent=(-1, 1, 0, 1))
    written = f"{size:.3g}"
    bar.set(yticks=[], xticks=[-1, 0, 1], xticklabels=[f"−{written}", "0", f"+{written}"])
    bar.tick_params(axis="x", length=0, labelsize="small", labelcolor=FADED)
    bar.spines[:].set_visible(False)
