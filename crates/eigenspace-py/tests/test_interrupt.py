"""Ctrl-C interrupts every long call and leaves its subject unchanged."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from interrupts import CASES, SECONDS

DRIVER = Path(__file__).with_name("interrupts.py")


@cache
def outcomes():
    """Return the output line and the exit code of each case."""
    done = subprocess.run(
        [sys.executable, str(DRIVER)],
        capture_output=True,
        text=True,
        timeout=SECONDS * len(CASES) + 60,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    lines = [line.strip("\n").partition("\t") for line in done.stdout.split("\n\n")]
    return {name: rest.rpartition("\t") for name, _, rest in lines}


@pytest.mark.parametrize("case", CASES)
def test_a_long_call_is_interrupted_and_changes_nothing(case):
    said, _, code = outcomes()[case]
    assert (said, code) == ("interrupted", "0")
