"""Rows and components as pictures: the gallery of eigenfaces, and strips of reconstructions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from .._core import EigenspaceError
from .._rows import array_of, is_sparse
from ._figure import FADED, gallery
from ._subject import Drawable, Subject, at_least_one

Floats = NDArray[np.float64]

SIGNED = "RdBu_r"
"""Blue below zero, red above it."""
COLUMNS = 8
STRIPS = 20
"""More strips than this nobody looks at."""


def components(
    model: Drawable,
    shape: tuple[int, ...],
    n: int = 16,
    columns: int | None = None,
    figure: Figure | SubFigure | None = None,
) -> NDArray[Any]:
    """The mean and the components as pictures (eigenfaces).

    The mean is gray; components are blue below zero and red above it, each up to its own largest entry.

    Parameters
    ----------
    model : a fitted estimator, or a model
    shape : (height, width) of a picture; with three times as many features the pictures are in color
    n : pictures, the mean included, at most one for each component
    columns : pictures side by side; at most 8 by default
    figure : the figure, or part of one, to draw into; a new one by default

    Returns
    -------
    An array of axes, the mean's first.
    """
    subject = Subject(model)
    form = _form(shape, subject.features)
    tiles = min(at_least_one(n, "n") or 1, subject.shown + 1)
    across = min(at_least_one(columns, "columns") or COLUMNS, tiles)
    down = -(-tiles // across)

    width, height = _inches(form, 1.15)
    figure = gallery(figure, (across * (width + 0.12) + 0.2, down * (height + 0.32) + 0.15))
    grid = figure.add_gridspec(down, across)
    drawn = [figure.add_subplot(grid[divmod(i, across)]) for i in range(tiles)]
    for i, ax in enumerate(drawn):
        if i == 0:
            _gray(ax, subject.mean, form)
            caption = "mean"
        else:
            _signed(ax, subject.directions[i - 1], form)
            caption = f"{i} ({100 * subject.shares[i - 1]:.1f} %)"
        ax.set_xlabel(caption, fontsize="small", color=FADED, labelpad=3)
    return np.array(drawn, dtype=object)


def reconstructions(
    model: Drawable,
    X: Any,
    shape: tuple[int, ...],
    k: Sequence[int] | int = (5, 10, 20, 50),
    figure: Figure | SubFigure | None = None,
) -> NDArray[Any]:
    """Rows as pictures: original, reconstructions from the first k components, and what is left.

    Under each reconstruction stands its error, the root of the mean of the squared residuals.

    Parameters
    ----------
    model : a fitted estimator, or a model
    X : the rows, at most 20
    shape : (height, width) of a picture; with three times as many features the pictures are in color
    k : numbers of components; a number larger than those that are shown stands for all of them
    figure : the figure, or part of one, to draw into; a new one by default

    Returns
    -------
    An array of axes: [row, 0, 0] is the original, [row, 0, j] the reconstruction from the j-th number of components,
    [row, 1, j] its residual, and [row, 1, 0] the scale of the residuals' colors.
    """
    subject = Subject(model)
    form, steps = _form(shape, subject.features), _steps(k, subject.shown)
    rows = array_of(subject.rows(X))
    if rows.shape[0] > STRIPS:
        raise EigenspaceError(f"X has {rows.shape[0]} rows, at most {STRIPS} are drawn: choose some, such as X[:3]")
    rows = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    coordinates = subject.coordinates(X)
    again = [_first(subject, coordinates, step) for step in steps]

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


def _first(subject: Subject, coordinates: NDArray[Any], k: int) -> Floats:
    """The rows with these coordinates, those after the first k taken as 0: the estimator knows scale and whitening."""
    kept = coordinates.copy()
    kept[:, k:] = 0.0
    return np.asarray(subject.of.inverse_transform(kept), dtype=np.float64)


def _steps(k: Sequence[int] | int, shown: int) -> list[int]:
    try:
        wanted = [operator.index(step) for step in (k if isinstance(k, Iterable) else [k])]
    except TypeError:
        raise EigenspaceError(f"k={k!r} must be numbers of components, such as (5, 10, 20)") from None
    if not wanted or min(wanted) < 0:
        raise EigenspaceError(f"k={k!r} must be numbers of components from 0 on, such as (5, 10, 20)")
    return list(dict.fromkeys(min(step, shown) for step in wanted))


def _form(shape: tuple[int, ...], features: int) -> tuple[int, ...]:
    """(height, width), with 3 behind it for color."""
    try:
        form = tuple(operator.index(side) for side in shape)
    except TypeError:
        raise EigenspaceError(f"shape={shape!r} must be (height, width)") from None
    if len(form) == 2 and form[0] * form[1] * 3 == features:
        form = (*form, 3)
    good = len(form) == 2 or (len(form) == 3 and form[2] in (1, 3))
    if not good or min(form) < 1 or np.prod(form, dtype=object) != features:
        sides = " × ".join(str(side) for side in form)
        raise EigenspaceError(
            f"the model has {features} features, and pictures of {sides} do not: shape is (height, width), "
            "with as many pixels as features, or a third of them in color"
        )
    return form if form[-1] == 3 and len(form) == 3 else form[:2]


def _inches(form: tuple[int, ...], longest: float) -> tuple[float, float]:
    """A tile whose longer side has this length, and that is wide enough for its caption."""
    height, width = form[:2]
    factor = longest / max(height, width)
    return max(width * factor, 0.85), max(height * factor, 0.2)


def _bare(ax: Axes) -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _gray(
    ax: Axes, row: NDArray[Any], form: tuple[int, ...], low: float | None = None, high: float | None = None
) -> None:
    """Black for the lowest number, white for the highest."""
    low, high = float(row.min()) if low is None else low, float(row.max()) if high is None else high
    picture = row.reshape(form)
    if len(form) == 3:
        picture = np.clip((picture - low) / ((high - low) or 1.0), 0.0, 1.0)
    ax.imshow(picture, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
    _bare(ax)


def _signed(ax: Axes, row: NDArray[Any], form: tuple[int, ...], size: float | None = None) -> None:
    """Symmetric about zero: from blue over white to red, or about middle gray in color."""
    size = (float(np.abs(row).max()) if size is None else size) or 1.0
    picture = row.reshape(form)
    if len(form) == 3:
        picture = np.clip(0.5 + picture / (2 * size), 0.0, 1.0)
    ax.imshow(picture, cmap=SIGNED, vmin=-size, vmax=size, interpolation="nearest")
    _bare(ax)


def _color_scale(ax: Axes, size: float, *, colored: bool) -> None:
    """What the colors of residuals mean: a bar with its two ends and zero."""
    _bare(ax)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.text(0.5, 0.64, "residual", ha="center", va="bottom")
    bar = ax.inset_axes((0.1, 0.5, 0.8, 0.07))
    bar.imshow(np.linspace(-1, 1, 121)[None], cmap="gray" if colored else SIGNED, aspect="auto", extent=(-1, 1, 0, 1))
    written = f"{size:.3g}"
    bar.set(yticks=[], xticks=[-1, 0, 1], xticklabels=[f"−{written}", "0", f"+{written}"])
    bar.tick_params(axis="x", length=0, labelsize="small", labelcolor=FADED)
    bar.spines[:].set_visible(False)
