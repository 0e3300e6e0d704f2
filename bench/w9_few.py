"""W9: few components of many rows and features, dense and sparse, against the exact solvers.

Batch PCA by the iterative method where it pays, otherwise by the direct ones. The peers are
scikit-learn's solvers and the five lines of numpy that everybody writes: the eigenproblem of the
smaller Gram matrix.
"""

import data
import numpy as np
from accuracy import Truth
from measure import Case, Tool
from peers import fitted

TITLE = "few components: k = 50 of many rows and features"
LEFT_OUT = [
    "scikit-learn PCA(full) everywhere, and PCA(covariance_eigh) and the Gram matrix at D = 4,096: "
    "slower than the solvers listed",
]
FACES = "400 x 10,304 (ORL)"
DENSE = {
    "20,000 x 4,096": (20_000, 4096, ["arpack", "randomized"]),
    "20,000 x 784": (20_000, 784, ["covariance_eigh", "arpack"]),
    "200,000 x 768": (200_000, 768, ["covariance_eigh"]),
    FACES: (400, 10_304, ["arpack", "randomized"]),
}


def numpy_gram(k: int, rows: np.ndarray) -> np.ndarray:
    """The first k directions by the eigenproblem of the smaller Gram matrix."""
    centered = rows - rows.mean(axis=0)
    wide = rows.shape[0] < rows.shape[1]
    values, vectors = np.linalg.eigh(centered @ centered.T if wide else centered.T @ centered)
    leading = vectors[:, : -k - 1 : -1].T
    return leading @ centered / np.sqrt(values[: -k - 1 : -1])[:, None] if wide else leading


def _ours(k: int, rows, truth: Truth) -> Tool:
    from eigenspace import PCA

    return fitted("eigenspace PCA", lambda: PCA(k), rows, mode="default", truth=truth)


def _peer(solver: str, k: int, rows, truth: Truth) -> Tool:
    from sklearn.decomposition import PCA

    seed = {"random_state": 0} if solver in ("randomized", "arpack") else {}
    name = f"scikit-learn PCA({solver})"
    return fitted(name, lambda: PCA(k, svd_solver=solver, **seed), rows, truth=truth)


def dense(name: str, quick: bool) -> Case:
    n, features, solvers = DENSE[name]
    k = 50 if not quick else 5
    n, features = (n, features) if not quick else (min(n, 3000), min(features, 1500))
    faces = name == FACES and not quick
    rows = data.faces() if faces else data.rows_of(data.factors(n, features))
    truth = Truth(f"{'orl' if faces else 'factors'}-{n}x{features}", lambda: rows, k)
    gram = Tool(
        "numpy Gram matrix",
        lambda _: numpy_gram(k, rows),
        components=lambda found: found,
        truth=truth,
    )
    tools = [_ours(k, rows, truth), *(_peer(solver, k, rows, truth) for solver in solvers)]
    tools += [gram] if min(n, features) < 2000 else []
    return Case(name, f"scikit-learn PCA({solvers[0]})", tools, "fit", seconds=20)


def sparse(name: str, quick: bool) -> Case:
    n, features, k = (20_000, 100_000, 50) if not quick else (2000, 3000, 5)
    make = data.topics if name == "topics" else data.documents
    rows = make(n, features)
    truth = Truth(f"{name}-{n}x{features}-centered", lambda: rows, k)
    tools = [_ours(k, rows, truth), _peer("arpack", k, rows, truth)]
    return Case(f"sparse {name}", tools[1].name, tools, "fit", seconds=20)


def cases(quick: bool) -> dict:
    chosen = {name: lambda name=name: dense(name, quick) for name in DENSE}
    for name in ("topics", "documents"):
        chosen[f"sparse {name}"] = lambda name=name: sparse(name, quick)
    return chosen
