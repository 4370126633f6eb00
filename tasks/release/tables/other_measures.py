"""Numbers of contributors beside values: published themselves, or told by published tables of other measures.

Of all that tables of two measures have in common, this is what each tells of the other: which cells are not empty, and
how many contribute to them, where records are counted or numbers of contributors are published. So both are taken as
tables of counts, of which a count is public where either tells it, and audited as one system. Published numbers of
contributors are audited as the table of counts that they are: suppressed ones may follow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.audit.pattern_audit import Audit, audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Integers, Status, Statuses, contributor_counts
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tasks.release.editions.earlier_releases import earlier_publications
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.earlier_tables import read_earlier_tables
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.published_cells import PublishedCells, TablesRelease
from tasks.release.tables.table_editions import Edition, EditionPair, with_common_knowledge

_SAYS_OF_NUMBERS = Sentences(
    "contributor_numbers",
    no_sums="Numbers of contributors are published, and contributors fall in several cells of the tables, so "
    "the numbers do not add up and cannot be audited. Set form.tell_contributors to false.",
    told="The published numbers disclose too much about {cells:,} cells with too few contributors by the policy: "
    "in numbers of contributors, {first}. Set form.tell_contributors to false.",
    not_decided="Among the attacks on numbers of contributors, {attacks:,} were not decided. Set "
    "form.tell_contributors to false.",
    none="From the published numbers of contributors, no number that the policy calls too small can be worked out.",
)

_SAYS = Sentences(
    "other_measures",
    besides=" ",
    none="No published table of another measure tells how many contribute to these cells, nor do these tell it of one.",
    tells="{name} tells the number of contributors of {cells:,} cells that a policy calls too small.",
    opened="With {name}, too much is disclosed about {cells:,} cells with too few contributors by a policy: in "
    "numbers of contributors, "
    "{first}.",
    not_decided="With {name}, {attacks:,} attacks on numbers of contributors were not decided.",
    listed="{cells:,} cells whose small count became 0 in {who}, as if they were empty, are listed in {other}.",
    listed_in_both="Every cell whose count was changed in {who} and that is listed in {other} is listed in both.",
    nothing_more="With {name}, no number of contributors can be worked out that a policy calls too small, beyond what "
    "either tells alone.",
    counts_changed="Counts were changed in {who}, and numbers of contributors are published in {other}: how closely "
    "both together disclose those of single cells is unknown.",
    not_comparable="Numbers of contributors are published here or in {release}, and somewhere they do not add up, so "
    "their joint disclosure is unknown.",
)


@dataclass(frozen=True, eq=False)
class CountView:
    """Tables of any measure as the numbers of their contributors.

    counts  : the cells with these numbers
    pattern : what of these is published
    is_count: the tables themselves hold these numbers
    altered : shape (c,), counts that are published in place of these; None where none are
    rules   : by which a number is too small
    """

    release: str
    definition: TablesDefinition
    counts: Cells
    pattern: PublishedCells
    is_count: bool
    altered: Integers | None
    rules: tuple[SensitivityRule, ...]

    @classmethod
    def of(
        cls,
        release: str,
        definition: TablesDefinition,
        cells: Cells,
        published: PublishedCells,
        rules: Sequence[SensitivityRule],
    ) -> "CountView | None":
        """None where numbers of contributors do not add up, or records are counted of which several are one's."""
        counts = contributor_counts(cells)
        is_count = definition.measure.variable is None
        if counts is None or (is_count and (cells.total != cells.contributors).any()):
            return None
        status, told = published.status, is_count or definition.tells_contributors
        if not told or published.value is not None:
            status = np.where(status == Status.PUBLISHED, Status.SECONDARY, status).astype(np.uint8)
        altered = published.value if is_count else None
        pattern = PublishedCells(status)
        return cls(release, definition, counts, pattern, is_count, altered, frequency_rules(rules))

    @property
    def tells(self) -> bool:
        """Whether it publishes any number."""
        return bool((self.pattern.status == Status.PUBLISHED).any())

    @property
    def edition(self) -> Edition:
        definition = self.definition
        return Edition(self.release, definition.name, definition.protection, self.counts, self.pattern)


def compare_with_other_measures(
    release: TablesRelease, cells: Cells, published: PublishedCells, request: ProtectionRequest, workers: int
) -> list[Finding]:
    """A finding for each published table of the same data set and another measure, where either tells numbers."""
    definition = release.product.definition
    now = CountView.of(release.id, definition, cells, published, request.rules)
    findings, earlier = [], []
    for name, entries in earlier_publications(release).items():
        for tables in read_earlier_tables(release.product.workspace, name, entries)[:1]:  # all have the same cells
            if tables.definition.measure.variable is None and definition.measure.variable is None:
                continue  # counts, which are editions of each other
            view = CountView.of(name, tables.definition, tables.cells, tables.published, tables.rules)
            if now is None or view is None:
                if definition.tells_contributors or tables.definition.tells_contributors:
                    findings.append(_with_verdict(Verdict.REVIEW, _not_comparable(name), name))
            elif now.tells or view.tells or now.altered is not None or view.altered is not None:
                earlier.append(view)
    merged = with_common_knowledge([view.edition for view in earlier])
    for view, edition in zip(earlier, merged, strict=True):
        assert now is not None
        try:
            pair = EditionPair.of(now.counts, edition)
        except DataError:  # without a common cell
            continue
        if pair is not None:
            findings.append(_compared(now, view, pair, request, workers))
    says = _SAYS.none()
    return findings or [_with_verdict(Verdict.PASS, says)]


