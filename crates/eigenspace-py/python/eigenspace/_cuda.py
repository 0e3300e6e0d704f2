"""Rows in the memory of a CUDA device, and the libraries that come with other Python packages."""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import refusal

DEVICE_CELLS = 1 << 28
"""Cells that a card takes at a time (2 GiB) if the rows must be converted first."""

PLAIN_CELLS = 1 << 31
"""The same for rows that are read where they are; this takes less than a second."""

LIBRARIES = ("libcublas.so.*", "libcusolver.so.*")

MOVE = "move the rows, for example with X.cpu() (PyTorch) or cupy.asnumpy(X)"


def is_on_card(X: Any) -> bool:
    """Return whether X is an array of PyTorch, CuPy or another library in the memory of a CUDA device."""
    return hasattr(X, "__cuda_array_interface__")


def rows_at_a_time(X: Any) -> int:
    """Return the number of rows of the host that a card takes at a time."""
    plain = type(X) is np.ndarray and X.dtype in (np.float64, np.float32) and X.flags.c_contiguous
    return max(1, (PLAIN_CELLS if plain else DEVICE_CELLS) // max(int(X.shape[1]), 1))


def check_device(device: str) -> None:
    """Raise an error if an estimator without a CUDA device gets rows that are on one."""
    if device == "cpu":
        raise refusal("the rows are on a CUDA device, but device='cpu'", f"pass device='cuda', or {MOVE}")


def check_host(X: Any, name: str) -> None:
    """Raise an error if an array is on a CUDA device, where the CPU cannot read it."""
    if is_on_card(X):
        words = f"{name} is on a CUDA device, where only fit, partial_fit and transform of IncrementalPCA can read it"
        raise refusal(words, f"use IncrementalPCA(device='cuda'), or {MOVE}")


def rows_on_card(X: Any) -> tuple[int, int, int, bool]:
    """Return address, rows and columns of such an array, and whether it is float32."""
    described = X.__cuda_array_interface__
    shape, kind, strides = described["shape"], described["typestr"], described.get("strides")
    if len(shape) != 2:
        words = f"invalid X: expected 2 dimensions (one row per observation), found {len(shape)}"
        raise refusal(words, "pass a table with one row for each observation")
    if kind not in ("<f8", "<f4"):
        raise refusal(
            f"X has the type {kind} on the CUDA device, expected float64 or float32", "convert it on the device"
        )
    size = int(kind[2:])
    if strides is not None and tuple(strides) != (shape[1] * size, size) and shape[0] > 1:
        raise refusal(
            "X is not contiguous on the CUDA device", "pass X.contiguous() (PyTorch) or cupy.ascontiguousarray(X)"
        )
    return int(described["data"][0]), int(shape[0]), int(shape[1]), size == 4


@cache
def load_libraries() -> None:
    """Load cuBLAS and cuSOLVER from the packages nvidia-*, which the system does not search by itself."""
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found else ():
        for pattern in LIBRARIES:
            for path in sorted(Path(place).glob(f"*/lib/{pattern}")):
                try:
                    ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
                except OSError:
                    continue  # the native code reports what is missing
