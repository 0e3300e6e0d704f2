"""Threads add rows to one estimator at the same time: no row is lost, and copies are consistent."""

import copy
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from sklearn.base import clone

from eigenspace import IncrementalPCA

ROUNDS, THREADS, CALLS = 40, 4, 5


@pytest.fixture
def _switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def race(works):
    """Run all functions in threads that start at the same time."""
    barrier, errors = threading.Barrier(len(works)), []

    def run(work):
        barrier.wait()
        try:
            work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert errors == []


@pytest.mark.usefixtures("_switching")
@pytest.mark.parametrize("changing", [False, True])
def test_no_row_is_lost(changing):
    X = np.random.default_rng(0).normal(size=(THREADS * CALLS * 3, 8))
    blocks = np.split(X, THREADS * CALLS)
    for _ in range(ROUNDS):
        pca = IncrementalPCA(2)

        def add(number, pca=pca):
            for i in range(CALLS):
                if changing:
                    pca.set_params(n_components=1 + (number + i) % 4)
                pca.partial_fit(blocks[number * CALLS + i])

        race([lambda number=number: add(number) for number in range(THREADS)])
        assert pca.n_samples_seen_ == len(X)
        assert pca.model_.count == len(X)
        np.testing.assert_allclose(pca.mean_, X.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(pca.var_, X.var(axis=0), atol=1e-12)


@pytest.mark.usefixtures("_switching")
def test_copies_made_during_updates_are_consistent():
    X = np.random.default_rng(1).normal(size=(300, 8))
    pca, twins = IncrementalPCA(2).partial_fit(X[:10]), []

    def add():
        for row in X[10:]:
            pca.partial_fit(row[None])

    def carry():
        for _ in range(20):
            twins.extend([copy.copy(pca), copy.deepcopy(pca), pickle.loads(pickle.dumps(pca))])

    race([add, carry])
    assert pca.n_samples_seen_ == 300
    for twin in twins:
        seen = twin.n_samples_seen_
        assert twin.model_.count == seen
        np.testing.assert_allclose(twin.mean_, X[:seen].mean(axis=0), atol=1e-12)


def test_an_estimator_with_a_lock_is_cloned_copied_and_pickled():
    pca = IncrementalPCA(2).partial_fit(np.eye(5))
    assert "lock" not in repr(vars(pca)).lower()
    assert clone(pca).get_params() == pca.get_params()
    for twin in (copy.copy(pca), copy.deepcopy(pca), pickle.loads(pickle.dumps(pca))):
        twin.partial_fit(np.eye(5))
        assert (twin.n_samples_seen_, pca.n_samples_seen_) == (10, 5)


def test_a_fork_does_not_inherit_a_lock_that_is_held():
    script = """
        import os, threading
        import numpy as np
        from eigenspace import IncrementalPCA
        from eigenspace._lock import lock_of

        pca = IncrementalPCA(2).partial_fit(np.eye(4))
        held, done = threading.Event(), threading.Event()

        def hold():
            with lock_of(pca):
                held.set()
                done.wait()

        threading.Thread(target=hold, daemon=True).start()
        held.wait()
        child = os.fork()
        if child == 0:
            pca.partial_fit(np.eye(4))
            os._exit(pca.n_samples_seen_)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        done.set()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "8\n", done.stderr
