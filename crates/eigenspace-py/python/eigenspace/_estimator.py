"""Base class of both estimators: attributes, projection and reconstruction."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Certificate, EigenspaceError
from ._cuda import check_device, is_on_card
from ._errors import refusal, with_hint
from ._frames import check_columns, check_kinds
from ._interrupt import explained
from ._lock import lock_of
from ._metadata import described
from ._model import EigenspaceModel, warn_about_share
from ._rows import array_of, check_table, is_dask, truth_of, unmasked
from ._settings import components_of
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
    """Computes attributes when they are read, from the rows absorbed so far."""

    n_components: int | float | str | None
    whiten: bool
    missing: str = "refuse"
    device: str = "cpu"
    n_features_in_: int

    def _view(self) -> View:
        raise NotImplementedError

    def _not_fitted(self) -> NotFittedError:
        name = type(self).__name__
        error = NotFittedError(f"This {name} instance is not fitted yet: it has no rows. Call `fit` first.")
        return with_hint(error, "call fit, or continue from a model with IncrementalPCA.from_model")

    @property
    def components_(self) -> NDArray[Any]:
        """The components, one per row of the array; float32 if all rows were float32."""
        return self._view().components

    @property
    def explained_variance_(self) -> Floats:
        """The variance along each component."""
        return self._view().explained_variance

    @property
    def explained_variance_ratio_(self) -> Floats:
        """The share of the total variance along each component. The total is exact even after truncation."""
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
        """The divisor of each feature: its standard deviation if standardized, otherwise 1."""
        return self._view().scale

    @property
    def noise_variance_(self) -> float:
        """The average variance along the directions that are not components."""
        return self._view().noise_variance

    @property
    def n_components_(self) -> int:
        """The number of components."""
        return self._view().reported

    @property
    def model_(self) -> EigenspaceModel:
        """The model of the rows in their original units. It can be updated, merged, split and saved."""
        view = self._view()
        return EigenspaceModel._of(described(view.remembered, self._column_names(), standardize=view.standardize))

    def _column_names(self) -> list[str] | None:
        """Return the names of the fitted columns, or None."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @property
    def certificate_(self) -> Certificate:
        """Bounds on the error of the components; exact if nothing was dropped."""
        return self._view().whole.certificate()

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the scores of rows, an array of shape (n, n_components_).

        Scores of a Dask array or data frame are computed lazily and have its blocks, as are the results of all other
        methods that take rows or scores. Rows can also be an array of PyTorch or CuPy on a CUDA device, if the
        estimator has a `device`; their scores are a numpy array.
        """
        if is_dask(X):
            from .dask import scores_by

            lazy: NDArray[Any] = scores_by(self, X, self.n_components_)
            return lazy
        if is_on_card(X) and "device" in vars(self):
            check_device(self.device)
            return self._view().project_from_card(X, self.device, whiten=truth_of(self.whiten, "whiten"))
        few = self._scores_of_few(X)
        if few is not None:
            return few
        view = self._view()
        X = self._checked(X, reset=False)
        return view.project(X, whiten=truth_of(self.whiten, "whiten"), missing=self.missing, device=self.device)

    def left_singular_vectors(self, X: Any) -> NDArray[Any]:
        """Return U of the fitted rows: the centered rows are U diag(singular_values_) components_.

        The columns of U are orthonormal. For other rows, these are their scores divided by the singular values. If the
        estimator standardizes, so are the rows.
        """
        view = self._view()
        if is_dask(X):
            return self._of_blocks("left_singular_vectors", X, range(view.reported))
        X = self._checked(X, reset=False)
        return view.left_singular_vectors(X, self.missing)

    def _scores_of_few(self, X: Any) -> NDArray[Any] | None:
        """Return the scores of a few plain rows if they are known sooner than the components, otherwise None."""
        return None

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Reconstruct rows from their scores: an array of shape (n, n_features)."""
        view = self._view()
        if is_dask(X):
            return self._of_blocks("inverse_transform", X, self._column_names() or range(view.features))
        Z = array_of(X, "scores")
        if Z.shape[1] != view.reported:
            have = f"the scores have {Z.shape[1]} columns, but the model has {view.reported} components"
            raise refusal(f"cannot reconstruct rows: {have}", "pass scores as returned by transform")
        return view.reconstruct(Z, whiten=truth_of(self.whiten, "whiten"), device=self.device)

    def get_covariance(self) -> Floats:
        """Return the model's covariance of the features (of standardized rows if standardized)."""
        return self._view().covariance()

    def get_precision(self) -> Floats:
        """Return the inverse of the covariance."""
        return self._view().precision()

    def score_samples(self, X: Any) -> Floats:
        """Return the log-likelihood of each row under probabilistic PCA."""
        if is_dask(X):
            return self._of_blocks("_log_likelihood", X)
        return self._log_likelihood(X, least=1)

    def _log_likelihood(self, X: Any, least: int = 0) -> Floats:
        view = self._view()
        X = self._checked(X, reset=False, least=least)
        return view.log_likelihood(X, self.missing)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the average log-likelihood of the rows, for choosing the number of components."""
        if is_dask(X):
            from .dask import mean_of

            return mean_of(self.score_samples(X))
        return float(np.nanmean(self.score_samples(X)))  # skipped rows have NaN

    def hotelling(self, X: Any) -> Floats:
        """Return T² of each row (standardized if ``standardize`` is set): how unusual it is inside the subspace."""
        if is_dask(X):
            return self._of_blocks("hotelling", X)
        return self._view().readings(self._checked(X, reset=False), self.missing)[0]

    def squared_distance(self, X: Any) -> Floats:
        """Return Q of each row (standardized if ``standardize`` is set): its squared distance to the subspace."""
        if is_dask(X):
            return self._of_blocks("squared_distance", X)
        return self._view().readings(self._checked(X, reset=False), self.missing)[1]

    def limits(self, confidence: float = 0.99) -> tuple[float, float]:
        """Return a limit for T² and one for Q. If rows are normally distributed, a share ``confidence``
        of them stays below each limit.
        """
        return self._view().whole.limits(confidence)

    def _of_blocks(self, method: str, X: Any, columns: Sequence[Hashable] | None = None) -> NDArray[Any]:
        """Return what a method computes for a Dask array or data frame: lazily, and with its blocks."""
        from .dask import by_rows

        self._view()  # raises an error now if there is nothing to apply
        lazy: NDArray[Any] = by_rows(self, method, X, columns)
        return lazy

    def _of_dask(
        self, X: Any, sample_weight: Any, *, reset: bool = True, every: bool = False, **options: Any
    ) -> EigenspaceModel:
        """Return the model of a Dask array or data frame, whose blocks are absorbed where they are.

        If ``every``, it has all directions; the number of components is then only checked.
        """
        from .dask import empty_part, fit

        self._checked(empty_part(X), reset=reset)
        components = self._components(self.n_features_in_)
        model: EigenspaceModel = fit(X, None if every else components, weights=sample_weight, **options)
        return model

    def _checked(self, X: Any, *, reset: bool, least: int = 0) -> Any:
        """Validate rows and return them as an array."""
        plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float64, np.float32) and len(X) >= least
        if plain and not reset and X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
            return X  # the slow checks would find nothing to reject
        check_table(X)
        if reset:
            check_columns(X, unique=True)
        try:
            return array_of(validated(self, unmasked(X), reset=reset, least=least))
        except (TypeError, ValueError):
            check_kinds(X)
            raise

    def _warn_if_fewer(self, view: View) -> None:
        """Warn once per view if it has fewer components than requested, and give the reason."""
        asked = view.n_components
        if view.warned:
            return
        if isinstance(asked, float):
            view.warned = True
            warn_about_share(view.native.model() if view.standardize else view.raw, asked)
            return
        if asked is None or view.real >= asked:
            return
        view.warned = True
        rows = view.raw.count
        if rows == 1:
            why = "a single row has no variance; pass more rows"
        elif view.real == 0 and view.raw.certificate().is_exact:
            why = f"the {rows} rows are equal, apart from rounding"
        elif rows <= asked:
            why = f"{rows} rows vary in at most {_directions(rows - 1)}; pass more rows"
        elif view.raw.certificate().is_exact:
            why = f"the {rows} rows vary in only {_directions(view.real)}, apart from rounding"
        else:
            why = "no more directions were kept; certificate_ bounds the variance along the others"
        rest = view.reported - view.real
        last = f"{rest} rows of components_ have" if rest > 1 else "row of components_ has"
        others = f" The last {last} a variance of 0." if rest else ""
        warn(f"requested {asked} component{'s' if asked > 1 else ''}, found only {view.real}: {why}.{others}")

    def _check_flags(self) -> None:
        """Raise an error if a setting that is True or False is something else."""
        for name in ("whiten", "copy", "standardize"):
            truth_of(getattr(self, name), name)

    def _components(self, features: int) -> int | float | None:
        """Return the setting of n_components after checking it."""
        n_components = components_of(self.n_components)
        if isinstance(n_components, int) and n_components > features:
            words = f"invalid n_components={n_components}: expected at most the number of features, {features}"
            raise refusal(words, f"pass {features} or fewer, or None for all")
        return n_components

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Lock the estimator, and restore its state if the body raises, also after an interruption."""
        with lock_of(self):
            before = dict(self.__dict__)
            try:
                yield
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    explained(error)
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


def nothing_to_fit(n: int, missing: str = "refuse") -> EigenspaceError:
    """Return the exception for a fit in which every row was skipped."""
    if missing == "impute":
        words = f"cannot fit {n} rows: each has a weight of zero or no value in any cell"
        return refusal(words, "pass rows with a positive weight and a value in at least one cell")
    words = f"cannot fit {n} rows: each has a weight of zero or a missing cell"
    return refusal(words, "pass rows with a positive weight and without missing cells, or set missing='impute'")


def _directions(number: int) -> str:
    return f"{number} direction" if number == 1 else f"{number} directions"
