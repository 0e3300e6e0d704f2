"""Cases that each run in a child process, because they may be killed, hang, or need signals of their own."""

import os
import subprocess
import sys
from pathlib import Path


def run_each(cases, run):
    """Run the cases named on the command line, or all. Prints the output and the exit code of each.

    ``run`` prints what happened to a case, and returns the exit code of its process.
    """
    for case in sys.argv[1:] or cases:
        print(f"{case}\t", end="", flush=True)
        child = os.fork()
        if child == 0:
            os._exit(run(case))
        _, status = os.waitpid(child, 0)
        print(f"\t{os.waitstatus_to_exitcode(status)}\n", flush=True)


def outcomes_of(driver, cases, seconds):
    """Run a script that calls ``run_each``, and return what each case printed, and its exit code."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(driver))],
        capture_output=True,
        text=True,
        timeout=seconds * len(cases) + 60,
        env={**os.environ, "RUST_BACKTRACE": "0", "OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    found = {}
    for line in done.stdout.split("\n\n"):
        name, _, rest = line.strip("\n").partition("\t")
        if name in cases:
            said, _, code = rest.rpartition("\t")
            found[name] = said.strip(), int(code)
    return found
