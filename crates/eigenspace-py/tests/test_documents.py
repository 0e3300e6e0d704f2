"""The examples in the documents run and print the documented output."""

import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import re
from pathlib import Path

import defects
import pytest
import reference

import eigenspace

ROOT = Path(__file__).parents[3]
DOCUMENTS = ["README.md", "docs/PYTHON.md", "docs/FROM_SCIKIT_LEARN.md", "crates/eigenspace-py/README.md"]
FENCE = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^```csv (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEFECTS = re.compile(r"<!-- defects -->\n(.*?)<!-- end of defects -->", re.DOTALL)


def blocks(document):
    """Return the blocks of a document: language, first line, and text."""
    text = (ROOT / document).read_text()
    return [(match[1], text[: match.start()].count("\n") + 2, match[2]) for match in FENCE.finditer(text)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_run_and_print_the_documented_output(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for table in TABLE.finditer((ROOT / document).read_text()):
        (tmp_path / table[1]).write_text(table[2])
    found = blocks(document)
    assert any(kind == "python" for kind, *_ in found)
    namespace = {}
    for (kind, line, code), following in zip(found, [*found[1:], None], strict=True):
        if kind != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, document, "exec"), namespace)
        expected = following[2] if following is not None and following[0] == "text" else ""
        assert printed.getvalue() == expected, f"{document}, line {line}"


def test_the_table_of_defects_matches_the_measurements():
    table = DEFECTS.search((ROOT / "docs/FROM_SCIKIT_LEARN.md").read_text())[1]
    assert table == defects.markdown() + "\n", "run crates/eigenspace-py/tests/defects.py to print the table"


def modules():
    yield eigenspace
    for module in pkgutil.iter_modules(eigenspace.__path__, "eigenspace."):
        if module.name != "eigenspace.spark":  # needs pyspark, see tests/engines
            yield importlib.import_module(module.name)


def test_examples_in_docstrings_give_the_documented_output():
    attempted = 0
    for module in modules():
        result = doctest.testmod(module)
        assert result.failed == 0, module.__name__
        attempted += result.attempted
    assert attempted > 10


def test_the_reference_matches_the_docstrings():
    written = reference.DOCUMENT.read_text().split(reference.BEGIN)[1].split(reference.END)[0]
    assert written == reference.markdown(), "run `python crates/eigenspace-py/tests/reference.py --write`"


def test_the_reference_names_everything_public_and_every_parameter():
    """Compare with the modules themselves, not with the generator."""
    written = reference.DOCUMENT.read_text().split(reference.BEGIN)[1].split(reference.END)[0]
    sections = {part.split("`")[0]: part for part in written.split("### `eigenspace")[1:]}
    names = reference.public()
    assert len(names) > 40
    for full in names:
        module, _, name = full.rpartition(".")
        section = sections[module.removeprefix("eigenspace")]
        assert f"#### `{name}`\n" in section or name == "__version__", full
        if module == "eigenspace.spark":
            continue
        thing = getattr(importlib.import_module(module), name)
        if inspect.isfunction(thing):
            entry = section.split(f"#### `{name}`\n")[1].split("#### `")[0]
            for parameter in inspect.signature(thing).parameters:
                assert f"`{parameter}`" in entry or parameter in entry.split("```")[1], f"{full}: {parameter}"


def test_everything_public_is_documented():
    public = [module for module in modules() if "._" not in module.__name__]
    everything = [getattr(module, name) for module in public for name in module.__all__]
    assert len(everything) > len(eigenspace.__all__)
    for thing in everything:
        name = getattr(thing, "__name__", "__version__")
        assert thing.__doc__, name
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"
