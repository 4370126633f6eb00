"""Power: what the gate can tell of so many people, said before anything is masked.

A limit that is held against an interval lets a file pass only if the truth lies so far below it. How far depends on how
many people are judged: on the file, the share that is set aside and the policy, and not on how the file is masked.
Where a file that shows nobody could not pass either, masking it would be work for nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from policies.policy import Policy, load_policy, shipped_policies
from policies.rules.control_rules import ControlRule
from policies.standard.preconditions import reference_records
from policies.standard.reference_standard import AnyOf, LinkageLimits, ReferenceStandard
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import END, Sentences, as_fields
from sluice.ground.variables import NAMES, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import LOOKS
from sluice.risk.attacks.attribute_gain import gain_interval
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.linkage.learned_intruder import FEWEST_PEOPLE, judged_in_looks
from sluice.risk.passing_truth import Ends, Look, can_pass, exact_ends, largest_difference, largest_share
from sluice.risk.people_of_records import groups_of_people, number_of_people

_SAYS = Sentences(
    "power",
    tells="With {records:,} {unit}, a file passes in 95 of 100 cases if its true figures are at most:",
    tells_aside="With {records:,} {unit} and {aside:,} set aside, a file passes in 95 of 100 cases if its true figures "
    "are at most:",
    figure=" {rule} {truth:percent} (limit {limit:percent})",
    another="; {rule} {truth:percent} (limit {limit:percent})",
    nothing="With {records:,} {unit}, no measure that decides can find a file safe.",
    nothing_aside="With {records:,} {unit} and {aside:,} set aside, no measure that decides can find a file safe.",
    cannot=" However well it is masked, a file of so few {unit} may fail to pass {names:commas}. About "
    "{needed:,} would do.",
    never=" However well it is masked, a file of so few {unit} may fail to pass {names:commas}.",
    others=" With so many, these policies can decide: {policies:commas}.",
    none=" No policy that is shipped can decide with so few.",
)

POWER = (
    Declaration(
        "power",
        about="Power: what the measures of the policy can tell of so many people, before anything is masked.",
        asks="A file that shows nobody passes each limit that is held against an interval in 95 of 100 cases.",
        helps="So few people cannot be judged by this policy, whatever the plan: release more of them, set more aside, "
        "or let the owner choose a policy that can decide with so many.",
        source="Source: Clopper and Pearson (1934).",
    ),
)

_MOST = 10_000_000  # people up to which a sufficient number is looked for


@dataclass(frozen=True)
class FileSize:
    """How many there are of what.

    records : in the file that is masked
    units   : people or households that the records belong to
    aside   : records set aside; None: nobody was
    persons : people whose records they are, where the contract names them; None: each record is somebody else's
    """

    records: int
    units: int
    aside: int | None = None
    persons: int | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, variables: Variables, aside: int | None) -> Self:
        units = len(np.unique(groups_of_people(frame, variables)))
        return cls(len(frame), units, aside, number_of_people(frame, variables))

    def people_of(self, records: int) -> int:
        """About how many people so many records are of."""
        return round(records * self.persons / self.records) if self.persons and self.records else records

    def of_all(self, records: int, standard: ReferenceStandard) -> "FileSize":
        """A file of so many records, those set aside among them, under another standard."""
        aside = None if standard.holdout_share is None else round(records * standard.holdout_share)
        left = records - (aside or 0)
        units = round(left * self.units / self.records) if self.records else left
        return FileSize(left, max(1, units), aside, self.people_of(left))

    @property
    def all(self) -> int:
        return self.records + (self.aside or 0)


class Figure(NamedTuple):
    """A limit that is held against an interval.

    decides : whether a file that shows nobody passes in 95 of 100 cases
    truth   : the largest with which a file does; None where none is
    """

    rule: str
    limit: float
    decides: bool
    truth: float | None


def judge_power(
    policy: Policy, frame: pd.DataFrame, variables: Variables, unit: str, aside: int | None, paired: bool = True
) -> list[Finding]:
    """A finding on what can be told of the file before it is masked; it is reported. None where no interval decides.

    frame  : the original, typed by `variables`
    aside  : how many records were set aside
    paired : whether it will be known which released record is whose
    cost   : some hundredths of a second
    """
    standard = policy.reference_standard
    if standard is None:
        return []
    size, d = FileSize.of(frame, variables, aside), sum(each.role not in NAMES for each in variables.values())
    found = figures(policy, size, d, paired)
    if not found:
        return []
    unable = [each for each in found if not each.decides]
    told = dict.fromkeys((each.rule, each.truth, each.limit) for each in found if each.truth is not None)
    if aside is None:
        says = (_SAYS.tells if told else _SAYS.nothing)(records=size.records, unit=unit)
    else:
        says = (_SAYS.tells_aside if told else _SAYS.nothing_aside)(records=size.records, unit=unit, aside=aside)
    for place, (rule, truth, limit) in enumerate(told):
        says += (_SAYS.another if place else _SAYS.figure)(rule=rule, truth=truth, limit=limit)
    says += END() if told else ()
    if unable:
        names = tuple(dict.fromkeys(each.rule for each in unable))
        needed = _sufficient(policy, size, d, paired)
        says += _SAYS.cannot(unit=unit, names=names, needed=needed) if needed else _SAYS.never(unit=unit, names=names)
        able = [name for name in _able(size, d, paired) if name != policy.name]
        says += _SAYS.others(policies=able) if able else _SAYS.none()
    return [
        Finding(
            rule="power", verdict=Verdict.REVIEW if unable else Verdict.PASS, stage="original", binding=False,
            attempted=len(found), completed=sum(each.truth is not None for each in found), **as_fields(says),
        )
    ]  # fmt: skip


def figures(policy: Policy, size: FileSize, variables: int, paired: bool = True) -> list[Figure]:
    """The limits that decide and are held against an interval.

    variables : how many describe a person
    """
    standard = policy.reference_standard
    if standard is None:
        return []
    return [
        *_of_size(standard, size),
        *(_of_intruders(standard, size, variables) if paired else ()),
        *(
            figure
            for rule in policy.attacks
            if isinstance(rule, ControlRule) and rule.binding
            for figure in _of_control(rule, size)
        ),
    ]


def _of_size(standard: ReferenceStandard, size: FileSize) -> Iterator[Figure]:
    """The number of records below which the standard does not judge; it is held against none."""
    people = size.people_of(size.records)
    others = people if size.aside is None else reference_records(people, size.people_of(size.aside))
    fewest = min(people, others)
    if standard.when_fewer != "judge" and fewest < standard.minimum_records:
        yield Figure("reference_size", standard.minimum_records, False, None)


def _of_intruders(standard: ReferenceStandard, size: FileSize, variables: int) -> Iterator[Figure]:
    if standard.learned.binding:
        yield from _of_linkage(standard.learned, size, standard.learned.people)
    for intruder in standard.intruders:
        if intruder.binding:
            yield from _of_linkage(intruder, size, standard.learned.people)
            known = intruder.knows.any if isinstance(intruder.knows, AnyOf) else 1
            looks = _looks(size, standard.learned.people)
            ends = _ends_of_gain(max(1, variables - known))
            yield _of_share("attribute_gain", intruder.gain, looks, ends)


def _of_linkage(limits: LinkageLimits, size: FileSize, people: int) -> Iterator[Figure]:
    looks = _looks(size, people)
    yield _of_share("learned_linkage", limits.found, looks)
    yield _of_share("learned_claims", limits.claims, looks)


def _looks(size: FileSize, people: int) -> list[Look]:
    """None where the intruder has too few to learn from."""
    if size.units < FEWEST_PEOPLE:
        return []
    judged = judged_in_looks(size.records, people)
    return [Look(_units(size, each), level) for each, level in zip(judged, LOOKS, strict=True)]


def _units(size: FileSize, records: int) -> int:
    """The units that so many records, drawn at random, belong to."""
    each = size.records / size.units
    return int(size.units * (1 - (1 - records / size.records) ** each)) if records < size.records else size.units


def _of_share(rule: str, limit: float, looks: list[Look], ends: Ends = exact_ends) -> Figure:
    return Figure(rule, limit, can_pass(limit, looks, ends), largest_share(limit, looks, ends))


def _ends_of_gain(others: int) -> Ends:
    """The gate's interval where some gain a value and nobody loses one, among so many variables that may be read."""

    def ends(gaining: int, cases: int, level: float) -> tuple[float, float]:
        people = np.arange(cases)
        return gain_interval((people < gaining).astype(np.float64), people, 1 - (1 - level) / others)

    return ends


