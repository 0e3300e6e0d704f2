"""The examples of docs/ENGINES.md print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/ENGINES.md"
EXAMPLE = re.compile(
    r"^```python (\w+)\n(.*?)^```\n```text \1\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
EXAMPLES = {name: (code, text) for name, code, text in EXAMPLE.findall(PAGE.read_text())}


def test_every_example_is_tested():
    assert list(EXAMPLES) == re.findall(r"^```python (\w+)$", PAGE.read_text(), re.MULTILINE)
    assert set(EXAMPLES) == {"ray", "datafusion", "polars"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_the_page_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, expected = EXAMPLES[name]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {"__name__": "example"})
    assert printed.getvalue() == expected
