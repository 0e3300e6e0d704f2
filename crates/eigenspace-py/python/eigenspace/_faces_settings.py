"""Converts the settings of a recognizer to what the native code expects."""

from __future__ import annotations

from typing import Any

from ._errors import with_hint
from ._rows import whole_of, word_of
from ._settings import components_of

SETTINGS = ("n_components", "classifier", "metric", "unknown", "not_a_face", "accept", "seed", "pixels", "max_rank")


def settings_of(
    n_components: Any = 40,
    classifier: Any = "svm",
    metric: Any = "cosine",
    pixels: Any = "raw",
    unknown: Any = "learned",
    not_a_face: Any = "learned",
    accept: Any = 0.95,
    max_rank: Any = None,
    seed: Any = 0,
) -> dict[str, Any]:
    """Return the settings as the native code reads them."""
    return {
        "components": components_of(n_components),
        "classifier": word_of(classifier, "classifier"),
        "metric": word_of(metric, "metric"),
        "pixels": word_of(pixels, "pixels"),
        "unknown": _threshold(unknown, "unknown"),
        "not_a_face": _threshold(not_a_face, "not_a_face"),
        "accept": _number(accept, "accept"),
        "max_rank": None if max_rank is None else whole_of(max_rank, "max_rank"),
        "seed": whole_of(seed, "seed", least=0),
        "size": None,
        "depth": None,
        "resized": False,
    }


def _threshold(value: Any, name: str) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    return repr(_number(value, name))


def _number(value: Any, name: str) -> float:
    if isinstance(value, (bool, str)):
        raise with_hint(TypeError(f"invalid {name}={value!r}: expected a number"), f"omit {name} for the default")
    try:
        return float(value)
    except (TypeError, ValueError):
        error = TypeError(f"invalid {name}={value!r}: expected a number")
        raise with_hint(error, f"omit {name} for the default") from None
