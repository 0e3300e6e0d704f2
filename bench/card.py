"""What the results of `gpu.py` say, in one sentence for each card."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clusters

CARD, HOST, TORCH = "cuda", "cpu", "torch SVD"
FROM_CARD = "from the card"


def read(directory: Path) -> list[dict[str, Any]]:
    """Read the results of all cards."""
    paths = sorted((directory / "results").glob("gpu-*.json"))
    return [json.loads(path.read_text()) for path in paths]


def conclusions(cards: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each card. Rows that are in its memory already do not count."""
    for result in cards:
        hosts = _ratios(result["rows"], lambda row: row["mode"] == HOST)
        if not hosts:
            continue
        at = result["machine"]
        won = [ratio for ratio in hosts.values() if ratio >= 1]
        text = f"* On an {at['card']} (commit {at['commit']}, {at['date'][:10]}), with rows in the "
        text += f"memory of the host, eigenspace is faster than on the {at['cores']} cores of the "
        text += f"host in {len(won)} of {len(hosts)} cases"
        if won:
            text += f", by {clusters.times(min(won))} to {clusters.times(max(won))}"
        for case, ratio in hosts.items():
            if ratio < 1:
                text += f"; in *{case}*, it reaches {clusters.times(ratio)} of its speed there"
        torch = _ratios(result["rows"], lambda row: row["tool"] == TORCH)
        if torch:
            low, high = clusters.times(min(torch.values())), clusters.times(max(torch.values()))
            text += f". Against torch's SVD on the card, its speed is {low} to {high}"
        yield text + "."


def _ratios(rows: list[dict[str, Any]], is_other: Any) -> dict[str, float]:
    """Return the ratio of the other tool's time to ours on the card, by case."""
    found = {}
    for case in dict.fromkeys(row["case"] for row in rows):
        here = [row for row in rows if row["case"] == case and FROM_CARD not in row["mode"]]
        ours = [row for row in here if row["mode"].startswith(CARD)]
        others = [row for row in here if is_other(row)]
        if ours and others:
            found[case] = others[0]["median"] / ours[0]["median"]
    return found
