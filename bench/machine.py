"""The machine, versions and date of the measurements."""

import datetime
import os
import platform
import subprocess
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
