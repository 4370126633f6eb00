"""Editions of which one is the sum of the others: a definition says so, or their figures do.

What was declared is protected and audited as one system. Of what nobody declared, a person decides where the system
tells what one of its editions suppresses.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.editions.summed_editions import MOST_EDITIONS, SummedEditions, found_sums, summed
from sluice.tabular.model.cells import Booleans, Cells, Status, Statuses
from sluice.tabular.rules.sensitivity import Requirements
from sluice.tabular.suppression.effort import Effort
from tasks.release.editions.earlier_releases import publications
from tasks.release.tables.earlier_tables import EarlierTables, read_earlier_tables
from tasks.release.tables.protection import ProtectionRequest, SuppressionSearch
from tasks.release.tables.published_cells import PublishedCells, TablesRelease

_SAYS = Sentences(
    "earlier_editions",
    sums_opened="With {releases:commas}, of which one is the sum of the others: {opened}",
    sums_undeclared="Nobody said so, but {whole} is the sum of {parts:commas}: {opened} Say it in the definition of "
    "the sum (adds_up), so that they are protected together, or let somebody who knows them decide.",
    sums_nothing="{whole} is the sum of {parts:commas} in {sums:count,_cell}: nothing that is suppressed can be worked "
    "out from all of them.",
    sums_not_decided="With {releases:commas}, of which one is the sum of the others, {attacks:count,_attack} "
    "{attacks:verb_be} not decided.",
    sums_revised="{sums:count,_cell} of {whole} {sums:verb_be} nearly the sum of {parts:commas}, and one of them is "
    "suppressed: how closely the others tell it is unknown. Publish revised parts together with their sum.",
    sums_altered="{whole} is the sum of {parts:commas}, and values were changed in some of them alone: how closely the "
    "others tell the true ones is unknown.",
    sums_incomparable="These tables and {releases:commas} are declared to add up and cannot be compared: {why}",
    sums_none="Nothing is published yet of {names:commas}, declared to be parts of these tables. Check the spelling of "
    "each name.",
)
_HERE = "this release"
_MOST_SENTENCES = 5


@dataclass(frozen=True, eq=False)
class SumOfEditions:
    """This release and others, of which one is the sum of the rest, as one system.

    whole, parts : their names, this release among them
    altered      : whether values were changed in each of the others
    """

    whole: str
    parts: tuple[str, ...]
    joint: SummedEditions
    altered: tuple[bool, ...]

    @classmethod
    def of(cls, cells: Cells, others: Sequence[EarlierTables], whole: int) -> "SumOfEditions":
        """whole : which of (this release, *others) is the sum. Raises DataError where they cannot be compared."""
        joint = summed(cells, [(each.release, each.cells, each.published.status) for each in others], whole, _HERE)
        names = [_HERE, *(each.release for each in others)]
        parts = tuple(name for at, name in enumerate(names) if at != whole)
        return cls(names[whole], parts, joint, tuple(each.published.value is not None for each in others))

    @property
    def others(self) -> list[str]:
        return [name for name in (self.whole, *self.parts) if name != _HERE]

    def protected(
        self,
        suppression: SuppressionSearch,
        request: ProtectionRequest,
        kept: Booleans,
        workers: int,
        effort: Effort = Effort(),  # noqa: B008
    ) -> Statuses:
        """The status of this release's cells, so that nothing of any edition follows; kept: suppressed anyhow."""
        asked, joint = request.manual, self.joint
        found = suppression(
            joint.cells,
            self._requirements(request, workers),
            request.rules,
            request.assumptions,
            cost=joint.joint(asked.cost),
            forbidden=joint.public | joint.joint(asked.forbidden),
            preferred=joint.joint(asked.preferred),
            suppressed=joint.suppressed | joint.joint(kept & ~asked.forbidden),
            workers=workers,
            effort=effort,
        )
        return found.status[: joint.count]

    def _requirements(self, request: ProtectionRequest, workers: int) -> Requirements:
        """What is asked of this release, and of the others as far as they do not tell it without this release."""
        joint, none = self.joint, np.zeros(self.joint.count, dtype=bool)
        required = joint.requirements(request.requirements, request.rules, request.assumptions.nonnegative)
        without = np.r_[none, np.ones(len(joint.cells) - joint.count, dtype=bool)]
        unseen = np.full(joint.count, Status.SECONDARY, dtype=np.uint8)
        before = audit(
            joint.cells, joint.status(unseen), _only(required, without), request.rules, request.assumptions,
            workers=workers,
        )  # fmt: skip
        open_ = np.zeros(len(joint.cells), dtype=bool)
        open_[[breach.cell for breach in before.breaches]] = True
        return _only(required, ~open_)

    def finding(self, published: PublishedCells, request: ProtectionRequest, declared: bool, workers: int) -> Finding:
        """Whether somebody who has all of them can work out what one of them suppresses."""
        joint, changed = self.joint, {*self.altered, published.value is not None}
        if changed != {False}:
            mixed = len(changed) > 1
            says = _SAYS.sums_altered(whole=self.whole, parts=self.parts) if mixed else self._nothing()
            return _finding(Verdict.REVIEW if mixed else Verdict.PASS, says, self.others)
        found = audit(
            joint.cells,
            joint.status(published.status),
            self._requirements(request, workers),
            request.rules,
            request.assumptions,
            workers=workers,
        )
        if found.breaches:
            opened = " ".join(f"{breach.says}." for breach in found.breaches[:_MOST_SENTENCES])
            if declared:
                return _finding(Verdict.FAIL, _SAYS.sums_opened(releases=self.others, opened=opened), self.others)
            says = _SAYS.sums_undeclared(whole=self.whole, parts=self.parts, opened=opened)
            return _finding(Verdict.REVIEW, says, self.others)
        if found.unknown:
            left = found.attempted - found.completed
            says = _SAYS.sums_not_decided(releases=self.others, attacks=left)
            return _finding(Verdict.UNKNOWN if declared else Verdict.REVIEW, says, self.others)
        if declared and joint.revised:
            says = _SAYS.sums_revised(sums=joint.revised, whole=self.whole, parts=self.parts)
            return _finding(Verdict.REVIEW, says, self.others)
        return _finding(Verdict.PASS, self._nothing(), self.others)

    def _nothing(self) -> Saying:
        return _SAYS.sums_nothing(whole=self.whole, parts=self.parts, sums=self.joint.sums)


