"""Measures fits on an NVIDIA card: needs torch with CUDA and an eigenspace that finds the card.

    python bench/gpu.py bench/results/gpu-h200.json

Every tool of a case runs once in each of five rounds, in alternating order. *Torch SVD* is what
cuML's IncrementalPCA does for a block: it stacks the kept directions, the centered rows and the row
of the mean, and takes the SVD of the stack, on the card. Both keep as many directions as ours.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import eigenspace
import machine
import numpy as np
import torch
from sklearn.decomposition import IncrementalPCA
from torch.profiler import ProfilerActivity, profile

RUNS = int(os.environ.get("EIGENSPACE_BENCH_RUNS", "5"))
BUDGET = float(os.environ.get("EIGENSPACE_BENCH_SECONDS", "480"))
"""No case begins later than this. The last case takes about a minute."""
START = time.perf_counter()
CUDA = torch.device("cuda")


def spectrum(rows: int, features: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Return rows on the card with a decreasing spectrum, noise, and a mean."""
    make = torch.Generator(CUDA).manual_seed(seed)
    rank = 300
    scales = 20.0 / torch.arange(1, rank + 1, device=CUDA, dtype=torch.float32) ** 0.7
    basis = torch.randn(rank, features, generator=make, device=CUDA)
    out = torch.empty(rows, features, dtype=dtype, device=CUDA)
    for start in range(0, rows, 4096):
        end = min(rows, start + 4096)
        scores = torch.randn(end - start, rank, generator=make, device=CUDA) * scales
        noise = torch.randn(end - start, features, generator=make, device=CUDA)
        out[start:end] = (scores @ basis + noise + 3.0).to(dtype)
    return out


def truth(rows: torch.Tensor, k: int) -> torch.Tensor:
    """Return the first k directions of batch PCA in float64, by torch alone."""
    rows = rows.to(torch.float64)
    rows = rows - rows.mean(0)
    if rows.shape[0] > rows.shape[1]:
        _, vectors = torch.linalg.eigh(rows.T @ rows)
        return vectors[:, -k:].T
    _, vectors = torch.linalg.eigh(rows @ rows.T)
    basis = vectors[:, -k:].T @ rows
    return torch.linalg.qr(basis.T)[0].T


def sine(reference: torch.Tensor, found: object) -> float:
    """Return the sine of the largest principal angle between two subspaces."""
    found = torch.as_tensor(np.array(found), dtype=torch.float64, device=CUDA)
    found = torch.linalg.qr(found.T)[0].T
    return float(torch.linalg.matrix_norm(reference - reference @ found.T @ found, 2))


class TorchSvd:
    """Incremental PCA by the SVD of the stack, as cuML and scikit-learn do it, on the card."""

    def __init__(self, rank: int, k: int):
        self.rank, self.k, self.n = rank, k, 0

    def partial_fit(self, rows: object) -> None:
        rows = torch.as_tensor(rows).to(CUDA, torch.float64)
        count, mean = rows.shape[0], rows.mean(0)
        stack = [rows - mean]
        if self.n:
            shift = (self.n * count / (self.n + count)) ** 0.5
            stack = [self.s[:, None] * self.v, *stack, (shift * (self.mean - mean))[None]]
            mean = (self.n * self.mean + count * mean) / (self.n + count)
        self.mean, self.n = mean, self.n + count
        _, s, v = torch.linalg.svd(torch.cat(stack), full_matrices=False)
        self.s, self.v = s[: self.rank], v[: self.rank]
        torch.cuda.synchronize()

    @property
    def components_(self) -> np.ndarray:
        return self.v[: self.k].cpu().numpy()


