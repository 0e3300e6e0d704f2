"""Long calls, each in a separate process that gets a SIGINT during the call. Prints one line for each.

Run by test_interrupt.py. The test does not depend on timing: the signal is sent while the computing
thread is alive, and the exception must come from the code that waits for it.
"""

import os
import pickle
import signal
import threading
import time
import traceback

import numpy as np
from children import run_each

from eigenspace import PCA, EigenspaceModel, IncrementalPCA, principal_angles

SECONDS = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 1600))
"""2.4 million cells, which are quick to read."""
PART = EigenspaceModel.fit(X[:700])
WHOLE = PART + EigenspaceModel.fit(X[700:])
TALL = EigenspaceModel.fit(RNG.normal(size=(700, 4500)))
SPARE = EigenspaceModel.fit(RNG.normal(size=(600, 30000)))
DATA = SPARE.to_bytes()


def seen(**params):
    return IncrementalPCA(20, **params).partial_fit(X[:40])


CASES = {
    "model of rows": (lambda _: PART, lambda _: EigenspaceModel.fit(X, method="svd")),
    "update": (lambda _: PART, lambda model: model.update(X[700:])),
    "merge": (lambda _: PART, lambda model: model.merge(WHOLE)),
    "merge_all": (lambda _: PART, lambda model: EigenspaceModel.merge_all([model] * 5)),
    "split": (lambda _: WHOLE, lambda model: model.split(PART)),
    "remove": (lambda _: WHOLE, lambda model: model.remove(X[:700])),
    "covariance": (lambda _: TALL, lambda model: model.covariance()),
    "precision": (lambda _: TALL.with_components(500), lambda model: model.precision()),
    "principal_angles": (lambda _: WHOLE, lambda model: principal_angles(model.basis[:1000], X[:1000])),
    "to_bytes": (lambda _: SPARE, lambda model: model.to_bytes()),
    "from_bytes": (lambda _: SPARE, lambda _: EigenspaceModel.from_bytes(DATA)),
    "pickle": (lambda _: SPARE, pickle.dumps),
    "fit": (lambda _: seen(engine="factor", max_rank="all"), lambda pca: pca.fit(X)),
    "partial_fit": (lambda _: seen(engine="factor", max_rank=700), lambda pca: pca.partial_fit(X)),
    "partial_fit, scatter": (lambda _: seen(engine="scatter"), lambda pca: pca.partial_fit(X)),
    "n_components changed": (
        lambda _: seen(engine="factor", max_rank="all").partial_fit(X[40:]).set_params(max_rank=50),
        lambda pca: pca.partial_fit(X[:1]),
    ),
    "components_": (lambda _: seen(max_rank="all").partial_fit(X[40:]), lambda pca: pca.components_),
    "PCA.fit": (lambda _: PCA(5).fit(X[:9]), lambda pca: pca.fit(X)),
    "PCA.fit of wide rows": (lambda _: PCA(5).fit(X[:9]), lambda pca: pca.fit(X.reshape(600, 4000))),
    "get_covariance": (lambda _: PCA(500).fit(X.reshape(600, 4000)), lambda pca: pca.get_covariance()),
}
"""A function that makes the subject, and one that works on it. The subject must not change."""


def state(subject):
    """Return the state that must not change."""
    if isinstance(subject, EigenspaceModel):
        return subject.count, subject.rank, subject.mean.tobytes()
    kept = {name: value for name, value in vars(subject).items() if not name.startswith("_")}
    rows = getattr(subject, "n_samples_seen_", None)
    return repr(kept), rows, id(getattr(subject, "_stream_state", None)), id(getattr(subject, "_fitted", None))


def interrupt():
    """Send the signal as soon as the computing thread is alive."""
    while not any(thread.name == "eigenspace" for thread in threading.enumerate()):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)


def run(name):
    """Run a case in the child process; return 0 if it was interrupted and nothing has changed."""
    signal.alarm(SECONDS)
    make, work = CASES[name]
    subject = make(4)
    before = state(subject)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        work(subject)
    except KeyboardInterrupt as error:
        waited = any(frame.filename.endswith("_interrupt.py") for frame in traceback.extract_tb(error.__traceback__))
        said = any("is as it was before the call" in note for note in getattr(error, "__notes__", []))
        changed = state(subject) != before
        problems = {"changed": changed, "interrupted too late": not waited, "interrupted without a note": not said}
        print(next((problem for problem, found in problems.items() if found), "interrupted"), end="", flush=True)
        return int(any(problems.values()))
    except BaseException:
        print(traceback.format_exc(), end="", flush=True)
        return 1
    print("not interrupted", end="", flush=True)
    return 1


if __name__ == "__main__":
    run_each(CASES, run)
