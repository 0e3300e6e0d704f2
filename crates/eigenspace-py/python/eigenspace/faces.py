"""Eigenfaces: a recognizer that enrolls and forgets people without retraining.

==================================  ==============================================================
:func:`train`                       train a recognizer on images of people
:func:`load`                        read a recognizer file, including one written by the command
:class:`Recognizer`                 recognize, enroll, forget, save
:func:`evaluate`                    accuracy on images that were not used for training
:class:`Recognition`                what was found in an image: a person, or a reason why not
:class:`Candidate`                  a person who may be in an image
:class:`Match`                      an enrolled image that is near an image
:class:`Evaluation`                 the result of :func:`evaluate` for one setting
:class:`Rates`                      results with strangers
:class:`Rate`                       a share of tests, with a confidence interval
:class:`Step`                       a step of the protocol ``incremental``
==================================  ==============================================================

Images are given as a directory with a subdirectory for each person, as
:class:`eigenspace.datasets.Images`, or as rows of pixels together with ``people``.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Recognizer as Native
from ._errors import counted, refusal, with_hint
from ._faces_images import (
    given_images,
    is_path,
    no_names,
    not_resized,
    people_in,
    pixels_of,
    read_people,
    shape_of,
    warn_if_scaled,
)
from ._faces_results import Candidate, Evaluation, Match, Rate, Rates, Recognition, Step
from ._faces_settings import SETTINGS, settings_of
from ._interrupt import LONG, interruptibly
from ._model import EigenspaceModel
from ._rows import whole_of, word_of
from .datasets import Images, images_of, paths_of, size_of

__all__ = [
    "Candidate",
    "Evaluation",
    "Match",
    "Rate",
    "Rates",
    "Recognition",
    "Recognizer",
    "Step",
    "evaluate",
    "load",
    "train",
]


class Recognizer:
    """A model of faces and the people in it. Get one from :func:`train` or :func:`load`.

    A recognizer is immutable: :meth:`enroll` and :meth:`forget` return a new one. Unless
    ``max_rank`` was set, it equals a recognizer trained from scratch on the images that it then
    contains. It can be pickled, and :meth:`save` writes the file that the command ``eigenspace
    faces`` reads.

    A recognizer contains the enrolled images: anyone who has it can reconstruct them.
    """

    __slots__ = ("_core",)
    __hash__ = None  # type: ignore[assignment]
    _core: Native

    def __init__(self) -> None:
        error = TypeError("cannot create a recognizer without images")
        raise with_hint(error, "use eigenspace.faces.train or eigenspace.faces.load")

    @classmethod
    def _of(cls, core: Native) -> Recognizer:
        recognizer = cls.__new__(cls)
        recognizer._core = core
        return recognizer

    @classmethod
    def load(cls, path: Any) -> Recognizer:
        """Read a recognizer file."""
        return cls._of(Native.load(os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Recognizer:
        """Read a recognizer from the bytes of its file."""
        return cls._of(Native.from_bytes(data))

    def save(self, path: Any) -> None:
        """Write the recognizer file, completely or not at all."""
        self._core.save(os.fspath(path))

    def to_bytes(self) -> bytes:
        """Return the bytes of the recognizer file."""
        return self._core.to_bytes()

    def recognize(self, images: Any, *, resize: tuple[int, int] | None = None, matches: int = 3) -> list[Recognition]:
        """Recognize the people in images. Pass many images at once: every call trains the classifier.

        Parameters
        ----------
        images : files and directories, :class:`eigenspace.datasets.Images`, or rows of pixels
        resize : (width, height) that images from files are resized to
        matches : number of nearest enrolled images to return for each image, up to 10
        """
        listed = whole_of(matches, "matches", least=0)
        if listed > 10:
            raise refusal(f"invalid matches={listed}: expected at most 10", "pass a number from 0 to 10")
        if is_path(images):
            files, size = paths_of(images), size_of(resize)
            read = interruptibly(lambda: _core.read_images(files, size, self._core), LONG)
            rows = images_of(read, size).rows
        else:
            not_resized(resize)
            rows = images.rows if isinstance(images, Images) else self._pixels(images)
        return [
            Recognition(
                person,
                verdict,
                distance,
                face_distance,
                tuple(Candidate(*candidate) for candidate in candidates),
                tuple(Match(*match) for match in near),
            )
            for verdict, person, distance, face_distance, candidates, near in interruptibly(
                lambda: self._core.recognize(rows, listed), LONG
            )
        ]

    def enroll(
        self,
        images: Any,
        people: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        *,
        person: str | None = None,
        resize: tuple[int, int] | None = None,
    ) -> Recognizer:
        """Add images of new or known people, without the old images, and return the new recognizer.

        Parameters
        ----------
        images : files and directories, :class:`eigenspace.datasets.Images`, or rows of pixels
        people : the person in each row of pixels
        names : the name of each row of pixels, different for each image of a person
        person : the person in all of these images
        resize : (width, height) that images from files are resized to
        """
        if person is not None:
            person = word_of(person, "person", "s1")
        if is_path(images):
            no_names(people, names)
            files, size = paths_of(images), size_of(resize)
            read = interruptibly(lambda: _core.read_more(files, self._core, person, size), LONG)
            given = images_of(read, size)
        else:
            not_resized(resize)
            given = given_images(images, people, names, person, self._next_number, self._core.features)
            if not isinstance(images, Images):
                warn_if_scaled(given.rows, self._core.settings["depth"])
        rows, owners, titles = given.rows, people_in(given), list(given.names)
        return self._of(interruptibly(lambda: self._core.enroll(rows, owners, titles), LONG))

    def forget(self, person: str, image: str | None = None) -> Recognizer:
        """Return the recognizer as if it had never seen a person, or one image of a person."""
        word_of(person, "person", "s1")
        if image is not None:
            word_of(image, "image", "1.pgm")
        return self._of(interruptibly(lambda: self._core.forget(person, image), LONG))

    def with_settings(self, **settings: Any) -> Recognizer:
        """Change settings of :func:`train` other than ``pixels`` and ``max_rank``, and return the new recognizer."""
        current = self._core.settings
        fixed = {name: current[name] for name in ("pixels", "max_rank", "size", "depth", "resized")}
        for name in settings:
            if name in fixed or name not in SETTINGS:
                known = ", ".join(name for name in SETTINGS if name not in fixed)
                raise with_hint(TypeError(f"cannot change the setting {name!r}"), f"choose one of: {known}")
        kept = {name: self.settings[name] for name in SETTINGS if name not in fixed}
        return self._of(self._core.with_settings({**settings_of(**{**kept, **settings}), **fixed}))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, by the names of the arguments of :func:`train`."""
        settings = dict(self._core.settings)
        settings["n_components"] = settings.pop("components")
        return settings

    @property
    def people(self) -> list[str]:
        """The people, in the order of their names."""
        return self._core.people

    @property
    def images(self) -> list[tuple[str, str]]:
        """Person and name of every enrolled image, in order."""
        return self._core.images

    @property
    def model(self) -> EigenspaceModel:
        """The model of all enrolled images."""
        return EigenspaceModel._of(self._core.model())

    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores of every enrolled image in all directions of the model, in the order of ``images``."""
        return self._core.scores()

    @property
    def thresholds(self) -> dict[str, float | None]:
        """The distances in use: a face beyond ``unknown`` is unknown, an image beyond ``not_a_face`` is not a face."""
        unknown, not_a_face = interruptibly(self._core.thresholds, LONG)
        return {"unknown": unknown, "not_a_face": not_a_face}

    @property
    def strangers_accepted(self) -> float | None:
        """The estimated share of strangers that the thresholds accept; None for fewer than three people."""
        return interruptibly(self._core.strangers_accepted, LONG)

    @property
    def worst_distance(self) -> float:
        """Upper bound on the distance between an enrolled image and its reconstruction; 0 if nothing was dropped."""
        return self._core.worst_distance

    def image(self, person: str, image: str) -> NDArray[np.float64]:
        """Return an enrolled image, reconstructed from its scores."""
        return self._core.image(word_of(person, "person", "s1"), word_of(image, "image", "1.pgm"))

    def _pixels(self, images: Any) -> NDArray[np.float64]:
        """Return rows of pixels that are in memory, with a warning if they seem to be scaled."""
        rows = pixels_of(images, self._core.features)
        warn_if_scaled(rows, self._core.settings["depth"])
        return rows

    def _next_number(self, person: str) -> int:
        """Return the number after the largest one among the names of a person's images."""
        return 1 + max((int(name) for owner, name in self.images if owner == person and name.isdecimal()), default=0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recognizer) and self._core == other._core

    def __reduce__(self) -> tuple[Any, ...]:
        return Recognizer.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        settings, people = self._core.settings, len(self.people)
        return (
            f"Recognizer({people} {'person' if people == 1 else 'people'}, {counted(len(self.images), 'image')}, "
            f"{settings['classifier']}, {settings['metric']})"
        )


