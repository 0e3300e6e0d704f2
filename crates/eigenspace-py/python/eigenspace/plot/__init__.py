"""Pictures of a model, and of rows in it.

=======================  ==================================================================
:func:`scree`            shares of variance, one by one and together
:func:`scatter`          coordinates, colored by label; in space with three components
:func:`components`       the mean and the components as pictures (eigenfaces)
:func:`reconstructions`  rows as pictures: original, reconstructions and their residuals
:func:`biplot`           coordinates, and the columns as arrows
:func:`circle`           correlations of the columns with two components
:func:`monitor`          T² against Q, with their limits
=======================  ==================================================================

Each takes a fitted estimator or an :class:`~eigenspace.EigenspaceModel` first, draws into the axes that it is given
or into a new figure, and returns the axes. Nothing is shown and no setting of matplotlib's is changed.

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
from ._monitor import monitor
from ._pictures import components, reconstructions
from ._scatter import scatter
from ._scree import scree

__all__ = ["biplot", "circle", "components", "monitor", "reconstructions", "scatter", "scree"]