def compare_with_sums(
    release: TablesRelease, cells: Cells, published: PublishedCells, request: ProtectionRequest, workers: int
) -> list[Finding]:
    """A finding for each system of editions that adds up: those that a definition declares, then those that nobody did.

    cost : an audit of each system, and a search for sums among 24 editions
    """
    findings = []
    editions = _editions(release)
    known = []
    absent = [*release.product.definition.adds_up]
    for whole, others in _declared(release, cells, editions):
        known.append({each.release for each in others})
        if whole == 0:
            absent = [name for name in absent if name not in {each.definition.name for each in others}]
        try:
            system = SumOfEditions.of(cells, others, whole)
        except DataError as error:
            names = [each.release for each in others]
            says = _SAYS.sums_incomparable(releases=names, why=str(error))
            findings.append(_finding(Verdict.REVIEW, says, names))
            continue
        findings.append(system.finding(published, request, True, workers))
    if absent:
        findings.append(_finding(Verdict.PASS, _SAYS.sums_none(names=absent)))
    for whole, others in _undeclared(release, cells, editions):
        if not any({each.release for each in others} <= those for those in known):
            findings.append(SumOfEditions.of(cells, others, whole).finding(published, request, False, workers))
    return findings


def declared_sums(release: TablesRelease, cells: Cells) -> list[SumOfEditions]:
    """The systems that a definition declares, and that can be protected together; the audit tells of the others."""
    found = []
    for whole, others in _declared(release, cells, _editions(release)):
        with suppress(DataError):
            system = SumOfEditions.of(cells, others, whole)
            if not any(system.altered):
                found.append(system)
    return found


@dataclass(frozen=True, eq=False)
class _Edition:
    """An earlier publication, and of which data it is.

    period : first and last day, as text; None where the contract names none
    place  : in the order in which editions were received
    """

    tables: EarlierTables
    period: tuple[str, str] | None
    dataset: str
    place: int

    @property
    def name(self) -> str:
        return self.tables.definition.name


def _editions(release: TablesRelease) -> list[_Edition]:
    """The earlier publications of tables, of whatever data set, the latest last; of several measures, this one's."""
    found, variable = [], release.product.definition.measure.variable
    for name, entries in publications(release).items():
        tables = read_earlier_tables(release.product.workspace, name, entries)
        of_several = [each for each in tables if each.definition.measure.variable == variable]
        for each in (of_several or tables) if len(tables) > 1 else tables:
            found.append(_Edition(each, _period(entries), _received(entries)["dataset"], entries[0].seq))
    return sorted(found, key=lambda each: each.place)


