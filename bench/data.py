"""The rows of every workload, generated once from a seed and stored in target/bench-data.

Rows are sums of latent factors whose singular values decay as a power, as those of images, texts
and embeddings do, with noise and a nonzero mean:

    x = mean + sum_i z_i i^-decay v_i + noise
"""

import os
from pathlib import Path

import numpy as np
import scipy.sparse

ROOT = Path(__file__).resolve().parent.parent
DIRECTORY = ROOT / "target" / "bench-data"
FACE = (112, 92)


def faces() -> np.ndarray:
    """Return the 400 ORL faces, shuffled: in file order, the last people would be unseen."""
    directory = os.environ.get("EIGENSPACE_ORL")
    if not directory:
        raise SystemExit("EIGENSPACE_ORL is not set: run the benchmark with `cargo xtask bench`")
    images = [
        _pgm(Path(directory) / f"s{person}" / f"{image}.pgm")
        for person in range(1, 41)
        for image in range(1, 11)
    ]
    return np.random.default_rng(0).permutation(np.array(images, dtype=np.float64))


def _pgm(path: Path) -> np.ndarray:
    cells = FACE[0] * FACE[1]
    return np.frombuffer(path.read_bytes()[-cells:], dtype=np.uint8)


def factors(rows: int, features: int, dtype: str = "float64", decay: float = 0.8) -> Path:
    """Return an .npy file of rows with 300 latent factors, or fewer if there are few features."""
    path = DIRECTORY / f"factors-{rows}x{features}-{dtype}-{decay}.npy"
    if path.exists():
        return path
    random = np.random.default_rng(20000 + features)
    latent = min(300, max(features // 2, 1))
    strength = np.arange(1, latent + 1) ** -decay
    loadings = random.standard_normal((latent, features), dtype=np.float32) * strength[:, None]
    mean = random.standard_normal(features)
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    out = np.lib.format.open_memmap(part, mode="w+", dtype=dtype, shape=(rows, features))
    step = max(1, (1 << 24) // features)
    for start in range(0, rows, step):
        n = min(step, rows - start)
        block = random.standard_normal((n, latent), dtype=np.float32) @ loadings.astype(np.float32)
        block += 0.1 * random.standard_normal((n, features), dtype=np.float32)
        out[start : start + n] = block + mean
    out.flush()
    part.rename(path)
    return path


def rows_of(path: Path, rows: int | None = None) -> np.ndarray:
    """Load the rows of a file into memory."""
    return np.array(np.load(path, mmap_mode="r")[:rows])


def topics(rows: int, features: int, cells: int = 100) -> scipy.sparse.csr_matrix:
    """Return sparse rows of about 100 words: from one or two of 80 topics, and random ones."""
    path = DIRECTORY / f"topics-{rows}x{features}.npz"
    if path.exists():
        return scipy.sparse.load_npz(path)
    random = np.random.default_rng(7)
    number, vocabulary = 80, min(3000, features // 4)
    words = np.array(
        [random.choice(features, size=vocabulary, replace=False) for _ in range(number)]
    )
    strength = 0.95 ** np.arange(number)
    chosen = random.choice(number, size=(rows, 2), p=strength / strength.sum())
    columns = random.integers(features, size=(rows, cells))
    first, second = 6 * cells // 10, 8 * cells // 10
    picked = random.integers(vocabulary, size=(rows, second))
    columns[:, :first] = words[chosen[:, :1], picked[:, :first]]
    columns[:, first:second] = words[chosen[:, 1:], picked[:, first:]]
    values = 1.0 + random.random((rows, cells))
    matrix = scipy.sparse.csr_matrix(
        (values.ravel(), columns.ravel(), np.arange(0, rows * cells + 1, cells)),
        shape=(rows, features),
    )
    matrix.sum_duplicates()
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    scipy.sparse.save_npz(path, matrix, compressed=False)
    return matrix


def documents(rows: int, features: int, cells: int = 100) -> scipy.sparse.csr_matrix:
    """Return TF-IDF rows of unit length: words with Zipf's frequencies, from topics that decay."""
    path = DIRECTORY / f"documents-{rows}x{features}.npz"
    if path.exists():
        return scipy.sparse.load_npz(path)
    random = np.random.default_rng(8)
    number = 200
    frequency = 1.0 / np.arange(1, features + 1)
    frequency /= frequency.sum()
    orders = [random.permutation(min(4000, features)) for _ in range(number)]
    strength = np.arange(1, number + 1) ** -1.2
    topics = random.choice(number, size=rows, p=strength / strength.sum())
    common = random.choice(features, size=(rows, cells), p=frequency)
    within = np.minimum(random.zipf(1.3, size=(rows, cells)), min(4000, features)) - 1
    own = np.array([orders[topic][place] for topic, place in zip(topics, within, strict=True)])
    columns = np.where(random.random((rows, cells)) < 0.5, own, common)
    ends = np.arange(0, rows * cells + 1, cells)
    counts = scipy.sparse.csr_matrix(
        (np.ones(rows * cells), columns.ravel(), ends), shape=(rows, features)
    )
    counts.sum_duplicates()
    found = np.maximum(np.bincount(counts.indices, minlength=features), 1)
    counts.data *= np.log(1 + rows / found)[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    matrix = scipy.sparse.csr_matrix(scipy.sparse.diags(1 / lengths) @ counts)
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    scipy.sparse.save_npz(path, matrix, compressed=False)
    return matrix


def saved(name: str, rows: np.ndarray) -> Path:
    """Save rows to an .npy file, for peers in other processes, and return its path."""
    path = DIRECTORY / f"{name}-{rows.shape[0]}x{rows.shape[1]}.npy"
    if not path.exists():
        DIRECTORY.mkdir(parents=True, exist_ok=True)
        np.save(path, np.ascontiguousarray(rows, dtype=np.float64))
    return path
