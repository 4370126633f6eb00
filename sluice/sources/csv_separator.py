"""The separator of a CSV file that nobody described, read off its first line."""

import gzip
import re
from pathlib import Path

from sluice.sources.csv_source import CsvSource

_SEPARATORS = ",;\t|"
_LONGEST = 1 << 20  # bytes of a line that are looked at


def described_csv(path: Path, separator: str | None = None, encoding: str = "utf-8") -> CsvSource:
    """The file as a source; unless a separator is named, with the one that stands most often in its first line.

    A file whose name ends in .gz is decompressed; what cannot be read the source says itself when it is.
    """
    return CsvSource(path=(str(path),), separator=separator or separator_of(_first_line(path)), encoding=encoding)


def separator_of(header: str) -> str:
    """The sign of , ; tab | that stands most often outside quotes; the comma where none does."""
    return max(_SEPARATORS, key=re.sub('"[^"]*"', "", header).count)  # of equals the first


def _first_line(path: Path) -> str:
    """The first line that is not blank; '' where there is none."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            while line := file.readline(_LONGEST):
                if text := line.decode("utf-8-sig", errors="replace").strip():
                    return text
    except (OSError, EOFError):
        pass
    return ""
