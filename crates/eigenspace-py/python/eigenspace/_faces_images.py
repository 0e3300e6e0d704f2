"""Images of people as a recognizer takes them: from files, or rows of pixels with names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import refusal, with_hint
from ._interrupt import LONG, interruptibly
from ._rows import array_of, is_sparse, rows_of
from ._warn import warn
from .datasets import Images, images_of, paths_of, size_of


def is_path(images: Any) -> bool:
    """Return whether images are given as a path or as several paths."""
    if isinstance(images, (str, os.PathLike)):
        return True
    return isinstance(images, (list, tuple)) and bool(images) and isinstance(images[0], (str, os.PathLike))


def read_people(images: Any, people: Any, names: Any, resize: Any) -> tuple[Images, bool]:
    """Return images of people, and whether they were resized."""
    if not is_path(images):
        not_resized(resize)
        given = given_images(images, people, names, None, None)
        return given, given.resized
    no_names(people, names)
    files, size = paths_of(images), size_of(resize)
    return images_of(interruptibly(lambda: _core.read_people(files, size), LONG), size), size is not None


def no_names(people: Any, names: Any) -> None:
    if people is not None or names is not None:
        error = TypeError("cannot use people and names with files: the directories name the people")
        raise with_hint(error, "leave out people and names")


def not_resized(resize: Any) -> None:
    """Raise an error if images that are in memory should be resized."""
    if resize is not None:
        error = TypeError("cannot resize images that are already in memory")
        raise with_hint(error, "resize them first, or pass files")


def warn_if_scaled(rows: NDArray[np.float64], depth: int | None) -> None:
    """Warn if pixels seem to be scaled, unlike those of a recognizer of images with this many bits."""
    if depth is None or rows.size == 0:
        return
    low, high = float(rows.min()), float(rows.max())
    if low < 0 or 0 < high <= 1:
        warn(
            f"the images have values from {low:g} to {high:g}, but the images of the recognizer have {depth} bits; "
            f"multiply by {2**depth - 1} if they are scaled"
        )


def given_images(
    images: Any, people: Any, names: Any, person: str | None, next_number: Any, features: int | None = None
) -> Images:
    """Return images that are in memory, with a person and a name each."""
    if people is not None and person is not None:
        raise with_hint(TypeError("cannot use people together with person"), "pass only one of them")
    if isinstance(images, Images):
        if people is None and person is None:
            people = images.people
        rows = images.rows
        names = images.names if names is None else names
    else:
        rows = pixels_of(images, features)
    n = rows.shape[0]
    if people is None:
        if person is None:
            error = TypeError("the people in the images are not known")
            raise with_hint(error, "pass people=[…], one name for each image")
        people = [person] * n
    if isinstance(people, str):
        error = TypeError(f"invalid people={people!r}: expected a name for each image, found one text")
        raise with_hint(error, f"pass a list of names; to enroll images of one person, pass person={people!r}")
    people = [str(one) if one is not None else None for one in people]
    if names is None:
        names = numbered(people, next_number)
    names = [str(name) for name in names]
    if isinstance(images, Images):
        return Images(rows, tuple(people), tuple(names), images.width, images.height, images.depth, images.resized)
    return Images(rows, tuple(people), tuple(names), 0, 0)


def numbered(people: Sequence[str | None], next_number: Any) -> list[str]:
    """Return a number for each image of a person, after the names that are taken."""
    numbers: dict[str | None, int] = {}
    names = []
    for person in people:
        if person not in numbers:
            numbers[person] = next_number(person) if next_number is not None and person is not None else 1
        names.append(str(numbers[person]))
        numbers[person] += 1
    return names


def people_in(images: Images) -> list[str]:
    """Return the person in each image; every image must have one."""
    for person, name in zip(images.people, images.names, strict=False):
        if person is None:
            words = f"cannot tell whose image `{name}` is: it is not in a person's directory"
            raise refusal(words, "pass people=[…], one name for each image")
    return [person for person in images.people if person is not None]


def shape_of(images: Images, resized: bool) -> dict[str, Any]:
    """Return the settings that describe the images."""
    size = (images.width, images.height) if images.width else None
    return {"size": size, "depth": images.depth, "resized": resized}


def pixels_of(images: Any, features: int | None = None) -> NDArray[np.float64]:
    """Return rows of pixels as the native code reads them, for a recognizer of this many pixels."""
    rows = array_of(images, "images")
    if features is not None and rows.shape[1] != features == rows.shape[0] * rows.shape[1]:
        words = f"invalid images: expected one row of {features} pixels for each image, found the shape {rows.shape}"
        raise refusal(words, "for a single image, pass images.reshape(1, -1)")
    if is_sparse(rows):
        rows = rows.toarray()
    return np.asarray(rows_of(rows), dtype=np.float64)