def _received(entries: Sequence[Entry]) -> Mapping[str, str]:
    received = last(entries, State.RECEIVED)
    assert received is not None
    return received.body


def _period(entries: Sequence[Entry]) -> tuple[str, str] | None:
    period = last(entries, State.RECEIVED).body.get("period")  # type: ignore[union-attr]
    return (period["first"], period["last"]) if period else None


def _declared(
    release: TablesRelease, cells: Cells, editions: Sequence[_Edition]
) -> list[tuple[int, list[EarlierTables]]]:
    """Which is the sum among (this release, *others), and the others, of each sum that a definition declares."""
    mine, period = release.product.definition, _period(release.entries())
    others = [each for each in editions if each.period is None or (each.name, each.period) != (mine.name, period)]
    found = []
    parts = _parts(mine.adds_up, period, others)
    if parts:
        found.append((0, _that_add_up(cells, parts)))
    for each in _latest(others):
        if mine.name in each.tables.definition.adds_up and _within(period, each.period):
            rest = _parts(each.tables.definition.adds_up, each.period, others)
            rest = [other for other in rest if period is not None or other.name != mine.name]
            found.append((1, [each.tables, *(other.tables for other in rest)]))
    return found


def _parts(names: Iterable[str], period: tuple[str, str] | None, editions: Sequence[_Edition]) -> list[_Edition]:
    return [each for each in _latest(editions) if each.name in names and _within(each.period, period)]


def _latest(editions: Iterable[_Edition]) -> list[_Edition]:
    """The latest edition of each definition and period; without a period all of them."""
    return list({(each.name, each.period or each.place): each for each in editions}.values())


def _within(inner: tuple[str, str] | None, outer: tuple[str, str] | None) -> bool:
    return inner is None or outer is None or (outer[0] <= inner[0] and inner[1] <= outer[1])


def _that_add_up(cells: Cells, parts: Sequence[_Edition]) -> list[EarlierTables]:
    """Of editions without a period those whose figures add up; the latest of each definition where none do."""
    names = [each.name for each in parts]
    if len(set(names)) < len([each for each in parts if each.period is None]):
        tables = [each.tables for each in parts[-MOST_EDITIONS:]]
        with suppress(DataError):
            for whole, places in found_sums(cells, [each.cells for each in tables]):
                if whole == 0:
                    return [tables[at - 1] for at in places]
        parts = list({each.name: each for each in parts}.values())
    return [each.tables for each in parts]


def _undeclared(
    release: TablesRelease, cells: Cells, editions: Sequence[_Edition]
) -> list[tuple[int, list[EarlierTables]]]:
    """The same of those that add up by their figures: among the latest of all, of this data set, of each definition."""
    comparable = [each for each in editions if _can_be_compared(cells, each.tables.cells)]
    groups = [comparable, [each for each in comparable if each.dataset == release.product.contract.dataset]]
    groups += [[each for each in comparable if each.name == name] for name in {each.name for each in comparable}]
    found: dict[tuple[int, tuple[str, ...]], list[EarlierTables]] = {}
    tried = set()
    for group in groups:
        tables = [each.tables for each in group[-MOST_EDITIONS:]]
        names = tuple(each.release for each in tables)
        if len(tables) < 2 or names in tried:
            continue
        tried.add(names)
        for whole, parts in found_sums(cells, [each.cells for each in tables]):
            others = [tables[at - 1] for at in ((whole, *parts) if whole else parts) if at]
            found.setdefault((int(whole > 0), tuple(each.release for each in others)), others)
    return [(whole, others) for (whole, _), others in found.items()]


def _can_be_compared(cells: Cells, other: Cells) -> bool:
    totals = {dimension.name: dimension.codes[0] for dimension in cells.dimensions}
    shared = [dimension for dimension in other.dimensions if dimension.name in totals]
    return (
        other.decimals == cells.decimals
        and bool(shared)
        and all(dimension.codes[0] == totals[dimension.name] for dimension in shared)
    )


def _only(required: Requirements, where: Booleans) -> Requirements:
    """The same, of these cells alone."""
    return Requirements(
        {name: found & where for name, found in required.by_rule.items()},
        required.sensitive & where,
        *(np.where(where, level, 0) for level in (required.lower, required.upper, required.sliding)),
    )


def _finding(verdict: Verdict, says: Saying, others: Sequence[str] = ()) -> Finding:
    scope = ", ".join(others)
    return Finding(rule="earlier_editions", verdict=verdict, stage="masked", **as_fields(says), scope=scope)
