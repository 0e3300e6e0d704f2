"""The ORL faces, one row per image."""

import functools
import os
from pathlib import Path

import numpy as np
from PIL import Image


@functools.cache
def faces():
    """Return 400 rows of 112 x 92 pixels, ten for each person, in order."""
    directory = os.environ.get("EIGENSPACE_ORL")
    if directory is None:
        raise RuntimeError("set EIGENSPACE_ORL to the directory that `cargo xtask orl` prints")
    files = [Path(directory) / f"s{person}" / f"{i}.pgm" for person in range(1, 41) for i in range(1, 11)]
    rows = np.stack([np.asarray(Image.open(file), dtype=np.float64).ravel() for file in files])
    rows.flags.writeable = False
    return rows
