"""scikit-learn's base classes and validation, or replacements if it is not installed."""

from __future__ import annotations

from typing import Any

from ._errors import refusal, with_hint
from ._rows import NUMBERS, REAL, ROWS, TABLE, array_of, reshaped

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import validate_data
except ImportError:
    from ._sklearn_replacements import BaseEstimator, ClassNamePrefixFeaturesOutMixin, NotFittedError, TransformerMixin

    validate_data = None


COLUMNS = "pass the columns that the estimator was fitted on, in the same order"
ORDER = "reorder the columns: X[estimator.feature_names_in_]"


def _hint(words: str, reset: bool) -> str:
    """Return the hint for an error of scikit-learn."""
    if "omplex data" in words:
        return REAL
    if "all input features have string names" in words:
        return "convert all column names to strings"
    if "0 sample(s)" in words:
        return ROWS
    if "0 feature(s)" in words and reset:
        return "pass at least one column"
    if "got 1D array" in words or "with dim " in words:
        return reshaped("X", 1 if "got 1D array" in words else 3)
    if "Expected 2D array" in words:
        return TABLE
    if "must be in the same order" in words:
        return ORDER
    if "feature" in words and not reset:
        return COLUMNS
    return NUMBERS if "could not" in words else TABLE


def validated(estimator: Any, X: Any, *, reset: bool, least: int) -> Any:
    """Validate rows and return them as an array.

    Record the names and number of the features if ``reset``, otherwise compare them with those
    recorded. Values are not checked here: the native code checks whether they are finite.
    """
    if validate_data is not None:
        try:
            return validate_data(
                estimator, X, reset=reset, accept_sparse="csr", ensure_all_finite=False, ensure_min_samples=least
            )
        except OverflowError as error:
            raise refusal(f"X contains a value that is not a number: {error}", NUMBERS) from None
        except (TypeError, ValueError) as error:
            raise with_hint(error, _hint(str(error), reset)) from None
    names = [name for name in getattr(X, "columns", []) if isinstance(name, str)]
    X = array_of(X)
    if X.shape[0] < least:
        raise refusal(f"X has {X.shape[0]} rows, expected at least {least}", ROWS)
    if reset:
        if X.shape[1] == 0:
            raise refusal("X has no columns, expected at least 1", "pass at least one column")
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
        if len(names) == X.shape[1]:
            estimator.feature_names_in_ = names
    elif X.shape[1] != estimator.n_features_in_:
        words = f"X has {X.shape[1]} columns, but the model has {estimator.n_features_in_} features"
        raise refusal(words, COLUMNS)
    return X


__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "NotFittedError",
    "TransformerMixin",
    "validated",
]
