"""Threads, processes and signals."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import eigenspace
from eigenspace import EigenspaceModel, IncrementalPCA


def run(script, **keywords):
    """Run a script in a separate interpreter, for at most a minute."""
    script = textwrap.dedent(script)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, **keywords)


def test_other_threads_run_while_it_computes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 1500))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(None)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    EigenspaceModel.fit(X, method="svd")
    during = len(ticks) - before
    done.set()
    thread.join()
    # If the interpreter lock were held, there would be almost none: one switch at each end.
    assert during > 10


def test_several_threads_fit_several_models():
    rng = np.random.default_rng(1)
    data = [rng.normal(size=(700, 40 + i)) for i in range(8)]
    models = [None] * len(data)

    def fit(i):
        pca = IncrementalPCA(5)
        for block in np.array_split(data[i], 20):
            pca.partial_fit(block)
        models[i] = pca.model_

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(len(data))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for X, model in zip(data, models, strict=True):
        assert model == IncrementalPCA(5).fit(X).model_


def test_several_threads_add_to_one_model():
    rng = np.random.default_rng(2)
    blocks = [rng.normal(size=(50, 30)) for _ in range(40)]
    pca = IncrementalPCA(4).partial_fit(blocks[0])

    def add(part):
        for block in part:
            pca.partial_fit(block)

    threads = [threading.Thread(target=add, args=(blocks[1 + i :: 4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert pca.model_.count == 2000
    whole = EigenspaceModel.fit(np.vstack(blocks))
    np.testing.assert_allclose(pca.singular_values_, whole.singular_values[:4], rtol=1e-12)


def test_the_number_of_threads_does_not_change_the_answer():
    X = np.random.default_rng(3).normal(size=(900, 1100))
    models = []
    for number in (1, 2, 4):
        eigenspace.set_threads(number)
        assert eigenspace.threads() == number
        models.append(IncrementalPCA(10).fit(X).model_)
    eigenspace.set_threads()
    assert models[0] == models[1] == models[2]
    with pytest.raises(ValueError, match="from 1 to 1024"):
        eigenspace.set_threads(0)


def test_a_forked_process_has_threads_of_its_own():
    # Threads do not survive a fork: a child that waited for those of its parent would wait forever.
    done = run("""
        import multiprocessing
        import numpy as np
        from eigenspace import IncrementalPCA

        X = np.random.default_rng(0).normal(size=(2000, 300))
        here = IncrementalPCA(3).fit(X).singular_values_

        def fit(_):
            return IncrementalPCA(3).fit(X).singular_values_

        with multiprocessing.get_context("fork").Pool(2) as pool:
            there = pool.map(fit, range(4))
        assert all(np.array_equal(here, values) for values in there)
        assert np.array_equal(here, fit(None))
        print("equal")
    """)
    assert done.stdout == "equal\n", done.stderr


@pytest.mark.parametrize(
    ("work", "kept"),
    [
        ("IncrementalPCA(30).fit(X)", "not hasattr(pca, 'components_')"),
        ("pca.partial_fit(X)", "pca.n_samples_seen_ == 100 and np.array_equal(pca.mean_, mean)"),
        ("PCA(30, method='svd').fit(Y)", "True"),
        ("EigenspaceModel.fit(Y, method='svd')", "True"),
    ],
)
def test_a_long_fit_can_be_interrupted(work, kept):
    # Many rows that need no memory: one row, broadcast.
    script = f"""
        import os, signal, threading, time
        import numpy as np
        from eigenspace import PCA, EigenspaceModel, IncrementalPCA

        X = np.broadcast_to(np.random.default_rng(0).normal(size=3000), (10**7, 3000))
        Y = np.random.default_rng(1).normal(size=(4000, 3000))
        pca = IncrementalPCA(30)
        if {"partial_fit" in work}:
            pca.partial_fit(np.random.default_rng(1).normal(size=(100, 3000)))
            mean = pca.mean_
        threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            {work}
        except KeyboardInterrupt:
            assert {kept}
            print("interrupted")
            os._exit(0)
    """
    done = run(script)
    assert done.stdout == "interrupted\n", done.stderr


def test_a_signal_handler_of_the_user_is_called():
    assert hasattr(signal, "SIGUSR1")
    calls = []
    before = signal.signal(signal.SIGUSR1, lambda *_: calls.append(None))
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        EigenspaceModel.fit(np.random.default_rng(0).normal(size=(1500, 1500)))
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert calls == [None]


def test_a_reader_gets_its_turn_while_another_thread_adds_rows():
    X = np.random.default_rng(8).normal(size=(100, 40))
    pca = IncrementalPCA(n_components=4).partial_fit(X)
    reads = []

    def read():
        while len(reads) < 50:
            reads.append(pca.components_)

    reader = threading.Thread(target=read)
    reader.start()
    calls = 0
    while reader.is_alive() and calls < 50_000:
        pca.partial_fit(X[:1])
        calls += 1
    waited = len(reads)
    reader.join(timeout=60)
    assert waited == 50, f"{waited} reads beside {calls} calls"


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("narrow", [0, 60])
def test_rows_that_do_not_fit_into_memory_raise_an_error(read, narrow):
    script = f"""
        import resource
        import numpy as np
        from eigenspace import IncrementalPCA

        features, read, narrow = 200_000, {read}, {narrow}
        IncrementalPCA(n_components=1).fit(np.eye(3)).components_
        X = np.random.default_rng(0).standard_normal((4, features))
        pca = IncrementalPCA(n_components=2)
        with open("/proc/self/status") as status:
            size = next(int(line.split()[1]) for line in status if line.startswith("VmSize")) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size + (120 << 20),) * 2)
        for i in range(600):
            row = X[i % 4 : i % 4 + 1]
            try:
                pca.partial_fit(row.astype(np.float32) if i < narrow else row)
                if read and i % 20 == 19:
                    pca.components_
            except MemoryError as error:
                print(pca.n_samples_seen_ - i, error)
                break
    """
    done = run(script)
    assert done.returncode == 0, done.stderr
    behind, _, said = done.stdout.partition(" ")
    # A row that raised an error was not counted; a row added before a failed read was.
    assert int(behind) in (0, 1)
    assert "of memory" in said