def interleaved(case, unit, per, tools, reference, peer):
    """Run every tool once per round and return a row for each."""
    times = {name: [] for name in tools}
    answers = {}
    order = list(tools)
    for name in order:  # warm up: libraries, kernels, memory
        tools[name]()
    for round_ in range(RUNS):
        for name in order if round_ % 2 == 0 else order[::-1]:
            seconds, answers[name] = tools[name]()
            times[name].append(seconds / per)
    rows = []
    for name in tools:
        found, ratios = times[name], [a / b for a, b in zip(times[peer], times[name], strict=True)]
        row = {
            "case": case,
            "unit": unit,
            "peer": peer,
            "tool": name.split(" | ")[0],
            "mode": name.split(" | ")[1] if " | " in name else "",
            "threads": os.cpu_count(),
            "ratio": statistics.median(ratios),
        } | statistics_of(found)
        if answers[name] is not None:
            row["sine"] = sine(reference, answers[name])
        rows.append(row)
        print(
            f"{case}: {name}: {row['median'] * 1e3:.2f} ms per {unit}, ratio {row['ratio']:.2f}, "
            f"sine {row.get('sine')}",
            flush=True,
        )
    return rows


def statistics_of(times):
    """Return the statistics of these times."""
    return {
        "runs": len(times),
        "mean": statistics.mean(times),
        "deviation": statistics.pstdev(times),
        "median": statistics.median(times),
        "min": min(times),
    }


def streamed(make, blocks, timed):
    """Return the seconds that the last `timed` blocks took after the others, and the estimator."""
    pca = make()
    for block in blocks[:-timed]:
        pca.partial_fit(block)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for block in blocks[-timed:]:
        pca.partial_fit(block)
    torch.cuda.synchronize()
    return time.perf_counter() - start, pca


def ours(k, device, **more):
    return lambda: eigenspace.IncrementalPCA(k, device=device, **more)


def answer(run):
    seconds, pca = run
    return seconds, pca.components_


def wide(rows):
    """D = 100,000, k = 100, blocks of 1,024 rows from the host and from the card."""
    on_card = spectrum(8 * 1024, 100_000, torch.float64)
    reference = truth(on_card, 100)
    blocks = list(on_card.cpu().numpy().reshape(8, 1024, 100_000))
    card_blocks = list(on_card.reshape(8, 1024, 100_000))
    tools = {
        "torch SVD | from the card": lambda: answer(
            streamed(lambda: TorchSvd(232, 100), card_blocks, 4)
        ),
        "eigenspace | cuda, from the host": lambda: answer(streamed(ours(100, "cuda"), blocks, 4)),
        "torch SVD | from the host": lambda: answer(
            streamed(lambda: TorchSvd(232, 100), blocks, 4)
        ),
    }
    tools["eigenspace | cuda, from the card"] = lambda: answer(
        streamed(ours(100, "cuda"), card_blocks, 4)
    )
    found = interleaved(
        "D = 100,000, k = 100, 1,024 rows",
        "block",
        4,
        tools,
        reference,
        "torch SVD | from the host",
    )
    cpu = {
        "eigenspace | cuda, from the host": tools["eigenspace | cuda, from the host"],
        "eigenspace | cpu": lambda: answer(streamed(ours(100, "cpu"), blocks, 4)),
    }
    name = "D = 100,000, k = 100, 1,024 rows, beside the CPU"
    found += interleaved(name, "block", 4, cpu, reference, "eigenspace | cpu")
    rows += [*found, of_sklearn(name, found, blocks)]
    for mode, some in (("host", blocks), ("card", card_blocks)):
        note_phases(f"D = 100,000, k = 100, from the {mode}", ours(100, "cuda"), some)


def of_sklearn(case, found, blocks):
    """Return a row for scikit-learn: each block after the first is a round, not alternating."""
    pca = IncrementalPCA(100)
    pca.partial_fit(blocks[0])
    times = []
    for block in blocks[1 : 1 + RUNS]:
        start = time.perf_counter()
        pca.partial_fit(block)
        times.append(time.perf_counter() - start)
    peer = next(row for row in found if row["case"] == case and row["mode"] == "cpu")
    ratio = peer["median"] / statistics.median(times)
    own = {"tool": "scikit-learn", "mode": "block after block", "ratio": ratio}
    print(f"{case}: scikit-learn: {statistics.median(times):.2f} s per block", flush=True)
    return {key: value for key, value in peer.items() if key != "sine"} | statistics_of(times) | own


