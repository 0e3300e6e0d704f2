"""Lists stored results that are older than the last change to the code they measure.

    python bench/freshness.py             list them; `cargo xtask freshness` does so
    python bench/freshness.py --strict    and fail if there are any

A result names the commit that it was measured at. It is out of date if the measured code has
changed between that commit and the working tree. Results without a commit, or with one that is not
in the history, are out of date too, because nobody can check out what was measured.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ["crates/eigenspace/src", "crates/eigenspace/Cargo.toml", "Cargo.lock"]
PYTHON = ["crates/eigenspace-py/src", "crates/eigenspace-py/python"]
BENCH = ["bench/measure.py", "bench/peers.py", "bench/data.py", "bench/accuracy.py"]
REPORT = ["bench/measure.py", "report/experiments/measure.py", "report/experiments/orl.py"]
SPECIFICATION, SPEED = Path("bench/results/S1.json"), Path("report/results/speed.json")
"""The report copies the times of the first to the second."""
COMMAND = ["crates/eigenspace-cli/src"]
SCALING = Path("bench/scaling.json")
"""The times in docs/SCALE.md."""


def measured_code(path: Path) -> list[str]:
    """Return the files and directories whose change makes a result out of date."""
    if path == SCALING:
        return [*ENGINE, *PYTHON, "bench/scaling.py", "bench/w11_dask.py", "bench/data.py"]
    if path.parts[0] == "bench":
        number = path.stem.lower()
        own = [str(file.relative_to(ROOT)) for file in (ROOT / "bench").glob(f"{number}_*.py")]
        own += ["bench/gpu.py"] * number.startswith("gpu")
        return [*ENGINE, *PYTHON, *BENCH, *own]
    return [*ENGINE, *PYTHON, *COMMAND, *REPORT, f"report/experiments/{path.stem}.py"]


def results() -> Iterator[tuple[Path, dict]]:
    """Yield the stored results, with the description of their machine."""
    for pattern in ("bench/results/*.json", str(SCALING), "report/results/*.json"):
        for path in sorted(ROOT.glob(pattern)):
            stored = json.loads(path.read_text())
            machine = stored.get("machine") if isinstance(stored, dict) else None
            yield path.relative_to(ROOT), machine if isinstance(machine, dict) else {}


def changed(commit: str, code: list[str]) -> list[str] | None:
    """Return the files that differ from a commit; None if the commit is not in the history."""
    if git("merge-base", "--is-ancestor", commit, "HEAD").returncode:
        return None
    found = git("diff", "--name-only", commit, "--", *code)
    return found.stdout.split()


def git(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def other_times() -> str | None:
    """Return why the report does not show the times of the benchmark, or None if it does."""
    if not (ROOT / SPECIFICATION).exists():
        return f"its times are those of {SPECIFICATION}, which is missing"
    stored = json.loads((ROOT / SPECIFICATION).read_text())["machine"]
    shown = json.loads((ROOT / SPEED).read_text()).get("ten_measured", {})
    if (shown.get("commit"), shown.get("date")) == (stored["commit"], stored["date"]):
        return None
    return f"its times are not those of {SPECIFICATION}; run `cargo xtask report`"


def stale() -> Iterator[str]:
    """Yield a line for each result that is out of date."""
    for path, machine in results():
        commit = machine.get("commit")
        if not commit:
            yield f"{path}: does not say at which commit it was measured"
            continue
        files = changed(commit, measured_code(path))
        if files is None:
            yield f"{path}: measured at {commit}, which is not in the history"
        elif files:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            yield f"{path}: measured at {commit}; since then changed: {files[0]}{more}"
        elif machine.get("changed_since"):
            yield f"{path}: measured at {commit} with uncommitted changes"
        elif path == SPEED and (older := other_times()):
            yield f"{path}: {older}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strict", action="store_true", help="fail if a result is out of date")
    strict = parser.parse_args().strict
    found = list(stale())
    for line in found:
        print(line)
    print(f"{len(found)} of {len(list(results()))} results are out of date")
    return 1 if strict and found else 0


if __name__ == "__main__":
    sys.exit(main())
