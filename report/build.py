"""Makes the numbers, tables and figures of the report.

    python report/build.py              runs every experiment, then the rest
    python report/build.py speed        runs one experiment again
    python report/build.py --kept       only tables and figures, from the numbers that are kept

Runs write ``results/<experiment>.json``. From these come ``results/numbers.tex``, ``results/<table>.tex`` and
``figures/<figure>.pdf``. ``EIGENSPACE_REPORT_RUNS`` sets the timed runs (20); the results say how many there were. The
text of the report holds no number that was measured (``check.py`` sees to that).
"""

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS, FIGURES = HERE / "results", HERE / "figures"

sys.path.insert(0, str(HERE))
NAMES = importlib.import_module("experiments").NAMES


def main():
    parser = argparse.ArgumentParser(description="the numbers, tables and figures of the report")
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--kept", action="store_true", help="run nothing, use the kept results")
    chosen = parser.parse_args()
    # Before numpy is loaded: one thread on both sides of every comparison.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    unknown = [name for name in chosen.names if name not in NAMES]
    if unknown:
        parser.error(f"no experiment is called {unknown[0]}")
    RESULTS.mkdir(exist_ok=True)
    FIGURES.mkdir(exist_ok=True)
    if not chosen.kept:
        for name in chosen.names or NAMES:
            run(name)
    render()


def run(name):
    """One experiment; its numbers replace the kept ones when it is done."""
    import eigenspace

    eigenspace.set_threads(1)
    start = time.perf_counter()
    results = importlib.import_module(f"experiments.{name}").run()
    text = json.dumps(results, indent=1, default=plain)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr)


def plain(value):
    """numpy's numbers as Python's."""
    return value.tolist()


def render():
    """Everything that is made from the kept numbers."""
    from experiments import look

    lines = ["% Made by report/build.py from the results beside it. Do not edit."]
    for name in NAMES:
        file = RESULTS / f"{name}.json"
        if not file.exists():
            raise SystemExit(f"{file} is missing: run `python report/build.py {name}`")
        results = json.loads(file.read_text())
        module = importlib.import_module(f"experiments.{name}")
        for key, text in module.numbers(results).items():
            lines.append(rf"\Number{{{name}.{key}}}{{{text}}}")
        for key, text in module.tables(results).items():
            (RESULTS / f"{key}.tex").write_text("% Made by report/build.py. Do not edit.\n" + text)
        for key, figure in module.draw(results).items():
            look.save(figure, FIGURES / f"{key}.pdf")
    (RESULTS / "numbers.tex").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
