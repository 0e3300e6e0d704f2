"""Every function that takes rows, for the tests of unusual input."""

import copy
import pickle

import numpy as np

from eigenspace import (
    PCA,
    EigenspaceModel,
    IncrementalPCA,
    InternalError,
    principal_angles,
    reconstruction_error,
    subspace_distance,
)

REFUSALS = (ValueError, TypeError, OSError, MemoryError)


def before(width):
    """Return rows that were added before the unusual ones."""
    return np.random.default_rng(width).normal(size=(3 * width + 4, width)) * 2 + 1


def fitted(width, **params):
    return IncrementalPCA(**params).fit(before(width))


def model(width):
    return EigenspaceModel.fit(before(width))


def numbers(estimator):
    """Return mean and scatter, which do not depend on the basis chosen for equal eigenvalues."""
    components = estimator.components_.astype(np.float64)
    return np.vstack([estimator.mean_, (components.T * estimator.singular_values_**2) @ components])


def of_model(found):
    scaled = found.basis * found.singular_values[:, None]
    return np.vstack([found.mean, scaled.T @ scaled])


def angles(X, plain):
    return np.sin(principal_angles(X, before(plain.shape[1])[:2]))


CALLS = {
    "PCA.fit": lambda X, plain: numbers(PCA().fit(X)),
    "PCA.fit_transform": lambda X, plain: np.abs(PCA(n_components=1).fit_transform(X)),
    "PCA.transform": lambda X, plain: PCA().fit(before(plain.shape[1])).transform(X),
    "IncrementalPCA.fit": lambda X, plain: numbers(IncrementalPCA().fit(X)),
    "IncrementalPCA.fit in batches": lambda X, plain: numbers(IncrementalPCA(batch_size=2).fit(X)),
    "IncrementalPCA.partial_fit": lambda X, plain: numbers(fitted(plain.shape[1]).partial_fit(X)),
    "IncrementalPCA.partial_fit first": lambda X, plain: numbers(IncrementalPCA().partial_fit(X)),
    "IncrementalPCA.partial_fit unchecked": lambda X, plain: numbers(
        fitted(plain.shape[1]).partial_fit(X, check_input=False)
    ),
    "IncrementalPCA.transform": lambda X, plain: fitted(plain.shape[1]).transform(X),
    "IncrementalPCA.transform whitened": lambda X, plain: fitted(plain.shape[1], whiten=True).transform(X),
    "IncrementalPCA.transform standardized": lambda X, plain: fitted(plain.shape[1], standardize=True).transform(X),
    "IncrementalPCA.inverse_transform": lambda X, plain: fitted(plain.shape[1]).inverse_transform(X),
    "IncrementalPCA.inverse_transform whitened": lambda X, plain: fitted(plain.shape[1], whiten=True).inverse_transform(
        X
    ),
    "IncrementalPCA.score_samples": lambda X, plain: fitted(plain.shape[1]).score_samples(X),
    "EigenspaceModel.fit": lambda X, plain: of_model(EigenspaceModel.fit(X)),
    "EigenspaceModel.update": lambda X, plain: of_model(model(plain.shape[1]).update(X)),
    "EigenspaceModel.remove": lambda X, plain: of_model(model(plain.shape[1]).update(plain).remove(X)),
    "EigenspaceModel.project": lambda X, plain: model(plain.shape[1]).project(X),
    "EigenspaceModel.reconstruct": lambda X, plain: model(plain.shape[1]).reconstruct(X),
    "EigenspaceModel.reconstruct whitened": lambda X, plain: model(plain.shape[1]).reconstruct(X, whiten=True),
    "EigenspaceModel.hotelling": lambda X, plain: model(plain.shape[1]).hotelling(X),
    "EigenspaceModel.squared_distance": lambda X, plain: model(plain.shape[1]).with_components(1).squared_distance(X),
    "EigenspaceModel.fill_missing": lambda X, plain: model(plain.shape[1]).fill_missing(X),
    "principal_angles": angles,
    "subspace_distance": lambda X, plain: subspace_distance(before(plain.shape[1])[:2], X),
    "reconstruction_error": lambda X, plain: reconstruction_error(X, model(plain.shape[1]).with_components(1)),
    "reconstruction_error of": lambda X, plain: reconstruction_error(plain + 1, X),
}
"""Each takes the unusual rows and a plain copy of them, and returns numbers."""

FITTING = [name for name in CALLS if ("fit" in name and "transform" not in name) or name.endswith(("rows", "update"))]
"""The functions that fit or update a model."""


def portrait(estimator):
    """Return the complete state of an estimator, and the result of a further update."""
    fields = {name: pickle.dumps(value) for name, value in vars(estimator).items()}
    if not hasattr(estimator, "components_"):
        return fields, repr(estimator)
    width = estimator.n_features_in_
    rows = before(width)[:3]
    after = b""
    if isinstance(estimator, IncrementalPCA):
        after = copy.deepcopy(estimator).partial_fit(rows).model_.to_bytes()
    return fields, repr(estimator), estimator.model_.to_bytes(), estimator.transform(rows).tobytes(), after


def refused(work, words=""):
    """Run a call that must raise an error, and return the error; an InternalError fails the test."""
    try:
        result = work()
    except InternalError as error:
        raise AssertionError(f"internal error: {error}") from error
    except REFUSALS as error:
        return error
    raise AssertionError(f"no error: {result!r}")
