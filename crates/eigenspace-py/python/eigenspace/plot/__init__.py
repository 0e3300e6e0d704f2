"""Plots of a model and of rows.

=======================  ==================================================================
:func:`scree`            explained variance ratios and their cumulative sum
:func:`scatter`          scores, colored by label; in 3-d with three components
:func:`components`       the mean and the components as images (eigenfaces)
:func:`reconstructions`  rows as images: original, reconstructions and their residuals
:func:`biplot`           scores, with the features as arrows
:func:`circle`           correlations of the features with two components
:func:`monitor`          T² against Q, with their limits
=======================  ==================================================================

The first argument of each function is a fitted estimator or an
:class:`~eigenspace.EigenspaceModel`. Each draws into the given axes or into a new figure, and
returns the axes. None of them calls ``show`` or changes a matplotlib setting.

>>> import numpy as np
>>> from eigenspace import PCA, plot
>>> pca = PCA().fit(np.random.default_rng(0).normal(size=(50, 4)))
>>> plot.scree(pca).figure.savefig("scree.png")  # doctest: +SKIP
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as _error:
    raise ImportError("eigenspace.plot needs matplotlib: pip install matplotlib") from _error

from ._biplot import biplot, circle
from ._images import components, reconstructions
from ._monitor import monitor
from ._scatter import scatter
from ._scree import scree

__all__ = ["biplot", "circle", "components", "monitor", "reconstructions", "scatter", "scree"]
