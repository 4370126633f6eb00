"""Tables in the formats that tau-ARGUS writes: CSV, for pivot tables, code and value, SBS, intermediate, JJ.

Of suppressed cells tau-ARGUS writes the value into some of them, and into most why each is suppressed. Here a file
holds what may be published: no such value, and one word for all suppressed cells. All else is written where the house
asks for confidential files, for its own use. Source: user's manual of tau-ARGUS 4.1, sections 4.6.1 and 5.5; for the
columns of SBS and intermediate files, what the program writes (version 4.2).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from sluice.ground.errors import DataError
from sluice.publication.published_table import in_decimals
from sluice.sources.argus_metadata import ArgusMetadata, ArgusVariable, metadata_text
from sluice.tabular.model.cells import Cells, Floats, Integers, Status, Statuses, axes_of, in_table, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements
from sluice.tabular.suppression.manual_status import MANUAL

CSV, PIVOT, CODE_VALUE, SBS, INTERMEDIATE, JJ = range(1, 7)
_MOST_LISTED = 2_000_000  # cells, with those that are empty
_HIDDEN, _EMPTY = "x", "-"
_SAFE, _SECONDARY, _NO_CELL = 1, 11, 14
_NUMBERED = {"minimum_frequency": 5, "zero_cells": 6, "request_rule": 4, MANUAL: 9}  # a rule; all others are 3
_COUNTED, _ONE_DOMINATES, _TWO_DOMINATE, _ADDED, _VALID = "ABCDV"


@dataclass(frozen=True, eq=False)
class ArgusTable:
    """One table of protected cells.

    dimensions  : by name
    response    : what the column of the values is called
    status      : shape (c,), of all cells
    value       : shape (c,), published in place of the totals; None where cells are suppressed
    cost        : shape (c,)
    confidential: with the values of suppressed cells, and why each is suppressed
    """

    cells: Cells
    dimensions: tuple[str, ...]
    response: str
    status: Statuses
    requirements: Requirements
    cost: Floats
    value: Integers | None = None
    changed: str = ""  # what a changed value is called: Round, CTA or CKM
    confidential: bool = False
    two_dominate: bool = False  # by a rule that looks at two contributors
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of codes, by dimension

    def files(self, path: Path, kind: int, options: Collection[str]) -> dict[Path, bytes]:
        """What is written, by its place; an intermediate file has its metadata and hierarchies beside it.

        Its .hst asks another run for the same statuses and protection.

        options : those switched on
        raises  : DataError for a format that is confidential, or does not take changed values
        """
        if self.value is not None and kind > CODE_VALUE:
            raise DataError(f"a table of changed values is written as CSV, pivot table or code and value; got {kind}")
        if kind in (INTERMEDIATE, JJ) and not self.confidential:
            raise DataError(
                f"the format {kind} holds the values of suppressed cells; where it stays inside the house, ask for "
                "confidential files"
            )
        if kind == CSV:
            return {path: _text(self._grid("QU" in options))}
        if kind in (PIVOT, CODE_VALUE):
            return {path: _text(self._pairs(options))}
        if kind == SBS:
            return {path: _text(self._sbs(options))}
        if kind == JJ:
            return {path: _text(self._jj())}
        return self._intermediate(path, options)

    @property
    def _axes(self) -> list[int]:
        return list(axes_of(self.cells, self.dimensions))

    @property
    def _listed(self) -> list[int]:
        """The cells that are published or suppressed, in the order of their codes."""
        listed = np.flatnonzero(in_table(self.cells, self.dimensions) & (self.status != Status.WITHHELD))
        order = np.argsort(keys_of(self.cells.dimensions, self.cells.codes[listed]), kind="stable")
        return [int(cell) for cell in listed[order]]

    def _codes(self, cell: int) -> tuple[str, ...]:
        return tuple(self.cells.dimensions[axis].codes[self.cells.codes[cell, axis]] for axis in self._axes)

    def _value(self, cell: int, with_hidden: bool = False) -> str:
        if self.value is not None:
            return in_decimals(int(self.value[cell]), self.cells.decimals)
        if self.status[cell] == Status.PUBLISHED or with_hidden:
            return in_decimals(int(self.cells.total[cell]), self.cells.decimals)
        return _HIDDEN

    def _number(self, cell: int) -> int:
        """tau-ARGUS' number of a status."""
        if self.status[cell] == Status.PUBLISHED:
            return _SAFE
        if not self.confidential:
            return _SECONDARY
        found = [_NUMBERED.get(rule, 3) for rule, which in self.requirements.by_rule.items() if which[cell]]
        return min(found, default=_SECONDARY)

    def _letter(self, cell: int) -> str:
        """Eurostat's letter of a status."""
        number = self._number(cell)
        if number == _SAFE:
            return _VALID
        if number == _SECONDARY:
            return _ADDED
        if self.requirements.by_rule.get("minimum_frequency", np.zeros(len(self.cells), bool))[cell]:
            return _COUNTED
        alone = not self.two_dominate or self.cells.contributors[cell] == 1
        return _ONE_DOMINATES if alone else _TWO_DOMINATE

    def _every(self, without_empty: bool) -> Iterator[tuple[tuple[str, ...], int | None]]:
        """Codes and cell, None of an empty one."""
        listed = self._listed
        lists = [self.cells.dimensions[axis].codes for axis in self._axes]
        if without_empty or np.prod([float(len(each)) for each in lists]) > _MOST_LISTED:
            yield from ((self._codes(cell), cell) for cell in listed)
            return
        at = {self._codes(cell): cell for cell in listed}
        for codes in product(*lists):
            yield codes, at.get(codes)

    def _pairs(self, options: Collection[str]) -> Iterator[str]:
        quote = _quoting("QU" in options)
        told = "AS" in options
        original = told and self.value is not None and self.confidential
        if "FL" in options:
            changed = f"{self.response}_{self.changed}" if self.changed else self.response
            more = [f"{self.response}_Orig"] if original else ["Status"] if told and self.value is None else []
            yield ",".join(map(quote, (*self.dimensions, changed, *more)))
        for codes, cell in self._every("SE" in options):
            line = [*map(quote, codes), _EMPTY if cell is None else self._value(cell, told and self.confidential)]
            if told and self.value is None:
                line.append(str(_NO_CELL if cell is None else self._number(cell)))
            elif original:
                line.append(_EMPTY if cell is None else in_decimals(int(self.cells.total[cell]), self.cells.decimals))
            yield ",".join(line)

    def _grid(self, quoted: bool) -> Iterator[str]:
        """The last dimension in columns, the one before in rows, a block for each combination of the others."""
        quote = _quoting(quoted)
        at = {self._codes(cell): cell for cell in self._listed}
        lists = [self.cells.dimensions[axis].codes for axis in self._axes]
        if len(lists) == 1:
            yield from (f"{quote(code)},{self._shown(at.get((code,)))}" for code in lists[0])
            return
        *outer, rows, columns = lists
        for block in product(*outer):
            if outer:
                yield ",".join(quote(f"{name}={code}") for name, code in zip(self.dimensions, block, strict=False))
            yield ",".join(["", *map(quote, columns)])
            for row in rows:
                yield ",".join([quote(row), *(self._shown(at.get((*block, row, column))) for column in columns)])

    def _shown(self, cell: int | None) -> str:
        return _EMPTY if cell is None else self._value(cell)

    def _sbs(self, options: Collection[str]) -> Iterator[str]:
        quote = _quoting("QU" in options)
        for cell in self._listed:
            levels = [str(self.cells.dimensions[a].levels[self.cells.codes[cell, a]]) for a in self._axes]
            line = [*(levels if "HL" in options else ()), *map(quote, self._codes(cell))]
            shown = self._value(cell, self.confidential)
            line += ["" if shown == _HIDDEN else shown, str(self.cells.contributors[cell]) if self.confidential else ""]
            line += [self._letter(cell), self._share(cell) if self.confidential else ""]
            yield ",".join(line)

    def _share(self, cell: int) -> str:
        """Percent of the two largest contributions."""
        total = int(self.cells.contributions.total[cell])
        return f"{100 * int(self.cells.largest[cell, :2].sum()) / total:.0f}" if total else ""

    def _intermediate(self, path: Path, options: Collection[str]) -> dict[Path, bytes]:
        """A .tab that can be read again, with its .rda and .hst; for each dimension with groups its .hrc, and for one
        with labels its .cdl."""
        quote, cells, decimals = _quoting("QU" in options), self.cells, self.cells.decimals
        kept = min(cells.largest.shape[1], 2)
        lines, asked = [], []
        for cell in self._listed:
            word = "S" if self.status[cell] == Status.PUBLISHED else "M" if self._number(cell) == _SECONDARY else "U"
            levels = [self.requirements.lower[cell], self.requirements.upper[cell]] if word == "U" else [0, 0]
            numbers = [cells.total[cell], *cells.largest[cell, :kept], *levels]
            value, *more = (in_decimals(int(each), decimals) for each in numbers)
            largest, (low, high) = more[:kept], more[kept:]
            cost = f"{self.cost[cell]:.6g}"
            line = [
                *map(quote, self._codes(cell)),
                value,
                str(cells.contributors[cell]),
                *largest,
                cost,
                word,
                low,
                high,
            ]
            lines.append(";".join(line))
            codes = list(map(quote, self._codes(cell)))
            asked += [";".join([*codes, word.lower()])] if word != "S" else []
            asked += [";".join([*codes, "pl", low, high])] if word == "U" else []
        files = {path: _text(lines), path.with_suffix(".hst"): _text(asked)}
        variables = []
        for axis in self._axes:
            dimension = cells.dimensions[axis]
            said = {"TOTCODE": dimension.codes[0]}
            if dimension.levels.max() > 1:
                place = path.with_name(f"{path.stem}_{dimension.name}.hrc")
                files[place] = _text(hierarchy_lines(dimension))
                said |= {"HIERCODELIST": place.name, "HIERLEADSTRING": "@"}
            if labels := self.labels.get(dimension.name):
                place = path.with_name(f"{path.stem}_{dimension.name}.cdl")
                files[place] = _text([f"{code},{labels[code]}" for code in dimension.codes if code in labels])
                said["CODELIST"] = place.name
            variables.append(ArgusVariable(dimension.name, 0, role="dimension", said=said))
        told = {"DECIMALS": str(decimals)} if decimals else {}
        columns = [(self.response, "number"), ("Freq", "frequency"), *((f"Top{n + 1}", "largest") for n in range(kept))]
        columns += [("Cost", "cost"), ("Status", "status"), ("Lower", "lower"), ("Upper", "upper")]
        variables += [
            ArgusVariable(name, 0, role=role, said=told if role == "number" else {}) for name, role in columns
        ]
        words = {"s": "safe", "u": "unsafe", "p": "protect"}
        metadata = ArgusMetadata(path.with_suffix(".rda"), tuple(variables), ";", words)
        return files | {metadata.path: metadata_text(metadata).encode()}

    def _jj(self) -> Iterator[str]:
        """Cells with their bounds and protection, and the equations between them."""
        cells, decimals = self.cells, self.cells.decimals
        listed = self._listed
        at = {cell: number for number, cell in enumerate(listed)}
        top = in_decimals(int(np.abs(cells.total[listed]).max(initial=0)) * 2, decimals)
        yield "0"
        yield str(len(listed))
        for number, cell in enumerate(listed):
            word = "s" if self.status[cell] == Status.PUBLISHED else "m" if self._number(cell) == _SECONDARY else "u"
            levels = [self.requirements.lower[cell], self.requirements.upper[cell]] if word == "u" else [0, 0]
            low, high = (in_decimals(int(level), decimals) for level in levels)
            value = in_decimals(int(cells.total[cell]), decimals)
            yield f"{number} {value} {max(1, round(float(self.cost[cell])))} {word} 0 {top} {low} {high} 0"
        rows = [row for row in _rows(cells) if set(row) <= at.keys()]
        yield str(len(rows))
        for row in rows:
            terms = " ".join(f"{at[cell]} ({-sign})" for cell, sign in sorted(row.items(), key=lambda each: -each[1]))
            yield f"0 {len(row)} : {terms}"


def hierarchy_lines(dimension: Dimension) -> Iterator[str]:
    """A .hrc of the first grouping: each code below its group, behind an @ for each level; without the total."""
    parts = dict(reversed(dimension.sums))

    def below(group: int, depth: int) -> Iterator[str]:
        for part in parts.get(group, ()):
            yield "@" * depth + dimension.codes[part]
            yield from below(part, depth + 1)

    yield from below(0, 0)


def _rows(cells: Cells) -> Iterator[Mapping[int, int]]:
    """Of each equation the cells with their signs."""
    for row in range(cells.equations.shape[0]):
        inside = slice(cells.equations.indptr[row], cells.equations.indptr[row + 1])
        pairs = zip(cells.equations.indices[inside].tolist(), cells.equations.data[inside].tolist(), strict=True)
        yield {int(cell): int(sign) for cell, sign in pairs}


def _quoting(quoted: bool) -> Callable[[str], str]:
    def quote(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quoted or any(sign in text for sign in ',;"') else text

    return quote


def _text(lines: Iterator[str] | Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
