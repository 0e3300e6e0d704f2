"""Where memory runs out a call raises MemoryError and the interpreter lives on, however little there is left."""

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
def outcomes(folder):
    """How the process ended for each step, by case."""
    done = subprocess.run(
        [sys.executable, str(DRIVER)],
        capture_output=True,
        text=True,
        timeout=600,
        # One arena: each reserves address space, which is what is limited.
        env={**os.environ, "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "EIGENSPACE_LIMITS": folder},
        check=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: codes for name, *codes in lines}, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space of a process")
@pytest.mark.parametrize("case", CASES)
def test_a_call_without_memory_is_refused_and_never_aborts(case, tmp_path_factory):
    found, said = outcomes(str(tmp_path_factory.getbasetemp()))
    codes = found[case]
    assert set(codes) == {DONE, REFUSED}, f"{dict(zip(STEPS, codes, strict=True))}\n{said}"
    assert codes[0] == REFUSED
    assert codes[-1] == DONE
