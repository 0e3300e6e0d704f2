"""How much larger the support for GPUs makes the command and the Python package.

    python bench/size.py             build both with and without it, and store the sizes
    python bench/size.py command     the same for the command alone
    python bench/goals.py --write    show them in docs/GPU.md

Builds for release, which takes some minutes for each. Symbols are stripped, as in a release. The
wheel contains the module compressed, so it grows by less.
"""

import json
import os
import subprocess
import sys
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
"""Package, default features other than `cuda`, and file."""


def measured(name: str) -> dict[str, Any]:
    """Return size and needed libraries of a program as it is released, and without the feature."""
    package, features, file = PROGRAMS[name]
    fewer = ["--no-default-features", "--features", ",".join(features)]
    return {
        "machine": machine.described(),
        "with": _built(package, [], file),
        "without": _built(package, fewer, file),
    }


def _built(package: str, options: list[str], file: str) -> dict[str, Any]:
    build = ["cargo", "build", "--release", "--locked", "--quiet", "-p", package, *options]
    subprocess.run(build, cwd=ROOT, check=True)
    path = TARGET / "release" / file
    return {"bytes": path.stat().st_size, "libraries": _libraries(path)}


def _libraries(path: Path) -> list[str]:
    """Return the libraries that the system loads together with a program."""
    read = ["readelf", "--dynamic", "--wide", str(path)]
    lines = subprocess.run(read, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line)


def main() -> None:
    found = json.loads(STORED.read_text()) if STORED.exists() else {}
    for name in sys.argv[1:] or PROGRAMS:
        found[name] = measured(name)
        STORED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
