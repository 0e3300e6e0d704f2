"""A simple, slow batch PCA as the reference of the tests. It uses numpy only, no code of the library.

M = Σ w (x − μ)(x − μ)ᵀ = Vᵀ diag(λ) V        the mean and the differences in extended precision, then one SVD

This file also computes the tolerances of all tests. With ε the machine epsilon, s₁ the largest
singular value, and μ the mean:

rounding of a product      ε (16 + D + √n) λ₁         sums of n products, and the noise floor of a D × D problem
rounding of a mean         ε √w |μ| = far             a mean is a float; in M it appears as 2 s₁ far + far²
steps                      times the number of operations, each of which rounds once

Subspaces are compared by their projectors, whose error is that of M divided by the gap of the
eigenvalues (Davis and Kahan).
"""

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from threadpoolctl import threadpool_limits

# These matrices are small, and BLAS threads would wait for each other on a busy machine.
threadpool_limits(1, "blas")

EPS = float(np.finfo(np.float64).eps)


def soak(examples):
    """Return the settings of a property test; EIGENSPACE_SOAK multiplies the number of examples."""
    factor = float(os.environ.get("EIGENSPACE_SOAK", "1"))
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=max(1, round(examples * factor)), deadline=None, derandomize=True, suppress_health_check=slow
    )


@dataclass(frozen=True)
class Truth:
    """Batch PCA of rows, each with its weight."""

    rows: np.ndarray
    weights: np.ndarray
    scales: np.ndarray | float = 1.0

    @property
    def count(self):
        return int((self.weights > 0).sum())

    @cached_property
    def weight(self):
        return float(self.weights.sum())

    @property
    def features(self):
        return self.rows.shape[1]

    @cached_property
    def mean(self):
        if self.weight == 0:
            return np.zeros(self.features)
        rows, weights = self.rows.astype(np.longdouble), self.weights.astype(np.longdouble)
        first = rows[0]
        return first + (weights[:, None] * (rows - first)).sum(axis=0) / weights.sum()

    @cached_property
    def centered(self):
        """√w (x − μ), multiplied by the scales."""
        roots = np.sqrt(self.weights)[:, None]
        return roots * (self.rows.astype(np.longdouble) - self.mean).astype(np.float64) * self.scales

    @cached_property
    def scatter(self):
        return self.centered.T @ self.centered

    @cached_property
    def _svd(self):
        _, values, directions = np.linalg.svd(self.centered, full_matrices=self.features <= 200)
        return np.concatenate([values, np.zeros(self.features)])[: self.features], directions

    @property
    def values(self):
        """The singular values, D of them."""
        return self._svd[0]

    @property
    def eigenvalues(self):
        return self.values**2

    @property
    def directions(self):
        """All D directions, one per row; for wide rows only those with variance."""
        return self._svd[1]

    @cached_property
    def total(self):
        return float(np.square(self.centered).sum())

    @cached_property
    def far(self):
        """The error of a singular value caused by rounding the mean; constant features add nothing."""
        varies = np.ptp(self.rows, axis=0) > 0 if len(self.rows) else np.zeros(self.features, dtype=bool)
        largest = np.abs(self.rows).max(axis=0, initial=0.0) * varies * self.scales
        return EPS * np.sqrt(self.weight) * float(np.linalg.norm(largest))

    def rounding(self, steps=1, eps=EPS):
        """Return the error allowed in a computed scatter, in the spectral norm."""
        growth = 16 + self.features + np.sqrt(len(self.rows))
        far = 4 * steps * self.far
        return steps * eps * growth * self.eigenvalues[0] + 2 * self.values[0] * far + far**2 + 1e-300

    def gap(self, k):
        """Return the gap between the k-th eigenvalue and the next."""
        after = self.eigenvalues[k] if k < self.features else 0.0
        return float(self.eigenvalues[k - 1] - after) if k else np.inf

    def share(self, k):
        return float(self.eigenvalues[:k].sum() / self.total) if self.total > 0 else 0.0


def truth(rows, weights=None, scales=1.0):
    rows = np.asarray(rows, dtype=np.float64)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    return Truth(rows[weights > 0], weights[weights > 0], scales)


