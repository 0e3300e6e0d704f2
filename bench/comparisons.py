"""Every tool of every case against ours, with one thread and our default settings.

The table of `summary.py` shows chosen pairs. These are all pairs, so that no loss is left out.
Plain products of numpy are a reference for the speed of the machine and not counted.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import clusters
import store
import targets

ACTIONS = ("update", "merge", "split")
"""What only eigenspace does. In cases about it, our batch PCA is beside it as a reference."""
MODES = ("default", "all directions", "1 pass")
"""Our default settings: of estimators, of merges and splits, and of the case of more passes."""
INCREMENTAL = "IncrementalPCA"
PROJECTIONS = "W7"
"""The workload whose accuracy is that of projecting and reconstructing, not of a subspace."""
ROUNDING = 1e-10
"""Smaller errors are equal: the tools solve the same problem to the precision of its data."""
COUNTED = 3
"""Comparisons with fewer rounds are listed but not counted."""
ALIKE = 2.0
"""Errors within this factor are equal."""
WRONG = 0.1
"""If both subspace errors are above it, the missed variance says which result is better."""
ABOUT = f"""All tools of all cases, against eigenspace with default settings and one thread (two
workers on clusters); the sections below describe the cases. *Speed* is that of eigenspace relative
to the other library. *Accuracy* is that of the other library. It is *equal* if the errors are
within a factor of {ALIKE:g} of each other, or both below {ROUNDING:.0e}. The errors are subspace
errors, or missed variances if both subspace errors are above {WRONG:g}. *Rounds* is the number of
rounds that the speed is the median of.
"""


@dataclass
class Comparison:
    """A tool of a case, and ours."""

    workload: str
    ours: dict[str, Any]
    theirs: dict[str, Any]

    @property
    def case(self) -> str:
        return f"{self.workload}: {self.ours['case']}"

    @property
    def peer(self) -> str:
        return f"{self.theirs['tool']} {self.theirs['mode']}".strip()

    @property
    def rounds(self) -> int:
        """The number of rounds in which both ran."""
        return len(targets.rounds(self.ours, self.theirs))

    @property
    def ratio(self) -> float:
        """The median over the rounds of their time divided by ours."""
        return statistics.median(targets.rounds(self.ours, self.theirs))

    @property
    def accuracy(self) -> str | None:
        """How accurate the other tool is, compared with ours: equal, better or worse."""
        errors = (_error,) if self.workload == PROJECTIONS else (_sine, missed)
        pairs = [(read(self.ours), read(self.theirs)) for read in errors]
        known = [pair for pair in pairs if None not in pair]
        if len(known) > 1 and min(known[0]) > WRONG:
            known = known[1:]
        if not known:
            return None
        ours, theirs = (max(value, ROUNDING) for value in known[0])
        if max(ours, theirs) <= ALIKE * min(ours, theirs):
            return "equal"
        return "better" if theirs < ours else "worse"


def _error(row: dict[str, Any]) -> float | None:
    return row.get("error")


def _sine(row: dict[str, Any]) -> float | None:
    return row.get("sine")


def missed(row: dict[str, Any]) -> float | None:
    """Return the missed variance: outside the subspace, relative to the best subspace."""
    return None if row.get("captured") is None else max(1.0 - row["captured"], 0.0)


def share(value: float | None) -> str:
    """Format a missed variance."""
    return "-" if value is None else "0" if value < 1e-12 else f"{value:.0e}"


def everything(results: dict[str, Any]) -> list[Comparison]:
    """Return all pairs of all cases."""
    found = []
    for name, result in results.items():
        if name in clusters.ENGINES:
            entries = clusters.entries({name: result})
            pairs = [(entry.ours, entry.row) for entry in entries if entry.speed is not None]
            found += [Comparison(name, ours, row) for ours, row in pairs if row is not ours]
            continue
        rows = [row for row in result["rows"] if row["threads"] == 1]
        for case in dict.fromkeys(row["case"] for row in rows):
            here = [row for row in rows if row["case"] == case]
            peers = [row for row in here if not row["tool"].startswith("eigenspace")]
            pairs = [(_ours(here, peer), peer) for peer in peers]
            found += [Comparison(name, ours, peer) for ours, peer in pairs if ours is not None]
    return found


def _ours(rows: list[dict[str, Any]], peer: dict[str, Any]) -> dict[str, Any] | None:
    """Return the row of ours with default settings that does the work of a peer."""
    mine = [row for row in rows if row["tool"].startswith("eigenspace")]
    mine = [row for row in mine if row["tool"].endswith(ACTIONS)] or mine
    for mode in MODES:
        found = [row for row in mine if row["mode"] == mode]
        streams = INCREMENTAL in peer["tool"]
        found.sort(key=lambda row: (INCREMENTAL in row["tool"]) != streams)
        if found:
            return found[0]
    return None


def conclusions(results: dict[str, Any]) -> Iterator[str]:
    """Yield how many comparisons are won and lost; those with too few rounds are not counted."""
    every = [each for each in everything(results) if not _is_reference(each)]
    for where, on_clusters in (("With one thread", False), ("On clusters", True)):
        here = [each for each in every if (each.workload in clusters.ENGINES) == on_clusters]
        found = [each for each in here if each.rounds >= COUNTED]
        won = [each for each in found if each.ratio >= 1]
        if not found:
            continue
        cases = len({each.case for each in found})
        text = f"* {where} and with default settings, eigenspace is faster in {len(won)} of "
        text += f"{len(found)} comparisons with other libraries, in {cases} cases"
        median = clusters.times(statistics.median(each.ratio for each in found))
        text += f", and the median of the ratios is {median}"
        coarser = [each for each in won if each.accuracy == "better"]
        if coarser:
            text += f". In {len(coarser)} of the {len(won)}, the other library is more accurate"
        if len(won) < len(found):
            text += ". *Where another library is faster* lists the others"
        few = [each for each in here if each.rounds < COUNTED]
        if few:
            slower = sum(each.ratio < 1 for each in few) or "none"
            text += f". Not counted: {len(few)} comparisons with fewer than {COUNTED} rounds; "
            text += f"eigenspace is slower in {slower} of them"
        yield text + "."


def worst(results: dict[str, Any]) -> Comparison | None:
    """Return the largest loss on one machine against a tool that is at least as accurate."""
    found = [
        each
        for each in everything(results)
        if each.workload not in clusters.ENGINES
        and not _is_reference(each)
        and each.accuracy in ("equal", "better")
    ]
    found = [each for each in found if each.ratio < 1]
    return min(found, key=lambda each: each.ratio, default=None)


def tables(results: dict[str, Any]) -> str:
    """Return what is lost, in time and in accuracy, as Markdown."""
    every = sorted(everything(results), key=lambda each: each.ratio)
    peers = [each for each in every if not _is_reference(each)]
    slower = [each for each in peers if each.ratio < 1]
    coarser = [each for each in peers if each.ratio >= 1 and each.accuracy == "better"]
    references = [each for each in every if _is_reference(each) and each.ratio < 1]
    text = ["### Where another library is faster\n"]
    if slower:
        text += [ABOUT, *_table(slower)]
    else:
        text.append("In no case that was measured.")
    if references:
        each = [f"{clusters.times(one.ratio)} as fast in *{one.case}*" for one in references]
        text.append(
            "\nA plain product of numpy is a reference and not a PCA. Compared with it, eigenspace "
            f"is {'; '.join(each)}."
        )
    if coarser:
        text += [
            "\n### Where eigenspace is less accurate\n",
            "Cases in which eigenspace is faster and the other library is more accurate.\n",
            *_table(coarser),
        ]
    return "\n".join(text) + "\n\n"


def _is_reference(one: Comparison) -> bool:
    return one.theirs["tool"] == targets.PRODUCT


def _table(found: list[Comparison]) -> Iterator[str]:
    yield (
        "| case | other library | speed | rounds | accuracy | its subspace error | ours | its "
        "missed variance | ours | measured |"
    )
    yield "|---|---|---:|---:|---|---:|---:|---:|---:|---|"
    for one in found:
        cells = [one.case, one.peer, clusters.times(one.ratio), str(one.rounds), _accuracy(one)]
        projects = one.workload == PROJECTIONS
        for read, text in ((_sine, clusters.angle), (missed, share)):
            cells += ["-" if projects else text(read(row)) for row in (one.theirs, one.ours)]
        cells.append(store.origin([one.ours, one.theirs]))
        yield "| " + " | ".join(cells) + " |"


def _accuracy(one: Comparison) -> str:
    if one.workload != PROJECTIONS:
        return one.accuracy or "-"
    if one.accuracy is None:
        return "not measured"
    return f"{one.accuracy} (error {_error(one.theirs):.0e}, ours {_error(one.ours):.0e})"
