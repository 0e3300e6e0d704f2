"""Recognition with the command: classifiers, strangers, and people enrolled one by one."""

import json
import os
import subprocess

from . import tex

PROTOCOLS = {"first-5": "first 5 / last 5", "random-5": "random 5 / 5", "random-9": "random 9 / 1"}
NAMES = {
    "knn": "nearest neighbor",
    "centroid": "nearest mean",
    "subspace": "nearest span",
    "svm": "SVM, linear",
    "svm-rbf": "SVM, RBF",
    "perceptron": "averaged perceptron",
}


OPEN = ("enrolled", "strangers", "false_accepts", "false_rejects", "identified")
DEFAULT = "svm"
"""The default classifier of the command."""


def run():
    found = evaluate("--protocol", ",".join(PROTOCOLS), "--classifier", ";".join(NAMES))
    table = {
        protocol["protocol"]: {
            "splits": len(protocol["splits"]),
            "settings": [
                {key: setting[key] for key in ("classifier", "k", "accuracy", "deviation")}
                | {"open": {name: setting["open"][name] for name in OPEN}}
                for setting in protocol["settings"]
            ],
        }
        for protocol in found["protocols"]
    }
    steps = evaluate("--protocol", "incremental", "--classifier", DEFAULT)["protocols"][0]["settings"][0]["steps"]
    return {"protocols": table, "steps": steps}


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


def cell(results, protocol, classifier):
    found = results["protocols"][protocol]
    one = next(setting for setting in found["settings"] if setting["classifier"] == classifier)
    if found["splits"] == 1:
        return tex.percent(one["accuracy"])
    return tex.spread(one["accuracy"], one["deviation"])


def tables(results):
    rows = [[title, *[cell(results, protocol, name) for protocol in PROTOCOLS]] for name, title in NAMES.items()]
    return {"classifiers": tex.table("l" + "r" * len(PROTOCOLS), ["", *PROTOCOLS.values()], rows)}


def numbers(results):
    protocols, last = results["protocols"], results["steps"][-1]
    best = max(protocols["random-5"]["settings"], key=lambda one: one["accuracy"])
    five, nine = strangers(results, "random-5"), strangers(results, "random-9")
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
        "k": str(best["k"]),
        "best": NAMES[best["classifier"]],
        "best.share": tex.percent(best["accuracy"]),
        "people": str(last["people"]),
        "last": tex.percent(last["correct"] / last["tested"]),
        "differing": str(sum(step["differing"] for step in results["steps"])),
    }
