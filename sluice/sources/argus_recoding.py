"""Recodings of tau-ARGUS (.grc): codes that take in all below them, or groups of codes under a new one.

After <TREERECODE> a line is a code of a hierarchy that ends there. Else a line has a new code, a colon and the codes
that it stands for, single or from-to, either end of which may be left out; codes that no line names stay. Source:
user's manual of tau-ARGUS 4.1, section on global recoding; the files that come with version 4.2.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.sources.tabular_source import missing_file
from sluice.sources.text_encoding import encoding_of

Rows = Sequence[tuple[str, str]]
_TREE = "<TREERECODE>"
_LABELS = ("<CODELIST>", "<MISSING>")  # say what the new codes mean; no cell depends on it


@dataclass(frozen=True)
class Recoding:
    """What a file says.

    closed : codes of a hierarchy that end there, each with its line
    groups : new code -> from-to ranges, each with its line; None for no end
    """

    path: Path
    closed: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, tuple[tuple[str | None, str | None, int], ...]] = field(default_factory=dict)

    def of_codes(self, codes: Iterable[str]) -> dict[str, str]:
        """The new code of each that is grouped. Raises DataError for a line without a code, or a code in two groups."""
        known = sorted(set(codes))
        width = max(
            map(len, (*known, *(end for all_ in self.groups.values() for each in all_ for end in each[:2] if end)))
        )
        found: dict[str, str] = {}
        for new, ranges in self.groups.items():
            for low, high, line in ranges:
                inside = [
                    code
                    for code in known
                    if (low is None or low.rjust(width) <= code.rjust(width))
                    and (high is None or code.rjust(width) <= high.rjust(width))
                ]
                if not inside:
                    raise DataError(f"{self.path}: line {line}: no code of the data is among those that it names")
                if twice := next((code for code in inside if found.get(code, new) != new), None):
                    raise DataError(f"{self.path}: line {line}: puts '{twice}' into a second group")
                found |= dict.fromkeys(inside, new)
        return found

    def in_tree(self, rows: Rows) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """The hierarchy without what is below the closed codes, and the code that takes in each of those."""
        known = {code for code, _ in rows}
        if strange := next((code for code in self.closed if code not in known), None):
            raise DataError(f"{self.path}: line {self.closed[strange]}: '{strange}' is not a code of the hierarchy")
        return closed_tree(rows, self.closed)


def read_recoding(path: Path) -> Recoding:
    """Raises DataError naming the line."""
    if not path.is_file():
        raise missing_file(path)
    content = path.read_bytes()
    if len(content) > 1 << 20 or b"\0" in content:
        raise DataError(f"{path}: is not a recoding of tau-ARGUS, but no text or too long")
    lines = [
        (number, line.strip())
        for number, line in enumerate(content.decode(encoding_of(path)).lstrip("\ufeff").splitlines(), start=1)
        if line.strip()
    ]
    if lines and lines[0][1].upper() == _TREE:
        return Recoding(path, {code: number for number, code in lines[1:]})
    groups: dict[str, tuple[tuple[str | None, str | None, int], ...]] = {}
    for number, line in lines:
        if line.upper().startswith(_LABELS):
            continue
        new, colon, codes = (part.strip().strip('"') for part in line.partition(":"))
        ends = [_range(each.strip(), number) for each in codes.split(",")]
        if not colon or not new or any(low is high is None for low, high, _ in ends):
            raise DataError(
                f"{path}: line {number}: must be a new code, a colon, and codes or from-to, such as 1:2-5,7"
            )
        groups[new] = groups.get(new, ()) + tuple(ends)
    if not groups:
        raise DataError(f"{path}: recodes nothing")
    return Recoding(path, groups=groups)


def closed_tree(rows: Rows, closed: Iterable[str]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """The hierarchy without what is below some of its codes, and the code that takes in each of those."""
    parents, ends = dict(rows), set(closed)
    taken: dict[str, str] = {}
    for code in parents:
        above, top, passed = parents[code], "", 0
        while above and passed <= len(parents):  # a circle is refused where the dimension is made
            top = above if above in ends else top
            above, passed = parents.get(above, ""), passed + 1
        if top:
            taken[code] = top
    return [(code, parent) for code, parent in rows if code not in taken], taken


def codes_at(rows: Rows, level: int) -> list[str]:
    """The codes of a hierarchy that are so many levels below its total."""
    parents = dict(rows)

    def depth(code: str) -> int:
        count = 0
        while parents.get(code) and count <= len(parents):
            code, count = parents[code], count + 1
        return count

    return [code for code in parents if depth(code) == level]


def _range(text: str, line: int) -> tuple[str | None, str | None, int]:
    if (found := re.fullmatch(r'"?([^"-]*)"?\s*-\s*"?([^"-]*)"?', text)) is not None:
        low, high = (end.strip() or None for end in found.groups())
        return low, high, line
    code = text.strip('"').strip() or None
    return code, code, line
