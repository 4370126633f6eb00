"""Tables beside published files of records: whether the records, added up, give the cells that a table protects.

Either may come first: a release of tables is held beside all files that the public could read, and a release of
records beside all such tables. They belong together where the file has dimensions and the measure of a table, whatever
their data sets are called: whether its sums are the table's is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from policies.reported_shares import reported_count
from schemas.contract import Contract
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.custody.vault import Vault
from sluice.custody.workspace import Workspace
from sluice.ground.sentence import END, Saying, Sentences, as_fields
from sluice.ground.values import plain_array, trimmed_texts
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.editions.file_totals import (
    NEARLY_ALL,
    FileComparison,
    compare_with_file,
    file_totals,
    leaves_of,
    values_read,
)
from sluice.tabular.editions.hidden_amounts import AmountsRead, amounts_read
from sluice.tabular.model.cells import Booleans, Cells, Floats, Status
from tasks.release.documented_release import DocumentedRelease
from tasks.release.editions.earlier_releases import is_pruned, publications
from tasks.release.tables.earlier_tables import EarlierTables, read_earlier_tables
from tasks.release.tables.protection import ProtectionRequest, audit_cells
from tasks.release.tables.published_cells import PublishedCells, TablesRelease
from tasks.release.tables.specification import TableMeasure

_ADDED = "Added up by {shared:commas}, {records}"
_SUPPRESSED = "cells that {protected_by} suppresses to protect others; with them, {first}"
_HIDDEN = (
    "In {records}, {hidden:,} amounts of {target:word} are capped or blank. Subtracting the others from the published "
    "cells of {protected_by}"
)
_SAYS = Sentences(
    "records_and_tables",
    no_file="No published file of records has dimensions and the measure of these tables, nor a cell that they "
    "protect.",
    no_tables="No published tables have dimensions and a measure that this file holds, and a cell that they protect.",
    discloses=f"{_ADDED} give {{right:,}} of {{protected:,}} sensitive cells that {{protected_by}} protects, exactly "
    "or nearer than their protection level: {believed:,} of these at levels of the table where they agree with "
    "{nearly_all:percent} of the published cells or more, so that everybody can trust them.",
    give_others=f"{_ADDED} give {{known:,}} {_SUPPRESSED}",
    probably_give_others=f"{_ADDED} probably give {{known:,}} {_SUPPRESSED}",
    more=", and {more:,} more can be computed",
    agree=f"{_ADDED} agree with {{agreement:percent}} of the published cells and give {{right:,}} of {{protected:,}} "
    "sensitive cells that {protected_by} protects, exactly or nearer than their protection level; guessing would give "
    "{chance:percent}. Whether that is too near needs a decision.",
    differ=f"{_ADDED} differ from {{protected_by}} by few people. Subtracting both tells the {{target}} of {{read:,}} "
    "people who are in one of them alone, to somebody who knows their {known:commas}. Publish both of the same people, "
    "or leave {target} out of one; else this needs a decision.",
    gives_back=f"{_HIDDEN} gives {{right:,}} of these to within a tenth; {{read:,}} were computed.",
    may_give_back=f"{_HIDDEN} gives {{right:,}} of these to within a tenth, of {{read:,}} that were computed: more "
    "than guessing would. A reader cannot be sure which are right, so this needs a decision.",
    no_more=f"{_ADDED} tell no more of the sensitive cells that {{protected_by}} protects than guessing does.",
)

_RECORDS = "records"  # the product, as the ledger names it
_ALIKE = 0.8  # of the amounts, from which a column is a dimension under another name
_MUCH = 2.0  # times the sum of a table, beyond which a file is of other records
_MOST_LABELS = 10_000  # of a column that may be a dimension


@dataclass(frozen=True, eq=False)
class TablesBesideFiles:
    """The cells of tables, what is published of them, and what is to be kept open."""

    measure: TableMeasure
    cells: Cells
    published: PublishedCells
    request: ProtectionRequest
    contract: Contract  # whose sensitive variables others may want to know

    @classmethod
    def of_release(
        cls, release: TablesRelease, cells: Cells, published: PublishedCells, request: ProtectionRequest
    ) -> "TablesBesideFiles":
        return cls(release.product.definition.measure, cells, published, request, release.product.contract)

    @classmethod
    def of(cls, tables: EarlierTables, contract: Contract) -> "TablesBesideFiles":
        return cls(tables.definition.measure, tables.cells, tables.published, tables.request, contract)

    @property
    def columns(self) -> list[str]:
        """What a file must have of them, or may."""
        measured = [self.measure.variable] if self.measure.variable else []
        weighted = [self.measure.weight.variable] if self.measure.weight else []
        return [*self.dimensions, *measured, *weighted]

    @property
    def dimensions(self) -> list[str]:
        return [dimension.name for dimension in self.cells.dimensions]

    def amounts(self, file: pd.DataFrame) -> Floats | None:
        """What each record adds to the cells, shape (n,), in units; None where the file has not the measure."""
        variable, weight = self.measure.variable, self.measure.weight
        if variable is not None and variable not in file:
            return None
        amount = np.ones(len(file)) if variable is None else _numbers(file[variable]) * 10.0**self.cells.decimals
        if weight is not None and weight.variable in file:
            amount = amount * _numbers(file[weight.variable])
        return amount

    def may_hold(self, amounts: Floats) -> bool:
        """Whether a file adds up to about as much as the table, so that it may be of the same records."""
        total = float(np.abs(self.cells.total[(self.cells.codes == 0).all(axis=1)]).sum())
        return total / _MUCH <= float(np.abs(amounts).sum()) <= total * _MUCH

    def likeness(self, axis: int, sums: "pd.Series[float]") -> float:
        """How much a column of a file looks like the dimension, 1 where it is: the share of the amounts whose labels
        are codes, less that by which they differ from the codes' totals; or that of labels whose sums are totals.

        sums : of the amounts, by label
        """
        total = max(1.0, float(sums.abs().sum()))
        leaf = leaves_of(self.cells, [place == axis for place in range(len(self.dimensions))])
        codes = [self.cells.dimensions[axis].codes[code] for code in self.cells.codes[leaf, axis]]
        totals = pd.Series(self.cells.total[leaf].astype(np.float64), codes)
        named = sums[sums.index.isin(totals.index)]
        apart = (named / total).sub(totals / max(1.0, float(totals.abs().sum())), fill_value=0.0).abs().sum() / 2
        equal = sums[sums.round().isin(totals)] if len(sums) <= 2 * len(totals) else sums[:0]
        return max(float(named.abs().sum() / total - apart), float(equal.abs().sum() / total))

    def beside(self, file: pd.DataFrame) -> FileComparison | None:
        """How nearly the sums over a file tell what is protected; None where it has no dimension or no measure."""
        shared = [name for name in self.dimensions if name in file]
        amount = self.amounts(file)
        if not shared or amount is None:
            return None
        totals = file_totals(self.cells, {name: _codes(file[name]) for name in shared}, amount)
        altered = self.published.value is not None
        return compare_with_file(self.cells, self.published.status, self.request.requirements, altered, totals)

    def subtracted(self, file: pd.DataFrame) -> tuple[int, str]:
        """Of how many people counts of the table less those of the file tell a sensitive variable, and which."""
        shared = [name for name in self.dimensions if name in file]
        if self.measure.variable is not None or self.measure.weight is not None or self.published.value is not None:
            return 0, ""
        codes = {name: _codes(file[name]) for name in shared}
        totals = file_totals(self.cells, codes, np.ones(len(file)))
        told = self.cells.published & (self.published.status == Status.PUBLISHED)
        counts = np.where(told, self.cells.total.astype(np.float64), np.nan)
        leaf = np.isfinite(totals) & leaves_of(self.cells, [name in file for name in self.dimensions])
        elsewhere = len(file) - float(totals[leaf].sum())  # whose code was suppressed, or is another group's
        read = {
            name: values_read(self.cells.codes, leaf, totals, counts, axis)
            for axis, name in enumerate(self.dimensions)
            if name in file and name in self.contract.by_name and self.contract.by_name[name].role is Role.SENSITIVE
        }
        most = max(read, key=lambda name: read[name], default="")
        return (read[most], most) if most and read[most] > elsewhere else (0, "")

    def gives_back(self, file: pd.DataFrame) -> AmountsRead | None:
        """What of the amounts that a file caps or leaves blank the published cells tell; None where it has none."""
        variable, weight = self.measure.variable, self.measure.weight
        shared = [name for name in self.dimensions if name in file]
        if variable is None or variable not in file or (weight is not None and weight.variable not in file):
            return None
        shown = pd.to_numeric(file[variable], errors="coerce").to_numpy(np.float64) * 10.0**self.cells.decimals
        told = self.cells.published & (self.published.status == Status.PUBLISHED)
        value = self.cells.total if self.published.value is None else self.published.value
        codes = {name: _codes(file[name]) for name in shared}
        return amounts_read(
            self.cells, told, value, codes, shown, None if weight is None else _numbers(file[weight.variable])
        )

    def opened_by(self, known: Booleans, workers: int = 1) -> list[str]:
        """What can be worked out, in words, once these suppressed cells are known, and could not be worked out before.

        known : shape (c,)
        """
        if not known.any():
            return []
        before = self.published.status
        status = np.where(known, Status.PUBLISHED, before).astype(np.uint8)
        found = audit_cells(self.cells, status, self.request, workers=workers).breaches
        if not found:
            return []
        alone = audit_cells(self.cells, before, self.request, workers=workers).breaches
        open_ = {(breach.cell, breach.owners) for breach in alone}
        return [breach.says for breach in found if (breach.cell, breach.owners) not in open_]


def compare_with_files(release: DocumentedRelease, tables: TablesBesideFiles) -> list[Finding]:
    """A finding on each file of records that the public could read and that has dimensions and the measure."""
    findings = []
    for name, entries in publications(release).items():
        file = _published_records(release.product.workspace, entries, tables)
        found = None if file is None else tables.beside(file)
        if file is not None and found is not None:
            minimum = release.product.policy.minimum_cell
            findings += _finding(tables, found, file, f"the records of {name}", "this release", name, minimum)
    says = _SAYS.no_file()
    return findings or [_with_verdict(Verdict.PASS, says)]


def compare_with_tables(release: DocumentedRelease) -> list[Finding]:
    """A finding on each release of tables that the public could read and of which this file of records has so much."""
    masked, findings = last(release.entries(), State.MASKED), []
    for name, entries in publications(release).items():
        for earlier in read_earlier_tables(release.product.workspace, name, entries):
            if masked is None:
                continue
            tables = TablesBesideFiles.of(earlier, release.product.contract)
            file = _read(release.vault, masked.body["data"], tables)
            found = tables.beside(file)
            if found is not None:
                minimum = release.product.policy.minimum_cell
                findings += _finding(tables, found, file, "the records of this file", name, name, minimum)
    says = _SAYS.no_tables()
    return findings or [_with_verdict(Verdict.PASS, says)]


def _published_records(
    workspace: Workspace, entries: Sequence[Entry], tables: TablesBesideFiles
) -> pd.DataFrame | None:
    """The columns that a published file has of these tables; None for another product, and for what was deleted."""
    received, masked = last(entries, State.RECEIVED), last(entries, State.MASKED)
    if received is None or masked is None or received.body["product"] != _RECORDS:
        return None
    if is_pruned(workspace, masked.body["data"], ".parquet"):
        return None
    return _read(workspace.vault, masked.body["data"], tables)


def _read(vault: Vault, sha256: str, tables: TablesBesideFiles) -> pd.DataFrame:
    """The columns of the tables by their names, and those that are a dimension of theirs under another name."""
    path = vault.verify(sha256, ".parquet")
    names = pq.read_schema(path).names
    there = [name for name in names if name in tables.columns]
    file = pd.DataFrame(pq.read_table(path, columns=there).to_pandas())
    lacking = [axis for axis, name in enumerate(tables.dimensions) if name not in there]
    amounts = tables.amounts(file) if lacking else None
    if amounts is None or not tables.may_hold(amounts):
        return file
    alike: list[tuple[float, str, str]] = []
    for name in [each for each in names if each not in there]:
        labels, of = _labels(path, name)
        if labels:
            sums = pd.Series(np.bincount(of + 1, amounts, len(labels) + 1)[1:], labels)
            alike += [(tables.likeness(axis, sums), tables.dimensions[axis], name) for axis in lacking]
    for share, dimension, name in sorted(alike, reverse=True):
        if share >= _ALIKE and dimension not in file and name not in there:
            there.append(name)
            file[dimension] = pq.read_table(path, columns=[name]).to_pandas()[name].to_numpy()
    return file


@lru_cache(maxsize=32)  # as long as one file is held beside many tables
def _labels(path: Path, name: str) -> tuple[list[str], NDArray[np.int32]]:
    """Of a column its labels, and the place of each record's among them, -1 for none; of very many no labels."""
    of, labels = pd.factorize(pq.read_table(path, columns=[name]).to_pandas()[name])
    texts = [] if len(labels) > _MOST_LABELS else [*map(str, _codes(pd.Series(labels)))]
    return texts, of.astype(np.int32)


