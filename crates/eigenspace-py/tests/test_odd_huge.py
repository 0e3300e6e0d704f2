"""Input that does not fit into memory raises an error, and hours of work can be interrupted."""

from functools import cache

import pytest
from children import outcomes_of
from huge import CASES, SECONDS

EXITS = {-6: "aborted", -9: "was killed", -11: "crashed", -14: f"did not end in {SECONDS} s"}


@cache
def outcomes():
    return outcomes_of("huge.py", CASES, SECONDS)


@pytest.mark.parametrize("case", CASES)
def test_input_that_is_too_large_raises_an_error(case):
    said, code = outcomes()[case]
    assert code == 0, f"{EXITS.get(code, code)}: {said}"
    assert said == "done" or any(
        word in said for word in ["GiB", "TiB", "allocate", "interrupted", "too", "split", "cannot remove"]
    ), said
