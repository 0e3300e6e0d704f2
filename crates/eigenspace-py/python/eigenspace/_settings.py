"""Settings in the form that the native code expects."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._errors import refusal, with_hint
from ._rows import whole_of, word_of

LARGEST = sys.maxsize
"""Larger integers do not fit into those of the native code; this one is more than any number of directions."""


def components_of(n_components: Any) -> int | float | None:
    """Convert the setting for the native code; 1 is a number of components, 1.0 a ratio."""
    if n_components is None:
        return None
    if isinstance(n_components, (float, np.floating)):
        return float(n_components)
    try:
        return min(whole_of(n_components, "n_components"), LARGEST)
    except TypeError:
        what = "an integer, an explained variance ratio such as 0.95, or None"
        error = TypeError(f"invalid n_components={n_components!r}: expected {what}")
        mle = isinstance(n_components, str) and n_components == "mle"
        number = n_components if isinstance(n_components, str) and n_components.isdecimal() else 3
        example = f"pass a number, for example n_components={number}"
        hint = "use eigenspace.PCA, which supports 'mle'" if mle else example
        raise with_hint(error, hint) from None


def settings(
    components: int | float | None = None,
    max_rank: int | str | None = None,
    truncation: str | None = None,
    engine: str = "auto",
    forgetting: float | str | None = None,
    missing: str = "refuse",
    standardize: bool = False,
    weight_kind: str = "frequency",
    device: str = "cpu",
) -> dict[str, Any]:
    """Return the settings of a stream in the form that the native code expects."""
    rank = rank_of(max_rank)
    return {
        "components": components,
        "max_rank": None if rank is None else str(rank),
        "truncation": "none" if truncation is None else word_of(truncation, "truncation"),
        "engine": word_of(engine, "engine"),
        "block_rows": None,
        "forgetting": "never" if forgetting is None else str(forgetting),
        "missing": word_of(missing, "missing"),
        "centered": True,
        "standardize": standardize,
        "weight_kind": word_of(weight_kind, "weight_kind"),
        "device": word_of(device, "device"),
    }


def rank_of(max_rank: Any) -> int | str | None:
    """Check max_rank: an integer, 'all', or None for the default."""
    if max_rank is None:
        return None
    if isinstance(max_rank, str):
        if max_rank != "all":
            words = f"invalid max_rank={max_rank!r}: expected an integer, 'all' or None"
            raise refusal(words, "pass 'all' to drop nothing")
        return "all"
    return min(whole_of(max_rank, "max_rank"), LARGEST)
