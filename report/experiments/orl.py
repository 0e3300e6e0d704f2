"""The ORL faces, and batch PCA of them."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

PEOPLE, IMAGES = 40, 10
HEIGHT, WIDTH = 112, 92
K = 50
"""The number of components in the specification."""


@functools.cache
def faces():
    """Return 400 rows of 112 x 92 pixels, ten for each person, in file order."""
    directory = os.environ.get("EIGENSPACE_ORL")
    if not directory:
        raise SystemExit("set EIGENSPACE_ORL to the directory that `cargo xtask orl` prints")
    files = [
        Path(directory) / f"s{person}" / f"{image}.pgm"
        for person in range(1, PEOPLE + 1)
        for image in range(1, IMAGES + 1)
    ]
    rows = np.stack([np.asarray(Image.open(file), dtype=np.float64).ravel() for file in files])
    rows.flags.writeable = False
    return rows


def available():
    """Return whether the faces are available; otherwise figures of faces are not redrawn."""
    return bool(os.environ.get("EIGENSPACE_ORL"))


def people():
    """Return the person of each row."""
    return np.repeat(np.arange(PEOPLE), IMAGES)


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
    """Compute the reference of every experiment, which shares no code with the library."""
    mean = rows.mean(axis=0)
    centered = rows - mean
    _, s, v = np.linalg.svd(centered, full_matrices=False)
    return Batch(mean, centered, s, v)


@functools.cache
def reference():
    """Return batch PCA of all faces."""
    return batch(faces())


@functools.cache
def basis():
    """Return orthonormal columns that span the rows of all faces."""
    return np.linalg.qr(faces().T)[0]


@functools.cache
def coordinates():
    """Return the faces in coordinates of that basis: 400 x 400, with all angles and lengths preserved.

    Experiments that use only numpy run on these coordinates, where a decomposition is cheap.
    """
    return faces() @ basis()


def reduced(rows):
    """Compute the leading components of some of the faces by batch PCA in these coordinates."""
    small = batch(rows @ basis())
    return Batch(rows.mean(axis=0), small.centered, small.s, small.v[:K] @ basis().T)


def shuffled(seed):
    """Return a random order of the rows."""
    return np.random.default_rng(seed).permutation(len(faces()))