PARTS = {
    "copies to the card": ("memcpy htod",),
    "copies from the card": ("memcpy dtoh",),
    "eigenproblem": (
        "sytrd",
        "potrf",
        "trsm",
        "laed",
        "stedc",
        "larf",
        "syr2k",
        "affine",
        "mirror",
    ),
    "products": ("gemm", "syrk", "splitk"),
    "mean and centering": ("differences", "center", "total", "check", "copy", "widen"),
}
"""Parts of the work on a card, and what the names of their kernels and copies contain."""

PHASES = []


def note_phases(case, make, blocks, timed=4):
    """Note what the card does during a block, in milliseconds; parts can overlap."""
    pca = make()
    for block in blocks[:-timed]:
        pca.partial_fit(block)
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for block in blocks[-timed:]:
            pca.partial_fit(block)
        torch.cuda.synchronize()
    parts = dict.fromkeys([*PARTS, "other"], 0.0)
    for event in seen.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            name = event.name.lower()
            part = next((p for p, words in PARTS.items() if any(w in name for w in words)), "other")
            parts[part] += event.time_range.elapsed_us() / 1e3 / timed
    PHASES.append(
        {"case": case, "milliseconds": {part: round(ms, 2) for part, ms in parts.items()}}
    )
    print(PHASES[-1], flush=True)


def faces(rows):
    """D = 10,304, k = 50, blocks of 1,024 rows."""
    on_card = spectrum(12 * 1024, 10_304, torch.float64, 1)
    reference = truth(on_card, 50)
    blocks = list(on_card.cpu().numpy().reshape(12, 1024, 10_304))
    tools = {
        "eigenspace | cuda, from the host": lambda: answer(streamed(ours(50, "cuda"), blocks, 8)),
        "torch SVD | from the host": lambda: answer(streamed(lambda: TorchSvd(132, 50), blocks, 8)),
        "eigenspace | cpu": lambda: answer(streamed(ours(50, "cpu"), blocks, 8)),
    }
    card_blocks = list(on_card.reshape(12, 1024, 10_304))
    tools["eigenspace | cuda, from the card"] = lambda: answer(
        streamed(ours(50, "cuda"), card_blocks, 8)
    )
    name = "D = 10,304, k = 50, 1,024 rows"
    rows += interleaved(name, "block", 8, tools, reference, "torch SVD | from the host")
    note_phases("D = 10,304, k = 50, from the host", ours(50, "cuda"), blocks)


def scores(rows):
    """Scores of 2,048 rows and rows from their scores, D = 100,000."""
    on_card = spectrum(2048, 100_000, torch.float64, 4)
    x = on_card.cpu().numpy()
    for k in (48, 100):
        cpu, card = on_both(x, k)
        rows += beside(
            f"scores of 2,048 rows, D = 100,000, k = {k}",
            {
                "from the host": partial(card.transform, x),
                "from the card": partial(card.transform, on_card),
            },
            partial(cpu.transform, x),
        )
    for k in (100, 256, 512):
        cpu, card = on_both(x, k)
        z = cpu.transform(x)
        rows += beside(
            f"2,048 rows from their scores, D = 100,000, k = {k}",
            {"to the host": partial(card.inverse_transform, z)},
            partial(cpu.inverse_transform, z),
        )


def on_both(x, k):
    """Return estimators with the same model, one for the CPU and one for the card."""
    cpu = eigenspace.IncrementalPCA(k).fit(x[:1024])
    return cpu, eigenspace.IncrementalPCA.from_model(cpu.model_, n_components=k, device="cuda")


def beside(case, on_card, on_cpu):
    """Return rows for calls on the card beside one on the CPU; their results must agree."""
    expected = on_cpu()
    largest = np.abs(expected).max()

    def timed(work):
        start = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - start
        if np.abs(found[:64] - expected[:64]).max() > 1e-9 * largest:
            raise ValueError("the results differ")
        return seconds, None

    tools = {"eigenspace | cpu": partial(timed, on_cpu)}
    for mode, work in on_card.items():
        used = "cuda" if works_on_card(work) else "cuda, left to the CPU"
        tools[f"eigenspace | {used}, {mode}"] = partial(timed, work)
    return interleaved(case, "call", 1, tools, None, "eigenspace | cpu")


