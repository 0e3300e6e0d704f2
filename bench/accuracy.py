"""The accuracy of a result, compared with batch PCA in float64 by numpy alone.

| symbol | in the code | |
|---|---|---|
| V | `basis`      | the first k principal directions of all rows, by batch PCA |
| Q | `found`      | an orthonormal basis of the subspace that a tool computed |

The sine of the largest principal angle is |V - V QᵀQ|, which is accurate for small angles too. The
captured variance is |X Qᵀ|² / |X Vᵀ|²; 1 is the best possible value for k directions.

Batch PCA uses the scatter of the features if there are more rows than features. Otherwise it uses
numpy's SVD for up to 512 rows, and the Gram matrix of the rows for more. All three agree on the
directions that are compared here to about 1e-12.

Projecting and reconstructing compute no subspace. Their error is the largest difference to the same
formula in float64, relative to the largest number (`Formula`).
"""

import json
from collections.abc import Callable
from functools import cached_property

import numpy as np
from data import DIRECTORY

SVD_ROWS = 512
CELLS = 1 << 24


class Truth:
    """Batch PCA of some rows, computed once for all tools and runs and stored with the data."""

    def __init__(self, key: str, rows: Callable[[], np.ndarray], k: int, *, centered: bool = True):
        self.key, self.k, self.centered = f"{key}-k{k}", k, centered
        self._rows = rows

    @cached_property
    def rows(self):
        """The rows, kept in memory while a case is measured."""
        return self._rows()

    @cached_property
    def mean(self) -> np.ndarray:
        features = self.rows.shape[1]
        if not self.centered:
            return np.zeros(features)
        return np.asarray(self.rows.mean(axis=0, dtype=np.float64)).ravel()

    def _pieces(self):
        step = max(1, CELLS // self.rows.shape[1])
        for start in range(0, self.rows.shape[0], step):
            yield np.asarray(self.rows[start : start + step], dtype=np.float64) - self.mean

    @cached_property
    def basis(self) -> np.ndarray:
        path = DIRECTORY / f"truth-{self.key}.npy"
        if path.exists():
            return np.load(path)
        basis = self._basis()
        DIRECTORY.mkdir(parents=True, exist_ok=True)
        np.save(path, basis)
        return basis

    def _basis(self) -> np.ndarray:
        n, features = self.rows.shape
        if hasattr(self.rows, "tocsr"):
            return _sparse(self.rows, self.mean, self.k)
        if n > features:
            scatter = sum(piece.T @ piece for piece in self._pieces())
            return np.linalg.eigh(scatter)[1][:, : -self.k - 1 : -1].T.copy()
        rows = np.vstack(list(self._pieces()))
        if n <= SVD_ROWS:
            return np.linalg.svd(rows, full_matrices=False)[2][: self.k]
        values, vectors = np.linalg.eigh(rows @ rows.T)
        values, vectors = values[: -self.k - 1 : -1], vectors[:, : -self.k - 1 : -1]
        return np.linalg.qr((vectors / np.sqrt(values)).T.dot(rows).T)[0].T

    @cached_property
    def energy(self) -> float:
        """The variance that the best k directions capture."""
        path = DIRECTORY / f"energy-{self.key}.json"
        if not path.exists():
            path.write_text(json.dumps(self._captured(self.basis)))
        return json.loads(path.read_text())

    def _captured(self, basis: np.ndarray) -> float:
        if hasattr(self.rows, "tocsr"):
            return float(np.square(self.rows @ basis.T - self.mean @ basis.T).sum())
        return float(sum(np.square(piece @ basis.T).sum() for piece in self._pieces()))

    def score(self, components: np.ndarray) -> dict[str, float | None]:
        """Return the accuracy columns of a row of the results."""
        components = np.asarray(components, dtype=np.float64)[: self.k]
        if components.shape[0] < self.k or not np.isfinite(components).all():
            return {"sine": 1.0, "captured": None}
        found = np.linalg.qr(components.T)[0]
        left = self.basis.T - found @ (found.T @ self.basis.T)
        sine = float(np.sqrt(max(np.linalg.eigvalsh(left.T @ left)[-1], 0.0)))
        return {"sine": min(sine, 1.0), "captured": self._captured(found.T) / self.energy}


class Formula:
    """What projecting or reconstructing should give: a formula in float64, for some of the rows."""

    ROWS = 500

    def __init__(self, formula: Callable[[np.ndarray], np.ndarray], given: np.ndarray):
        self._formula, self._given = formula, given

    def score(self, found: np.ndarray) -> dict[str, float]:
        """Return the largest difference, relative to the largest number."""
        right = self._formula(np.asarray(self._given[: self.ROWS], dtype=np.float64))
        wrong = np.asarray(found[: self.ROWS], dtype=np.float64) - right
        return {"error": float(np.abs(wrong).max() / np.abs(right).max())}


def _sparse(rows, mean: np.ndarray, k: int) -> np.ndarray:
    """Compute batch PCA of sparse rows by ARPACK, to machine precision."""
    from scipy.sparse.linalg import LinearOperator, svds

    centered = LinearOperator(
        rows.shape,
        matvec=lambda x: rows @ x.ravel() - mean @ x.ravel(),
        rmatvec=lambda y: rows.T @ y.ravel() - mean * y.sum(),
        dtype=np.float64,
    )
    # Largest first, as everywhere.
    return svds(centered, k=k, tol=0, rng=np.random.default_rng(0))[2][::-1].copy()
