"""PCA models that you can add rows to, merge, take apart again and trust, without the old data.

===========================  =========================================================================
:class:`IncrementalPCA`      scikit-learn's estimator, for rows that keep coming, in blocks of any size
:class:`PCA`                 the same for rows that are all there
:class:`EigenspaceModel`     what an estimator has learnt: add, merge, split, save
:func:`subspace_distance`    the sine of the largest angle between two subspaces
:mod:`eigenspace.plot`       pictures (needs matplotlib)
===========================  =========================================================================
"""

from importlib.metadata import version as _version

from ._batch import PCA
from ._core import (
    Certificate,
    EigenspaceError,
    FormatError,
    InternalError,
    NotAPartError,
    set_threads,
    threads,
)
from ._incremental import IncrementalPCA
from ._measures import principal_angles, reconstruction_error, subspace_distance
from ._model import EigenspaceModel

__version__ = _version("eigenspace")

__all__ = [
    "PCA",
    "Certificate",
    "EigenspaceError",
    "EigenspaceModel",
    "FormatError",
    "IncrementalPCA",
    "InternalError",
    "NotAPartError",
    "principal_angles",
    "reconstruction_error",
    "set_threads",
    "subspace_distance",
    "threads",
]
