"""Calls that allocate memory, each in processes with different memory limits. Prints one line for each.

Run by test_out_of_memory.py, which detects processes that abort instead of raising an error.
"""

import os
import pickle
import resource
import sys
import traceback

import numpy as np

from eigenspace import PCA, Accumulator, EigenspaceModel, IncrementalPCA, set_threads, threads

FEATURES = 3000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, FEATURES))
PART = EigenspaceModel.fit(X[:120])
WHOLE = PART + EigenspaceModel.fit(X[120:])
SEEN = IncrementalPCA(10).partial_fit(X[:200])
SCATTER = IncrementalPCA(10).partial_fit(X[:, :600])
BATCH = PCA(10, method="gram").fit(X)
DATA = WHOLE.to_bytes()
PICKLE = pickle.dumps(SEEN)
NARROW = Accumulator().absorb(np.concatenate([X[:, :1000]] * 3))
WIDE = Accumulator(10).absorb(X)
STATE = NARROW.to_bytes()
PATH = os.environ.get("EIGENSPACE_LIMITS", "/tmp") + "/whole.safetensors"

CASES = {
    "fit": lambda: EigenspaceModel.fit(X),
    "fit by svd": lambda: EigenspaceModel.fit(X, method="svd"),
    "update": lambda: WHOLE.update(X[:100]),
    "update with a little": lambda: WHOLE.update(X[:1]),
    "truncate": lambda: WHOLE.truncate(298),
    "split": lambda: WHOLE.split(PART),
    "remove": lambda: WHOLE.remove(X[:120]),
    "merge": lambda: WHOLE.merge(PART),
    "merge_all": lambda: EigenspaceModel.merge_all([PART, WHOLE, PART]),
    "with_components": lambda: WHOLE.with_components(3),
    "forget": lambda: WHOLE.forget(0.5),
    "to_bytes": lambda: WHOLE.to_bytes(),
    "from_bytes": lambda: EigenspaceModel.from_bytes(DATA),
    "save": lambda: WHOLE.save(PATH),
    "load": lambda: EigenspaceModel.load(PATH),
    "pickling a model": lambda: pickle.dumps(WHOLE),
    "pickling a stream": lambda: pickle.dumps(SEEN),
    "unpickling a stream": lambda: pickle.loads(PICKLE),
    "pickling a batch": lambda: pickle.dumps(BATCH),
    "basis": lambda: WHOLE.basis,
    "covariance": lambda: SCATTER.model_.covariance(),
    "standardize": lambda: IncrementalPCA.from_model(WHOLE, n_components=3, standardize=True).components_,
    "resume": lambda: IncrementalPCA.from_model(WHOLE, n_components=3),
    "partial_fit": lambda: SEEN.partial_fit(X),
    "partial_fit into the scatter": lambda: SCATTER.partial_fit(X[:, :600]),
    "components_": lambda: SEEN.partial_fit(X[:1]).components_,
    "absorb": lambda: Accumulator(10).absorb(X),
    "absorb into the scatter": lambda: NARROW.absorb(X[:, :1000]),
    "merge scatters": lambda: NARROW + NARROW,
    "merge factors": lambda: WIDE + WIDE,
    "finish": lambda: WIDE.finish(),
    "an accumulator to bytes": lambda: NARROW.to_bytes(),
    "an accumulator from bytes": lambda: Accumulator.from_bytes(STATE),
    "project": lambda: WHOLE.project(X),
    "reconstruct": lambda: WHOLE.reconstruct(np.ones((400, 299))),
    "squared_distance": lambda: WHOLE.squared_distance(X),
    "fill_missing": lambda: PART.fill_missing(X[:100]),
}
STEPS = [1, 6, 12, 18, 24, 28, 32, 36, 40, 46, 52, 60, 72, 90, 400]
"""MiB that may still be allocated."""


def run(work, mib):
    """Run a call in the child process: 0 if it succeeded, 1 if it raised a MemoryError."""
    threads()  # start the threads of this process, with their buffers
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    limit = size + (mib << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        work()
    except MemoryError:
        return 1
    except BaseException:
        traceback.print_exc()
        return 2
    return 0


if __name__ == "__main__":
    set_threads(2)
    WHOLE.save(PATH)
    for case in sys.argv[1:] or CASES:
        codes = []
        for step in STEPS:
            child = os.fork()
            if child == 0:
                os._exit(run(CASES[case], step))
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(case, *codes, sep="\t", flush=True)
