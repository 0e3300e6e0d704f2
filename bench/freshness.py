"""Lists stored results that are older than the last change to the code they measure.

    python bench/freshness.py             list them; `cargo xtask freshness` does so
    python bench/freshness.py --strict    and fail if there are any

A result names the commit that it was measured at. It is out of date if the measured code has
changed between that commit and the working tree. Results without a commit, or with one that is not
in the history, are out of date too, because nobody can check out what was measured. Changes of
comments, documentation, errors and other strings of several words do not count, nor what an
experiment of the report does after its measurement: figures, tables and numbers. `explore` counts
only for its own budgets.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ["crates/eigenspace/src", "crates/eigenspace/Cargo.toml", "Cargo.lock"]
CARD = [
    f":(exclude,glob)crates/eigenspace/src/{name}"
    for name in (
        "linalg/cuda/**",
        "linalg/card.rs",
        "linalg/stand_in.rs",
        "**/on_card.rs",
        "**/on_card/**",
        "stream/card_updates.rs",
    )
]
"""What only computes on a GPU."""
FACES = [f":(exclude)crates/eigenspace/src/{name}" for name in ("faces", "data")]
FILES = [":(exclude)crates/eigenspace/src/io"]
READERS = {"w10", "w11", "w12"}
"""The workloads that read files."""
PYTHON = [
    "crates/eigenspace-py/src",
    "crates/eigenspace-py/python",
    # Looking at a certificate is in no measurement.
    ":(exclude)crates/eigenspace-py/src/certificate.rs",
]
BENCH = ["bench/measure.py", "bench/peers.py", "bench/data.py", "bench/accuracy.py"]
REPORT = ["bench/measure.py", "report/experiments/measure.py", "report/experiments/orl.py"]
SPECIFICATION, SPEED = Path("bench/results/S1.json"), Path("report/results/speed.json")
TEN_FACES = "ten faces added to 390"
"""The report copies the times of this case of the first to the second."""
COMMAND = ["crates/eigenspace-cli/src", ":(exclude)crates/eigenspace-cli/src/explore"]
EVALUATION = ["crates/eigenspace-cli/src/commands/faces"]
"""What the report runs of the command."""
ERRORS = [
    f":(exclude,glob)crates/{package}/src/{name}"
    for package in ("eigenspace", "eigenspace-py", "eigenspace-cli")
    for name in ("**/*error*.rs", "**/*error*/**", "**/hint.rs", "**/failure.rs", "**/advice/**")
]
"""Files about errors; no measurement has any."""
STRING = re.compile(r"""'"'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
"""A string of Rust, or the character that begins one."""
SCALING = Path("bench/scaling.json")
"""The times in docs/SCALE.md."""
SIZE = Path("bench/size.json")
"""The sizes in docs/GPU.md."""
BUDGETS = Path("bench/EXPLORER.md")
"""The budgets of the explorer, a table that names its commits in the text."""
EXPLORER = ["crates/eigenspace-cli/src/explore", "tests/browser/budget.py"]
EXPERIMENTS = "report/experiments/"


def measured_code(path: Path) -> list[str]:
    """Return the files and directories whose change makes a result out of date."""
    if path == SCALING:
        own = ["bench/scaling.py", "bench/w11_dask.py", "bench/data.py"]
        return [*LIBRARY, *CARD, *FACES, *PYTHON, *own]
    if path == BUDGETS:
        return EXPLORER
    if path == SIZE:
        return [*LIBRARY, *COMMAND, "crates/eigenspace-py/src", "bench/size.py"]
    if path.parts[0] == "bench":
        number = path.stem.lower()
        own = [str(file.relative_to(ROOT)) for file in (ROOT / "bench").glob(f"{number}_*.py")]
        if number.startswith("gpu"):
            return [*LIBRARY, *FACES, *PYTHON, *BENCH, "bench/gpu.py"]
        files = [] if number in READERS else FILES
        return [*LIBRARY, *CARD, *FACES, *files, *PYTHON, *BENCH, *own]
    return [*LIBRARY, *CARD, *PYTHON, *EVALUATION, *REPORT, f"report/experiments/{path.stem}.py"]


def results() -> Iterator[tuple[Path, list[dict]]]:
    """Yield the stored results, with the commits that their rows were measured at."""
    for pattern in ("bench/results/*.json", str(SCALING), str(SIZE), "report/results/*.json"):
        for path in sorted(ROOT.glob(pattern)):
            stored = json.loads(path.read_text())
            machine = stored.get("machine") if isinstance(stored, dict) else None
            yield path.relative_to(ROOT), _measurements(stored, machine or {})
    commits = re.findall(r"\bcommit ([0-9a-f]{12})\b", (ROOT / BUDGETS).read_text())
    yield BUDGETS, [{"commit": commit} for commit in dict.fromkeys(commits)]


