"""Editions of tables: what was published before is known; it must not undo what is published now, nor the reverse."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from schemas.contract import Contract
from sluice.custody.ledger import Entry
from sluice.custody.states import State, state_of
from sluice.errors import DataError
from sluice.tabular.audit.audit import audit
from sluice.tabular.editions.joint_editions import JointEditions, carried, joint_cells
from sluice.tabular.model.cells import Booleans, Cells, Codes, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements
from sluice.verdict import Finding, Verdict
from tasks.case import Release, last
from tasks.definition import TablesDefinition
from tasks.release.tables.protection import ProtectionRequest, SuppressionSearch
from tasks.shown import Shown
from tasks.table_request import request_on
from tasks.table_terms import CellKey, Protection
from tasks.tables_fit import measure_of
from tasks.tabulate import Tabulated, cells_of, read_tabulated

_WERE_PUBLIC = (State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)
_TOLD = 5  # sentences
_OTHERS = 2**61  # above every number of a contributor


@dataclass(frozen=True, eq=False)
class Edition:
    """Tables that the public could read once, of the same data set and the same measure."""

    release: str
    definition: str
    protection: Protection
    cells: Cells
    shown: Shown

    def among(self, now: Cells) -> "tuple[Cells, Cells]":
        """The cells of this edition and of another, in the dimensions of both; absent ones are at their total."""
        order = [*now.dimensions, *(d for d in self.cells.dimensions if d.name not in _names(now))]
        known = {dimension.name: dimension for dimension in (*order, *self.cells.dimensions)}
        return _spread(self.cells, [known[dimension.name] for dimension in order]), _spread(now, order)


def earlier_editions(release: Release) -> list[Edition]:
    """Those of all definitions, the latest last. Raises DataError when the vault does not hold one as it was."""
    found = []
    for other, entries in release.case.workspace.ledger.histories().items():
        if other == release.id or state_of(entry.event for entry in entries) not in _WERE_PUBLIC:
            continue
        received, masked = last(entries, State.RECEIVED), last(entries, State.MASKED)
        if received and masked and "shown" in masked.body and received.body["dataset"] == release.case.contract.dataset:
            edition = _read(release, other, received, masked)
            found += [edition] if edition else []
    return what_all_told(found)


def what_all_told(editions: list[Edition]) -> list[Edition]:
    """The editions, each with the cells as published that any other published with the same value.

    Two of them and a third may leave blank what no two of them do.
    """
    merged = []
    for edition in editions:
        status, published = edition.shown.status.copy(), edition.cells.published.copy()
        for other in editions:
            if other is edition or edition.shown.value is not None or other.shown.value is not None:
                continue
            with suppress(DataError):  # without a common cell, or with other decimals
                before, now = other.among(edition.cells)
                told = joint_cells(before, other.shown.status, now).public[: len(status)]
                status[told], published[told] = Status.PUBLISHED, True
        cells, shown = replace(edition.cells, published=published), replace(edition.shown, status=status)
        merged.append(replace(edition, cells=cells, shown=shown))
    return merged


def _read(release: Release, other: str, received: Entry, masked: Entry) -> Edition | None:
    vault = release.case.workspace.vault
    definition = TablesDefinition.model_validate_json(vault.verify(received.body["plan"], ".json").read_bytes())
    if definition.measure.variable != release.case.definition.measure.variable:
        return None
    contract = Contract.model_validate_json(vault.verify(received.body["contract"], ".json").read_bytes())
    cells = cells_of(vault.verify(masked.body["cells"], ".npz"), definition, contract)
    if not measure_of(definition, contract).hashed:  # records are numbered anew each time: nobody is known again
        cells = replace(cells, owners=np.where(cells.owners < 0, cells.owners, cells.owners + _OTHERS))
    return Edition(
        other, definition.name, definition.protection, cells, Shown.read(vault.verify(masked.body["shown"], ".npz"))
    )


@dataclass(frozen=True, eq=False)
class Beside:
    """This release and an earlier edition as one system, in which unrevised cells stand once."""

    release: str  # the earlier one
    joint: JointEditions
    earlier: Statuses
    cells: int  # of this release
    must: Booleans  # shape (cells,), unrevised cells that were sensitive: published now, they would be known then

    @classmethod
    def of(cls, now: Cells, edition: Edition) -> "Beside | None":
        """None where no cell is unrevised: then neither edition tells anything of the other."""
        before, now = edition.among(now)
        status = edition.shown.status
        joint = joint_cells(before, status, now)
        if not (joint.of_earlier < len(now)).any():
            return None
        must, _ = carried(before, status, now)
        return cls(edition.release, joint, status, len(now), must)

    @property
    def unrevised(self) -> int:
        """How many cells both editions have."""
        return int((self.joint.of_earlier < self.cells).sum())

    def requirements(self, request: ProtectionRequest) -> Requirements:
        """What is asked of this release's cells, as far as they are not out, and what the rules ask of the others."""
        asked = request.requirements
        rest = self.joint.requirements(request.rules, request.assumptions.nonnegative)
        still = ~self.joint.public[: self.cells]
        return Requirements(
            rest.by_rule,
            np.r_[asked.sensitive & still, rest.sensitive[self.cells :]],
            *(
                np.r_[np.where(still, getattr(asked, level), 0), getattr(rest, level)[self.cells :]]
                for level in ("lower", "upper", "sliding")
            ),
        )

    def protected(
        self, suppression: SuppressionSearch, request: ProtectionRequest, kept: Booleans, workers: int
    ) -> Statuses:
        """The status of this release's cells, so that neither edition undoes the other; kept: suppressed anyhow."""
        asked, joint = request.manual, self.joint
        others = np.zeros(len(joint.cells) - self.cells)
        start = (self.must | kept) & ~asked.forbidden & ~joint.public[: self.cells]
        found = suppression(
            joint.cells,
            self.requirements(request),
            request.rules,
            request.assumptions,
            cost=np.r_[asked.cost, others],
            forbidden=joint.public | joint.joint(asked.forbidden),
            preferred=joint.joint(asked.preferred & ~joint.public[: self.cells]),
            suppressed=joint.suppressed | joint.joint(start),
            workers=workers,
        )
        return joint.now(found.status, request.rules)

    def finding(self, status: Statuses, request: ProtectionRequest, workers: int) -> Finding:
        """Whether somebody who has both editions can work out what neither tells."""
        joint = self.joint
        found = audit(
            joint.cells,
            joint.status(status, self.earlier),
            self.requirements(request),
            request.rules,
            request.assumptions,
            workers=workers,
        )
        says = joint.findings(request.rules, found)
        lost = joint.cannot_be_mended(request.rules)
        verdict = Verdict.FAIL if found.breaches or lost.any() else Verdict.UNKNOWN if found.unknown else Verdict.PASS
        told = " ".join(f"{each}." for each in says[:_TOLD]) or "nothing of either can be worked out with the other."
        return _finding(verdict, f"Beside {self.release}, with which {self.unrevised:,} cells are shared: {told}")


