"""Scree plot: the explained variance ratio of each component as bars, and their cumulative sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from ._figure import BLUE, INK, RULE, VERMILION, axes, checked
from ._plot_source import Drawable, PlotSource, at_least_one

Floats = NDArray[np.float64]

BARS = 50
"""Number of components drawn by default if more are kept."""
SINGLE_BARS = 300
"""More bars than this are drawn as one outline: single bars would be thinner than a line."""


VALUES = 14
"""Up to this many bars are labeled with their values: more would not fit side by side."""


def scree(model: Drawable, ax: Axes | None = None, n: int | None = None) -> Axes:
    """Draw the explained variance ratios and their cumulative sum.

    If the model is not exact, the interval of the certificate is drawn around each ratio.

    Parameters
    ----------
    model : a fitted estimator, or a model
    ax : the axes to draw into; a new figure by default
    n : number of directions to draw, at most those that are kept; by default up to 50. A line
        separates the components from the other directions

    Returns
    -------
    The axes.
    """
    source, n, ax = PlotSource(model), at_least_one(n, "n"), checked(ax)
    core = source.core
    reported = core.n_components
    bars = min(core.rank, max(BARS, reported) if n is None else n)
    shares = core.with_components(bars).explained_variance_ratio()
    bars, sums = len(shares), np.cumsum(shares)
    numbers = np.arange(1, bars + 1)

    ax = axes(ax)
    if bars <= SINGLE_BARS:
        ax.bar(numbers, shares, width=0.76 if bars > 3 else 0.5, color=BLUE, label="component")
    else:
        ax.stairs(shares, np.arange(bars + 1) + 0.5, fill=True, color=BLUE, label="component")
    certificate = core.certificate()
    reach = np.zeros((2, bars))
    if not certificate.is_exact:
        bounds = np.clip(certificate.eigenvalue_bounds()[:bars] / core.feature_scatter().sum(), 0.0, 1.0)
        reach = np.maximum([shares - bounds[:, 0], bounds[:, 1] - shares], 0.0)  # rounding may put a ratio just outside
        name = "bounds of the certificate (not exact)"
        cap = float(np.clip(80 / bars, 0, 4))
        ax.errorbar(numbers, shares, yerr=reach, fmt="none", ecolor=INK, elinewidth=1.1, capsize=cap, label=name)
    dots = "o" if bars <= 40 else ""
    ax.plot(numbers, np.minimum(sums, 1.0), color=VERMILION, marker=dots, markersize=4.5, label="cumulative")
    if reported < bars:
        name = f"k = {reported}: {100 * sums[reported - 1]:.1f} %"
        ax.axvline(reported + 0.5, color=RULE, linestyle="--", linewidth=1.2, label=name)
    ax.set_xlim(0.5, bars + 0.5)
    ax.set_ylim(0.0, 1.02)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
    ax.set_xlabel("component")
    ax.set_ylabel("explained variance")
    if bars <= VALUES:
        _write_values(ax, shares, sums, reach)
    middle = bars // 2
    if sums[middle] - shares[middle] > 0.4:  # there is space between the bars and the curve
        ax.legend(loc="center right", bbox_to_anchor=(1.0, float(sums[middle] + shares[middle]) / 2))
    else:
        ax.legend(loc="best")
    return ax


def _write_values(ax: Axes, shares: Floats, sums: Floats, reach: Floats) -> None:
    """Write the ratio of each component above its bar, or inside it if the curve is in the way."""
    style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
    for i, share in enumerate(shares):
        text, above, below = f"{100 * share:.1f} %", share + reach[1][i], share - reach[0][i]
        if not share - 0.02 < sums[i] < above + 0.08 and above < 0.97:
            ax.annotate(text, (i + 1, above), (0, 3), va="bottom", color=INK, **style)
        elif below > 0.08:
            turn = 90 if len(shares) > 8 else 0  # narrow bars
            ax.annotate(text, (i + 1, below), (0, -6), va="top", color="white", rotation=turn, **style)