def train(
    images: Any,
    people: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    *,
    n_components: int | float | None = 40,
    classifier: str = "svm",
    metric: str = "cosine",
    pixels: str = "raw",
    unknown: float | str | None = "learned",
    not_a_face: float | str | None = "learned",
    accept: float = 0.95,
    max_rank: int | None = None,
    seed: int = 0,
    resize: tuple[int, int] | None = None,
) -> Recognizer:
    """Train a recognizer on images of people.

    Parameters
    ----------
    images : a directory with a subdirectory of images for each person (or several of them),
        :class:`eigenspace.datasets.Images`, or rows of pixels
    people : the person in each row of pixels
    names : the name of each row of pixels, different for each image of a person; by default they
        are numbered
    n_components : number of components, a share of variance such as 0.95, or None for all
    classifier : 'knn', 'knn:3', 'centroid', 'subspace', 'svm', 'svm:10' (C), 'svm-rbf',
        'svm-rbf:10,0.5' (C, γ), 'perceptron', 'perceptron:50' (epochs) or 'perceptron:50,3' (epochs, margin)
    metric : 'euclidean', 'cosine', 'mahalanobis' or 'mahalanobis-cosine'
    pixels : 'raw', or 'standardized' to mean 0 and deviation 1 in each image
    unknown : distance to the nearest person beyond which a face is unknown: a number, 'learned', or None for never
    not_a_face : distance to face space beyond which an image is not a face: a number, 'learned', or None for never
    accept : share of new images of known people that learned thresholds accept
    max_rank : number of directions to keep; by default all, so that enrolling and forgetting stay exact
    seed : seed for the order of images in the training of the perceptron
    resize : (width, height) that images from files are resized to
    """
    given, resized = read_people(images, people, names, resize)
    settings = settings_of(n_components, classifier, metric, pixels, unknown, not_a_face, accept, max_rank, seed)
    settings |= shape_of(given, resized)
    rows, owners, titles = given.rows, people_in(given), list(given.names)
    return Recognizer._of(interruptibly(lambda: Native.train(rows, owners, titles, settings), LONG))


