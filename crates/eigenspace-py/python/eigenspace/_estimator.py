"""What both estimators have in common: attributes, coordinates, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Certificate, EigenspaceError
from ._errors import refusal
from ._lock import lock_of
from ._model import EigenspaceModel, components_of
from ._note import note_of
from ._rows import array_of, unmasked
from ._sklearn import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    NotFittedError,
    TransformerMixin,
    validated,
)
from ._view import View
from ._warn import warn

Floats = NDArray[np.float64]


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Attributes are computed when they are asked for, from what has been seen so far."""

    n_components: int | float | str | None
    whiten: bool
    missing: str = "refuse"
    n_features_in_: int

    def _view(self) -> View:
        raise NotImplementedError

    def _not_fitted(self) -> NotFittedError:
        name = type(self).__name__
        return NotFittedError(f"This {name} instance is not fitted yet: it has not seen a row. Call `fit` first.")

    @property
    def components_(self) -> NDArray[Any]:
        """Directions of largest variance, one per row; float32 if all rows were."""
        return self._view().components

    @property
    def explained_variance_(self) -> Floats:
        """The variance along each component."""
        return self._view().explained_variance

    @property
    def explained_variance_ratio_(self) -> Floats:
        """The share of the total variance along each component; the total is exact whatever was truncated."""
        return self._view().explained_variance_ratio

    @property
    def singular_values_(self) -> Floats:
        """The singular values of the centered rows."""
        return self._view().singular_values

    @property
    def mean_(self) -> Floats:
        """The mean of each feature."""
        return self._view().mean

    @property
    def var_(self) -> Floats:
        """The variance of each feature (ddof = 0)."""
        return self._view().variance

    @property
    def scale_(self) -> Floats:
        """What each feature is divided by: its standard deviation when standardized, otherwise 1."""
        return self._view().scale

    @property
    def noise_variance_(self) -> float:
        """The average variance along the directions that are not shown."""
        return self._view().noise_variance

    @property
    def n_components_(self) -> int:
        """The number of components shown."""
        return self._view().shown

    @property
    def model_(self) -> EigenspaceModel:
        """All that is remembered of the rows, in their own units: it can be merged, split and saved."""
        view = self._view()
        names = getattr(self, "feature_names_in_", None)
        return EigenspaceModel._of(view.remembered, note_of(names, standardize=view.scaled is not None))

    @property
    def certificate_(self) -> Certificate:
        """How exact the components are."""
        return self._view().whole.certificate()

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> NDArray[Any]:
        """The coordinates of rows: (n, n_components_)."""
        view = self._view()
        X = self._checked(X, reset=False)
        return view.project(X, whiten=self.whiten, missing=self.missing)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The rows that have these coordinates: (n, n_features)."""
        view = self._view()
        Z = array_of(X, "the coordinates")
        if Z.shape[1] != view.shown:
            words = f"the coordinates have {Z.shape[1]} columns, there are {view.shown} components"
            raise refusal(words, "pass coordinates as transform gives them")
        return view.reconstruct(Z, whiten=self.whiten)

    def get_covariance(self) -> Floats:
        """The covariance of the features as the model knows it (of standardized rows, when standardized)."""
        return self._view().covariance()

    def get_precision(self) -> Floats:
        """The inverse of the covariance."""
        return self._view().precision()

    def score_samples(self, X: Any) -> Floats:
        """The log-likelihood of each row under probabilistic PCA."""
        view = self._view()
        X = self._checked(X, reset=False, least=1)
        return view.log_likelihood(X, self.missing)

    def score(self, X: Any, y: Any = None) -> float:
        """The average log-likelihood of the rows, for choosing the number of components."""
        return float(np.nanmean(self.score_samples(X)))  # rows that are skipped have none

    def hotelling(self, X: Any) -> Floats:
        """T² of each row: how unusual it is inside the subspace (of standardized rows, when standardized)."""
        return self._view().readings(self._checked(X, reset=False), self.missing)[0]

    def squared_distance(self, X: Any) -> Floats:
        """Q of each row: its squared distance to the subspace (of standardized rows, when standardized)."""
        return self._view().readings(self._checked(X, reset=False), self.missing)[1]

    def limits(self, confidence: float = 0.99) -> tuple[float, float]:
        """The limits of T² and Q that this share of good rows stays below."""
        return self._view().whole.limits(confidence)

    def _checked(self, X: Any, *, reset: bool, least: int = 0) -> Any:
        """A checked array of rows."""
        plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float64, np.float32) and len(X) >= least
        if plain and not reset and X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
            return X  # nothing that could be found wrong here
        return array_of(validated(self, unmasked(X), reset=reset, least=least))

    def _warn_if_fewer(self, view: View) -> None:
        """Says once of a view that it has fewer components than were asked for, and why."""
        asked = view.n_components
        if view.told or not isinstance(asked, int) or view.real >= asked:
            return
        view.told = True
        rows = view.raw.count
        if rows <= asked:
            why = f"{rows} rows vary in at most {max(rows - 1, 0)} directions; pass more rows"
        elif view.raw.certificate().is_exact:
            why = f"above rounding, the {rows} rows vary in no more directions"
        else:
            why = "no more directions were kept; certificate_ bounds what the others can hold"
        rest = view.shown - view.real
        others = f" The last {rest} of components_ have a variance of 0." if rest else ""
        warn(f"{asked} components were asked for and {view.real} came out: {why}.{others}")

    def _components(self, features: int) -> int | float | None:
        """The setting, once it is found good."""
        n_components = components_of(self.n_components)
        if isinstance(n_components, int) and n_components > features:
            words = f"n_components={n_components} is more than the {features} features of the rows"
            raise refusal(words, f"pass {features} or fewer, or None for all")
        return n_components

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """One thread at a time; whatever goes wrong inside, an interruption included, nothing has changed."""
        with lock_of(self):
            before = dict(self.__dict__)
            try:
                yield
            except BaseException:
                for name in self.__dict__.keys() - before.keys():
                    del self.__dict__[name]
                self.__dict__.update(before)
                raise

    def __sklearn_is_fitted__(self) -> bool:
        try:
            self._view()
        except NotFittedError:
            return False
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing in ("skip", "impute")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def nothing_to_fit(n: int) -> EigenspaceError:
    """For rows none of which takes part."""
    words = f"none of the {n} rows takes part: each has a weight of zero, or a missing cell"
    return refusal(words, "pass rows with a positive weight and without missing cells, or missing='impute'")
