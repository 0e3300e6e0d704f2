"""Numbers and tables as LaTeX."""

import itertools
import math


def sci(x, digits=2):
    """Significant digits, with a power of ten where a plain number would be long."""
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else r"\ensuremath{\infty}"
    exponent = math.floor(math.log10(abs(x)))
    if -3 <= exponent < 5:
        return fixed(x, max(0, digits - 1 - exponent))
    mantissa = f"{x / 10**exponent:.{digits - 1}f}"
    if mantissa.startswith("10"):
        mantissa, exponent = f"{1:.{digits - 1}f}", exponent + 1
    if digits == 1 and mantissa == "1":
        return rf"\ensuremath{{10^{{{exponent}}}}}"
    return rf"\ensuremath{{{mantissa}\times10^{{{exponent}}}}}"


def fixed(x, places):
    """Decimal places; more where a number below one would look like one."""
    while 1e-5 < 1 - x < 1 and round(x, places) == 1:
        places += 1
    return f"{x:,.{places}f}" if x >= 0 else rf"\ensuremath{{{x:,.{places}f}}}"


def integer(x):
    """With a comma after thousands."""
    return f"{round(x):,}"


def percent(x, places=1):
    """Of a share."""
    return rf"{100 * x:.{places}f}\,\%"


def spread(mean, deviation):
    """A share and its deviation."""
    return rf"{100 * mean:.1f} $\pm$ {100 * deviation:.1f}\,\%"


def times(x):
    """A ratio: two digits below ten, whole numbers above."""
    return rf"{x:,.0f}\,\ensuremath{{\times}}" if x >= 10 else rf"{x:.1f}\,\ensuremath{{\times}}"


def milliseconds(x, unit=True):
    """Of seconds, three digits."""
    value = 1000 * x
    places = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{places}f}" + (r"\,ms" if unit else "")


def words(items):
    """As in "a, b and c"."""
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def table(columns, head, rows, groups=()):
    """A tabular with rules; a row that is None becomes a gap. Groups are titles over so many columns each."""
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    if groups:
        lines.append(" & ".join(rf"\multicolumn{{{span}}}{{c}}{{{title}}}" for title, span in groups) + r" \\")
        ends = list(itertools.accumulate(span for _, span in groups))
        spans = zip(ends, groups, strict=True)
        lines.append(" ".join(rf"\cmidrule(lr){{{end - span + 1}-{end}}}" for end, (title, span) in spans if title))
    lines += [" & ".join(head) + r" \\", r"\midrule"]
    lines += [r"\addlinespace" if row is None else " & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
