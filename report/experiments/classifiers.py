"""Recognition with the command and the Python package: classifiers, strangers, and people enrolled one by one.

All tables use the same draws, those of the command. The margin of the perceptron is chosen for each draw by
cross-validation inside its training images.
"""

import functools
import json
import os
import subprocess

import eigenspace.faces
import numpy as np

from . import orl, tex

PROTOCOLS = {"first-5": "first 5 / last 5", "random-5": "random 5 / 5", "random-9": "random 9 / 1"}
NAMES = {
    "knn": "nearest neighbor",
    "centroid": "nearest mean",
    "subspace": "nearest span",
    "svm": "SVM, linear",
    "svm-rbf": "SVM, RBF",
    "perceptron": "perceptron, margin chosen inside",
}


OPEN = ("enrolled", "strangers", "false_accepts", "false_rejects", "identified")
DEFAULT = "svm"
"""The default classifier of the command."""
MARGINS = (0.3, 1, 3, 10)
EPOCHS = 50
INNER = 3
"""Folds of the inner cross-validation; one training image of each person is left out in each."""
NOISE = 2.0
"""A mean difference below so many standard errors is inside the noise."""
PAIR = ("subspace", "svm")
"""The two best classifiers, which are compared on other draws too: those of docs/FACES.md."""
OTHER_DRAWS, OTHER_SEED = 30, 1


def run():
    found = evaluate("--protocol", ",".join(PROTOCOLS), "--classifier", ";".join(NAMES))
    table = {}
    for protocol in found["protocols"]:
        settings = [
            {key: setting[key] for key in ("classifier", "n_components", "accuracy", "deviation")}
            | {"open": {name: setting["open"][name] for name in OPEN}}
            | {"trials": [trial["accuracy"] for trial in setting["trials"]]}
            for setting in protocol["settings"]
        ]
        chosen = [nested(split) for split in protocol["splits"]]
        trials = [one["accuracy"] for one in chosen]
        perceptron = next(setting for setting in settings if setting["classifier"] == "perceptron")
        perceptron |= {
            "accuracy": float(np.mean(trials)),
            "deviation": float(np.std(trials, ddof=1)) if len(trials) > 1 else 0.0,
            "trials": trials,
            "margins": [one["margin"] for one in chosen],
        }
        table[protocol["protocol"]] = {"splits": len(protocol["splits"]), "settings": settings}
    steps = evaluate("--protocol", "incremental", "--classifier", DEFAULT)["protocols"][0]["settings"][0]["steps"]
    return {"protocols": table, "steps": steps, "others": other_draws()}


def other_draws():
    """Return the shares of the pair on other draws of five images."""
    draws = ("--repeats", str(OTHER_DRAWS), "--seed", str(OTHER_SEED))
    found = evaluate("--protocol", "random-5", "--classifier", ";".join(PAIR), *draws)["protocols"][0]["settings"]
    return {one["classifier"]: [trial["accuracy"] for trial in one["trials"]] for one in found}


def nested(split):
    """Choose the margin by cross-validation inside the training images of a draw, and recognize the others."""
    train, test = (indices(split[part]) for part in ("train", "test"))
    each = len(train) // orl.PEOPLE
    shares = np.zeros(len(MARGINS))
    for fold in range(INNER):
        out = np.arange(len(train)) % each == fold
        shares += recognized(train[~out], train[out], MARGINS)
    margin = MARGINS[int(shares.argmax())]
    return {"margin": margin, "accuracy": recognized(train, test, [margin])[0]}


def recognized(train, test, margins):
    """Return the share of test images that are recognized, for each margin of the perceptron."""
    rows, people = orl.faces(), orl.people()
    names = [str(i) for i in train]
    recognizer = eigenspace.faces.train(
        rows[train], [str(people[i]) for i in train], names, unknown=None, not_a_face=None
    )
    found = []
    for margin in margins:
        chosen = recognizer.with_settings(classifier=f"perceptron:{EPOCHS},{margin}")
        answers = chosen.recognize(rows[test], matches=0)
        found.append(np.mean([one.person == str(people[i]) for one, i in zip(answers, test, strict=True)]))
    return np.array(found)


def indices(names):
    """Return the rows of images named as the command names them, such as s3/7.pgm."""
    found = []
    for name in names:
        person, image = name.removesuffix(".pgm").split("/")
        found.append((int(person[1:]) - 1) * orl.IMAGES + int(image) - 1)
    return np.array(found)


@functools.cache
def splits(protocol):
    """Return the draws of a protocol, as the training and the test rows of each."""
    found = evaluate("--protocol", protocol, "--classifier", "centroid", "-k", "1")["protocols"][0]["splits"]
    return [(indices(split["train"]), indices(split["test"])) for split in found]


