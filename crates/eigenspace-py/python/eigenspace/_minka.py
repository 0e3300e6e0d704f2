"""The most likely number of components, by Minka's evidence.

Laplace's method gives the evidence of k components, for d features and n rows with variances λ
(largest first), as

    log p(D | k) ≈ log p(U) − n/2 Σ_{i≤k} log λ_i − n (d−k)/2 log v + (m+k)/2 log 2π − 1/2 log |A| − k/2 log n
    v = Σ_{j>k} λ_j / (d−k),    m = dk − k(k+1)/2
    log p(U) = −k log 2 + Σ_{i≤k} log Γ(d_i) − d_i log π,    d_i = (d−i+1)/2
    log |A| = Σ_{i≤k} Σ_{j>i} log( (λ_i − λ_j) (1/λ'_j − 1/λ'_i) n ),    λ' = λ up to k, then v

T. P. Minka, *Automatic choice of dimensionality for PCA*, NIPS 13, 598-604, 2000. The sums over
pairs are computed as running sums, so evaluating all k costs d² instead of d³.
"""

from __future__ import annotations

from math import lgamma, log, pi

import numpy as np
from numpy.typing import NDArray

SMALLEST = 1e-15
"""Variances below this fraction of the largest are rounding error."""


def evidence(variances: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return the log evidence for k = 1 … d − 1 components, given all d variances, largest first."""
    values = np.asarray(variances, dtype=np.float64)
    values = values / values[0]  # a common factor changes the evidence of every k by the same amount
    d = len(values)
    k = np.arange(1, d)
    floored = np.maximum(values, SMALLEST)
    logs = np.log(floored)
    halves = (d - np.arange(d)) / 2
    subspaces = np.cumsum([-log(2) + lgamma(half) - half * log(pi) for half in halves])[:-1]
    noise = np.maximum(np.cumsum(values[::-1])[::-1][1:] / (d - k), SMALLEST)
    fit = -n / 2 * np.cumsum(logs)[:-1] - n * (d - k) / 2 * np.log(noise)
    volume = log(2 * pi) * (d * k - k * (k + 1) / 2 + k) / 2

    above = np.triu(np.log(np.maximum(values[:, None] - values, SMALLEST * floored[:, None])), 1)
    inside = np.cumsum(2 * above.sum(axis=0) - np.cumsum(logs) - (np.arange(d) - 1) * logs + np.arange(d) * log(n))
    beyond = above.sum(axis=1)[:, None] - np.cumsum(above, axis=1)  # [i, k-1]: sum over j > k
    outside = np.empty(d - 1)
    for i in range(d - 1):
        shared = np.log(np.maximum(1 / noise[i] - 1 / floored[: i + 1], SMALLEST / noise[i]))
        outside[i] = beyond[: i + 1, i].sum() + (d - k[i]) * (shared.sum() + k[i] * log(n))
    found = subspaces + fit + volume - (inside[:-1] + outside) / 2 - k * log(n) / 2
    return np.where(values[:-1] < SMALLEST, -np.inf, found)


def dimension(variances: NDArray[np.float64], n: float) -> int:
    """Return the number of components with the largest evidence: at least 1, fewer than the features."""
    if len(variances) < 2 or variances[0] <= 0:
        return 1
    return int(np.argmax(evidence(variances, n))) + 1