def _compared(now: CountView, view: CountView, pair: EditionPair, request: ProtectionRequest, workers: int) -> Finding:
    """What both tell together, and neither alone by its own rules: that was judged when it was published."""
    name, joint, known = view.release, pair.joint, of_counts(request.assumptions)
    if now.altered is not None or view.altered is not None:
        return _beside_altered(now, view, pair)
    rules = tuple(dict.fromkeys((*now.rules, *view.rules)))
    status, required = joint.status(now.pattern.status, pair.earlier), joint.requirements(rules)
    found = audit(joint.cells, status, required, rules, known, workers=workers)
    opened: dict[int, str] = {}
    if found.breaches:
        before = {(int(joint.of_earlier[cell]), exact) for cell, exact in _open(view, known, workers)}
        before |= _open(now, known, workers)
        opened = {breach.cell: breach.says for breach in found.breaches if (breach.cell, breach.exact) not in before}
    listed = now.pattern.status != Status.WITHHELD
    told = int((joint.cannot_be_mended(rules)[: len(listed)] & listed).sum())
    says: Saying = ()
    if told:
        says += _SAYS.tells(name=name, cells=told)
    if opened:
        says += (_SAYS.besides() if says else ()) + (
            _SAYS.opened(name=name, cells=len(opened), first=next(iter(opened.values())))
        )
    if says:
        return _with_verdict(Verdict.FAIL if opened or now.is_count else Verdict.REVIEW, says, name)
    if found.unknown:
        open_ = found.attempted - found.completed
        return _with_verdict(Verdict.UNKNOWN, _SAYS.not_decided(name=name, attacks=open_), name)
    return _with_verdict(Verdict.PASS, _SAYS.nothing_more(name=name), name)


def _open(view: CountView, known: Assumptions, workers: int) -> set[tuple[int, bool]]:
    """The cells of which the tables alone tell too much by their own rules; True for those that they tell exactly."""
    required = requirements_of(view.rules, view.counts.contributions)
    found = audit(view.counts, view.pattern.status, required, view.rules, known, workers=workers)
    told = {breach.cell: False for breach in found.breaches} | {b.cell: True for b in found.breaches if b.exact}
    return {*told.items(), *((cell, False) for cell in told)}


def _beside_altered(now: CountView, view: CountView, pair: EditionPair) -> Finding:
    """Counts that were changed bound the numbers of the other, which shows that a cell that became 0 is not empty."""
    who, other = ("this release", view.release) if now.altered is not None else (view.release, "this release")
    at = np.flatnonzero(pair.joint.before >= 0)
    listed_now, listed_then = (
        each.pattern.status[cells] != Status.WITHHELD for each, cells in ((now, at), (view, pair.joint.before[at]))
    )
    if now.altered is not None:
        opened = int(((now.altered[at] == 0) & listed_then).sum())
    else:
        assert view.altered is not None
        opened = int(((view.altered[pair.joint.before[at]] == 0) & listed_now).sum())
    if now.tells or view.tells:
        return _with_verdict(Verdict.REVIEW, _SAYS.counts_changed(who=who, other=other), view.release)
    if opened:
        says = _SAYS.listed(cells=opened, who=who, other=other)
        return _with_verdict(Verdict.REVIEW, says, view.release)
    says = _SAYS.listed_in_both(who=who, other=other)
    return _with_verdict(Verdict.PASS, says, view.release)


def _not_comparable(release: str) -> Saying:
    return _SAYS.not_comparable(release=release)


def _with_verdict(verdict: Verdict, says: Saying, scope: str = "") -> Finding:
    return Finding(rule="other_measures", verdict=verdict, stage="masked", **as_fields(says), scope=scope)


def judge_contributor_numbers(
    cells: Cells, status: Statuses, request: ProtectionRequest, workers: int = 1
) -> list[Finding]:
    """Whether the number of contributors of a cell that has too few of them follows from those that are published.

    status : shape (c,), of the pattern of the values, under which the numbers are published
    """
    counts = contributor_counts(cells)
    if counts is None:
        says = _SAYS_OF_NUMBERS.no_sums()
        return [_finding(Verdict.REVIEW, says)]
    rules, assumptions = frequency_rules(request.rules), of_counts(request.assumptions)
    requirements = requirements_of(rules, counts.contributions)
    return [_of_audit(audit(counts, status, requirements, rules, assumptions, workers=workers))]


def frequency_rules(rules: Sequence[SensitivityRule]) -> tuple[SensitivityRule, ...]:
    """Those that say how few contributors are too few; of a policy without a minimum frequency all rules."""
    return tuple(rule for rule in rules if rule.rule == "minimum_frequency") or tuple(rules)


def of_counts(assumptions: Assumptions) -> Assumptions:
    """What the readers of a table know of its numbers of contributors: of values beforehand, nothing helps."""
    return replace(assumptions, nonnegative=True, known_within=None, beforehand=None, counts="contributors")


def _of_audit(found: Audit) -> Finding:
    if found.breaches:
        says = _SAYS_OF_NUMBERS.told(
            cells=len({breach.cell for breach in found.breaches}), first=found.breaches[0].says
        )
        return _finding(Verdict.FAIL, says, found)
    if not found.safe:
        says = _SAYS_OF_NUMBERS.not_decided(attacks=found.attempted - found.completed)
        return _finding(Verdict.UNKNOWN, says, found)
    says = _SAYS_OF_NUMBERS.none()
    return _finding(Verdict.PASS, says, found)


def _finding(verdict: Verdict, says: Saying, found: Audit | None = None) -> Finding:
    if found is None:
        return Finding(rule="contributor_numbers", verdict=verdict, stage="masked", **as_fields(says))
    return Finding(
        rule="contributor_numbers", verdict=verdict, stage="masked", **as_fields(says),
        observed=float(len(found.breaches)), limit=0, attempted=found.attempted, completed=found.completed,
    )  # fmt: skip
