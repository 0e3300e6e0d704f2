"""How much larger the support for GPUs makes the command and the Python package.

    python bench/size.py             build both with and without it, and store the sizes
    python bench/goals.py --write    show them in docs/GPU.md

Builds for release, which takes some minutes for each. Symbols are stripped, as in a release. The
wheel contains the module compressed, so it grows by less.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import machine

BENCH = Path(__file__).resolve().parent
STORED = BENCH / "size.json"
ROOT = BENCH.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
PROGRAMS = {
    "command": ("eigenspace-cli", ["explore"], "eigenspace"),
    "Python module": ("eigenspace-py", [], "lib_core.so"),
}
"""Package, features other than `cuda`, and file."""
FEATURE = "cuda"


def measure() -> dict[str, Any]:
    """Return sizes and needed libraries of each program, with and without the feature."""
    found: dict[str, Any] = {"machine": machine.described(), "programs": {}}
    for name, (package, features, file) in PROGRAMS.items():
        found["programs"][name] = {
            "with": _built(package, [*features, FEATURE], file),
            "without": _built(package, features, file),
        }
    return found


def _built(package: str, features: list[str], file: str) -> dict[str, Any]:
    build = ["cargo", "build", "--release", "--locked", "--quiet", "--no-default-features"]
    build += ["-p", package, "--features", ",".join(features)]
    subprocess.run(build, cwd=ROOT, check=True)
    path = TARGET / "release" / file
    return {"bytes": path.stat().st_size, "libraries": _libraries(path)}


def _libraries(path: Path) -> list[str]:
    """Return the libraries that the system loads together with a program."""
    read = ["readelf", "--dynamic", "--wide", str(path)]
    lines = subprocess.run(read, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line)


if __name__ == "__main__":
    STORED.write_text(json.dumps(measure(), indent=1) + "\n")