def standardized(rows, weights=None):
    """Compute batch PCA of standardized rows; constant features are not scaled."""
    raw = truth(rows, weights)
    deviation = np.sqrt(np.square(raw.centered).sum(axis=0) / raw.weight)
    constant = np.ptp(raw.rows, axis=0) == 0
    scales = 1.0 / np.where(constant, 1.0, deviation)
    return truth(rows, weights, scales), scales


def norm(matrix):
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0


def sine(a, b):
    """Return the sine of the largest angle between the spans of orthonormal rows."""
    return norm(a - (a @ b.T) @ b)


def scatter_of(model):
    """Return the model's approximation of M."""
    everything = model.with_components(None)
    scaled = everything.singular_values[:, None] * everything.basis
    return scaled.T @ scaled


def assert_model(model, expected, allowed=None, steps=1, far=None):
    """Assert that the model is that of the expected rows, up to rounding."""
    allowed = expected.rounding(steps) if allowed is None else allowed
    far = EPS if far is None else far
    assert model.count == expected.count
    assert model.n_features == expected.features
    assert abs(model.weight - expected.weight) <= 4 * steps * EPS * (len(expected.rows) + 1) * max(expected.weight, 1)
    if expected.count == 0:
        assert model.rank == 0
        return
    largest = np.abs(expected.rows).max(axis=0)
    assert (np.abs(model.mean - expected.mean) <= 8 * steps * far * largest + 1e-300).all(), "the mean"
    assert norm(scatter_of(model) - expected.scatter) <= allowed, "the scatter"
    gap = np.abs(model.feature_scatter - np.diag(expected.scatter))
    assert (gap <= allowed).all(), "the scatter of a feature"
    values = model.with_components(None).singular_values
    assert (values > 0).all()
    assert (np.diff(values) <= 0).all()
    assert model.rank <= min(max(expected.count - 1, 0), expected.features)
    assert_basis(model.basis)


def assert_basis(basis):
    """Assert that a basis is orthonormal and that the largest entry of each direction is positive."""
    rank, features = basis.shape
    assert norm(basis @ basis.T - np.eye(rank)) <= 16 * EPS * (16 + features)
    if rank:
        largest = np.take_along_axis(basis, np.abs(basis).argmax(axis=1)[:, None], axis=1)
        # If two entries are equal up to rounding, either may count as the largest.
        assert (largest > 0).all() or (basis.max(axis=1) >= -basis.min(axis=1) - 16 * EPS).all()


def assert_subspaces(directions, expected, allowed):
    """Assert that the first k directions span the true top-k space wherever the gap is wide enough."""
    for k in range(1, min(len(directions), expected.features - 1) + 1):
        gap = expected.gap(k)
        if gap > 10 * allowed:
            assert sine(directions[:k], expected.directions[:k]) <= 2 * allowed / gap + 16 * EPS * expected.features


@st.composite
def tables(draw, min_rows=1, max_rows=40, max_features=60, offsets=(0.0, 1.0, 1e3, 1e6), scales=(-6, 6)):
    """Draw tables: tall or wide, far from zero, tiny or large, of any rank, with constant features."""
    if draw(st.integers(0, 3)) == 0:  # few small integers: equal rows, ties, zeros
        shape = (draw(st.integers(min_rows, min(max_rows, 8))), draw(st.integers(1, min(max_features, 5))))
        return draw(hnp.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)))
    n, d = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, max_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rank = draw(st.integers(0, min(n, d)))
    decades = draw(st.sampled_from([0.0, 1.0, 4.0]))
    decay = 10.0 ** -np.linspace(0, decades, max(rank, 1))[:rank]
    rows = (rng.normal(size=(n, rank)) * decay) @ rng.normal(size=(rank, d))
    rows *= 10.0 ** draw(st.integers(*scales))
    rows += draw(st.sampled_from(offsets)) * rng.normal(size=d)
    if draw(st.booleans()):
        constant = rng.random(d) < 0.3
        rows[:, constant] = rows[:1, constant]
    if draw(st.booleans()) and n:
        rows[rng.integers(n)] = rows[rng.integers(n)]
    return rows


@st.composite
def cuts(draw, rows, most=5):
    """Split rows into blocks of any size, including empty blocks and single rows."""
    at = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=most)))
    return np.split(rows, at)


@st.composite
def cut_tables(draw, **kinds):
    rows = draw(tables(**kinds))
    return rows, draw(cuts(rows))
