"""Cases in which scikit-learn's result differs from batch PCA and ours does not.

Run this file to print the table as Markdown. The reference is a singular value decomposition of the
centered rows by numpy. The ORL faces are read from the directory in EIGENSPACE_ORL, which contains
s1/1.pgm and so on.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp
import sklearn
import sklearn.decomposition as theirs
from faces import faces
from oracle import EPS, sine, truth

import eigenspace

RAISES = "raises"


@dataclass(frozen=True)
class Defect:
    """One line of the table. A measure is 0 if the result is that of batch PCA."""

    name: str
    measure: str
    theirs: float | str
    ours: float
    allowed: float
    """The rounding error allowed in our result."""
    wrong: float = 0.01
    """An error in scikit-learn's result of this size or more is not rounding."""


@cache
def faces_truth():
    return truth(faces())


@cache
def table():
    """Return rows of a strong subspace plus noise, and the same in five blocks."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 8)) * np.arange(16, 8, -1) @ rng.normal(size=(8, 40)) / 6 + rng.normal(size=(500, 40))
    return rows, np.array_split(rows, 5)


def streamed(kind, blocks, **params):
    estimator = kind(**params)
    for block in blocks:
        estimator.partial_fit(block)
    return estimator


def both(measure, *arguments, **params):
    """Return the measure of scikit-learn's estimator and of ours."""
    return [
        measure(streamed(kind, *arguments, **params)) for kind in (theirs.IncrementalPCA, eigenspace.IncrementalPCA)
    ]


def or_raises(work, exception, words):
    """Return a number, or RAISES if the expected exception was raised."""
    try:
        return work()
    except exception as error:
        if words not in str(error):
            raise
        return RAISES


def gap_tolerance(expected, k):
    """Return the rounding error allowed in the sine: that of the scatter divided by the gap."""
    return 2 * expected.rounding(8) / expected.gap(k) + 16 * EPS * expected.features


def noise_variance():
    rows, blocks = table()
    expected = truth(rows)
    right = expected.eigenvalues[5:].sum() / (len(rows) - 1) / (expected.features - 5)

    def measure(pca):
        return abs(pca.noise_variance_ / right - 1)

    allowed = 35 * expected.rounding(8) / expected.eigenvalues[5:].sum()
    return Defect(
        "`noise_variance_` of IncrementalPCA", "relative error", *both(measure, blocks, n_components=5), allowed
    )


def covariance():
    """For any number of components, the variances of the features must add up to the total."""
    rows, blocks = table()
    expected = truth(rows)
    total = expected.total / (len(rows) - 1)

    def measure(pca):
        return abs(np.trace(pca.get_covariance()) / total - 1)

    allowed = expected.features * expected.rounding(8) / expected.total
    numbers = both(measure, blocks, n_components=2)
    return Defect("`get_covariance()` of IncrementalPCA", "share of the variance lost", *numbers, allowed)


def small_first_block():
    rows, _ = table()
    blocks = np.split(rows, [3])
    expected = truth(rows)

    def measure(kind):
        return sine(streamed(kind, blocks, n_components=5).components_, expected.directions[:5])

    raised = or_raises(lambda: measure(theirs.IncrementalPCA), ValueError, "n_components=5")
    ours = measure(eigenspace.IncrementalPCA)
    return Defect("first block of 3 rows, 5 components", "sine of the angle", raised, ours, gap_tolerance(expected, 5))


def two_batches():
    blocks, expected = np.split(faces(), 2), faces_truth()

    def measure(pca):
        return sine(pca.components_, expected.directions[:50])

    numbers = both(measure, blocks, n_components=50)
    return Defect("ORL faces in two batches, 50 components", "sine of the angle", *numbers, gap_tolerance(expected, 50))


