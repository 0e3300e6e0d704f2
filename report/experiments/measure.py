"""Measures of distance, and of time: the latter by the code of the benchmark, ``bench/measure.py``."""

import sys
from pathlib import Path

import numpy as np

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from measure import interleaved  # noqa: E402

__all__ = ["captured", "interleaved", "orthogonality_loss", "scatter_error", "sine", "summary"]


def sine(a, b):
    """Return the sine of the largest angle between the spans of orthonormal rows, accurate to rounding.

    It is computed from the part of a outside b. A cosine could not resolve sines below 1e-8.
    """
    return float(np.linalg.norm(a - (a @ b.T) @ b, 2))


def captured(directions, centered):
    """Return the share of the variance of centered rows along orthonormal directions."""
    return float(np.square(centered @ directions.T).sum() / np.square(centered).sum())


def scatter_error(centered, s, v):
    """Return the spectral norm of M - L, the scatter of centered rows minus its approximation by a model.

    Let B be the rows stacked on s V, and J the diagonal matrix of their signs (+1 and -1). Then
    M - L = B' J B has the same nonzero eigenvalues as the small matrix C' J C, for any C with
    C C' = B B'.

    C comes from the square root of a Gram matrix, so the result is accurate only to about 1e-8 of the
    largest eigenvalue of M. Smaller values are rounding.
    """
    factor = s[:, None] * v
    both = centered @ factor.T
    gram = np.block([[centered @ centered.T, both], [both.T, factor @ factor.T]])
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0))
    signs = np.concatenate([np.ones(len(centered)), -np.ones(len(factor))])
    return float(np.abs(np.linalg.eigvalsh(root.T @ (signs[:, None] * root))).max())


def orthogonality_loss(v):
    """Return the largest entry of |V V' - I|."""
    return float(np.abs(v @ v.T - np.eye(len(v))).max())


def summary(seconds):
    """Return mean and standard deviation, as in the specification, and the median."""
    return {
        "mean": float(np.mean(seconds)),
        "deviation": float(np.std(seconds)),
        "median": float(np.median(seconds)),
    }
