"""A part of a page that is written from stored measurements, between two markers."""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Generated:
    """The part of `page` from `begin` to `end`, both included, which `section` returns."""

    page: Path
    begin: str
    end: str
    section: Callable[[], str]
    fault: str
    """The message if the page shows something else."""

    def _whole(self) -> str:
        """Return the text of the page with the stored measurements."""
        before, found, rest = self.page.read_text().partition(self.begin)
        _, closed, after = rest.partition(self.end)
        if not (found and closed):
            markers = f"{self.begin.strip()} and {self.end}"
            raise SystemExit(f"{self.page.name} does not have the markers {markers}")
        return before + self.section() + after

    def write(self) -> None:
        """Write the part into the page."""
        self.page.write_text(self._whole())

    def faults(self) -> Iterator[str]:
        """Yield what does not match."""
        if self.page.read_text() != self._whole():
            yield self.fault

    def main(self, description: str | None) -> None:
        """Check the page, or write it with --write."""
        parser = argparse.ArgumentParser(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("--write", action="store_true", help=f"write into {self.page.name}")
        if parser.parse_args().write:
            self.write()
        elif found := list(self.faults()):
            sys.exit("\n".join(found))
