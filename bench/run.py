"""Run the benchmark. `cargo xtask bench` runs this script in an environment that has the peers.

    python bench/run.py                     run all workloads, then generate tables and plots
    python bench/run.py W1 W5               run these workloads
    python bench/run.py W11 --cases "200,000 x 784"   run these cases, and keep the others
    python bench/run.py W4 --threads 1      run with one thread; results with two stay only if they
                                            measured the same code
    python bench/run.py scaling             measure how a fit scales, for docs/SCALE.md
    python bench/run.py --quick             smoke test with tiny sizes, into target/bench-quick
    python bench/run.py render              generate tables and plots from the existing results

Each workload runs in one process per thread count. The thread count is set for every library before
it is loaded. The peak memory of each tool is measured in another, separate process.
"""

import argparse
import dataclasses
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
QUICK = BENCH.parent / "target" / "bench-quick"
MODULES = {
    "W1": "w1_orl",
    "W2": "w2_embeddings",
    "W3": "w3_wide",
    "W4": "w4_merge",
    "W5": "w5_tall",
    "W6": "w6_sparse",
    "W7": "w7_project",
    "W8": "w8_growth",
    "W9": "w9_few",
    "W10": "w10_files",
    "W11": "w11_dask",
    "W12": "w12_spark",
    "S1": "s1_specification",
}
CLUSTERS = ("W11", "W12")
POOLS = ["OMP", "OPENBLAS", "MKL", "RAYON", "NUMEXPR", "BLIS"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words = [[], "render", "scaling", *MODULES]
    parser.add_argument("what", nargs="*", choices=words, metavar="W1 … W12, S1")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, few runs")
    parser.add_argument(
        "--threads", type=int, nargs="+", help="by default 1 and 2, on clusters 2 workers"
    )
    parser.add_argument("--cases", nargs="+", help="run only these cases of a workload")
    # Used internally: run one thread count, or measure the memory of one tool, and write a file.
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    directory = QUICK if chosen.quick else BENCH
    if chosen.child:
        return child(chosen)
    if chosen.what == ["scaling"]:
        import scaling

        scaling.measure()
        return scaling.PART.write()
    if chosen.what != ["render"]:
        # Spark needs packages of other versions, so it has an environment of its own.
        for name in chosen.what or [name for name in MODULES if name != "W12"]:
            cases = chosen.cases
            if name in CLUSTERS:
                # Minutes each: every case is stored as soon as it was measured.
                for case in cases or importlib.import_module(MODULES[name]).SIZES:
                    workload(name, chosen, directory, [case])
            else:
                workload(name, chosen, directory, cases)
    import render

    render.everything(directory)


def workload(
    name: str, chosen: argparse.Namespace, directory: Path, cases: list[str] | None
) -> None:
    import machine
    import store

    start = time.perf_counter()
    threads = chosen.threads or ([2] if name in CLUSTERS else [1, 2])
    quick, path = chosen.quick, directory / "results" / f"{name}.json"
    result = {"workload": name, "quick": quick, "machine": machine.described()}
    result["rows"], result["left_out"], result["failures"] = [], [], []
    # Most threads first, because the load that a run causes would disturb the next one.
    for number in sorted(threads, reverse=True):
        busy, refusal = (None, None) if quick else machine.quiet(number)
        if refusal:
            _say(f"{name}: {refusal}")
            result["left_out"].append(refusal)
            continue
        if busy is not None:
            result["machine"]["busy_before"] = round(busy, 2)
        found = _in_child(name, number, quick, "--cases", *cases or [])
        result["title"] = found["title"]
        result["rows"] += found["rows"]
        result["failures"] += found["failures"]
        result["left_out"] = sorted({*result["left_out"], *found["left_out"]})
    result["rows"].sort(key=lambda row: row["threads"])
    wanting = [row for row in result["rows"] if row.pop("wants_memory")]
    most = max((row["threads"] for row in result["rows"]), default=0)
    wanting = [row for row in wanting if row["threads"] == most and "memory_mib" not in row]
    if quick and wanting:
        wanting = [row for row in wanting if row["case"] == wanting[0]["case"]]
    for row in wanting:
        found = _in_child(name, row["threads"], quick, "--memory", row["key"], str(row["place"]))
        row["memory_mib"] = found["memory_mib"]
    result["seconds"] = round(time.perf_counter() - start, 1)
    if result["rows"] or result["failures"]:
        result = store.store(path, result, cases)
    _say(f"{name}: {result['seconds']:.0f} s, {path.relative_to(BENCH.parent)}")


def _in_child(name: str, threads: int, quick: bool, *options: str) -> dict:
    """Run a process in which all libraries use this number of threads."""
    environment = os.environ | {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "out.json"
        command = [sys.executable, __file__, name, "--threads", str(threads), "--child", str(out)]
        command += ["--quick"] * quick
        command += options if len(options) > 1 else []
        subprocess.run(command, check=True, env=environment)
        return json.loads(out.read_text())


def child(chosen: argparse.Namespace) -> None:
    name, threads, quick, out = chosen.what[0], chosen.threads[0], chosen.quick, chosen.child
    memory = chosen.memory
    fix_threads(threads)
    import measure
    import peers

    module = importlib.import_module(MODULES[name])
    builders = module.cases(quick)
    if memory:
        case = builders[memory[0]]()
        tool = case.tools[int(memory[1])]
        out.write_text(json.dumps({"memory_mib": measure.peak_memory(case, tool)}))
        return
    # The peers on clusters are in Python.
    rows, left_out = [], [*module.LEFT_OUT, *([] if name in CLUSTERS else peers.left_out())]
    failures = []
    for key, build in builders.items():
        if chosen.cases and key not in chosen.cases:
            continue
        case = build()
        _say(f"{name}, {threads} thread{'s' * (threads > 1)}: {case.name}")
        found, failed = measure.measured(case, threads, 3 if quick else None)
        left_out += map(str, failed)
        failures += [{"key": key} | dataclasses.asdict(failure) for failure in failed]
        for failure in failed:
            _say(f"    {failure}")
        for row in found:
            row |= {"key": key, "wants_memory": case.memory}
            _say(f"    {row['median']:10.6f} s {row['ratio']:8.2f}x  {row['tool']} {row['mode']}")
        rows += found
        del case
    found = {"title": module.TITLE, "rows": rows, "left_out": left_out, "failures": failures}
    out.write_text(json.dumps(found, allow_nan=False))


def fix_threads(number: int) -> None:
    """Set the thread count also for pools that read no variable, and restrict the processors."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])
    import eigenspace
    import threadpoolctl

    eigenspace.set_threads(number)
    threadpoolctl.threadpool_limits(number)
    if importlib.util.find_spec("faiss"):
        import daal4py
        import faiss

        faiss.omp_set_num_threads(number)
        daal4py.daalinit(number)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
