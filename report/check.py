"""Check that the text of the report has no typed-in measurements and refers only to existing numbers.

A number counts as a measurement if it has decimals, a percent sign, a power of ten, a factor or a
unit. Lengths in the options of LaTeX commands are ignored. ``cargo xtask test`` and
``cargo xtask report`` run this check; it needs only Python.
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
    faults = [f"report.tex:{line}: typed-in measurement: {found}" for line, found in literals(lines)]
    known = set(re.findall(r"^\\Number\{([^}]+)\}", (HERE / "results/numbers.tex").read_text(), re.MULTILINE))
    for line, content in enumerate(lines, 1):
        content = re.sub(r"(?<!\\)%.*", "", content)
        faults += [f"report.tex:{line}: unknown number `{key}`" for key in keys(content) if key not in known]
        faults += [f"report.tex:{line}: missing file {file}" for file in files(content) if not file.exists()]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def literals(lines):
    """Yield line numbers and texts that look like measurements."""
    for line, content in enumerate(lines, 1):
        for pattern in NOT_TEXT:
            content = re.sub(pattern, "", content)
        for found in MEASURED.finditer(content):
            yield line, content[max(0, found.start() - 10) : found.end() + 10].strip()


def keys(content):
    """Return the keys of the numbers that a line refers to."""
    return [key for key in re.findall(r"\\N\{([^}]+)\}", content) if "#" not in key]


def files(content):
    """Return the tables and figures that a line refers to."""
    tables = [HERE / f"{name}.tex" for name in re.findall(r"\\input\{([^}]+)\}", content) if "#" not in name]
    return tables + [HERE / name for name in re.findall(r"\\includegraphics(?:\[[^\]]*\])?\{([^}]+)\}", content)]


if __name__ == "__main__":
    sys.exit(main())