def _codes(column: "pd.Series[Any]") -> NDArray[np.object_]:
    """As a table's file has them: 3.0 is '3'."""
    return np.array(trimmed_texts(plain_array(column)).fill_null("").to_pylist(), dtype=object)


def _numbers(column: "pd.Series[Any]") -> Floats:
    found: Floats = pd.to_numeric(column, errors="coerce").fillna(0).to_numpy(dtype=np.float64)
    return found


def _finding(
    tables: TablesBesideFiles,
    found: FileComparison,
    file: pd.DataFrame,
    records: str,
    protected_by: str,
    scope: str,
    minimum_cell: int,
) -> list[Finding]:
    shared = [dimension for dimension in tables.dimensions if dimension in file]
    named: dict[str, Any] = {"shared": shared, "records": records, "protected_by": protected_by}
    findings = [_on_protected(tables, found, named, scope)] if found.protected else []
    read, target = tables.subtracted(file)
    if read and not any(each.verdict is Verdict.FAIL for each in findings):
        says = _SAYS.differ(
            **named,
            read=reported_count(read, minimum_cell),
            target=target,
            known=[name for name in shared if name != target],
        )
        findings.append(_with_verdict(Verdict.REVIEW, says, scope))
    back = tables.gives_back(file)
    if back is not None and (back.discloses or not back.is_chance):
        verdict, says_so = (Verdict.FAIL, _SAYS.gives_back) if back.discloses else (Verdict.REVIEW, _SAYS.may_give_back)
        counts = {"hidden": back.hidden, "read": back.read, "right": back.right}
        about = {name: reported_count(count, minimum_cell) for name, count in counts.items()}
        findings.append(_with_verdict(verdict, says_so(**named, **about, target=tables.measure.variable), scope))
    return findings