def _of_control(rule: ControlRule, size: FileSize) -> Iterator[Figure]:
    half = rule.half_width(size.records, size.aside, LOOKS[-1]) if size.aside else None
    if half is not None:
        truth = largest_difference(rule.limit, half, LOOKS[-1])
        yield Figure(rule.rule, rule.limit, truth >= 0, truth if truth >= 0 else None)


def _sufficient(policy: Policy, size: FileSize, variables: int, paired: bool) -> int | None:
    """So many records, those set aside among them, as would let a safe file pass, to two digits; None: no number."""
    standard = policy.reference_standard
    assert standard is not None

    def enough(records: int) -> bool:
        return all(each.decides for each in figures(policy, size.of_all(records, standard), variables, paired))

    low, high = size.all, max(1, 2 * size.all)
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    digits = int(10 ** max(0, len(str(high)) - 2))
    return ceil(high / digits) * digits


def _able(size: FileSize, variables: int, paired: bool) -> list[str]:
    """The shipped policies for records that can decide with so many, those set aside among them."""
    found = []
    for name, path in shipped_policies().items():
        policy = load_policy(path)
        standard = policy.reference_standard
        if standard is not None:
            judged = figures(policy, size.of_all(size.all, standard), variables, paired)
            if all(each.decides for each in judged):
                found.append(name)
    return found


def too_few(policy: Policy, people: int, unit: str) -> str:
    """Why no plan can pass a policy that judges no file of so few, and what another one asks instead; '' if it may.

    unit : what `people` counts, such as records
    """
    least = _fewest(policy)
    if people >= least:
        return ""
    small = load_policy(shipped_policies()["small-file"])
    groups = max((rule.k for rule in small.rules if isinstance(rule, KAnonymity)), default=1)
    way_out = f"{small.name} judges {_fewest(small):,} and more, for groups of {groups} who share each combination"
    if people < _fewest(small):
        way_out = "tables of them may be published (docs/tables.md)"
    return (
        f"{policy.name} judges files of {least:,} {unit} and more. This one has fewer, so no plan can pass; {way_out}."
    )


def _fewest(policy: Policy) -> int:
    standard = policy.reference_standard
    return 0 if standard is None or standard.when_fewer != "unknown" else standard.minimum_records
