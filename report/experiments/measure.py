"""How far apart, and how long."""

import gc
import time

import numpy as np


def sine(a, b):
    """The sine of the largest angle between the spans of orthonormal rows, to rounding.

    Of what is left of a outside b, not from a cosine: that would see nothing below 1e-8.
    """
    return float(np.linalg.norm(a - (a @ b.T) @ b, 2))


def captured(directions, centered):
    """The share of the variance of centered rows along orthonormal directions."""
    return float(np.square(centered @ directions.T).sum() / np.square(centered).sum())


def scatter_error(centered, s, v):
    """The spectral norm of M - L: the scatter of centered rows less what a model says of it.

    With B the rows stacked on s V and J the signs of the two, M - L = B' J B has the eigenvalues of C' J C for any
    C with C C' = B B', which is a small matrix.
    """
    factor = s[:, None] * v
    both = centered @ factor.T
    gram = np.block([[centered @ centered.T, both], [both.T, factor @ factor.T]])
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0))
    signs = np.concatenate([np.ones(len(centered)), -np.ones(len(factor))])
    return float(np.abs(np.linalg.eigvalsh(root.T @ (signs[:, None] * root))).max())


def orthogonality_loss(v):
    """The largest entry of V V' - I."""
    return float(np.abs(v @ v.T - np.eye(len(v))).max())


def interleaved(methods, runs):
    """Seconds of each of ``runs`` rounds, one method after the other in each round.

    A method is a function, or a pair of one that prepares (not timed) and one that takes what was prepared. The first
    round warms up and is not counted.
    """
    seconds = {name: [] for name in methods}
    for turn in range(runs + 1):
        for name, method in methods.items():
            prepare, act = method if isinstance(method, tuple) else (None, method)
            ready = () if prepare is None else (prepare(),)
            gc.collect()
            start = time.perf_counter()
            act(*ready)
            took = time.perf_counter() - start
            if turn > 0:
                seconds[name].append(took)
    return seconds


def summary(seconds):
    """Mean and deviation, as the specification has it, and the median."""
    return {
        "mean": float(np.mean(seconds)),
        "deviation": float(np.std(seconds)),
        "median": float(np.median(seconds)),
    }