def works_on_card(work):
    """Return whether a call computes anything on the card."""
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    return any("gemm" in event.name.lower() for event in seen.events())


def embeddings(rows):
    """D = 4,096, float32, k = 64, from a .npy file, in blocks of 8,192 rows."""
    on_card = spectrum(40 * 1024, 4096, torch.float32, 2)
    reference = truth(on_card, 64)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        path = Path(directory) / "x.npy"
        np.save(path, on_card.cpu().numpy())
        del on_card

        def run(device):
            start = time.perf_counter()
            pca = eigenspace.IncrementalPCA(64, device=device)
            x = np.load(path, mmap_mode="r")
            for at in range(0, len(x), 8192):
                pca.partial_fit(x[at : at + 8192])
            seconds = time.perf_counter() - start
            return seconds, pca

        def read():
            start = time.perf_counter()
            x = np.load(path)
            seconds = time.perf_counter() - start
            return seconds, None if len(x) else x

        tools = {
            "eigenspace | cuda": lambda: answer(run("cuda")),
            "eigenspace | cpu": lambda: answer(run("cpu")),
            "numpy | reading the file alone": read,
        }
        name = "D = 4,096, float32, k = 64, 40,960 rows from .npy, without the read of the model"
        rows += interleaved(name, "fit", 1, tools, reference, "eigenspace | cpu")


def batch(rows):
    """200,000 x 4,096, float32, k = 50, with the read of the model."""
    on_card = spectrum(200_000, 4096, torch.float32, 3)
    reference = truth_of_pieces(on_card, 50)
    x = on_card.cpu().numpy()
    del on_card

    def fit(device):
        start = time.perf_counter()
        found = eigenspace.IncrementalPCA(50, device=device).fit(x).components_
        return time.perf_counter() - start, found

    def by_pca():
        start = time.perf_counter()
        found = eigenspace.PCA(50).fit(x).components_
        return time.perf_counter() - start, found

    tools = {
        "eigenspace | cuda": lambda: fit("cuda"),
        "eigenspace PCA | cpu": by_pca,
    }
    rows += interleaved(
        "batch 200,000 x 4,096, float32, k = 50",
        "fit",
        1,
        tools,
        reference,
        "eigenspace PCA | cpu",
    )


def truth_of_pieces(x, k):
    """Return the first k directions of batch PCA in float64, without a copy of all rows."""
    mean = x.mean(0, dtype=torch.float64)
    scatter = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64, device=CUDA)
    for start in range(0, len(x), 20_000):
        piece = x[start : start + 20_000].to(torch.float64) - mean
        scatter += piece.T @ piece
    return torch.linalg.eigh(scatter)[1][:, -k:].T


def main():
    rows, left_out = [], []
    for case in (wide, faces, scores, embeddings, batch):
        if time.perf_counter() - START > BUDGET:
            left_out.append(f"{case.__doc__.strip()} (no time left)")
            continue
        try:
            case(rows)
        except Exception as error:
            left_out.append(f"{case.__doc__.strip()} ({type(error).__name__}: {error})")
            print(left_out[-1], flush=True)
        torch.cuda.empty_cache()
    at = machine.described()
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    card, _, version = driver.partition(", ")
    at |= {
        "card": card,
        "driver": version,
        "commit": os.environ.get("EIGENSPACE_COMMIT", at["commit"]),
    }
    at["versions"] |= {"torch": torch.__version__, "eigenspace": eigenspace.__version__}
    result = {
        "title": f"fits on {card}",
        "quick": False,
        "seconds": round(time.perf_counter() - START),
        "machine": at,
        "rows": rows,
        "phases": PHASES,
        "left_out": left_out,
    }
    Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
