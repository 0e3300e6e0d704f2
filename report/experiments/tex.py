"""Numbers and tables as LaTeX."""

import itertools
import math


def sci(x, digits=2):
    """Format with significant digits, and with a power of ten if a plain number would be long."""
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
    """Format with decimal places; with more of them if a number below one would be rounded to one."""
    while 1e-5 < 1 - x < 1 and round(x, places) == 1:
        places += 1
    return f"{x:,.{places}f}" if x >= 0 else rf"\ensuremath{{{x:,.{places}f}}}"


def integer(x):
    """Format with commas between thousands."""
    return f"{round(x):,}"


def percent(x, places=1):
    """Format a share as a percentage."""
    return rf"{100 * x:.{places}f}\,\%"


def spread(mean, deviation):
    """Format a share and its standard deviation."""
    return rf"{100 * mean:.1f} $\pm$ {100 * deviation:.1f}\,\%"


def times(x):
    """Format a ratio: two digits below ten, integers above."""
    return rf"{x:,.0f}\,\ensuremath{{\times}}" if x >= 10 else rf"{x:.1f}\,\ensuremath{{\times}}"


def milliseconds(x, unit=True):
    """Format seconds as milliseconds with three digits."""
    value = 1000 * x
    places = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{places}f}" + (r"\,ms" if unit else "")


def words(items):
    """Join items as in "a, b and c"."""
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def table(columns, head, rows, groups=()):
    """Return a tabular with rules. A row that is None is a gap; groups are (title, number of columns)."""
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    if groups:
        lines.append(" & ".join(rf"\multicolumn{{{span}}}{{c}}{{{title}}}" for title, span in groups) + r" \\")
        ends = list(itertools.accumulate(span for _, span in groups))
        spans = zip(ends, groups, strict=True)
        lines.append(" ".join(rf"\cmidrule(lr){{{end - span + 1}-{end}}}" for end, (title, span) in spans if title))
    lines += [" & ".join(head) + r" \\", r"\midrule"]
    lines += [r"\addlinespace" if row is None else " & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
