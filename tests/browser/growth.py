"""What the feature `explore` adds to the program and to its build."""

import os
import resource
import subprocess

from explorer import BINARY, ROOT

PROGRAM = "eigenspace-cli"
TARGET = BINARY.parents[1]


def cargo(*arguments: str) -> str:
    done = subprocess.run(
        ["cargo", *arguments],
        cwd=ROOT,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"`cargo {' '.join(arguments)}` failed:\n{done.stderr[-2000:]}")
    return done.stdout


def crates(*options: str) -> set[str]:
    """The crates that are built, as NAME@VERSION."""
    tree = cargo("tree", "-p", PROGRAM, "-e", "normal,build", "--prefix", "none", *options)
    return {
        "@".join(line.split()[:2]).replace("@v", "@") for line in tree.splitlines() if line.strip()
    }


def build(clean: set[str], *options: str) -> tuple[float, int]:
    """Seconds of processor time to compile these crates and the program, and its bytes."""
    cargo("clean", "--release", *(word for crate in sorted(clean) for word in ("-p", crate)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cargo("build", "--release", "-p", PROGRAM, *options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, BINARY.stat().st_size


def growth() -> tuple[int, float, float]:
    """Crates, seconds of processor time and bytes that the feature adds; leaves the whole program.

    The crates that both builds share are compiled before.
    """
    cargo("build", "--release", "-p", PROGRAM)
    more = crates() - crates("--no-default-features")
    less_time, less = build({PROGRAM}, "--no-default-features")
    time, size = build({PROGRAM, *more})
    return len(more), time - less_time, size - less
