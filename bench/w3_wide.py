"""W3: wide rows, D = 100,000, k = 100, 256 rows per call, after 512 rows."""

import data
import numpy as np
from accuracy import Truth
from measure import Case
from peers import SKLEARN, sklearn, streamed, streams

TITLE = "wide, D = 100,000, k = 100, blocks of 256"
LEFT_OUT = ["oneDAL IncrementalPCA, faiss: a matrix of 100,000 x 100,000 does not fit in memory"]


def calls(quick: bool) -> Case:
    features, k, rows = (100_000, 100, 256) if not quick else (2000, 8, 24)
    primed = 2 * rows
    everything = data.rows_of(data.factors(primed + 4 * rows, features))

    def blocks(number: int) -> list[np.ndarray]:
        return [everything[primed + i * rows : primed + (i + 1) * rows] for i in range(number)]

    calls = 4
    seen = everything[: primed + calls * rows]
    truth = Truth(f"factors-{seen.shape[0]}x{features}", lambda: seen, k)
    prime = [everything[:rows], everything[rows:primed]]
    more = {"truth": truth, "judged": blocks(calls)}
    tools = [
        *streams(k, blocks(calls), prime, with_onedal=False, per=calls, truth=truth)[:2],
        streamed(SKLEARN, lambda: sklearn(k), blocks(1), prime, **more),
    ]
    return Case(f"calls of {rows} rows", SKLEARN, tools, "call", memory=True, seconds=50)


def cases(quick: bool) -> dict:
    return {"calls": lambda: calls(quick)}