def far_from_zero():
    rng = np.random.default_rng(0)
    rows = (1e6 + rng.normal(size=(1000, 20)) * np.arange(20, 0, -1) / 10).astype(np.float32)
    expected = truth(rows)

    def measure(pca):
        return sine(np.asarray(pca.components_, dtype=np.float64), expected.directions[:3])

    eps = float(np.finfo(np.float32).eps)
    allowed = 2 * (8 * eps * expected.eigenvalues[0] + expected.rounding(8)) / expected.gap(3) + eps * np.sqrt(20)
    numbers = both(measure, np.array_split(rows, 4), n_components=3)
    return Defect("float32 rows with mean 1e6 and spread 1", "sine of the angle", *numbers, allowed)


def sparse_blocks():
    rng = np.random.default_rng(0)
    rows = sp.random_array((300, 30), density=0.2, rng=rng, format="csr")
    expected = truth(rows.toarray())

    def measure(kind):
        pca = streamed(kind, [rows[:100], rows[100:]], n_components=4)
        return float(np.abs(pca.explained_variance_ * 299 / expected.eigenvalues[:4] - 1).max())

    raised = or_raises(lambda: measure(theirs.IncrementalPCA), TypeError, "sparse")
    allowed = expected.rounding(8) / expected.eigenvalues[3]
    ours = measure(eigenspace.IncrementalPCA)
    return Defect("`partial_fit` of sparse rows", "relative error of the variances", raised, ours, allowed)


def other_components():
    rows, blocks = table()
    expected = truth(rows)

    def measure(kind):
        pca = streamed(kind, blocks[:2], n_components=3).set_params(n_components=5)
        for block in blocks[2:]:
            pca.partial_fit(block)
        return sine(pca.components_, expected.directions[:5])

    raised = or_raises(lambda: measure(theirs.IncrementalPCA), ValueError, "has changed")
    ours = measure(eigenspace.IncrementalPCA)
    allowed = gap_tolerance(expected, 5)
    return Defect("`n_components` changed between blocks", "sine of the angle", raised, ours, allowed)


def weights():
    rows, _ = table()
    given = np.random.default_rng(1).integers(0, 4, len(rows)).astype(float)
    expected = truth(rows, given)

    def measure(kind):
        pca = kind(n_components=5).fit(rows, sample_weight=given)
        return sine(pca.components_, expected.directions[:5])

    raised = or_raises(lambda: measure(theirs.IncrementalPCA), TypeError, "sample_weight")
    ours = measure(eigenspace.IncrementalPCA)
    return Defect("`sample_weight`", "sine of the angle", raised, ours, gap_tolerance(expected, 5))


def default_solver():
    expected = faces_truth()

    def measure(kind):
        return sine(kind(n_components=50).fit(faces()).components_, expected.directions[:50])

    # scikit-learn's solver is random; use the same seed each time.
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(0)  # noqa: NPY002
        drawn = measure(theirs.PCA)
    finally:
        np.random.set_state(state)  # noqa: NPY002
    allowed = gap_tolerance(expected, 50)
    return Defect(
        "PCA(50) of the ORL faces, default solver", "sine of the angle", drawn, measure(eigenspace.PCA), allowed
    )


DEFECTS: dict[str, Callable[[], Defect]] = {
    work.__name__: cache(work)
    for work in [
        noise_variance,
        covariance,
        small_first_block,
        two_batches,
        far_from_zero,
        sparse_blocks,
        other_components,
        weights,
        default_solver,
    ]
}


def table_rows():
    """Return the table as a list of cells for each line, the heading first."""
    heading = ["", "measure", f"scikit-learn {sklearn.__version__}", "eigenspace"]
    lines = [[d.name, d.measure, error(d.theirs), rounding(d.ours)] for d in (work() for work in DEFECTS.values())]
    return [heading, *lines]


def error(value):
    """Format with one digit, which is the same on every machine."""
    return value if isinstance(value, str) else f"{value:.1f}"


def rounding(value):
    """Format as a power of ten at least ten times as large, which is the same on every machine."""
    return f"< 1e{math.ceil(math.log10(max(value, 1e-11))) + 1}"


def markdown():
    heading, *lines = table_rows()
    rows = [heading, ["---"] * len(heading), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    print(markdown())
