"""The machine, versions and date of the measurements."""

import datetime
import os
import platform
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = [
    "eigenspace",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "dask",
    "dask-ml",
    "faiss-cpu",
    "gensim",
    "pyspark",
]
ROOT = Path(__file__).resolve().parent.parent
QUIET = 0.3
"""Two threads are measured only if other programs keep at most this many cores busy."""
WATCHED = 5.0
"""Seconds over which that is measured."""
PATIENCE = 300.0
"""Seconds to wait until the machine is quiet."""


def quiet(threads: int) -> tuple[float | None, str | None]:
    """Wait until the machine is quiet enough to measure this number of threads.

    Returns how many cores other programs kept busy, which is not measured for one thread, and why
    this number of threads is not measured now, or None if the machine is quiet.

    Times of several threads vary severalfold if another program takes one of the cores. The load
    average would not do: it remembers for minutes what ran before.
    """
    if threads == 1:
        return None, None
    until = time.monotonic() + PATIENCE
    while (busy := _busy_cores()) > QUIET:
        if time.monotonic() > until:
            return busy, (
                f"{threads} threads: other programs kept {busy:.2f} cores busy, more than "
                f"{QUIET}, so that times would mean little"
            )
    return busy, None


def _busy_cores() -> float:
    """Return how many cores were busy, on average, during the next few seconds."""

    def ticks() -> int:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
        # All but idle and waiting for the disk.
        return sum(int(field) for i, field in enumerate(fields) if i not in (3, 4))

    before, start = ticks(), time.monotonic()
    time.sleep(WATCHED)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - start)


def described() -> dict[str, object]:
    """Return date, machine, versions and commit."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "rustc": _said("rustc", "--version"),
        "commit": _said("git", "rev-parse", "--short=12", "HEAD"),
        "changed_since": bool(_said("git", "status", "--porcelain", "--", "crates", "Cargo.lock")),
        "versions": {name: version(name) for name in PACKAGES if _is_installed(name)},
    }


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _said(*command: str) -> str:
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return found.stdout.strip()
