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
    return {"protocols": table, "steps": steps}


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


def inside_the_noise(results, protocol):
    """Return the best classifier, and those whose difference from it over the same draws is inside the noise."""
    settings = results["protocols"][protocol]["settings"]
    best = max(settings, key=lambda one: one["accuracy"])
    equal = []
    for one in settings:
        differences = np.array(best["trials"]) - np.array(one["trials"])
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        if one is not best and differences.mean() <= NOISE * error:
            equal.append(one["classifier"])
    return best["classifier"], equal


def tables(results):
    rows = [[title, *[cell(results, protocol, name) for protocol in PROTOCOLS]] for name, title in NAMES.items()]
    return {"classifiers": tex.table("l" + "r" * len(PROTOCOLS), ["", *PROTOCOLS.values()], rows)}


def numbers(results):
    protocols, last = results["protocols"], results["steps"][-1]
    best, equal = inside_the_noise(results, "random-5")
    five, nine = strangers(results, "random-5"), strangers(results, "random-9")
    margins = of(results, "random-5", "perceptron")["margins"]
    counted = {margin: margins.count(margin) for margin in sorted(set(margins))}
    same = f"the {tex.words([NAMES[name].split(',')[0] for name in equal])}" if equal else "no other classifier"
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
        "best.same": same,
        "best.noise": tex.fixed(NOISE, 0),
        "margins": tex.words([f"{margin:g} ({times} times)" for margin, times in counted.items()]),
        "margins.tried": tex.words([f"{margin:g}" for margin in MARGINS]),
        "people": str(last["people"]),
        "last": tex.percent(last["correct"] / last["tested"]),
        "differing": str(sum(step["differing"] for step in results["steps"])),
    }
