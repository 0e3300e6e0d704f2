"""Splitting off a person: the result must be the model of the other rows."""

import eigenspace
import numpy as np

from . import look, orl, tex
from .measure import scatter_error, sine

RANK = 2 * orl.K + 32
"""Rank of the truncated whole model."""
CHAIN = 20
"""Number of people who are split off one after another."""


def run():
    rows, people = orl.faces(), orl.people()
    whole = eigenspace.EigenspaceModel.fit(rows)
    cut = whole.truncate(RANK)
    parts = [eigenspace.EigenspaceModel.fit(rows[people == person]) for person in range(orl.PEOPLE)]
    found = []
    for person, part in enumerate(parts):
        rest = rows[people != person]
        truth = orl.reduced(rest)
        split, truncated = whole.split(part), cut.split(part)
        found.append(
            {
                **distance(split, truth),
                "orthogonality": split.orthogonality_loss(),
                "exact": split.certificate().is_exact,
                "cut": {
                    **distance(truncated, truth),
                    "error": error(truncated, rest, truth),
                    "bound": truncated.certificate().error_bound / truth.s[0] ** 2,
                    "without": sine(shown(cut), truth.v[: orl.K]),
                },
                "refused": refuses(split, part),
            }
        )
    left = whole
    for part in parts[:CHAIN]:
        left = left.split(part)
    chain = distance(left, orl.reduced(rows[people >= CHAIN]))
    again = left
    for part in parts[:CHAIN]:
        again = again.merge(part)
    return {"people": found, "chain": chain, "back": distance(again, orl.reduced(rows))}


def distance(model, truth):
    s = model.with_components(orl.K).singular_values
    return {
        "sine": sine(shown(model), truth.v[: orl.K]),
        "value": float(np.abs(s**2 / truth.s[: orl.K] ** 2 - 1).max()),
        "mean": float(np.abs(model.mean - truth.mean).max()),
    }


def error(model, rows, truth):
    s = model.with_components(None).singular_values
    return scatter_error(rows - truth.mean, s, model.basis) / truth.s[0] ** 2


def shown(model):
    return model.with_components(orl.K).components


def refuses(model, part):
    """Return whether splitting off a part that is no longer in the model raises an error."""
    try:
        model.split(part)
    except eigenspace.NotAPartError:
        return True
    return False


def draw(results):
    figure, (left, right) = look.panels(2, 2.1)
    people = np.arange(1, orl.PEOPLE + 1)
    found = results["people"]
    left.semilogy(people, [one["sine"] for one in found], "o", color=look.OURS, label="nothing dropped")
    left.semilogy(
        people,
        [one["cut"]["sine"] for one in found],
        "o",
        color=look.LEAN,
        label=f"whole model of rank {RANK}",
    )
    left.semilogy(
        people,
        [one["cut"]["without"] for one in found],
        "s",
        color=look.PEER,
        label="person not split off",
    )
    left.set(xlabel="person split off", ylabel=r"$\sin\theta$ to the model without", ylim=(None, 30))
    left.legend(loc="center right")
    right.plot(people, [one["cut"]["bound"] for one in found], "o", color=look.OURS, label="certificate")
    right.plot(people, [one["cut"]["error"] for one in found], "o", color=look.GRAY, label="true")
    right.set(xlabel=f"person split off a model of rank {RANK}", ylabel=r"$\|M-L\|_2\,/\,\lambda_1$")
    right.ticklabel_format(axis="y", style="sci", scilimits=(-3, -3), useMathText=True)
    right.legend(loc="upper center", ncols=2)
    right.margins(y=0.2)
    return {"split_person": figure}


def tables(results):
    return {}


def numbers(results):
    found = results["people"]
    held = all(one["cut"]["error"] <= one["cut"]["bound"] for one in found)
    return {
        "rank": str(RANK),
        "chain.people": str(CHAIN),
        "sine": tex.sci(max(one["sine"] for one in found)),
        "value": tex.sci(max(one["value"] for one in found)),
        "mean": tex.sci(max(one["mean"] for one in found)),
        "loss": tex.sci(max(one["orthogonality"] for one in found)),
        "exact": str(sum(one["exact"] for one in found)),
        "refused": str(sum(one["refused"] for one in found)),
        "cut.sine": tex.sci(max(one["cut"]["sine"] for one in found)),
        "cut.without": tex.sci(min(one["cut"]["without"] for one in found)),
        "cut.bound": tex.sci(max(one["cut"]["bound"] for one in found)),
        "cut.error": tex.sci(max(one["cut"]["error"] for one in found)),
        "cut.held": "every time" if held else "not every time",
        "chain": tex.sci(results["chain"]["sine"]),
        "back": tex.sci(results["back"]["sine"]),
    }
