"""Jobs of a batch of tau-ARGUS: its tables, metadata, data, recodings and requests as specifications of ours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.frame_columns import with_columns
from sluice.ground.sentence import count_of
from sluice.sources.argus_a_priori import CellRequests, Codes, read_requests
from sluice.sources.argus_batch import BatchTable, Remark, Session
from sluice.sources.argus_metadata import (
    ArgusMetadata,
    ArgusVariable,
    hierarchy_of_widths,
    read_code_list,
    read_metadata,
)
from sluice.sources.argus_recoding import closed_tree, codes_at, read_recoding
from sluice.sources.hierarchy_file import read_rows
from sluice.sources.perturbation_file import read_intervals
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.protected_table import ProtectedTable
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabular_file import errors_of

_STATUS = {"safe": "s", "unsafe": "u", "protect": "p"}
_WORDS = {"s": "safe", "u": "unsafe", "p": "protect"}  # where the metadata name none
_FREQUENCY = "Freq"


@dataclass(frozen=True, eq=False)
class Job:
    """Tables that are protected together, ready to be."""

    tables: tuple[BatchTable, ...]
    specified: StandaloneTable
    frame: pd.DataFrame
    requests: CellRequests
    remarks: tuple[Remark, ...]
    base: Path
    inputs: tuple[Path, ...]
    labels: dict[str, dict[str, str]]
    counts: str  # what the column of a table of counts is called

    @property
    def data(self) -> Path:
        return self.inputs[0]

    def place(self, written: str) -> Path:
        return file_at(self.base, written)

    def after(self, made: ProtectedTable) -> Iterator[Remark]:
        """What the batch asked of cells that was not done."""
        yield from self.remarks
        line = next((each.line for table in self.tables for each in table.requests), self.tables[0].line)
        yield from starmap(
            Remark,
            (
                (line, f"ignored, as IgnoreError says: lines {what}: {count:,}")
                for what, count in self.requests.ignored.items()
            ),
        )
        if not self.requests.safe:
            return
        cells = made.tabulated.cells
        codes = list(
            zip(*(np.array(d.codes)[cells.codes[:, at]] for at, d in enumerate(cells.dimensions)), strict=True)
        )
        kept = sum(codes[cell] in self.requests.safe for cell in np.flatnonzero(made.requirements.sensitive).tolist())
        if kept:
            yield Remark(
                line,
                f"cells that it calls safe, and the rules sensitive: {kept:,}. They stay suppressed; only a waiver can "
                "publish them (--spec of `sluice table protect`)",
            )


def jobs_of(session: Session, base: Path) -> Iterator[Job]:
    """The tables of a session with a <SUPPRESS>, in groups that are protected together; names of files are from `base`.

    raises : DataError, DocumentError
    """
    metadata = read_metadata(file_at(base, session.metadata))
    data = file_at(base, session.data)
    wanted = [each for each in session.tables if each.method is not None]
    if not wanted:
        return
    counted = session.added_up and _counts_of(metadata) is not None
    for table in wanted:
        # "freq" in quotes is a variable of records where there is one of that name; of cells their number
        named = {each.name.casefold() for each in metadata.variables}
        if table.response.casefold() == "freq" and ("freq" not in named or counted):
            table.response = ""
    with errors_of(data):
        frame = metadata.read(data)
    frame, recoded = _recoded(session, metadata, frame, base)
    groups: dict[Any, list[BatchTable]] = {}
    for table in wanted:
        groups.setdefault(table.line if session.added_up else table.response, []).append(table)
    for tables in groups.values():
        yield _job(tuple(tables), session.added_up, metadata, frame, data, base, recoded)


@dataclass(frozen=True, eq=False)
class _Recoded:
    """Hierarchies of recoded variables, by name, the files that say how, and what there is to say of it."""

    hierarchies: dict[str, list[tuple[str, str]] | None]
    files: tuple[Path, ...]
    remarks: tuple[Remark, ...]


def _recoded(
    session: Session, metadata: ArgusMetadata, frame: pd.DataFrame, base: Path
) -> tuple[pd.DataFrame, _Recoded]:
    """The data with the codes of <RECODE> in the place of those of before."""
    hierarchies: dict[str, list[tuple[str, str]] | None] = {}
    files, remarks = list[Path](), list[Remark]()
    for each in session.recodings:
        variable = metadata.variable(each.variable)
        name = variable.name
        rows, file = (hierarchies[name], None) if name in hierarchies else _hierarchy(variable, metadata, frame)
        files += [file] if file else []
        recoding = None if each.level else read_recoding(file_at(base, each.path))
        files += [] if recoding is None else [recoding.path]
        if rows is None and (recoding is None or recoding.closed):
            raise DataError(f"line {each.line}: '{name}' has no hierarchy that could end at a level or a code.")
        if recoding is not None and recoding.groups:
            if rows is not None:
                raise DataError(
                    f"line {each.line}: '{name}' has a hierarchy; a recoding of it begins with <TREERECODE>."
                )
            if session.added_up:
                raise DataError(
                    f"line {each.line}: cells that are added up already are grouped from their records; of a hierarchy "
                    "they may end at a level."
                )
            taken = recoding.of_codes({*frame[name]} - {*variable.missing})
        elif recoding is not None:
            rows, taken = recoding.in_tree(rows or ())
        else:
            at = codes_at(rows or (), each.level)
            if not at:
                raise DataError(f"line {each.line}: the hierarchy of '{name}' has no level {each.level}.")
            rows, taken = closed_tree(rows or (), at)
            remarks.append(Remark(each.line, f"'{name}' ends {count_of(each.level, 'level')} below its total"))
        hierarchies[name] = rows
        if session.added_up:
            frame = frame[~frame[name].isin(taken)]
        else:
            frame = with_columns(frame, {name: frame[name].map(lambda code, taken=taken: taken.get(code, code))})
    return frame, _Recoded(hierarchies, tuple(files), tuple(remarks))


def _job(
    tables: tuple[BatchTable, ...],
    added_up: bool,
    metadata: ArgusMetadata,
    frame: pd.DataFrame,
    data: Path,
    base: Path,
    recoded: _Recoded,
) -> Job:
    first, remarks, inputs = tables[0], [*recoded.remarks], [data, metadata.path, *recoded.files]
    variables = {name: metadata.variable(name) for table in tables for name in table.dimensions}
    response = metadata.variable(first.response) if first.response else None
    written: list[dict[str, Any]] = []
    for variable in dict.fromkeys(variable.name for variable in variables.values()):
        if variable in recoded.hierarchies:
            found, file = recoded.hierarchies[variable], None
        else:
            found, file = _hierarchy(metadata.variable(variable), metadata, frame)
        inputs += [file] if file else []
        written.append({"variable": variable, "hierarchy": found, "total": metadata.variable(variable).total})
    measure: dict[str, Any] = {"variable": None if response is None else response.name}
    if response is not None:
        measure["decimals"] = response.decimals
        _refuse_shadow(first, metadata, response, frame)
    if first.holding:
        measure["holding"] = _needed(metadata, "holding", first, "rules for holdings").name
    if first.weight:
        measure["weight"] = {"variable": _needed(metadata, "weight", first, "WGT(1)").name, "rule": "argus"}
    if first.asks:
        asking = _needed(metadata, "request", first, "REQ")
        value, *before = (asking.said.get("REQUEST") or "1").split()
        measure["requested"] = {"variable": asking.name, "value": value} | ({"before": before[0]} if before else {})
    if response is not None and not added_up and frame[response.name].str.startswith("-").any():
        measure["negative"] = "absolute"
        remarks.append(Remark(first.line, "some values are negative: rules look at their sizes"))
    content: dict[str, Any] = {
        "dimensions": written, "measure": measure, "rules": first.rules,
        "table_attackers": {"coalition": first.coalition, "known_within": first.known_within},
    }  # fmt: skip
    requests = CellRequests()
    dimensions = _dimensions(written, frame, added_up)
    if added_up:
        frame, content["cells"] = _cells(metadata, frame, response, first)
        _ask_by_columns(requests, first, metadata, frame)
    elif first.cost_column:
        remarks.append(Remark(first.line, "a variable as cost of records is not here; the value of a cell is its cost"))
    if len(tables) > 1:
        content["tables"] = [
            {"name": f"table-{at}", "dimensions": list(each)}
            for at, each in enumerate(dict.fromkeys(_own(table, variables) for table in tables), start=1)
        ]
        if not first.linked:
            lines = ", ".join(str(table.line) for table in tables)
            remarks.append(Remark(first.line, f"the tables of lines {lines} share cells and are protected together"))
    for table in tables:
        own = [each for each in dimensions if each.name in _own(table, variables)]
        own.sort(key=lambda each: _own(table, variables).index(each.name))
        for file_of in table.requests:
            place = file_at(base, file_of.path)
            inputs.append(place)
            asked = CellRequests(ignored=requests.ignored)
            read_requests(
                place, own, file_of.separator, asked,
                ignore_errors=file_of.ignore_errors, expand_trivial=file_of.expand_trivial,
            )  # fmt: skip
            _join(requests, asked, own, dimensions, _filled(frame, dimensions, content), file_of.ignore_errors)
    method = dict(first.method or {})
    if method.get("method") == "suppression":
        method |= {"cost": first.cost or "value", "a_priori": requests.of_cells([each.name for each in dimensions])}
        method |= {} if first.margin is None else {"manual_percent": first.margin}
    elif method.get("method") == "cell_key":
        key = _needed(metadata, "key", first, "CKM", "RECORDKEY")
        inputs.append(file_at(metadata.path.parent, _said(key, "PFILE", metadata)))
        method["p_table"] = read_intervals(inputs[-1])
        content |= {"cells": content["cells"] | {"key": key.name}} if added_up else {}
        method |= {} if added_up else {"record_key": key.name}
    elif any(row["status"] for row in requests.rows.values()):
        raise DataError(
            f"line {first.line}: what is asked of single cells is for suppression; {method['method']} goes by rules."
        )
    content["protection"] = method
    lists = {
        name: file_at(metadata.path.parent, said)
        for name in (each["variable"] for each in written)
        if (said := metadata.variable(name).said.get("CODELIST"))
    }
    inputs += lists.values()
    labels = {name: read_code_list(file) for name, file in lists.items()}
    counted = _counts_of(metadata) if added_up else None
    counts = _FREQUENCY if counted is None else counted.name
    specified = StandaloneTable.of(content, f"the table of line {first.line}")
    return Job(tables, specified, frame, requests, tuple(remarks), base, tuple(inputs), labels, counts)


def _own(table: BatchTable, variables: dict[str, ArgusVariable]) -> tuple[str, ...]:
    """The dimensions of a table as the metadata spell them."""
    return tuple(variables[name].name for name in table.dimensions)


def _needed(metadata: ArgusMetadata, role: str, table: BatchTable, what: str, sign: str = "") -> ArgusVariable:
    if (found := metadata.only(role)) is None:
        raise DataError(
            f"line {table.line}: {what} needs a variable with <{sign or role.upper()}>; {metadata.path} has none."
        )
    return found


def _said(variable: ArgusVariable, sign: str, metadata: ArgusMetadata) -> str:
    if not (said := variable.said.get(sign)):
        raise DataError(f"{metadata.path}: line {variable.line}: '{variable.name}' needs <{sign}>, the name of a file")
    return said


def _refuse_shadow(table: BatchTable, metadata: ArgusMetadata, response: ArgusVariable, frame: pd.DataFrame) -> None:
    """Rules on another variable than the one that is published are not here, but where the two are the same."""
    if not table.shadow or table.shadow.casefold() == response.name.casefold():
        return
    shadow = metadata.variable(table.shadow)
    one, other = (pd.to_numeric(frame[name], errors="coerce") for name in (shadow.name, response.name))
    if not one.equals(other):
        raise DataError(
            f"line {table.line}: the shadow variable '{shadow.name}' has other values than '{response.name}'; rules "
            "look at the variable that is published. Name the two as one, or protect each by itself."
        )


def _hierarchy(
    variable: ArgusVariable, metadata: ArgusMetadata, frame: pd.DataFrame
) -> tuple[list[tuple[str, str]] | None, Path | None]:
    """(code, parent) of each code, and the file that tells them; None of a dimension without groups."""
    total, where = variable.total, f"{metadata.path}: line {variable.line}"
    if variable.said.get("HIERCODELIST"):
        file = file_at(metadata.path.parent, variable.said["HIERCODELIST"])
        rows = read_rows(file, variable.said.get("HIERLEADSTRING") or "@")
        root = next(code for code, parent in rows if not parent)
        named = [(total if code == root else code, total if parent == root else parent) for code, parent in rows]
        return [*named, *_missing(variable, frame, {code for code, _ in named}, total)], file
    if variable.said.get("HIERLEVELS"):
        widths = variable.said["HIERLEVELS"].split()
        if not all(width.isdecimal() for width in widths):
            raise DataError(f"{where}: <HIERLEVELS> takes widths, such as 3 1 1")
        codes = set(frame[variable.name]) - {*variable.missing}
        rows = hierarchy_of_widths(codes, [int(width) for width in widths], total, where)
        return [*rows, *_missing(variable, frame, {code for code, _ in rows}, total)], None
    return None, None


def _missing(variable: ArgusVariable, frame: pd.DataFrame, known: set[str], total: str) -> list[tuple[str, str]]:
    """The codes of a missing value, which no hierarchy names: each is part of the total alone."""
    return [(code, total) for code in variable.missing if code not in known and (frame[variable.name] == code).any()]


def _dimensions(written: Sequence[dict[str, Any]], frame: pd.DataFrame, added_up: bool) -> list[Dimension]:
    """As the specification makes them; needed to read what is asked of single cells."""
    made = []
    for each in written:
        name, total = each["variable"], each["total"]
        flat = [(total, ""), *((code, total) for code in sorted(set(frame[name]) - {total, ""}))]
        made.append(Dimension.of(name, each["hierarchy"] or flat))
        if added_up and total not in set(frame[name]):
            raise DataError(f"no cell is the '{total}' of '{name}'; the file must hold its totals (<TOTCODE>).")
    return made


def _counts_of(metadata: ArgusMetadata) -> ArgusVariable | None:
    """The column of the frequencies of cells: by its role; by its name where none has that role."""
    named = (each for each in metadata.variables if each.name.casefold() == "freq" and each.role == "number")
    return metadata.only("frequency") or next(named, None)


def _cells(
    metadata: ArgusMetadata, frame: pd.DataFrame, response: ArgusVariable | None, table: BatchTable
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The cells with a column of frequencies, and what their columns are."""
    largest = [each.name for each in metadata.of_role("largest")] if response is not None else []
    if (frequency := _counts_of(metadata)) is not None:
        return frame, {"frequency": frequency.name, "largest": largest}
    if response is None:
        raise DataError(f"line {table.line}: <freq> needs a variable with <FREQUENCY>; {metadata.path} has none.")
    if any(rule["rule"] == "minimum_frequency" for rule in table.rules):
        raise DataError(f"line {table.line}: FREQ needs a variable with <FREQUENCY>; {metadata.path} has none.")
    filled = pd.to_numeric(frame[response.name], errors="coerce").fillna(0) != 0
    return with_columns(frame, {_FREQUENCY: filled.astype(int).astype(str)}), {
        "frequency": _FREQUENCY,
        "largest": largest,
    }