def evaluate(*options):
    """Run `eigenspace faces evaluate` with its default seed and settings and return its output."""
    command = os.environ.get("EIGENSPACE")
    if not command:
        raise SystemExit("set EIGENSPACE to the path of the command, for example target/release/eigenspace")
    words = [command, "faces", "evaluate", os.environ["EIGENSPACE_ORL"], *options, "--json", "--quiet"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def draw(results):
    return {}


def strangers(results, protocol):
    """Return the rates of the default classifier at its threshold; strangers are not in the eigenspace."""
    settings = results["protocols"][protocol]["settings"]
    return next(setting["open"] for setting in settings if setting["classifier"] == DEFAULT)


def interval(rate):
    return f"{tex.percent(rate['low'])} to {tex.percent(rate['high'])}"


def of(results, protocol, classifier):
    return next(one for one in results["protocols"][protocol]["settings"] if one["classifier"] == classifier)


def cell(results, protocol, classifier):
    one = of(results, protocol, classifier)
    if results["protocols"][protocol]["splits"] == 1:
        return tex.percent(one["accuracy"])
    return tex.spread(one["accuracy"], one["deviation"])


def difference(one, other):
    """Return the mean difference over the same draws, and its standard error."""
    differences = np.array(one) - np.array(other)
    return differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))


def inside_the_noise(results, protocol):
    """Return the best classifier, those that tie with it, and those whose difference from it is inside the noise."""
    settings = results["protocols"][protocol]["settings"]
    best = max(settings, key=lambda one: one["accuracy"])
    ties, equal = [], []
    for one in settings:
        if one is not best:
            mean, error = difference(best["trials"], one["trials"])
            ties += [one["classifier"]] if abs(mean) < 1e-12 else []
            equal += [one["classifier"]] if mean <= NOISE * error else []
    return best["classifier"], ties, equal


def short(names):
    """Return the classifiers as words, without their settings unless there are two of a kind."""
    kinds = [NAMES[name].split(",")[0] for name in names]
    pairs = zip(names, kinds, strict=True)
    words = [" ".join(reversed(NAMES[name].split(", "))) if kinds.count(kind) > 1 else kind for name, kind in pairs]
    return "the " + tex.words(words) if words else "no other classifier"


def pair(results):
    """Compare the pair on the draws of the tables, on the other draws, and on all of them."""
    here = [of(results, "random-5", name)["trials"] for name in PAIR]
    there = [results["others"][name] for name in PAIR]
    mean, error = difference(*here)
    other_mean, other_error = difference(*there)
    all_mean, all_error = difference(*[a + b for a, b in zip(here, there, strict=True)])
    first, second = (NAMES[name].split(",")[0] for name in PAIR)
    return {
        "pair.lead": points(mean, error),
        "pair.other": f"the {first if other_mean > 0 else second} is ahead, by {points(abs(other_mean), other_error)}",
        "pair.other.draws": str(len(there[0])),
        "pair.all": points(abs(all_mean), all_error),
        "pair.verdict": "is noise" if abs(all_mean) <= NOISE * all_error else "is not noise",
    }


def points(mean, error):
    return rf"{tex.fixed(100 * mean, 2)} $\pm$ {tex.fixed(100 * error, 2)}"


def tables(results):
    rows = [[title, *[cell(results, protocol, name) for protocol in PROTOCOLS]] for name, title in NAMES.items()]
    return {"classifiers": tex.table("l" + "r" * len(PROTOCOLS), ["", *PROTOCOLS.values()], rows)}


def numbers(results):
    protocols, last = results["protocols"], results["steps"][-1]
    best, _, equal = inside_the_noise(results, "random-5")
    nine_best, ties, nine_equal = inside_the_noise(results, "random-9")
    nine_worse = [name for name in NAMES if name not in (nine_best, *nine_equal)]
    five, nine = strangers(results, "random-5"), strangers(results, "random-9")
    margins = of(results, "random-5", "perceptron")["margins"]
    counted = {margin: margins.count(margin) for margin in sorted(set(margins))}
    return {
        "strangers.enrolled": str(five["enrolled"]),
        "strangers.outside": str(five["strangers"]),
        "strangers.accepted": tex.percent(five["false_accepts"]["share"]),
        "strangers.accepted.interval": interval(five["false_accepts"]),
        "strangers.rejected": tex.percent(five["false_rejects"]["share"]),
        "strangers.rejected.interval": interval(five["false_rejects"]),
        "strangers.identified": tex.percent(five["identified"]["share"]),
        "strangers.nine.accepted": tex.percent(nine["false_accepts"]["share"]),
        "strangers.nine.rejected": tex.percent(nine["false_rejects"]["share"]),
        "draws": str(protocols["random-5"]["splits"]),
        "k": str(of(results, "random-5", best)["n_components"]),
        "best": NAMES[best].split(",")[0],
        "best.share": tex.percent(of(results, "random-5", best)["accuracy"]),
        "best.same": short(equal),
        "nine.ties": short([nine_best, *ties]),
        "nine.worse": short(nine_worse),
        **pair(results),
        "best.noise": tex.fixed(NOISE, 0),
        "margins": tex.words([f"{margin:g} ({times} times)" for margin, times in counted.items()]),
        "margins.tried": tex.words([f"{margin:g}" for margin in MARGINS]),
        "people": str(last["people"]),
        "last": tex.percent(last["correct"] / last["tested"]),
        "differing": str(sum(step["differing"] for step in results["steps"])),
    }
