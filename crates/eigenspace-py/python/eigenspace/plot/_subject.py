"""What a picture asks of a model or an estimator, whichever it was given."""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

import numpy as np
from numpy.typing import NDArray

from .._core import EigenspaceError
from .._model import EigenspaceModel
from .._rows import array_of
from .._view import View

if TYPE_CHECKING:
    from .._estimator import Estimator

Floats = NDArray[np.float64]
Drawable: TypeAlias = Union[EigenspaceModel, "Estimator"]


class Subject:
    """The numbers of a model as it is looked at: standardized, if the estimator is."""

    view: View | None

    def __init__(self, of: Drawable) -> None:
        if isinstance(of, EigenspaceModel):
            self.view, self.core, self.shown = None, of._core, of._core.n_components
        elif is_estimator(of):
            self.view = of._view()
            self.core, self.shown = self.view.whole, int(of.n_components_)
        else:
            what = of.__name__ if isinstance(of, type) else type(of).__name__
            raise EigenspaceError(f"{what} cannot be drawn: expected a fitted estimator of eigenspace or a model")
        self.of = of
        self.features = self.core.features
        if self.core.count == 0:
            raise EigenspaceError("the model has no rows: add some with `update` before drawing it")
        if self.core.rank == 0:
            raise EigenspaceError("the rows of the model do not vary, so it has no components to draw")

    @property
    def mean(self) -> Floats:
        """The mean row, in its own units."""
        return self.core.mean() if self.view is None else self.view.mean

    @property
    def directions(self) -> NDArray[Any]:
        """The components, one per row."""
        return self.core.basis()[: self.shown] if self.view is None else self.view.components

    @property
    def shares(self) -> Floats:
        """The share of the variance of each component."""
        return self.core.explained_variance_ratio() if self.view is None else self.view.explained_variance_ratio

    def rows(self, X: Any) -> Any:
        """The rows as they came, once their form is found good."""
        found = array_of(X).shape
        if found[1] != self.features:
            raise EigenspaceError(f"X has {found[1]} columns, the model has {self.features} features")
        if found[0] == 0:
            raise EigenspaceError("X has no rows: there is nothing to draw")
        return X

    def coordinates(self, X: Any) -> NDArray[Any]:
        """The coordinates of rows, as the estimator or the model gives them."""
        coordinates: NDArray[Any] = self.of.transform(self.rows(X))
        return coordinates

    def readings(self, X: Any) -> tuple[Floats, Floats]:
        """T² and Q of each row, in the units of the model as it is looked at.

        Rows with missing cells are filled, or left out (not a number), by the estimator's policy for them.
        """
        X = self.rows(X)
        return self.of.hotelling(X), self.of.squared_distance(X)

    def chosen(self, components: Sequence[int], numbers: tuple[int, ...]) -> list[int]:
        """Components for the axes, as many as may be, each of which there is."""
        try:
            chosen = [operator.index(component) for component in components]
        except TypeError:
            raise EigenspaceError(f"components={components!r} must be numbers of components, such as (0, 1)") from None
        if len(chosen) not in numbers:
            wanted = " or ".join(str(number) for number in numbers)
            raise EigenspaceError(f"components={components!r} are {len(chosen)}, expected {wanted}, such as (0, 1)")
        for component in chosen:
            if not 0 <= component < self.shown:
                last = f"0 to {self.shown - 1}" if self.shown > 1 else "only 0"
                raise EigenspaceError(
                    f"component {component} does not exist: the model shows {self.shown}, counted from 0 ({last})"
                )
        return chosen

    def title(self, component: int) -> str:
        """What an axis is called: components are counted from 1 where people read them."""
        return f"component {component + 1} ({100 * self.shares[component]:.1f} %)"

    def names(self, names: Sequence[str] | None) -> list[str]:
        """The names of the features: given, of the data frame that was fitted, of the model file, or c0, c1, …"""
        if names is None:
            names = getattr(self.of, "feature_names_in_", None)
        elif isinstance(names, str):
            raise EigenspaceError(f"names={names!r} is one text, expected a list with a name for each feature")
        if names is None:
            names = self.of.feature_names if isinstance(self.of, EigenspaceModel) else None
        if names is None:
            return [f"c{j}" for j in range(self.features)]
        if len(names) != self.features:
            raise EigenspaceError(f"there are {len(names)} names for {self.features} features")
        return [str(name) for name in names]


def is_estimator(of: object) -> TypeGuard[Estimator]:
    """Whether it is an estimator of ours, without importing scikit-learn to find out that it is not."""
    module = sys.modules.get("eigenspace._estimator")
    return module is not None and isinstance(of, module.Estimator)


def at_least_one(value: int | None, name: str) -> int | None:
    """A whole number of things to draw."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise EigenspaceError(f"{name}={value!r} must be a whole number") from None
    if number < 1:
        raise EigenspaceError(f"{name}={number} must be at least 1")
    return number
