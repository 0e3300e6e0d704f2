"""W8: growth of time and memory as N, D and k double, compared with the documented claims.

    factor engine   time N D (4r + m + 2r²/m), m = r: linear in N, D and k; memory D (r + m)
    scatter engine  time N D², memory D²: k does not matter

The exponent is the slope of a straight line through the logarithms of size and median.
"""

import data
from accuracy import Truth
from measure import Case
from peers import OURS, SKLEARN, ours, streamed
from peers import sklearn as make_sklearn

TITLE = "growth: time and memory as N, D and k double"
LEFT_OUT: list[str] = []
BASE = {"N": 4000, "D": 4096, "k": 40}
CLAIMED = {
    ("factor", "N"): {"time": 1.0, "memory": 0.0},
    ("factor", "D"): {"time": 1.0, "memory": 1.0},
    ("factor", "k"): {"time": 1.0, "memory": 1.0},
    ("scatter", "N"): {"time": 1.0, "memory": 0.0},
    ("scatter", "D"): {"time": 2.0, "memory": 2.0},
}
SWEEPS = {
    ("factor", "N"): (2000, 4000, 8000),
    ("factor", "D"): (2048, 4096, 8192),
    ("factor", "k"): (20, 40, 80),
    ("scatter", "N"): (10_000, 20_000, 40_000),
    ("scatter", "D"): (256, 512, 1024),
}


def point(engine: str, axis: str, size: int, quick: bool) -> Case:
    base = BASE if engine == "factor" else {"N": 20_000, "D": 512, "k": 40}
    at = base | {axis: size}
    if quick:
        at = {
            "N": at["N"] // 20,
            "D": at["D"] // (4 if engine == "scatter" else 2),
            "k": at["k"] // 8,
        }
    rows = data.rows_of(data.factors(at["N"], at["D"]))
    truth = Truth(f"factors-{at['N']}x{at['D']}", lambda: rows, at["k"])
    # scikit-learn's own block size, but limited to the rows that it needs here.
    block = 200 if not quick else 20
    blocks = [rows[i : i + block] for i in range(0, len(rows), block)]
    tools = [
        streamed(OURS, lambda: ours(at["k"], "default"), blocks, mode="default", truth=truth),
        streamed(SKLEARN, lambda: make_sklearn(at["k"]), blocks, truth=truth),
    ]
    if engine == "factor":
        lean = streamed(OURS, lambda: ours(at["k"], "lean"), blocks, mode="lean", truth=truth)
        tools.insert(0, lean)
    facts = {"engine": engine, "axis": axis, "size": at[axis]}
    sizes = ", ".join(f"{name} = {value:,}" for name, value in at.items())
    return Case(
        f"{engine}, {axis}: {sizes}", SKLEARN, tools, "fit", memory=True, seconds=5, facts=facts
    )


def cases(quick: bool) -> dict:
    chosen = {}
    for (engine, axis), sizes in SWEEPS.items():
        for size in sizes[:2] if quick else sizes:
            name = f"{engine} {axis} {size}"
            chosen[name] = lambda e=engine, a=axis, s=size: point(e, a, s, quick)
    return chosen
