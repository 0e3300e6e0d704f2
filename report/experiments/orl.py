"""The ORL faces, and what batch PCA says of them."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

PEOPLE, PICTURES = 40, 10
HEIGHT, WIDTH = 112, 92
K = 50
"""Components that the specification asks for."""


@functools.cache
def faces():
    """400 rows of 112 x 92 pixels, ten for each person, in the order of the files."""
    folder = os.environ.get("EIGENSPACE_ORL")
    if not folder:
        raise SystemExit("set EIGENSPACE_ORL to the folder that `cargo xtask orl` prints")
    files = [
        Path(folder) / f"s{person}" / f"{picture}.pgm"
        for person in range(1, PEOPLE + 1)
        for picture in range(1, PICTURES + 1)
    ]
    rows = np.stack([np.asarray(Image.open(file), dtype=np.float64).ravel() for file in files])
    rows.flags.writeable = False
    return rows


def available():
    """Whether the faces are there: a figure that shows some is otherwise left as it is."""
    return bool(os.environ.get("EIGENSPACE_ORL"))


def people():
    """Whose picture each row is."""
    return np.repeat(np.arange(PEOPLE), PICTURES)


@dataclass(frozen=True)
class Batch:
    """Batch PCA by LAPACK's full singular value decomposition."""

    mean: np.ndarray
    centered: np.ndarray
    s: np.ndarray
    v: np.ndarray

    @property
    def total(self):
        return float(np.square(self.s).sum())


def batch(rows):
    """The oracle of every experiment: shares no code with the library."""
    mean = rows.mean(axis=0)
    centered = rows - mean
    _, s, v = np.linalg.svd(centered, full_matrices=False)
    return Batch(mean, centered, s, v)


@functools.cache
def reference():
    """Of all the faces."""
    return batch(faces())


@functools.cache
def basis():
    """Orthonormal columns that span the rows of all the faces."""
    return np.linalg.qr(faces().T)[0]


@functools.cache
def coordinates():
    """The faces in coordinates of that basis: 400 x 400, all angles and lengths kept.

    What numpy has to say about rules of arithmetic is said here, where a decomposition is cheap.
    """
    return faces() @ basis()


def reduced(rows):
    """Batch PCA of some of the faces by way of those coordinates: the first components only."""
    small = batch(rows @ basis())
    return Batch(rows.mean(axis=0), small.centered, small.s, small.v[:K] @ basis().T)


def shuffled(seed):
    """An order of the rows."""
    return np.random.default_rng(seed).permutation(len(faces()))
