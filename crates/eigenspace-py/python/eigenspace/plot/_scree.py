"""How much of the variance each component explains: bars, and the running sum above them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ._figure import BLUE, INK, RULE, VERMILION, axes, checked
from ._subject import Drawable, Subject, at_least_one

BARS = 50
"""Components drawn, if more are kept."""
SINGLE_BARS = 300
"""More than this are drawn as one outline: single bars would be thinner than a line."""


def scree(model: Drawable, ax: Axes | None = None, n: int | None = None) -> Axes:
    """Shares of variance, one by one and together.

    Of a model that is not exact, the certificate's interval is drawn around each share.

    Parameters
    ----------
    model : a fitted estimator, or a model
    ax : the axes to draw into; a new figure by default
    n : components to draw, at most those that are kept; by default all of them up to 50, with a line behind
        those that are shown

    Returns
    -------
    The axes.
    """
    subject, n, ax = Subject(model), at_least_one(n, "n"), checked(ax)
    core = subject.core
    shown = core.n_components
    bars = min(core.rank, max(BARS, shown) if n is None else n)
    shares = core.with_components(bars).explained_variance_ratio()
    bars, sums = len(shares), np.cumsum(shares)
    numbers = np.arange(1, bars + 1)

    ax = axes(ax)
    if bars <= SINGLE_BARS:
        ax.bar(numbers, shares, width=0.76 if bars > 3 else 0.5, color=BLUE, label="component")
    else:
        ax.stairs(shares, np.arange(bars + 1) + 0.5, fill=True, color=BLUE, label="component")
    certificate = core.certificate()
    if not certificate.is_exact:
        bounds = np.clip(certificate.eigenvalue_bounds()[:bars] / core.feature_scatter().sum(), 0.0, 1.0)
        reach = np.maximum([shares - bounds[:, 0], bounds[:, 1] - shares], 0.0)  # rounding may put a share just outside
        name = "bounds of the certificate (not exact)"
        cap = float(np.clip(80 / bars, 0, 4))
        ax.errorbar(numbers, shares, yerr=reach, fmt="none", ecolor=INK, elinewidth=1.1, capsize=cap, label=name)
    dots = "o" if bars <= 40 else ""
    ax.plot(numbers, np.minimum(sums, 1.0), color=VERMILION, marker=dots, markersize=4.5, label="cumulative")
    if shown < bars:
        name = f"k = {shown}: {100 * sums[shown - 1]:.1f} %"
        ax.axvline(shown + 0.5, color=RULE, linestyle="--", linewidth=1.2, label=name)
    ax.set_xlim(0.5, bars + 0.5)
    ax.set_ylim(0.0, 1.02)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
    ax.set_xlabel("component")
    ax.set_ylabel("explained variance")
    middle = bars // 2
    if sums[middle] - shares[middle] > 0.4:  # room between the bars and the curve
        ax.legend(loc="center right", bbox_to_anchor=(1.0, float(sums[middle] + shares[middle]) / 2))
    else:
        ax.legend(loc="best")
    return ax
