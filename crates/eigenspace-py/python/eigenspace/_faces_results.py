"""What recognizing and evaluating return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Candidate(NamedTuple):
    """A person who may be in an image."""

    person: str
    """The name of the person."""
    score: float
    """The score of the classifier; larger is better."""
    distance: float
    """The distance to the span of the person's images."""
    image: str
    """The name of the person's nearest image."""


class Match(NamedTuple):
    """An enrolled image that is near an image."""

    person: str
    """The person in it."""
    image: str
    """Its name."""
    distance: float
    """Its distance by the metric."""


@dataclass(frozen=True)
class Recognition:
    """What was found in an image.

    Attributes
    ----------
    person : the name of the person, or None
    verdict : 'person', 'unknown' (a face of nobody who is enrolled) or 'not a face'
    distance : the distance to the nearest person; if it is above the threshold ``unknown``, the face is unknown
    face_distance : the distance to face space, the subspace of the components
    candidates : all people, best match first
    matches : the nearest enrolled images, of any person
    """

    person: str | None
    verdict: str
    distance: float
    face_distance: float
    candidates: tuple[Candidate, ...]
    matches: tuple[Match, ...]


class Rate(NamedTuple):
    """How often something happened in tests, with a 95 % confidence interval over people."""

    count: int  # type: ignore[assignment]
    """Number of test images for which it happened."""
    tested: int
    """Number of test images."""
    share: float
    """`count` divided by `tested`."""
    low: float
    """The lower end of the confidence interval of the share."""
    high: float
    """The upper end of the confidence interval of the share."""


class Rates(NamedTuple):
    """Results with strangers: a quarter of the people at a time is left out of the recognizer."""

    false_accepts: Rate
    """Images of strangers in which an enrolled person was recognized."""
    false_rejects: Rate
    """Images of enrolled people in which nobody was recognized."""
    identified: Rate
    """Images of enrolled people in which the right person was recognized."""
    misidentified: Rate
    """Images of enrolled people in which another person was recognized."""


class Step(NamedTuple):
    """A step of the protocol ``incremental``: one more person was enrolled."""

    people: int
    """Number of people enrolled so far."""
    enrolled: int
    """Number of images enrolled so far."""
    tested: int
    """Number of test images of these people."""
    correct: int
    """Number of test images that were recognized correctly."""
    rank: int
    """Rank of the model."""
    differing: int
    """Number of test images for which a recognizer trained from scratch decides differently."""
    difference: float
    """The largest difference between the scores of the two, relative to the largest score."""


@dataclass(frozen=True)
class Evaluation:
    """The result of :func:`evaluate` for one setting.

    Attributes
    ----------
    protocol, classifier, metric, n_components : the setting
    accuracy : mean share of test images that were recognized correctly, over the trials
    deviation : standard deviation of that share over the trials
    tested, correct : number of test images in all trials, and of those recognized correctly
    ranks : share of images whose person is among the best 1, 2, … 5 matches
    confusions : (person, person recognized instead, how often), most frequent first
    mistakes : (index of the image, person recognized instead) of each trial
    strangers : results with strangers, or None
    steps : the steps of the protocol ``incremental``, or None
    """

    protocol: str
    classifier: str
    metric: str
    n_components: int | float | None
    accuracy: float
    deviation: float
    tested: int
    correct: int
    ranks: tuple[float, ...]
    confusions: tuple[tuple[str, str, int], ...]
    mistakes: tuple[tuple[int, str], ...]
    strangers: Rates | None = None
    steps: tuple[Step, ...] | None = None