def _names(cells: Cells) -> list[str]:
    return [dimension.name for dimension in cells.dimensions]


def _spread(cells: Cells, dimensions: list[Dimension]) -> Cells:
    """The same cells with further dimensions, at whose totals they stand."""
    axes = {name: axis for axis, name in enumerate(_names(cells))}
    codes: Codes = np.zeros((len(cells), len(dimensions)), dtype=np.int32)
    for axis, dimension in enumerate(dimensions):
        if dimension.name in axes:
            codes[:, axis] = cells.codes[:, axes[dimension.name]]
    return replace(cells, dimensions=tuple(dimensions), codes=codes)


def nearest_edition(release: Release, cells: Cells) -> Beside | None:
    """The earlier edition with which this release has most cells in common; of several, the latest."""
    found = []
    for edition in earlier_editions(release):
        with suppress(DataError):  # other decimals or totals: the audit tells it
            if edition.shown.value is None:
                found.append(Beside.of(cells, edition))
    return max((beside for beside in found if beside), key=lambda beside: beside.unrevised, default=None)


def carried_forward(release: Release, cells: Cells) -> Booleans:
    """Shape (c,): what the last edition of this very definition suppressed, so that series do not come and go."""
    kept = np.zeros(len(cells), dtype=bool)
    for edition in earlier_editions(release)[::-1]:
        if edition.definition == release.case.definition.name:
            with suppress(DataError):
                before, now = edition.among(cells)
                kept = np.logical_or(*carried(before, edition.shown.status, now))
            break
    return kept


def against_earlier_editions(
    release: Release, cells: Cells, shown: Shown, request: ProtectionRequest, workers: int
) -> list[Finding]:
    """A finding for each earlier edition that shares cells with this release, or cannot be held beside it."""
    findings, editions = [], earlier_editions(release)
    for edition in editions:
        try:
            beside = Beside.of(cells, edition)
        except DataError as error:
            says = f"{edition.release} cannot be held beside this release, so nobody knows what the two tell: {error}"
            findings.append(_finding(Verdict.REVIEW, says))
            continue
        if beside and shown.value is None and edition.shown.value is None:
            findings.append(beside.finding(shown.status, request, workers))
        elif beside and not _same_noise(release.case.definition.protection, edition.protection):
            says = (
                f"Values were changed in this release or in {edition.release}, and {beside.unrevised:,} cells did not "
                "change in between: nobody knows how nearly both together tell them."
            )
            findings.append(_finding(Verdict.REVIEW, says))
    none = (
        f"None of {len(editions)} earlier editions shares a cell with this one." if editions else "There is no other."
    )
    return findings or [_finding(Verdict.PASS, f"No other publication of these data undoes this one: {none}")]


def beside_earlier_editions(release: Release, workers: int = 1) -> list[Finding]:
    """The same for a release that was judged: another edition may have been published since."""
    tabulated, cells, shown = _judged(release)
    return against_earlier_editions(release, cells, shown, request_on(release, tabulated, cells), workers)


def read_judged(release: Release) -> tuple[Cells, Shown]:
    """The cells of a release, and what is shown of them, as they were judged; else raises SluiceError."""
    return _judged(release)[1:]


def _judged(release: Release) -> tuple[Tabulated, Cells, Shown]:
    masked = last(release.entries(), State.MASKED)
    assert masked is not None
    tabulated = Tabulated(masked.body["cells"], masked.body["rows"])
    shown = Shown.read(release.case.workspace.vault.verify(masked.body["shown"], ".npz"))
    return tabulated, read_tabulated(release, tabulated), shown


def _same_noise(one: Protection, other: Protection) -> bool:
    """Whether a cell that did not change has the same figure under both."""
    return isinstance(one, CellKey) and one == other


def _finding(verdict: Verdict, says: str) -> Finding:
    return Finding(rule="earlier_editions", verdict=verdict, stage="masked", says=says)
