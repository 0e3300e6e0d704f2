"""The certificate: its bound compared with the true error, also when truncation fails."""

import eigenspace
import numpy as np

from . import look, orl, tex
from .measure import scatter_error, sine

EVERY = (1, 5, 10, 20, 50, 100, 200)
RANKS = (50, 100, 150)
ANGLES = (1, 2, 3, 5, 10, 20)
STRONG, WEAK, FEATURES = 20, 2_000, 1_100
"""The adversarial stream: each strong direction once, then a weak one many times."""
LENGTH = 10.0
"""Length of a strong row; a weak row has length 1."""


def run():
    s = orl.reference().s
    return {"faces": faces(), "adversarial": adversarial(), "dropped": float((s[RANKS[0]] / s[0]) ** 2)}


def faces():
    """Stream the faces, truncating to a rank after every ``every`` rows."""
    rows, truth = orl.faces(), orl.reference()
    largest = truth.s[0] ** 2
    found = []
    for rank in RANKS:
        for every in EVERY:
            model = eigenspace.EigenspaceModel(rows.shape[1])
            for start in range(0, len(rows), every):
                model = model.update(rows[start : start + every], max_rank=rank)
            certificate = model.certificate()
            s = model.with_components(None).singular_values
            bounds = certificate.eigenvalue_bounds()[:rank]
            true = truth.s[:rank] ** 2
            slack = 1e-12 * largest
            found.append(
                {
                    "rank": rank,
                    "every": every,
                    "bound": certificate.error_bound / largest,
                    "error": scatter_error(truth.centered, s, model.basis) / largest,
                    "inside": int(((bounds[:, 0] - slack <= true) & (true <= bounds[:, 1] + slack)).sum()),
                    "angles": {
                        str(k): [certificate.angle_bound(k), sine(model.basis[:k], truth.v[:k])] for k in ANGLES
                    },
                }
            )
    return found


def adversarial_rows():
    """Return rows in pairs of opposite sign, so that the mean stays at zero."""
    rng = np.random.default_rng(3)
    directions = np.linalg.qr(rng.normal(size=(FEATURES, STRONG + 1)))[0].T
    strong = np.repeat(LENGTH * directions[:STRONG], 2, axis=0)
    weak = np.repeat(directions[STRONG:], WEAK, axis=0)
    rows = np.vstack([strong, weak])
    rows[1::2] *= -1
    return rows, directions[STRONG]


def adversarial():
    """Run plain truncation and Frequent Directions, both with one direction per strong direction."""
    rows, weak = adversarial_rows()
    found = {}
    for name, rule in {"plain": f"rank:{STRONG}", "frequent": f"fd:{STRONG}"}.items():
        pca = eigenspace.IncrementalPCA(STRONG, max_rank=STRONG, truncation=rule)
        marks = []
        for start in range(0, len(rows), 40):
            pca.partial_fit(rows[start : start + 40])
            seen = start + 40
            centered = rows[:seen] - rows[:seen].mean(axis=0)
            model = pca.model_
            s, v = model.with_components(None).singular_values, model.basis
            if seen % 200 == 40:
                largest = np.linalg.svd(centered, compute_uv=False)[0] ** 2
                marks.append(
                    {
                        "rows": seen,
                        "true": float(np.square(centered @ weak).sum()),
                        "known": float(np.square(s * (v @ weak)).sum()),
                        "bound": float(model.certificate().error_bound / largest),
                        "error": scatter_error(centered, s, v) / largest,
                    }
                )
        found[name] = marks
    energies = np.sort(np.square(np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)))[::-1]
    promises = [energies[k:].sum() / (STRONG + 1 - k) for k in range(STRONG + 1)]
    found["promised"] = float(min(promises) / energies[0])
    return found


