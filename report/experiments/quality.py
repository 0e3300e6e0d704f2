"""Compression and noise removal with the command: PSNR and SSIM against the number of components and bytes."""

from . import look, tex
from .classifiers import evaluate

NOISE = 25
"""Deviation of the noise in gray levels."""
LISTED = (10, 50, 100)
"""Numbers of components in the text."""
EXACT = 100.0
"""From this PSNR on, faces are called exact, as the command does; its files have no value for equal faces."""


def run():
    options = ("--protocol", "first-5", "--classifier", "knn", "--compression", "--denoising", str(NOISE))
    found = evaluate(*options)
    return {"compression": found["compression"], "denoising": found["denoising"]}


def draw(results):
    figure, (left, middle, right) = look.panels(3, 2.05)
    compressed, cleaned = results["compression"], results["denoising"]
    pgm = compressed[0]["pgm_bytes"]
    for key, label, color in (("learned", "faces seen", look.OURS), ("new", "faces not seen", look.BAD)):
        some = [one for one in compressed if not is_exact(one[key]["psnr"])]
        left.semilogx(
            [one["bytes"] for one in some], [one[key]["psnr"] for one in some], "o-", color=color, label=label
        )
        middle.semilogx(
            [one["bytes"] for one in compressed], [one[key]["ssim"] for one in compressed], "o-", color=color
        )
        some = [one for one in cleaned["components"] if not is_exact(one[key]["psnr"])]
        right.semilogx([one["n_components"] for one in some], [one[key]["psnr"] for one in some], "o-", color=color)
        right.axhline(cleaned["noisy"][key]["psnr"], color=color, linestyle=":", linewidth=0.8)
    for axis in (left, middle):
        axis.set(xlabel=f"bytes of a face (PGM: {pgm:,})")
        look.ticks(axis, [one["bytes"] for one in compressed[::2]])
    look.ticks(right, [one["n_components"] for one in cleaned["components"][::2]])
    left.set(ylabel="PSNR, dB", title="compression")
    middle.set(ylabel="SSIM", title="compression")
    right.set(xlabel="components", ylabel="PSNR, dB", title="noise removal")
    left.legend(loc="upper left", borderaxespad=0.1)
    return {"quality": figure}


def is_exact(value):
    return value is None or value >= EXACT


def decibels(value):
    return "exact" if is_exact(value) else tex.fixed(value, 1)


def tables(results):
    cleaned = {one["n_components"]: one for one in results["denoising"]["components"]}
    rows = []
    for one in results["compression"]:
        other = cleaned.get(one["n_components"])
        cells = [str(one["n_components"]), tex.integer(one["bytes"])]
        for key in ("learned", "new"):
            cells += [decibels(one[key]["psnr"]), tex.fixed(one[key]["ssim"], 3)]
        for key in ("learned", "new"):
            cells += ["", ""] if other is None else [decibels(other[key]["psnr"]), tex.fixed(other[key]["ssim"], 3)]
        rows.append(cells)
    noisy = results["denoising"]["noisy"]
    cells = [decibels(noisy["learned"]["psnr"]), tex.fixed(noisy["learned"]["ssim"], 3)]
    cells += [decibels(noisy["new"]["psnr"]), tex.fixed(noisy["new"]["ssim"], 3)]
    rows += [None, ["noisy", "", "", "", "", "", *cells]]
    head = ["$k$", "bytes", *(["PSNR", "SSIM"] * 4)]
    groups = [("", 2), ("compressed, seen", 2), ("not seen", 2), ("cleaned, seen", 2), ("not seen", 2)]
    return {"quality": tex.table("rrrrrrrrrr", head, rows, groups)}


def numbers(results):
    compressed = {one["n_components"]: one for one in results["compression"]}
    cleaned = {one["n_components"]: one for one in results["denoising"]["components"]}
    noisy = results["denoising"]["noisy"]
    found = {"noise": str(NOISE), "pgm": tex.integer(results["compression"][0]["pgm_bytes"])}
    found["noisy"] = decibels(noisy["new"]["psnr"])
    for k in LISTED:
        found[f"k{k}.bytes"] = tex.integer(compressed[k]["bytes"])
        found[f"k{k}.whole"] = tex.integer(compressed[k]["bytes_with_directions"])
        for key, name in (("learned", "seen"), ("new", "new")):
            found[f"k{k}.{name}"] = decibels(compressed[k][key]["psnr"])
            found[f"k{k}.{name}.clean"] = decibels(cleaned[k][key]["psnr"])
    exact = next(one for one in results["compression"] if is_exact(one["learned"]["psnr"]))
    found["exact.k"], found["exact.bytes"] = str(exact["n_components"]), tex.integer(exact["bytes"])
    best = max(cleaned.values(), key=lambda one: one["new"]["psnr"])
    found["best.k"] = str(best["n_components"])
    found["best.new"] = decibels(best["new"]["psnr"])
    found["gain"] = "more" if best["new"]["psnr"] > noisy["new"]["psnr"] else "less"
    return found
