"""W4: merge and split of two rank-50 models at D = 10,304, compared with recomputing from the rows.

Each model is of 200 ORL faces. A merge of truncated models cannot be more accurate than the models.
For comparison there is also an exact merge, of all 199 directions of each half, and an exact split,
beside our own batch PCA of all 400 faces with all directions: both should cost no more than it.
"""

import data
from accuracy import Truth
from measure import Case, Tool
from peers import batch, numpy_svd, whole_batch

TITLE = "merge and split of two rank-50 models, D = 10,304, against recomputing"
LEFT_OUT = ["no peer merges or splits models; they recompute from the rows"]


def _setting(quick: bool):
    faces = data.faces()
    faces, k = (faces[:80, ::16].copy(), 10) if quick else (faces, 50)
    return faces[: len(faces) // 2], faces[len(faces) // 2 :], faces, k


def merge(quick: bool) -> Case:
    from eigenspace import EigenspaceModel

    one, two, faces, k = _setting(quick)
    truth = Truth(f"orl-{faces.shape[0]}x{faces.shape[1]}", lambda: faces, k)
    lean = [EigenspaceModel.fit(half, max_rank=k) for half in (one, two)]
    exact = [EigenspaceModel.fit(half) for half in (one, two)]

    def merged(mode: str, models, max_rank) -> Tool:
        return Tool(
            "eigenspace merge",
            lambda _: models[0].merge(models[1], max_rank=max_rank),
            components=lambda model: model.basis,
            mode=mode,
            truth=truth,
        )

    tools = [
        merged("lean", lean, k),
        merged("all directions", exact, None),
        whole_batch(faces, truth=truth),
        numpy_svd(k, faces, truth=truth),
        *batch(k, faces, ["full", "randomized"], truth=truth),
    ]
    return Case("merge", "numpy SVD", tools, "merge", memory=True, seconds=25)


def split(quick: bool) -> Case:
    from eigenspace import EigenspaceModel

    one, two, faces, k = _setting(quick)
    truth = Truth(f"orl-{one.shape[0]}x{one.shape[1]}", lambda: one, k)
    lean = [EigenspaceModel.fit(half, max_rank=k) for half in (one, two)]
    exact = [EigenspaceModel.fit(half) for half in (one, two)]

    def parted(mode: str, models) -> Tool:
        whole = models[0] + models[1]
        return Tool(
            "eigenspace split",
            lambda _: whole.split(models[1]),
            components=lambda model: model.basis,
            mode=mode,
            truth=truth,
        )

    tools = [
        parted("lean", lean),
        parted("all directions", exact),
        whole_batch(faces),
        numpy_svd(k, one, truth=truth),
        *batch(k, one, ["full", "randomized"], truth=truth),
    ]
    return Case("split", "numpy SVD", tools, "split", memory=True, seconds=20)


def cases(quick: bool) -> dict:
    return {"merge": lambda: merge(quick), "split": lambda: split(quick)}