def _ask_by_columns(requests: CellRequests, table: BatchTable, metadata: ArgusMetadata, frame: pd.DataFrame) -> None:
    """What the columns of status, protection and cost ask of the cells."""
    cells = list(zip(*(frame[metadata.variable(name).name] for name in table.dimensions), strict=True))
    if (status := metadata.only("status")) is not None:
        words = metadata.words or _WORDS
        known = {word: _STATUS[meaning] for word, meaning in words.items()} | {"m": "m", "e": "", "": ""}
        for cell, word in zip(cells, frame[status.name].str.casefold(), strict=True):
            if word not in known:
                raise DataError(
                    f"'{status.name}' must be one of {', '.join(filter(None, known))}, as <SAFE>, <UNSAFE> and "
                    "<PROTECT> say."
                )
            if known[word] not in ("", "s"):
                requests.ask(cell, known[word])
    lower, upper = metadata.only("lower"), metadata.only("upper")
    if lower is not None and upper is not None:
        for cell, *levels in zip(cells, frame[lower.name], frame[upper.name], strict=True):
            if cell in requests.rows and requests.rows[cell]["status"] == "sensitive" and any(map(_positive, levels)):
                requests.ask(cell, "pl", levels)
    if table.cost_column:
        for cell, cost in zip(cells, frame[metadata.variable(table.cost_column).name], strict=True):
            if _positive(cost):
                requests.ask(cell, "c", [cost])


