"""Versions and processor used for the measurements, and the number of tests."""

import os
import platform
import re
from pathlib import Path

import eigenspace
import numpy
import scipy
import sklearn

from . import orl, tex

ROOT = Path(__file__).resolve().parents[2]
RUST_TESTS = ROOT / "crates"
PYTHON_TESTS = (ROOT / "tests/python", ROOT / "crates/eigenspace-py/tests")


def run():
    """Return versions and sizes, without machine names."""
    rows = orl.faces()
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
        "eigenspace": eigenspace.__version__,
        "faces": {"rows": rows.shape[0], "features": rows.shape[1], "people": orl.PEOPLE},
        "tests": tests(),
    }


def processor():
    """Return the name of the processor."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def tests():
    """Count the tests in the sources; a property test counts once."""
    rust = [file.read_text() for file in sorted(RUST_TESTS.rglob("*.rs")) if "target" not in file.parts]
    python = [file.read_text() for directory in PYTHON_TESTS for file in sorted(directory.glob("test_*.py"))]
    return {
        "rust": sum(len(re.findall(r"#\[(?:tokio::)?test\b", text)) for text in rust),
        "properties": sum(len(re.findall(r"fn \w+\([^)]*\bin\b[^)]*\)", text)) for text in rust),
        "python": sum(len(re.findall(r"^ *def test_", text, re.MULTILINE)) for text in python),
    }


def draw(results):
    return {}


def tables(results):
    return {}


def measured(machines):
    """Return commits, dates and loads of the measurements of these experiments.

    They can differ, because an experiment can be run alone.
    """
    commits = [each.get("commit", "unknown") + " with changes" * bool(each.get("changed_since")) for each in machines]
    commits = list(dict.fromkeys(commits))
    dates = [each.get("date", "unknown")[:10] for each in machines]
    loads = [each["load_before"] for each in machines if each.get("load_before") is not None]
    return {
        "commit": f"commit{'s' * (len(commits) > 1)} {tex.words(commits)}",
        "date": span(min(dates), max(dates)),
        "load": span(f"{min(loads):.2f}", f"{max(loads):.2f}") if loads else "unknown",
    }


def span(first, last):
    return first if first == last else f"{first} to {last}"


def numbers(results):
    faces = results["faces"]
    plain = ("processor", "cores", "system", "python", "numpy", "scipy", "sklearn", "eigenspace")
    return {
        **{key: str(results[key]).replace("_", r"\_") for key in plain},
        "rows": tex.integer(faces["rows"]),
        "features": tex.integer(faces["features"]),
        "people": tex.integer(faces["people"]),
        "tests.rust": tex.integer(results["tests"]["rust"]),
        "tests.properties": tex.integer(results["tests"]["properties"]),
        "tests.python": tex.integer(results["tests"]["python"]),
    }
