"""Inputs that do not fit into memory, each in a separate process. Prints one line for each.

Run by test_odd_huge.py, which detects processes that are killed by a signal or that hang.
"""

import resource
import signal
import traceback

import numpy as np
import scipy.sparse as sp
from children import run_each
from odd import before, fitted, model, portrait

from eigenspace import PCA, EigenspaceModel, IncrementalPCA, principal_angles, reconstruction_error

MEMORY = 4 << 30
SECONDS = 6

ROW = np.arange(4.0)


def tall(n, dtype=np.float64):
    return np.broadcast_to(ROW.astype(dtype), (n, 4))


def wide(d, n=3):
    return np.broadcast_to(1.0, (n, d))


def sparse(n, d):
    return sp.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [0, 5, d - 1])), shape=(n, d))


CASES = {
    "model from tall rows of integers": lambda: EigenspaceModel.fit(tall(10**12, np.int64), method="svd"),
    "model from tall rows by svd": lambda: EigenspaceModel.fit(tall(10**12), method="svd"),
    "model from 6 GiB of rows by svd": lambda: EigenspaceModel.fit(tall(2 * 10**8), method="svd"),
    "model from wide rows": lambda: EigenspaceModel.fit(wide(10**12)),
    "model from rows that are a little too wide": lambda: EigenspaceModel.fit(wide(7 * 10**7)),
    "model from wide sparse rows": lambda: EigenspaceModel.fit(sparse(3, 10**12)),
    "model updated": lambda: model(4).update(tall(10**12)),
    "model updated by float32": lambda: model(4).update(tall(10**12, np.float32)),
    "model updated by 3 GiB": lambda: model(4).update(tall(10**8)),
    "rows removed": lambda: model(4).remove(tall(10**12)),
    "rows removed, 3 GiB": lambda: model(4).remove(tall(10**8)),
    "model project": lambda: model(4).project(tall(10**12)),
    "model reconstruct": lambda: model(4).reconstruct(tall(10**12)),
    "model reconstruct whitened": lambda: model(4).reconstruct(tall(10**12), whiten=True),
    "hotelling": lambda: model(4).hotelling(tall(10**12)),
    "squared_distance": lambda: model(4).squared_distance(tall(10**12)),
    "fill_missing": lambda: model(4).fill_missing(tall(10**12)),
    "fill_missing, 6 GiB": lambda: model(4).fill_missing(tall(2 * 10**8)),
    "empty model": lambda: EigenspaceModel(10**12),
    "covariance of many features": lambda: EigenspaceModel.fit(before(2)[:, :1] * np.ones(10**5)).covariance(),
    "precision of many features": lambda: (
        EigenspaceModel.fit(before(3) @ np.ones((3, 10**5))).with_components(1).precision()
    ),
    "estimator's covariance": lambda: PCA(n_components=1).fit(before(3) @ np.ones((3, 10**5))).get_covariance(),
    "all components of many features": lambda: PCA(n_components=10**5).fit(np.eye(3, 10**5)).components_,
    "batch fit of wide rows": lambda: PCA().fit(wide(10**12)),
    "fit of wide rows": lambda: IncrementalPCA().fit(wide(10**12)),
    "fit of rows that are a little too wide": lambda: IncrementalPCA(n_components=1).fit(wide(3 * 10**8)),
    "partial_fit of wide sparse rows": lambda: IncrementalPCA(n_components=1).partial_fit(sparse(3, 10**12)),
    "partial_fit of sparse rows that are a little too wide": lambda: (
        IncrementalPCA(n_components=1).partial_fit(sparse(3, 10**9)).components_
    ),
    "fit with a weight for each of too many rows": lambda: IncrementalPCA().fit(tall(10**12), sample_weight=1.0),
    "transform": lambda: fitted(4).transform(tall(10**12)),
    "transform standardized": lambda: fitted(4, standardize=True).transform(tall(10**12)),
    "inverse_transform": lambda: fitted(4).inverse_transform(tall(10**12)),
    "score": lambda: fitted(4, n_components=2).score(tall(10**12)),
    "angles": lambda: principal_angles(tall(10**12), ROW[None]),
    "reconstruction error": lambda: reconstruction_error(wide(10**12), wide(10**12)),
    "rank beyond memory": lambda: IncrementalPCA(max_rank=10**15).fit(before(4)) and 1 / 0,
}
"""Each must raise an exception that says what is too large."""


class Interrupted(Exception):
    """A signal was handled."""


def interrupted(work, subject):
    """Check that a signal soon ends hours of work and leaves the subject unchanged."""

    def interrupt(*_):
        raise Interrupted

    is_before = portrait(subject)
    signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(1)
    try:
        work()
    except Interrupted:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
    if portrait(subject) != is_before:
        raise RuntimeError("the subject has changed")
    raise MemoryError("interrupted, and unchanged")


def endless(verb):
    subject = fitted(4)
    return lambda: interrupted(lambda: getattr(subject, verb)(tall(10**12)), subject)


CASES["fit for hours"] = endless("fit")
CASES["partial_fit for hours"] = endless("partial_fit")
CASES["model of rows for hours"] = lambda: interrupted(lambda: EigenspaceModel.fit(tall(10**12)), fitted(4))
CASES["error for hours"] = lambda: interrupted(lambda: reconstruction_error(tall(10**12), model(4)), fitted(4))


def run(name):
    """Run a case in the child process: print one line, and return 0 if it raised a proper error."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    try:
        CASES[name]()
    except (ValueError, TypeError, MemoryError) as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", end="", flush=True)
        return 0
    except ZeroDivisionError:
        print("done", end="", flush=True)
        return 0
    except BaseException:
        print(traceback.format_exc().splitlines()[-1], end="", flush=True)
        return 1
    print("no error", end="", flush=True)
    return 1


if __name__ == "__main__":
    run_each(CASES, run)
