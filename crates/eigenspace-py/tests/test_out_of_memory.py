"""Without enough memory a call raises MemoryError; the interpreter never aborts."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from limits import CASES, STEPS

DRIVER = Path(__file__).with_name("limits.py")
DONE, REFUSED = "0", "1"


@cache
def outcomes(directory):
    """Return the exit codes of the processes for each case, one per memory limit."""
    done = subprocess.run(
        [sys.executable, str(DRIVER)],
        capture_output=True,
        text=True,
        timeout=600,
        # Use one arena, because each arena reserves address space, which is limited here.
        env={**os.environ, "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "EIGENSPACE_LIMITS": directory},
        check=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: codes for name, *codes in lines}, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space of a process")
@pytest.mark.parametrize("case", CASES)
def test_a_call_without_memory_raises_an_error_and_never_aborts(case, tmp_path_factory):
    found, said = outcomes(str(tmp_path_factory.getbasetemp()))
    codes = found[case]
    assert set(codes) == {DONE, REFUSED}, f"{dict(zip(STEPS, codes, strict=True))}\n{said}"
    assert codes[0] == REFUSED
    assert codes[-1] == DONE