def _measurements(stored: dict | list, machine: dict) -> list[dict]:
    """Return the different stamps of the rows; rows of older files have none.

    The file of sizes has one for each program.
    """
    rows = stored.get("rows", []) if isinstance(stored, dict) else []
    stamps = [row.get("measured", machine) for row in rows if isinstance(row, dict)]
    if isinstance(stored, dict) and not machine:
        parts = [each for each in stored.values() if isinstance(each, dict)]
        stamps = stamps or [each["machine"] for each in parts if "machine" in each]
    found = {(each.get("commit"), each.get("changed_since")): each for each in stamps or [machine]}
    return list(found.values())


def changed(commit: str, code: list[str]) -> list[str] | None:
    """Return the files that differ from a commit; None if the commit is not in the history."""
    if git("merge-base", "--is-ancestor", commit, "HEAD").returncode:
        return None
    return _differing(commit, None, code)


def is_same_code(one: str, other: str, code: list[str]) -> bool:
    """Return whether these files are the same at two commits."""
    return one == other or not _differing(one, other, code)


def _differing(one: str, other: str | None, code: list[str]) -> list[str]:
    """Return the files in which more than words differs; None is the working tree."""
    commits = [one] if other is None else [one, other]
    names = git("diff", "--name-only", *commits, "--", *code, *ERRORS).stdout.split()
    return [name for name in names if _content(one, name) != _content(other, name)]


def _content(commit: str | None, name: str) -> object:
    """Return the code of a file, or None if there is no such file."""
    if commit is None:
        path = ROOT / name
        return _code(name, path.read_text()) if path.exists() else None
    shown = git("show", f"{commit}:{name}")
    return None if shown.returncode else _code(name, shown.stdout)


def git(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def _code(name: str, text: str) -> object:
    """Return a source file without its comments and sentences, however it is formatted."""
    if name.endswith(".rs"):
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
        code = STRING.sub(lambda found: found[0] if " " not in found[0] else "", "\n".join(lines))
        code = "".join(code.split())
        return re.sub(r",([)\]}])", r"\1", code)
    if name.endswith(".py"):
        tree = ast.parse(text)
        if name.startswith(EXPERIMENTS):
            tree.body = _run_by_experiment(tree.body)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                node.values = [part for part in node.values if not _is_sentence(part)]
            if _is_sentence(node):
                node.value = ""
        return ast.dump(tree)
    return text


def _run_by_experiment(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that `run` reaches by name; all of them in a module without it."""
    single = [part for node in body for part in _single(node)]
    named = {name: node for node in single for name in _defined(node)}
    if "run" not in named:
        return body
    reached, following = set(), ["run"]
    while following:
        node = named.get(following.pop())
        if node is not None and node not in reached:
            reached.add(node)
            following += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return [node for node in single if node in reached]


def _single(node: ast.stmt) -> list[ast.stmt]:
    """Return an import of several names as imports of one."""
    if isinstance(node, ast.Import):
        return [ast.Import([alias]) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.ImportFrom(node.module, [alias], node.level) for alias in node.names]
    return [node]


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def _is_sentence(node: ast.AST) -> bool:
    """Return whether this is a string of several words."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


def other_times() -> str | None:
    """Return why the report does not show the times of the benchmark, or None if it does."""
    if not (ROOT / SPECIFICATION).exists():
        return f"its times are those of {SPECIFICATION}, which is missing"
    stored = json.loads((ROOT / SPECIFICATION).read_text())
    rows = [row for row in stored["rows"] if row["case"] == TEN_FACES and row["threads"] == 1]
    stamps = [row.get("measured", stored["machine"]) for row in rows]
    shown = json.loads((ROOT / SPEED).read_text()).get("ten_measured", {})
    if any((shown.get("commit"), shown.get("date")) == (at["commit"], at["date"]) for at in stamps):
        return None
    return f"its times are not those of {SPECIFICATION}; run `cargo xtask report`"


def stale() -> Iterator[str]:
    """Yield a line for each result that is out of date."""
    for path, stamps in results():
        for stamp in stamps:
            reason = _reason(path, stamp)
            if reason:
                yield f"{path}: {reason}"


def _reason(path: Path, stamp: dict) -> str | None:
    """Return why a measurement is out of date, or None if it is not."""
    commit = stamp.get("commit")
    if not commit:
        return "does not say at which commit it was measured"
    files = changed(commit, measured_code(path))
    if files is None:
        return f"measured at {commit}, which is not in the history"
    if files:
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"measured at {commit}; since then changed: {files[0]}{more}"
    if stamp.get("changed_since"):
        return f"measured at {commit} with uncommitted changes"
    return other_times() if path == SPEED else None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strict", action="store_true", help="fail if a result is out of date")
    strict = parser.parse_args().strict
    found = list(stale())
    for line in found:
        print(line)
    files = {line.split(":")[0] for line in found}
    print(f"{len(files)} of {len(list(results()))} results are out of date")
    return 1 if strict and found else 0


if __name__ == "__main__":
    sys.exit(main())
