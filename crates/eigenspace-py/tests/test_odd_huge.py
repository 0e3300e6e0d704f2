"""Input that does not fit into memory raises an error, and hours of work can be interrupted."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from huge import CASES, SECONDS

DRIVER = Path(__file__).with_name("huge.py")
EXITS = {-6: "aborted", -9: "was killed", -11: "crashed", -14: f"did not end in {SECONDS} s"}


@cache
def outcomes():
    """Return the output line and the exit code of each case."""
    done = subprocess.run(
        [sys.executable, str(DRIVER)],
        capture_output=True,
        text=True,
        timeout=SECONDS * len(CASES) + 60,
        env={**os.environ, "RUST_BACKTRACE": "0", "OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    found = {}
    for line in done.stdout.split("\n\n"):
        name, _, rest = line.strip("\n").partition("\t")
        if name in CASES:
            said, _, code = rest.rpartition("\t")
            found[name] = said.strip(), int(code)
    return found


@pytest.mark.parametrize("case", CASES)
def test_input_that_is_too_large_raises_an_error(case):
    said, code = outcomes()[case]
    assert code == 0, f"{EXITS.get(code, code)}: {said}"
    assert said == "done" or any(
        word in said for word in ["GiB", "TiB", "allocate", "interrupted", "too", "split", "cannot remove"]
    ), said