def _positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _filled(frame: pd.DataFrame, dimensions: Sequence[Dimension], content: dict[str, Any]) -> Callable[[Codes], bool]:
    """Whether anybody contributes to a cell."""
    if "cells" in content:
        there = frame[pd.to_numeric(frame[content["cells"]["frequency"]], errors="coerce") > 0]
        known = set(zip(*(there[each.name] for each in dimensions), strict=True))
        return known.__contains__
    below = [_leaves(each) for each in dimensions]

    def filled(codes: Codes) -> bool:
        inside = np.ones(len(frame), dtype=bool)
        for code, dimension, leaves in zip(codes, dimensions, below, strict=True):
            if code != dimension.codes[0]:
                inside &= frame[dimension.name].isin(leaves[code]).to_numpy()
        return bool(inside.any())

    return filled


def _leaves(dimension: Dimension) -> dict[str, set[str]]:
    """The leaves of each code."""
    parts = dict(dimension.sums)

    def below(code: int) -> set[str]:
        return set().union(*map(below, parts[code])) if code in parts else {dimension.codes[code]}

    return {code: below(at) for at, code in enumerate(dimension.codes)}


def _join(
    requests: CellRequests,
    asked: CellRequests,
    own: Sequence[Dimension],
    dimensions: Sequence[Dimension],
    filled: Callable[[Codes], bool],
    ignore_empty: bool,
) -> None:
    """Add what is asked of cells of one table, which stand at the total of the dimensions that it leaves out."""
    places = {each.name: at for at, each in enumerate(own)}

    def whole(cell: Codes) -> Codes:
        return tuple(cell[places[each.name]] if each.name in places else each.codes[0] for each in dimensions)

    for cell, row in asked.rows.items():
        if ignore_empty and not filled(whole(cell)):
            requests.ignored["of an empty cell"] += 1
            continue
        before = requests.rows.setdefault(whole(cell), {"status": "", "lower": "", "upper": "", "cost": ""})
        keeps = before["status"] == "sensitive"
        before.update({name: value for name, value in row.items() if value and not (name == "status" and keeps)})
    requests.safe |= {whole(cell) for cell in asked.safe}


def file_at(base: Path, written: str) -> Path:
    """A file by its name in a batch, which is relative to it; in one of Windows, \\ parts the folders."""
    place = base / Path(written).expanduser()
    return place if place.exists() or "\\" not in written else base / written.replace("\\", "/")
