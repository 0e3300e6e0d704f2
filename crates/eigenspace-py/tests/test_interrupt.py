"""Ctrl-C interrupts every long call and leaves its subject unchanged."""

from functools import cache

import pytest
from children import outcomes_of
from interrupts import CASES, SECONDS


@cache
def outcomes():
    return outcomes_of("interrupts.py", CASES, SECONDS)


@pytest.mark.parametrize("case", CASES)
def test_a_long_call_is_interrupted_and_changes_nothing(case):
    assert outcomes()[case] == ("interrupted", 0)
