"""What the public reads of protected tables: the listed cells, what is said of each, and which add up to which.

Read from the published files and the documents alone, by code of its own: nothing here is the product's.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.sparse import csr_array

Cell = tuple[str, ...]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

PUBLISHED = "published"
_OWN = ("status", "value", "contributors", "lower", "upper", "synthetic", "is_total")


@dataclass(frozen=True)
class Hierarchy:
    """A dimension as its documents state it: group -> its parts, in each grouping; the total is a group, too."""

    name: str
    total: str
    sums: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, name: str, *groupings: Iterable[tuple[str, str]]) -> "Hierarchy":
        """From rows of code and parent; the total is the code of the first without a parent."""
        sums, total = [], ""
        for number, rows in enumerate(groupings):
            parts: dict[str, list[str]] = {}
            for code, parent in rows:
                if parent:
                    parts.setdefault(parent, []).append(code)
                elif number == 0:
                    total = code
            sums += [(group, tuple(inside)) for group, inside in parts.items()]
        return cls(name, total, tuple(sums))

    @classmethod
    def flat(cls, name: str, leaves: Iterable[str], total: str = "Total") -> "Hierarchy":
        return cls(name, total, ((total, tuple(sorted(set(leaves) - {total}))),))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        groups = {group for group, _ in self.sums}
        return tuple(dict.fromkeys(part for _, parts in self.sums for part in parts if part not in groups))

    @cached_property
    def above(self) -> Mapping[str, tuple[str, ...]]:
        """For each leaf all codes that hold it, itself with them."""
        parents: dict[str, set[str]] = {}
        for group, parts in self.sums:
            for part in parts:
                parents.setdefault(part, set()).add(group)
        found = {}
        for leaf in self.leaves:
            held, waiting = {leaf}, [leaf]
            while waiting:
                new = parents.get(waiting.pop(), set()) - held
                held |= new
                waiting += new
            found[leaf] = tuple(sorted(held))
        return found


@dataclass(frozen=True)
class Published:
    """c cells of one or more linked tables; those that tables share stand once.

    cells        : the codes of each, in the order of `hierarchies`
    word         : the status as published; 'withheld' for a marginal that is not listed
    value        : shape (c,), in units of the last decimal, -1 where there is none
    contributors : shape (c,), -1 where not stated
    equations    : shape (e, c), +1 at a sum, -1 at its parts
    decimals     : of the values
    """

    hierarchies: tuple[Hierarchy, ...]
    cells: tuple[Cell, ...]
    word: tuple[str, ...]
    value: Integers
    contributors: Integers
    equations: csr_array
    decimals: int

    @cached_property
    def known(self) -> Booleans:
        return np.array([word == PUBLISHED for word in self.word])

    @cached_property
    def place(self) -> Mapping[Cell, int]:
        return {cell: at for at, cell in enumerate(self.cells)}

    @property
    def tells_status(self) -> bool:
        return bool({"primary", "secondary"} & set(self.word))


def read_tables(
    texts: Sequence[str], hierarchies: Sequence[Hierarchy], withheld: Iterable[tuple[str, str]] = ()
) -> Published:
    """Linked tables from the text of their CSV files.

    withheld : (dimension, code) that is not published; other unlisted cells are empty
    """
    names, hidden = [h.name for h in hierarchies], set(withheld)
    listed: dict[Cell, dict[str, str]] = {}
    tables: list[tuple[list[str], set[Cell]]] = []
    for text in texts:
        rows = list(csv.DictReader(StringIO(text)))
        own = [name for name in rows[0] if name not in _OWN]
        held = set()
        for row in rows:
            cell = tuple(row[h.name] if h.name in own else h.total for h in hierarchies)
            held.add(cell)
            listed[cell] = row
        tables.append((own, held))
    decimals = max((len(row["value"].partition(".")[2]) for row in listed.values()), default=0)
    sums: dict[tuple[Cell, int, tuple[str, ...]], tuple[Cell, ...]] = {}
    for own, held in tables:
        for name in own:
            axis, hierarchy = names.index(name), hierarchies[names.index(name)]
            here = {cell[axis] for cell in held}
            contexts = {(*cell[:axis], "", *cell[axis + 1 :]) for cell in held}
            for group, parts in hierarchy.sums:
                if not here.intersection(parts):
                    continue  # the table ends above them
                for context in contexts:
                    total, *members = ((*context[:axis], code, *context[axis + 1 :]) for code in (group, *parts))
                    inside = [m for m in members if m in held or (_is_hidden(m, names, hidden) and total in held)]
                    if inside and (total in held or _is_hidden(total, names, hidden)):
                        sums[(total, axis, parts)] = tuple(inside)
    cells = list(listed)
    cells += sorted({cell for (total, *_), inside in sums.items() for cell in (total, *inside)} - listed.keys())
    place = {cell: at for at, cell in enumerate(cells)}
    rows_, columns, signs = [], [], []
    for number, ((total, *_), inside) in enumerate(sums.items()):
        rows_ += [number] * (1 + len(inside))
        columns += [place[total], *(place[cell] for cell in inside)]
        signs += [1.0, *[-1.0] * len(inside)]
    of = [listed.get(cell, {}) for cell in cells]
    return Published(
        tuple(hierarchies),
        tuple(cells),
        tuple(row.get("status", "withheld") for row in of),
        np.array([_units(row.get("value", ""), decimals) for row in of], dtype=np.int64),
        np.array([_units(row.get("contributors") or "", 0) for row in of], dtype=np.int64),
        csr_array((signs, (rows_, columns)), shape=(len(sums), len(cells))),
        decimals,
    )


def _is_hidden(cell: Cell, names: Sequence[str], hidden: set[tuple[str, str]]) -> bool:
    return any(pair in hidden for pair in zip(names, cell, strict=True))


def _units(text: str, decimals: int) -> int:
    if not text:
        return -1
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(decimals, "0")[:decimals])


@dataclass(frozen=True)
class Release:
    """A published release and the documents that its readers may have: definition, policy, descriptor."""

    published: Published
    definition: Mapping[str, Any]
    policy: Mapping[str, Any]
    descriptor: Mapping[str, Any]


def read_release(folder: Path, definition: Path) -> Release:
    """Everything that somebody reads who has the release's folder and its documents."""
    written = yaml.safe_load(definition.read_text(encoding="utf-8"))
    policy = yaml.safe_load((definition.parent / written["policy"]).read_text(encoding="utf-8"))
    texts = [(folder / f"{table['name']}.csv").read_text(encoding="utf-8") for table in written["tables"]]
    hierarchies = []
    for dimension in written["dimensions"]:
        name = dimension["variable"]
        if "hierarchy" in dimension:
            files = [dimension["hierarchy"], *dimension.get("groupings", [])]
            hierarchies.append(Hierarchy.of(name, *(_rows(definition.parent / file) for file in files)))
        else:
            codes = {row[name] for text in texts for row in csv.DictReader(StringIO(text)) if name in row}
            hierarchies.append(Hierarchy.flat(name, codes, dimension.get("total", "Total")))
    withheld = [(d["variable"], code) for d in written["dimensions"] for code in d.get("withheld", [])]
    descriptor = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    return Release(read_tables(texts, hierarchies, withheld), written, policy, descriptor)


def _rows(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["code"], row["parent"]) for row in csv.DictReader(file)]
