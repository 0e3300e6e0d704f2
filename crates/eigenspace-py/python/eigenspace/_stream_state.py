"""The state of a fitted incremental estimator: its stream, and a cache of the last view of it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ._core import Stream
from ._interrupt import READ_AT_MOST, decomposition, interruptibly, writing
from ._view import View


class StreamState:
    """A stream with its settings. A pickled copy that continues gives the same bytes as the original."""

    def __init__(self, stream: Stream, features: int, settings: dict[str, Any], narrow: bool) -> None:
        self.stream = stream
        self.features = features
        self.settings = settings
        self.narrow = narrow
        self._views: dict[bool, View] = {}

    def view(self, standardize: bool, *, once: bool = False) -> View:
        """Return the view of the model, computed once for each number of rows. ``once``: no more rows will come."""
        count = self.stream.count
        view = self._views.get(standardize)
        if view is None or view.raw.count != count:
            cost = decomposition(min(count, self.held), self.features)
            view = self._views[standardize] = interruptibly(lambda: self._read(standardize, once), cost)
        return view

    def scores_of_few(self, X: NDArray[Any]) -> NDArray[Any] | None:
        """Return the scores of a few dense rows if they are known sooner than the components, otherwise None."""
        count = self.stream.count
        view = self._views.get(False)
        if count == 0 or (view is not None and view.raw.count == count):
            return None
        cost = decomposition(min(count, self.held), self.features)
        return interruptibly(lambda: self.stream.project_few(X), cost)

    def _read(self, standardize: bool, once: bool) -> View:
        reported = self.settings["components"]
        if standardize:
            return View(self.stream.model(), reported, standardize=True, narrow=self.narrow)
        return View(self.stream.preview(once), reported, standardize=False, narrow=self.narrow, whole=self.stream.model)

    @property
    def held(self) -> int:
        """Approximate number of rows in a decomposition of the stream."""
        return max(READ_AT_MOST, self.settings["block_rows"] or 0)

    def __getstate__(self) -> dict[str, Any]:
        cost = writing(min(self.stream.count, self.held) * self.features)
        kept = {"features": self.features, "settings": self.settings, "narrow": self.narrow}
        return {"checkpoint": interruptibly(self.stream.checkpoint, cost), **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        checkpoint, settings = state["checkpoint"], state["settings"]
        stream = interruptibly(lambda: Stream.restore(checkpoint, settings), writing(len(checkpoint) // 8))
        self.__init__(stream, state["features"], settings, state["narrow"])  # type: ignore[misc]
