"""Rows are read in place: half a gigabyte or more is fitted and projected within 300 MiB."""

import subprocess
import sys
import textwrap

import pytest

SETUP = """
import resource
import sys
import numpy as np
from eigenspace import IncrementalPCA

IncrementalPCA(2).fit(np.eye(4)).transform(np.eye(4))  # starts the threads
rows = np.lib.format.open_memmap(sys.argv[1], mode="w+", dtype="{dtype}", shape=({n}, 1024))
rows[:50] = np.random.default_rng(0).normal(size=(50, 1024))
taken = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
limit = taken + (300 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
"""


@pytest.mark.parametrize(
    ("dtype", "n", "view"),
    [
        ("float64", 65536, "rows"),
        ("float32", 131072, "rows"),
        ("float64", 65536, "rows[::-1, ::-1]"),
        ("uint8", 131072, "rows"),
    ],
)
def test_half_a_gigabyte_is_not_copied(tmp_path, dtype, n, view):
    script = textwrap.dedent(SETUP.format(dtype=dtype, n=n)) + textwrap.dedent(f"""
        X = {view}
        pca = IncrementalPCA(3).fit(X)
        assert pca.n_samples_seen_ == len(X) and pca.transform(X).shape == (len(X), 3)
        try:
            np.array(X, dtype=np.float64)
        except MemoryError:
            print("a copy would not fit")
    """)
    command = [sys.executable, "-c", script, str(tmp_path / "rows.npy")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "a copy would not fit\n", done.stderr
