"""Minimal replacements for scikit-learn's base classes, used if it is not installed."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


class NotFittedError(ValueError, AttributeError):
    """The estimator has not been fitted."""


class BaseEstimator:
    """Access to the parameters of the constructor by name."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> BaseEstimator:
        """Set parameters by name."""
        for name, value in params.items():
            if name not in self._names():
                words = f"invalid parameter `{name}` of {type(self).__name__}: expected one of {self._names()}"
                raise ValueError(words)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k].default]
        return f"{type(self).__name__}({', '.join(changed)})"


class TransformerMixin:
    """Fit and transform in one call."""

    fit: Any

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its scores."""
        return self.fit(X, y, **fit_params).transform(X)


class ClassNamePrefixFeaturesOutMixin:
    """Names of the scores."""

    _n_features_out: int

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the class name in lower case followed by a number, for each component."""
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)
