"""Sees that the text of the report holds no measured number of its own, and names only numbers that exist.

A number counts as measured if it has decimals, a percent sign, a power of ten or a factor after it. Lengths in the
options of commands are not text. Run by ``cargo xtask test`` and ``cargo xtask report``; needs nothing but Python.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEASURED = re.compile(
    r"""\d[\d,]*\.\d+                      # 0.25
      | \d(?:\\,|~|\s)*\\%                 # 12 %
      | \d[eE][+-]?\d                      # 1e-6
      | 10\s*\^                            # 10^{-6}
      | (?<!_)\d(?:\\,|~|\s|\$)*\\times(?!\d) # 200 x, but not 3 x 4 nor r_3 x r_3
      | \d(?:\\,|~|\s)*(?:ms|s|GB|MB)\b    # 3 ms
    """,
    re.VERBOSE,
)
NOT_TEXT = (
    r"(?<!\\)%.*",
    r"\\(?:usepackage|documentclass|includegraphics|geometry|hypersetup|setlength|renewcommand)"
    r"(?:\[[^\]]*\])?(?:\{[^}]*\})*",
    r"\\begin\{minipage\}(?:\[[^\]]*\])?\{[^}]*\}",
    r"\\[vh]space\*?\{[^}]*\}",
    r"\\(?:V|N|input|label|ref|eqref|cite)\{[^}]*\}",
)


def main():
    text = (HERE / "report.tex").read_text()
    lines = text.splitlines()
    faults = [f"report.tex:{line}: a number in the text: {found}" for line, found in literals(lines)]
    known = set(re.findall(r"^\\Number\{([^}]+)\}", (HERE / "results/numbers.tex").read_text(), re.MULTILINE))
    for line, content in enumerate(lines, 1):
        content = re.sub(r"(?<!\\)%.*", "", content)
        faults += [f"report.tex:{line}: no number is called {key}" for key in keys(content) if key not in known]
        faults += [f"report.tex:{line}: there is no file {file}" for file in files(content) if not file.exists()]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def literals(lines):
    """Lines and what in them looks like a measurement."""
    for line, content in enumerate(lines, 1):
        for pattern in NOT_TEXT:
            content = re.sub(pattern, "", content)
        for found in MEASURED.finditer(content):
            yield line, content[max(0, found.start() - 10) : found.end() + 10].strip()


def keys(content):
    """The numbers that a line asks for."""
    return [key for key in re.findall(r"\\N\{([^}]+)\}", content) if "#" not in key]


def files(content):
    """The tables and figures that a line asks for."""
    tables = [HERE / f"{name}.tex" for name in re.findall(r"\\input\{([^}]+)\}", content) if "#" not in name]
    return tables + [HERE / name for name in re.findall(r"\\includegraphics(?:\[[^\]]*\])?\{([^}]+)\}", content)]


if __name__ == "__main__":
    sys.exit(main())