def _on_protected(tables: TablesBesideFiles, found: FileComparison, named: dict[str, Any], scope: str) -> Finding:
    cells = {"right": found.right, "protected": found.protected}
    if found.discloses:
        says = _SAYS.discloses(**named, **cells, believed=found.believed, nearly_all=NEARLY_ALL)
        return _with_verdict(Verdict.FAIL, says, scope, found)
    for known, verdict in ((found.known, Verdict.FAIL), (found.likely, Verdict.REVIEW)):
        if opened := tables.opened_by(known):
            give = _SAYS.give_others if verdict is Verdict.FAIL else _SAYS.probably_give_others
            says = give(**named, known=int(known.sum()), first=opened[0])
            says += (_SAYS.more(more=len(opened) - 1) if len(opened) > 1 else ()) + END()
            return _with_verdict(verdict, says, scope, found)
    if found.helps:
        says = _SAYS.agree(**named, **cells, agreement=found.agreement, chance=found.chance)
        return _with_verdict(Verdict.REVIEW, says, scope, found)
    says = _SAYS.no_more(**named)
    return _with_verdict(Verdict.PASS, says, scope, found)


def _with_verdict(verdict: Verdict, says: Saying, scope: str = "", found: FileComparison | None = None) -> Finding:
    cells = found.protected if found else None
    right = float(found.right) if found else None
    return Finding(
        rule="records_and_tables", verdict=verdict, stage="masked", scope=scope,
        observed=right, attempted=cells, completed=cells, **as_fields(says),
    )  # fmt: skip
