"""Editions of tables: what was published before is known; it must not undo what is published now, nor the reverse."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from policies.reported_shares import reported_count
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.alternatives.cell_key import EditionDifferences
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.editions.file_totals import leaves_of, values_read
from sluice.tabular.editions.joint_editions import JointEditions, carried, joint_cells
from sluice.tabular.editions.matched_names import same_figures, with_names_of
from sluice.tabular.editions.summed_editions import in_dimensions
from sluice.tabular.model.cells import Booleans, Cells, Integers, Status, Statuses
from sluice.tabular.rules.sensitivity import Requirements
from sluice.tabular.suppression.effort import Effort
from tasks.release.editions.earlier_releases import compare_with_pruned, earlier_publications, publications
from tasks.release.tables.earlier_tables import EarlierTables, are_innermost, judge_differences, read_earlier_tables
from tasks.release.tables.protection import ProtectionRequest, SuppressionSearch
from tasks.release.tables.protection_method import CellKey, NoiseMultipliers, Protection
from tasks.release.tables.published_cells import PublishedCells, TablesRelease
from tasks.release.tables.sums_of_editions import compare_with_sums

_SHARES = "With {release}, which shares {cells:,} cells:"
_NO_OTHER_UNDOES = "No other publication of these data undoes this one:"
_SAYS = Sentences(
    "earlier_editions",
    opened=f"{_SHARES} {{opened}}",
    nothing=f"{_SHARES} nothing of either can be worked out with the other.",
    not_comparable="{release} cannot be compared with this release, so their joint disclosure is unknown: {why}",
    altered="Values were changed in this release or in {release}, and {cells:,} cells did not change in between: "
    "how closely both together disclose them is unknown.",
    none_shares=f"{_NO_OTHER_UNDOES} None of {{editions}} earlier editions shares a cell with this one.",
    no_other=f"{_NO_OTHER_UNDOES} There is no other.",
    other_names=" {agree:,} cells are the same under other names.",
    name_alike=" Name data set, variable and codes as there, so that both are protected together.",
    same_figures="{cells:,} cells of one table have the figures of cells of {name}, under other names or in another "
    "unit: they are the same cells, and nobody judged both together. Name data set, variable and codes as there, or "
    "let somebody who knows both decide.",
    differ="Both count nearly the same people as {release}. Subtracting one from the other tells the {target} of "
    "{read:,} people who are in one of them alone, to somebody who knows their {known:commas}. Publish when more has "
    "changed, or leave {target} out; else this needs a decision.",
    noise="{cells:count,_innermost cell} {cells:verb_differ} from {release}, where {changes:count,_record} came or "
    "left: who knows of one that it did guesses its cell right with a chance of {guess:percent}. Publish when "
    "more has changed, or fewer dimensions.",
)

_MOST_SENTENCES = 5
_LIKELY = 0.5  # chance of a right guess beyond which a person must decide


@dataclass(frozen=True, eq=False)
class Edition:
    """Tables that the public could read once, of the same data set and the same measure."""

    release: str
    definition: str
    protection: Protection
    cells: Cells
    published: PublishedCells

    def among(self, now: Cells) -> tuple[Cells, Cells]:
        """The cells of this edition and of another, in the dimensions of both; absent ones are at their total."""
        return among(self.cells, now)


def among(earlier: Cells, now: Cells) -> tuple[Cells, Cells]:
    """The cells of two editions in the dimensions of both; absent ones are at their total."""
    order = [*now.dimensions, *(d for d in earlier.dimensions if d.name not in _names(now))]
    known = {dimension.name: dimension for dimension in (*order, *earlier.dimensions)}
    return in_dimensions(earlier, [known[dimension.name] for dimension in order]), in_dimensions(now, order)


def earlier_editions(release: TablesRelease) -> list[Edition]:
    """Those of all definitions, the latest last. Raises DataError when the vault does not hold one as it was."""
    return with_common_knowledge(
        [
            Edition(name, tables.definition.name, tables.definition.protection, tables.cells, tables.published)
            for name, entries in earlier_publications(release).items()
            for tables in read_earlier_tables(release.product.workspace, name, entries)
            if tables.definition.measure.variable == release.product.definition.measure.variable
        ]
    )


def with_common_knowledge(editions: list[Edition]) -> list[Edition]:
    """The editions, each with the cells as published that any other published with the same value.

    Two of them and a third may together give away what no two of them do. Editions with other decimals are left as they
    are: whatever comes after them differs from one of the two, and a person decides on that pair.
    """
    merged = []
    for edition in editions:
        status, listed = edition.published.status.copy(), edition.cells.published.copy()
        for other in editions:
            if other is edition or edition.published.value is not None or other.published.value is not None:
                continue
            with suppress(DataError):
                before, now = other.among(edition.cells)
                known = joint_cells(before, other.published.status, now).public[: len(status)]
                status[known], listed[known] = Status.PUBLISHED, True
        cells, published = replace(edition.cells, published=listed), replace(edition.published, status=status)
        merged.append(replace(edition, cells=cells, published=published))
    return merged


@dataclass(frozen=True, eq=False)
class EditionPair:
    """This release and an earlier edition as one system, in which unrevised cells stand once."""

    release: str  # the earlier one
    joint: JointEditions
    earlier: Statuses
    cells: int  # of this release
    must: Booleans  # shape (cells,), unrevised cells that were sensitive: published now, they would be known then

    @classmethod
    def of(cls, now: Cells, edition: Edition) -> "EditionPair | None":
        """None where no cell is unrevised: then neither edition tells anything of the other."""
        before, now = edition.among(now)
        status = edition.published.status
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
        self,
        suppression: SuppressionSearch,
        request: ProtectionRequest,
        kept: Booleans,
        workers: int,
        effort: Effort = Effort(),  # noqa: B008
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
            effort=effort,
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
        shared = {"release": self.release, "cells": self.unrevised}
        opened = " ".join(f"{each}." for each in says[:_MOST_SENTENCES])
        return _finding(
            verdict, _SAYS.opened(**shared, opened=opened) if opened else _SAYS.nothing(**shared), self.release
        )


def _names(cells: Cells) -> list[str]:
    return [dimension.name for dimension in cells.dimensions]


def nearest_edition(release: TablesRelease, cells: Cells) -> EditionPair | None:
    """The earlier edition with which this release has most cells in common; of several, the latest."""
    found = []
    for edition in earlier_editions(release):
        with suppress(DataError):  # other decimals or totals: the audit tells it
            if edition.published.value is None:
                found.append(EditionPair.of(cells, edition))
    return max((joint for joint in found if joint), key=lambda joint: joint.unrevised, default=None)


def carried_forward(release: TablesRelease, cells: Cells) -> Booleans:
    """Shape (c,): what the last edition of this very definition suppressed, so that series do not come and go."""
    kept = np.zeros(len(cells), dtype=bool)
    for edition in earlier_editions(release)[::-1]:
        if edition.definition == release.product.definition.name:
            with suppress(DataError):
                before, now = edition.among(cells)
                kept = np.logical_or(*carried(before, edition.published.status, now))
            break
    return kept


def compare_with_earlier_editions(
    release: TablesRelease, cells: Cells, published: PublishedCells, request: ProtectionRequest, workers: int
) -> list[Finding]:
    """A finding for each earlier edition that shares cells with this release, or cannot be compared with it."""
    findings, editions = [], earlier_editions(release)
    for edition in editions:
        try:
            joint = EditionPair.of(cells, edition)
        except DataError as error:
            says = _SAYS.not_comparable(release=edition.release, why=str(error))
            findings.append(_finding(Verdict.REVIEW, says, edition.release))
            continue
        if published.value is None and edition.published.value is None:
            findings += _changes(release, cells, published, edition, request)
        if joint and published.value is None and edition.published.value is None:
            findings.append(joint.finding(published.status, request, workers))
        elif joint and not _same_noise(release.product.definition.protection, edition.protection):
            says = _SAYS.altered(release=edition.release, cells=joint.unrevised)
            findings.append(_finding(Verdict.REVIEW, says, edition.release))
        elif joint and isinstance(release.product.definition.protection, CellKey):
            findings += _differences(cells, published, edition)
    findings += _under_other_names(release, cells, published, request, workers)
    findings += compare_with_sums(release, cells, published, request, workers)
    findings += compare_with_pruned(release)
    none = _SAYS.none_shares(editions=len(editions)) if editions else _SAYS.no_other()
    return findings or [_finding(Verdict.PASS, none)]


def _changes(
    release: TablesRelease, cells: Cells, published: PublishedCells, edition: Edition, request: ProtectionRequest
) -> list[Finding]:
    """What the differences between two editions of a cell tell, where both publish it as it is."""
    before, now = edition.among(cells)
    joint = joint_cells(before, edition.published.status, now)
    told = (edition.published.status == Status.PUBLISHED) & before.published
    both = (joint.before >= 0) & told[joint.before] & (published.status == Status.PUBLISHED) & now.published
    other = both & (now.total != before.total[joint.before])
    found = judge_differences(release, cells, other, edition.release, request)
    return found or _subtracted(release, now, before.total[joint.before], both, edition.release)


def _subtracted(release: TablesRelease, now: Cells, earlier: Integers, both: Booleans, name: str) -> list[Finding]:
    """Whether the counts of both tell a sensitive variable of those who are in one of them alone.

    earlier : shape (c,), the count of each cell in the earlier publication; both: those that both publish as they are
    """
    product = release.product
    if product.definition.measure.variable is not None or product.definition.measure.weight is not None:
        return []
    counts = [np.where(both, each.astype(np.float64), np.nan) for each in (earlier, now.total)]
    variables = product.contract.by_name
    best = (0, "", [""])
    for shown in np.unique(now.codes > 0, axis=0):
        leaf = leaves_of(now, shown.tolist())
        names = [each for each, is_shown in zip(_names(now), shown, strict=True) if is_shown]
        for axis, target in enumerate(_names(now)):
            if target in names and target in variables and variables[target].role is Role.SENSITIVE:
                read = values_read(now.codes, leaf, counts[0], counts[1], axis)
                best = max(best, (read, target, [each for each in names if each != target]))
    read, target, known = best
    told = reported_count(read, product.policy.minimum_cell)
    says = _SAYS.differ(release=name, target=target, read=told, known=known)
    return [_finding(Verdict.REVIEW, says, name)] if read else []


def _under_other_names(
    release: TablesRelease, cells: Cells, published: PublishedCells, request: ProtectionRequest, workers: int
) -> list[Finding]:
    """A finding for each publication, of whatever data set, that has the same cells under other names.

    Both are audited as one where it is certain which cells are the same; else a person must decide.
    """
    findings, of_the_same, workspace = [], earlier_publications(release), release.product.workspace
    for tables in (
        each
        for name, entries in publications(release).items()
        for each in read_earlier_tables(workspace, name, entries)
    ):
        name = tables.release
        before, now = tables.cells, cells
        left, right = np.ones(len(before), dtype=bool), np.ones(len(now), dtype=bool)
        if name in of_the_same and tables.definition.measure.variable == release.product.definition.measure.variable:
            try:
                before, now = among(tables.cells, cells)
                at = joint_cells(before, tables.published.status, now).before
            except DataError:  # other decimals: the editions' finding tells it
                continue
            left[at[at >= 0]], right[at >= 0] = False, False
        elif published.value is None and tables.published.value is None and tables.definition.measure.variable is None:
            findings += _of_other_data(release, cells, published, tables)
        agree = same_figures(before, now, left, right)
        if agree:
            pair = None
            if published.value is None and tables.published.value is None:
                pair = _pair_of_renamed(cells, tables)
            if pair:
                found = pair.finding(published.status, request, workers)
                says = _SAYS.other_names(agree=agree)
                if found.verdict is not Verdict.PASS:
                    says += _SAYS.name_alike()
                findings.append(found.adding(says))
                continue
            says = _SAYS.same_figures(cells=agree, name=name)
            findings.append(_finding(Verdict.REVIEW, says, name))
    return findings


def _of_other_data(
    release: TablesRelease, cells: Cells, published: PublishedCells, tables: EarlierTables
) -> list[Finding]:
    """The same of a table that has the dimensions of this one, whatever its data set is called."""
    if not {*_names(cells)} & {*_names(tables.cells)}:
        return []
    try:
        before, now = among(tables.cells, cells)
        joint = joint_cells(before, tables.published.status, now)
    except DataError:  # other decimals
        return []
    told = (tables.published.status == Status.PUBLISHED) & before.published
    both = (joint.before >= 0) & told[joint.before] & (published.status == Status.PUBLISHED) & now.published
    return _subtracted(release, now, before.total[joint.before], both, tables.release)


def _pair_of_renamed(cells: Cells, tables: EarlierTables) -> EditionPair | None:
    """This release and an earlier one as one system, by the names that the figures give the earlier cells."""
    renamed = with_names_of(cells, tables.cells)
    if renamed is None:
        return None
    definition = tables.definition
    edition = Edition(tables.release, definition.name, definition.protection, renamed, tables.published)
    return EditionPair.of(cells, edition)


def _differences(now: Cells, published: PublishedCells, edition: Edition) -> list[Finding]:
    """What the figures of two editions with the same noise tell of those who came or left."""
    before, now = edition.among(now)
    joint = joint_cells(before, edition.published.status, now)
    gone = np.setdiff1d(np.arange(len(before)), joint.before)
    counts = np.zeros((4, len(now) + len(gone)), dtype=np.int64)
    old = np.r_[joint.before, gone]
    assert published.value is not None
    assert edition.published.value is not None
    counts[0, old >= 0], counts[2, old >= 0] = before.total[old[old >= 0]], edition.published.value[old[old >= 0]]
    counts[1, : len(now)], counts[3, : len(now)] = now.total, published.value
    inner = np.r_[are_innermost(now), are_innermost(before)[gone]]
    # Each table has its innermost cells, all of which know of everybody who came or left.
    tables = np.unique(np.r_[now.codes > 0, (before.codes > 0)[gone]], axis=0, return_inverse=True)[1].ravel()
    found = max(
        (
            EditionDifferences.of(counts[0], counts[1], counts[2], counts[3], inner & (tables == table))
            for table in range(int(tables.max()) + 1)
        ),
        key=lambda differences: differences.guess,
    )
    if found.guess <= _LIKELY:
        return []
    says = _SAYS.noise(cells=found.cells, release=edition.release, changes=found.changes, guess=found.guess)
    return [_finding(Verdict.REVIEW, says, edition.release)]


def _same_noise(one: Protection, other: Protection) -> bool:
    """Whether a cell that did not change has the same figure under both."""
    return isinstance(one, CellKey | NoiseMultipliers) and one == other


def _finding(verdict: Verdict, says: Saying, scope: str = "") -> Finding:
    return Finding(rule="earlier_editions", verdict=verdict, stage="masked", **as_fields(says), scope=scope)
