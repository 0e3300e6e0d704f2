"""A common interface of models and estimators for plots."""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

import numpy as np
from numpy.typing import NDArray

from .._core import View as NativeView
from .._errors import counted, refusal
from .._model import EigenspaceModel
from .._rows import ROWS, array_of
from .._view import View

if TYPE_CHECKING:
    from .._estimator import Estimator

Floats = NDArray[np.float64]
Drawable: TypeAlias = Union[EigenspaceModel, "Estimator"]

_AXES = "pass, for example, components=(0, 1)"


class PlotSource:
    """A model or an estimator to draw; standardized if the estimator is."""

    view: View | None

    def __init__(self, of: Drawable) -> None:
        if isinstance(of, EigenspaceModel):
            self.view, self.core, self.reported = None, of._core, of._core.n_components
            self.native = NativeView(self.core, standardize=False)
        elif is_estimator(of):
            self.view = of._view()
            self.core, self.reported = self.view.whole, int(of.n_components_)
            self.native = self.view.native
        else:
            what = of.__name__ if isinstance(of, type) else type(of).__name__
            words = f"cannot draw {what}: expected a fitted eigenspace estimator or a model"
            raise refusal(words, "fit one first, for example with EigenspaceModel.fit")
        self.of = of
        self.features = self.core.features
        if self.core.count == 0:
            raise refusal("cannot draw a model without rows", "add some with `update`")
        if self.core.rank == 0:
            raise refusal(
                "cannot draw a model without components: its rows do not vary", "fit it on rows that are not all equal"
            )

    @property
    def mean(self) -> Floats:
        """The mean row, in the original units."""
        return self.core.mean() if self.view is None else self.view.mean

    @property
    def directions(self) -> NDArray[Any]:
        """The components, one per row."""
        return self.core.basis()[: self.reported] if self.view is None else self.view.components

    @property
    def shares(self) -> Floats:
        """The explained variance ratio of each component."""
        return self.core.explained_variance_ratio() if self.view is None else self.view.explained_variance_ratio

    def rows(self, X: Any) -> Any:
        """Return the rows unchanged after checking their shape."""
        found = array_of(X).shape
        if found[1] != self.features:
            words = f"X has {counted(found[1], 'column')}, but the model has {counted(self.features, 'feature')}"
            raise refusal(words, "pass the columns that the model was fitted on")
        if found[0] == 0:
            raise refusal("X has no rows, expected at least 1", ROWS)
        return X

    def coordinates(self, X: Any) -> NDArray[Any]:
        """Return the scores of rows, as computed by the estimator or the model."""
        X = self.rows(X)
        scores: NDArray[Any] = self.of.project(X) if isinstance(self.of, EigenspaceModel) else self.of.transform(X)
        return scores

    def reconstruct(self, scores: NDArray[Any]) -> Floats:
        """Return the rows with these scores, with the scaling and whitening of the estimator."""
        of = self.of
        rows = of.reconstruct(scores) if isinstance(of, EigenspaceModel) else of.inverse_transform(scores)
        return np.asarray(rows, dtype=np.float64)

    def readings(self, X: Any) -> tuple[Floats, Floats]:
        """Return T² and Q of each row, standardized if the estimator is.

        Rows with missing cells are filled or set to NaN, depending on the estimator's ``missing``.
        """
        X = self.rows(X)
        return self.of.hotelling(X), self.of.squared_distance(X)

    def chosen(self, components: Sequence[int], numbers: tuple[int, ...]) -> list[int]:
        """Check the components for the axes: their number, and that each exists."""
        try:
            chosen = [operator.index(component) for component in components]
        except TypeError:
            words = f"invalid components={components!r}: expected indices of components"
            raise refusal(words, _AXES) from None
        if len(chosen) not in numbers:
            wanted = " or ".join(str(number) for number in numbers)
            what = f"expected {wanted} components, found {len(chosen)}"
            raise refusal(f"invalid components={components!r}: {what}", _AXES)
        for component in chosen:
            if not 0 <= component < self.reported:
                words = f"invalid component {component}: the model has {self.reported}, counted from 0"
                last = f"numbers from 0 to {self.reported - 1}" if self.reported > 1 else "only 0"
                raise refusal(words, f"pass {last}")
        return chosen

    def title(self, component: int) -> str:
        """Return the label of an axis. In texts, components are counted from 1."""
        return f"component {component + 1} ({100 * self.shares[component]:.1f} %)"

    def names(self, names: Sequence[str] | None) -> list[str]:
        """Return feature names: as given, of the fitted data frame, of the model file, or c0, c1, …"""
        if names is None:
            names = getattr(self.of, "feature_names_in_", None)
        elif isinstance(names, str):
            words = f"invalid names={names!r}: expected a list with a name for each feature"
            raise refusal(words, "pass, for example, names=['a', 'b'], or omit names")
        if names is None:
            names = self.of.feature_names if isinstance(self.of, EigenspaceModel) else None
        if names is None:
            return [f"c{j}" for j in range(self.features)]
        if len(names) != self.features:
            words = f"expected {counted(self.features, 'name')}, one for each feature; found {len(names)}"
            raise refusal(words, "pass a name for each feature, or omit names")
        return [str(name) for name in names]


def is_estimator(of: object) -> TypeGuard[Estimator]:
    """Return whether it is one of our estimators, without importing scikit-learn."""
    module = sys.modules.get("eigenspace._estimator")
    return module is not None and isinstance(of, module.Estimator)


def at_least_one(value: int | None, name: str) -> int | None:
    """Return an integer that is at least 1, or raise an error; None stays None."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise refusal(f"invalid {name}={value!r}: expected an integer", "pass 1 or more") from None
    if number < 1:
        raise refusal(f"invalid {name}={number}: expected at least 1", "pass 1 or more")
    return number
