"""What an incremental estimator has seen: the stream, and the view of it that was last asked for."""

from __future__ import annotations

from typing import Any

from ._core import Stream
from ._view import View


class Seen:
    """A stream with its settings. Pickling keeps all of its state: whoever goes on from it ends with the same bytes."""

    def __init__(self, stream: Stream, settings: dict[str, Any], narrow: bool) -> None:
        self.stream = stream
        self.settings = settings
        self.narrow = narrow
        self._views: dict[bool, View] = {}

    def view(self, standardize: bool) -> View:
        """The numbers of the model, computed once."""
        if standardize not in self._views:
            shown = self.settings["components"]
            if standardize:
                view = View(self.stream.model(), shown, standardize=True, narrow=self.narrow)
            else:
                whole = self.stream.model
                view = View(self.stream.shown(), shown, standardize=False, narrow=self.narrow, whole=whole)
            self._views[standardize] = view
        return self._views[standardize]

    def __getstate__(self) -> dict[str, Any]:
        return {"checkpoint": self.stream.checkpoint(), "settings": self.settings, "narrow": self.narrow}

    def __setstate__(self, state: dict[str, Any]) -> None:
        stream = Stream.restore(state["checkpoint"], state["settings"])
        self.__init__(stream, state["settings"], state["narrow"])  # type: ignore[misc]
