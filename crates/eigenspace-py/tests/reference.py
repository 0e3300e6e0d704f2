"""The parameter reference in docs/PYTHON.md, generated from the docstrings.

`python crates/eigenspace-py/tests/reference.py --write` updates it; a test compares it.
"""

import ast
import importlib
import inspect
import itertools
import re
import sys
from pathlib import Path

import eigenspace

DOCUMENT = Path(__file__).parents[3] / "docs" / "PYTHON.md"
BEGIN, END = "<!-- reference -->\n", "<!-- end of reference -->"
MODULES = ["eigenspace", "eigenspace.datasets", "eigenspace.faces", "eigenspace.plot", "eigenspace.dask"]
SPARK = Path(eigenspace.__file__).parent / "spark.py"
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
TYPES = ("str", "bool", "int", "float")
ROLE = re.compile(r":\w+:`~?([^`]+)`")


def markdown():
    """Return the reference."""
    parts = [_module(name) for name in MODULES]
    return "\n".join([*parts, _spark()])


def public():
    """Return the full name of everything public, as the modules list it."""
    names = [f"{name}.{item}" for name in MODULES for item in importlib.import_module(name).__all__]
    return [*names, *(f"eigenspace.spark.{node.name}" for node in _spark_nodes())]


def _module(name):
    module = importlib.import_module(name)
    items = [item for item in module.__all__ if item != "__version__"]
    lines = [f"### `{name}`\n"]
    if "__version__" in module.__all__:
        lines.append("`eigenspace.__version__` is the version of the package.\n")
    lines += [_item(item, getattr(module, item)) for item in items]
    return "\n".join(lines)


def _item(name, thing):
    lines = [_entry(name, _signature(thing), inspect.getdoc(thing))]
    if isinstance(thing, type):
        fields = _fields(thing) if issubclass(thing, tuple) else []
        members = fields + [_member(member, value) for member, value in _members(thing) if not fields]
        if members:
            lines.append("\n".join(members) + "\n")
    return "\n".join(lines)


def _entry(name, signature, doc):
    summary, parameters = _parsed(doc)
    lines = [f"#### `{name}`\n"]
    if signature:
        lines.append(f"```pycon\n{name}{signature}\n```\n")
    lines.append(summary + "\n")
    if parameters:
        lines.append("\n".join(parameters) + "\n")
    return "\n".join(lines)


def _signature(thing):
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    if isinstance(thing, type) and issubclass(thing, (tuple, BaseException)):
        return ""
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    if isinstance(thing, type) and not plain:  # users get such objects from functions
        return ""
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _members(thing):
    if issubclass(thing, BaseException):
        return
    for name in sorted(dir(thing)):
        value = inspect.getattr_static(thing, name)
        if name.startswith("_"):
            continue
        inner = getattr(value, "__func__", getattr(value, "fget", value))
        own = any(name in vars(base) and base.__module__.startswith("eigenspace") for base in thing.__mro__)
        if own and (callable(inner) or isinstance(value, property) or inspect.isgetsetdescriptor(value)):
            yield name, value


def _fields(thing):
    """Return the fields of a named tuple, with the strings that follow them in the source."""
    body = ast.parse(inspect.getsource(thing)).body[0].body
    found = []
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            found.append(f"- `{field.target.id}`: {text.value.value}")
    return found


def _member(name, value):
    inner = getattr(value, "__func__", value)
    doc = inspect.getdoc(inner) or ""
    summary, parameters = _parsed(doc)
    is_attribute = isinstance(value, property) or inspect.isgetsetdescriptor(value) or not callable(inner)
    call = "" if is_attribute else _call(inner)
    line = f"- `{name}{call}`: {_first(summary)}"
    return "\n".join([line, *(f"  {parameter}" for parameter in parameters)])


def _call(function):
    signature = _signature(function)
    return re.sub(r"\((self|cls)(, )?", "(", signature) if signature else "()"


def _first(summary):
    """Return the first paragraph, in one line."""
    return " ".join(summary.split("\n\n")[0].split())


def _parsed(doc):
    """Return the text before the sections, wrapped as it is, and the parameters as list items."""
    doc = ROLE.sub(r"`\1`", doc or "").replace("``", "`")
    pieces = SECTION.split(doc)
    summary = "\n\n".join(
        paragraph for paragraph in pieces[0].strip().split("\n\n") if not paragraph.lstrip().startswith((">>>", "==="))
    )
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return summary, [item for title in ("Parameters", "Attributes") for item in _items(sections.get(title, ""))]


def _items(section):
    # A list of names may continue in the next line.
    items, lines = [], re.sub(r",\n(?=\w)", ", ", section.rstrip()).split("\n")
    start = 0
    for i, line in [*enumerate(lines), (len(lines), "end")]:
        if i > start and line and not line.startswith(" "):
            items.append(_parameter(lines[start:i]))
            start = i
    return [item for item in items if item]


def _parameter(lines):
    if not lines or not lines[0].strip():
        return ""
    name, _, kind = lines[0].strip().partition(" : ")
    names = ", ".join(f"`{one}`" for one in name.split(", "))
    more = [line.strip() for line in lines[1:] if line.strip()]
    if more and kind and (more[0][0].isupper() or kind in TYPES):  # the type, then a description
        return f"- {names} ({kind}): {' '.join(more)}"
    return f"- {names}: {' '.join([kind, *more]).strip()}"


def _spark_nodes():
    """Return the public definitions of eigenspace.spark, without importing pyspark."""
    tree = ast.parse(SPARK.read_text())
    named = next(node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    names = ast.literal_eval(named.value)
    nodes = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    return [nodes[name] for name in names]


def _spark():
    lines = ["### `eigenspace.spark`\n"]
    for node in _spark_nodes():
        signature = ""
        function = node
        if isinstance(node, ast.ClassDef):
            constructors = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
            function = constructors[0] if constructors else None
        if function is not None:
            arguments = function.args
            for argument in [*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
                if argument is not None:
                    argument.annotation = None
            arguments.args = [argument for argument in arguments.args if argument.arg != "self"]
            signature = f"({ast.unparse(arguments)})"
        lines.append(_entry(node.name, signature, inspect.cleandoc(ast.get_docstring(node) or "")))
    return "\n".join(lines)


def main():
    text = DOCUMENT.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    new = f"{before}{BEGIN}{markdown()}{END}{after}"
    if "--write" in sys.argv:
        DOCUMENT.write_text(new)
    else:
        print(markdown())


if __name__ == "__main__":
    main()