def load(path: Any) -> Recognizer:
    """Read a recognizer file, including one written by the command."""
    return Recognizer.load(path)


def evaluate(
    images: Any,
    people: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    *,
    protocol: str = "random-5",
    classifier: str | Iterable[str] = ("knn", "centroid", "subspace", "svm", "svm-rbf", "perceptron"),
    metric: str | Iterable[str] = "cosine",
    n_components: Any = 40,
    pixels: str = "raw",
    repeats: int = 10,
    seed: int = 0,
    accept: float = 0.95,
    resize: tuple[int, int] | None = None,
) -> list[Evaluation]:
    """Measure recognition accuracy on images that were not used for training.

    Parameters
    ----------
    images, people, names, pixels, accept, resize : as for :func:`train`
    protocol : 'first-N' (train on the first N images of each person), 'random-N' (on N random
        images), 'leave-one-out', or 'incremental' (enroll people one by one)
    classifier, metric, n_components : a setting, or several; every combination is evaluated
    repeats : number of times to run a random protocol
    seed : seed for the random splits and for the perceptron
    """
    word_of(protocol, "protocol")
    given, resized = read_people(images, people, names, resize)
    times = whole_of(repeats, "repeats")
    combinations = list(itertools.product(_several(n_components), _several(metric), _several(classifier)))
    if not combinations:
        raise refusal("no setting was given", "pass at least one classifier, one metric and one number of components")
    settings = [
        settings_of(k, c, m, pixels, accept=accept, seed=seed) | shape_of(given, resized) for k, m, c in combinations
    ]
    rows, owners, titles = given.rows, people_in(given), list(given.names)
    results = interruptibly(
        lambda: _core.evaluate_faces(rows, owners, titles, protocol, settings, times, settings[0]["seed"]), LONG
    )
    return [
        Evaluation(
            protocol,
            c,
            m,
            k,
            result["accuracy"],
            result["deviation"],
            result["tested"],
            result["correct"],
            tuple(result["ranks"]),
            tuple(result["confusions"]),
            tuple(result["mistakes"]),
            None if result["open"] is None else Rates(*(Rate(*rate) for rate in result["open"])),
            None if result["steps"] is None else tuple(Step(*step) for step in result["steps"]),
        )
        for (k, m, c), result in zip(combinations, results, strict=True)
    ]


def _several(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple, set, np.ndarray)) else [values]