def draw(results):
    figure, (left, middle, right) = look.panels(3, 2.3)
    colors = dict(zip(RANKS, (look.BAD, look.LEAN, look.OURS), strict=True))
    for rank, color in colors.items():
        found = [one for one in results["faces"] if one["rank"] == rank]
        every = [one["every"] for one in found]
        left.loglog(every, [one["bound"] for one in found], "o-", color=color, label=f"rank {rank}")
        left.loglog(every, [max(one["error"], 1e-16) for one in found], ":", color=color)
    left.plot([], [], ":", color=look.GRAY, label="true")
    left.set(
        xlabel="rows between truncations",
        title=r"bound on $\|M-L\|_2\,/\,\lambda_1$",
        ylim=(2e-5, 3),
    )
    left.legend(loc="lower left", ncols=2, columnspacing=1)
    for rank, every, color in ((150, 200, look.OURS), (100, 50, look.LEAN), (50, 50, look.BAD)):
        one = next(one for one in results["faces"] if (one["rank"], one["every"]) == (rank, every))
        bounds, sines = zip(*one["angles"].values(), strict=True)
        middle.loglog(sines, bounds, "o", color=color, label=f"rank {rank}, every {every}")
    line = [1e-6, 1]
    middle.loglog(line, line, color=look.GRAY, linewidth=0.8)
    middle.set(
        xlabel=r"true $\sin\theta_k$",
        title=r"bound on $\sin\theta_k$",
        xlim=(1e-6, 2),
        ylim=(1e-7, 3),
    )
    middle.legend(loc="lower right", fontsize=6, handletextpad=0.1)
    for name, (label, color) in {
        "plain": ("plain truncation", look.BAD),
        "frequent": ("Frequent Directions", look.OURS),
    }.items():
        marks = results["adversarial"][name]
        right.plot([m["rows"] for m in marks], [m["known"] for m in marks], "-", color=color, label=label)
    right.plot([m["rows"] for m in marks], [m["true"] for m in marks], ":", color=look.GRAY, label="true")
    right.set(xlabel="rows", title="scatter, weak direction")
    # Space above the curves for the legend.
    right.set_ylim(top=1.5 * right.get_ylim()[1])
    right.legend(loc="upper left", fontsize=6)
    return {"certificate": figure}


def tables(results):
    rows = []
    for rank in RANKS:
        cells = [str(rank)]
        for every in (1, 10, 50, 200):
            one = next(o for o in results["faces"] if (o["rank"], o["every"]) == (rank, every))
            cells += [tex.sci(one["error"]), tex.sci(one["bound"])]
        rows.append(cells)
    head = ["rank", *(["true", "bound"] * 4)]
    groups = [("", 1), ("every row", 2), ("every 10", 2), ("every 50", 2), ("every 200", 2)]
    return {"certificate": tex.table("r" * 9, head, rows, groups)}


def numbers(results):
    def at(rank, every):
        return next(one for one in results["faces"] if (one["rank"], one["every"]) == (rank, every))

    faces = results["faces"]
    held = all(one["error"] <= one["bound"] * (1 + 1e-9) + 1e-14 for one in faces)
    angles = all(true <= bound * (1 + 1e-9) + 1e-12 for one in faces for bound, true in one["angles"].values())
    inside, total = sum(one["inside"] for one in faces), sum(one["rank"] for one in faces)
    plain, frequent = (results["adversarial"][name][-1] for name in ("plain", "frequent"))
    return {
        "settings": str(len(faces)),
        "held": "in all" if held and angles else "not in all",
        "inside": f"{inside:,} of {total:,}",
        "every1.bound": tex.fixed(at(50, 1)["bound"], 2),
        "every1.error": tex.sci(at(50, 1)["error"]),
        "every10.bound": tex.fixed(at(50, 10)["bound"], 2),
        "every50.bound": tex.sci(at(50, 50)["bound"]),
        "dropped": tex.sci(results["dropped"]),
        "every50.error": tex.sci(at(50, 50)["error"]),
        "strong": str(STRONG),
        "weak": tex.integer(WEAK),
        "plain.share": tex.percent(plain["known"] / plain["true"], 0),
        "plain.bound": tex.percent(plain["bound"], 0),
        "plain.error": tex.percent(plain["error"], 0),
        "frequent.share": tex.percent(frequent["known"] / frequent["true"], 1),
        "frequent.bound": tex.percent(frequent["bound"], 1),
        "frequent.error": tex.percent(frequent["error"], 1),
        "frequent.promised": tex.percent(results["adversarial"]["promised"], 1),
    }
