"""Several publications: what a file tells together with those of the same people that the public could read before.

Not a part of the reference standard, which looks at one file; every release of records is held to it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from policies.reported_shares import reported_share
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.variables import NAMES, Kind, Role, Variables, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.measurement import if_near
from sluice.risk.publications.averaged_noise import averaged_noise
from sluice.risk.publications.differencing import Differences, differencing
from sluice.risk.publications.joint_classes import KeyedFile, joint_classes
from sluice.risk.publications.publication import Publication, SamePeople, named_alike
from sluice.risk.publications.sums_of_files import SumOfFiles, sums_of_files

_NONE = Sentence("several_publications.none_before", "No file of the same {unit} was published before.")
_FEW_CHANGES = Sentences(
    "few_changes",
    few="Fewer than {fewest} records changed since {releases:few} was published: who compares the two files sees "
    "whose they are, and what changed. Wait until more has changed.",
    none="No earlier publication differs from this file in few records; {count} compared ({releases:few}).",
)
_DIFFERENCING = Sentences(
    "differencing",
    read="An intruder who knows a person's quasi-identifiers, and that the person came, left or changed since {name} "
    "was published, reads another value of that person off the difference of the two files: of {people:,} of the "
    "{unit} concerned.",
    others=" The same holds of {others:few}.",
    guessed="The difference of this file and {releases:few} names values of {unit} who came, left or changed that "
    "are right more often than chance explains.",
    whole="This file has nearly the same {unit} as these files together: {earlier:few}.",
    part="This file and {later:few} together have nearly the same {unit} as {earlier:few}.",
    read_off_sums=" An intruder who subtracts one side from the other, and knows the quasi-identifiers of a "
    "person who is in one of them only, reads another value of that person: of {people:,} of the {unit} concerned.",
    guessed_of_sums=" Their difference names values of {unit} who are in one of them only that are right more often "
    "than chance explains.",
    few_in_sums=" Fewer than {fewest} {unit} are in one of them only: who subtracts these sums sees whose records they "
    "are.",
    nobody="The differences from {releases:few} disclose no value.",
    nobody_found="{releases:few} is of the same data set or source, and none of its {unit} were found in this file. "
    "If they are other {unit}, let the contract say editions: fresh_samples.",
    nothing_shared="{releases:few} is about the same {unit}. It shares no variable with this file by name, so "
    "the two could not be compared.",
)
_ALSO = "Among the {people:,} {unit} who are also in {releases:few}: "
_FIT = "fewer than {k} {unit} fit {below:,} of them in every file, where each file alone leaves at least {k}"
_SHARE = "all who fit {alike:,} of them share one sensitive value."
_JOINT_CLASSES = Sentences(
    "joint_classes",
    not_asked="The policy asks for no classes of look-alikes, so none can be taken apart.",
    fewer=f"{_ALSO}{_FIT}.",
    alike=f"{_ALSO}{_SHARE}",
    fewer_and_alike=f"{_ALSO}{_FIT}, and {_SHARE}",
    kept="With {releases:few}, everybody keeps the look-alikes that this file gives.",
    sets="{sets:commas} of the same people was published in {releases:few}: whom a few items fit in both files "
    "together is not counted, only in each by itself.",
)
_AVERAGED_NOISE = Sentences(
    "averaged_noise",
    no_other_values="No variable has other values than in {releases:few} for those whose original value is the same.",
    read="An intruder who knows a person's quasi-identifiers and takes the average over {count} publications reads "
    "{name} rightly (a number to a tenth of its spread) for {share:percent} of the {unit}, where the best of them "
    "alone tells it for {alone:percent}; {margin:points} more are tolerated.",
)

RULES = ("few_changes", "differencing", "joint_classes", "averaged_noise")
_MARGIN = 0.05  # of people whose value averaging tells, where the policy has no reference standard
_MOST = 2_000  # people whose values are averaged
_BY_CHANCE = 0.01  # of a right guess or more, below which values are read and not guessed


class Asked(Protocol):
    """What of a policy is asked here; the policy itself names the findings."""

    @property
    def rules(self) -> Sequence[object]: ...
    @property
    def reference_standard(self) -> ReferenceStandard | None: ...
    @property
    def minimum_cell(self) -> int: ...


PUBLICATIONS = (
    Declaration(
        "few_changes",
        helps="Two editions that differ in a few records give these away: wait until more records changed, publish the "
        "whole edition on another schedule (docs/series.md), or withdraw the plan to publish both.",
        waivable=True,
    ),
    Declaration(
        "differencing",
        helps="Who came, left or changed stands out from those who stayed: keep the quasi-identifiers as they were "
        "when a person entered, in fewer, larger classes, and write move_together into the definition "
        "(docs/series.md), or swap or randomise the values that the finding is about. Of other people the contract "
        "says editions: fresh_samples.",
        waivable=True,
    ),
    Declaration(
        "joint_classes",
        helps="Groups of both files overlap in a few people: recode the quasi-identifiers with the same cut-points and "
        "labels as in the earlier publication, or more coarsely so that its groups lie whole within the new "
        "ones; in a series keep them as they were when a person entered (docs/series.md).",
        waivable=True,
    ),
    Declaration(
        "averaged_noise",
        helps="Values were drawn anew for people whose value stayed. Leave the variable out, or as it was published "
        "before. Under the same step, noise, random rounding and PRAM give an unchanged record the values that it had "
        "if the contract has a record_key; synthesis and swapping do not.",
        waivable=True,
    ),
    Declaration(
        "several_publications",
        helps="Find out why an earlier publication could not be read, and compare again.",
        needs="The vault must hold the data and the file of each earlier publication: bring back what is missing from "
        "its backup.",
    ),
    Declaration(
        "earlier_editions",
        helps="Compare with the earlier publication that the finding names: suppress the same cells in both, or let "
        "somebody who knows both decide.",
        needs="Make the earlier edition's vault available again, so that both can be compared.",
        waivable=True,
    ),
    Declaration(
        "other_measures",
        helps="Compare with the table that the finding names: publish no numbers of contributors in one of the two, "
        "suppress the same cells in both, or let somebody who knows both decide.",
        needs="Make the other table's vault available again, so that both can be compared.",
        waivable=True,
    ),
    Declaration(
        "records_and_tables",
        helps="Whoever adds the records up has the cells that the table protects: recode, swap or leave out one of the "
        "table's dimensions in the file, or publish the table by coarser codes, of which the file may tell every "
        "cell. Where the table gives back amounts that the file caps or leaves blank: perturb or group the others, "
        "cap so many that each cell has several, or leave the amounts out.",
        needs="Make the other release's vault available again, so that both can be compared.",
        waivable=True,
    ),
    Declaration(
        "contributor_numbers",
        helps="Set form.tell_contributors to false: the numbers of contributors reveal which cells have too few, or "
        "nobody can tell whether they do.",
        waivable=True,
    ),
)


@dataclass(frozen=True)
class EarlierFile:
    """A publication of some of the same people."""

    file: Publication
    same: SamePeople


def judge_publications(
    policy: Asked,
    last: Publication,
    earlier: Mapping[str, EarlierFile],
    unit: str,
    rng: np.random.Generator,
    unlike: Sequence[str] = (),
    strangers: Mapping[str, int] = MappingProxyType({}),
    read: Callable[[str, str], EarlierFile | None] = lambda name, whole: None,
) -> list[Finding]:
    """One finding a rule on a file and the earlier ones of its people, by the ids of their releases.

    unlike    : releases of the same data set or source in which nobody was found, though nobody says that they are
                others
    strangers : all releases in which nobody was found, and their records: perhaps they are parts of the same whole
    read      : any other file, and whom it has in common with one of `earlier`; None where that is nobody
    cost      : that of the measures: seconds for 300,000 records
    """
    if not earlier:
        says = _NONE(unit=unit)
        none = [_of_rule(rule, Verdict.PASS, says, 0) for rule in RULES]
        return [_nobody_found(unlike, unit) if unlike and each.rule == "differencing" else each for each in none]
    earlier = {name: EarlierFile(named_alike(each.file, last, each.same), each.same) for name, each in earlier.items()}
    found = {
        name: differencing(each.file, last, each.same, *_keys_and_values(each.file, last))
        for name, each in earlier.items()
    }

    def alike(name: str, whole: str) -> tuple[Publication, SamePeople] | None:
        if (other := read(name, whole)) is None:
            return None
        return named_alike(other.file, earlier[whole].file, other.same), other.same

    files = [(name, each.file, each.same) for name, each in earlier.items()]
    sums = [
        (each, differencing(*each.files, each.same, *_keys_and_values(*each.files)))
        for each in sums_of_files(last, files, [*strangers.items()], alike)
    ]
    by_pairs = _differencing(
        policy, found, unit, [n for n, each in earlier.items() if not _shared(each.file, last)], unlike
    )
    return [
        _few_changes(policy, {name: each.changed for name, each in found.items()}),
        _differencing_of_sums(policy, sums, by_pairs, unit),
        _with_sets(_joint_classes(policy, last, earlier, unit), last, earlier),
        _averaged_noise(policy, last, earlier, unit, rng),
    ]


def _keys_and_values(earlier: Publication, last: Publication) -> tuple[list[str], list[str]]:
    shared = _shared(earlier, last)
    known = set(_quasi_identifiers(earlier.released)) | set(_quasi_identifiers(last.released))
    keys = [name for name in shared if name in known]
    return keys, [name for name in shared if name not in known] or keys


def _shared(earlier: Publication, last: Publication) -> list[str]:
    """Variables that describe people in both files."""
    return [
        name
        for name, variable in last.released.items()
        if name in earlier.released and variable.role not in (*NAMES, Role.WEIGHT)
    ]


def _quasi_identifiers(released: Variables) -> list[str]:
    return with_role(released, Role.QUASI_IDENTIFIER)


def _few_changes(policy: Asked, changed: Mapping[str, int]) -> Finding:
    few = sorted((each for each in changed if 0 < changed[each] < policy.minimum_cell), key=changed.__getitem__)
    if few:
        return _of_rule(
            "few_changes",
            Verdict.REVIEW,
            _FEW_CHANGES.few(fewest=policy.minimum_cell, releases=few),
            len(changed),
        )
    says = _FEW_CHANGES.none(count=len(changed), releases=changed)
    return _of_rule("few_changes", Verdict.PASS, says, len(changed))


def _differencing(
    policy: Asked,
    found: Mapping[str, Differences],
    unit: str,
    nothing_shared: Sequence[str],
    nobody_found: Sequence[str],
) -> Finding:
    told = {name: each for name, each in found.items() if each.told}
    read = {name: each for name, each in found.items() if name not in told and _guesses(each)}
    if told:
        name, *others = sorted(told, key=lambda each: -told[each].told)
        says = _DIFFERENCING.read(name=name, people=_count(policy, told[name].told), unit=unit)
        says += _DIFFERENCING.others(others=others) if others else ()
        return _of_rule("differencing", Verdict.FAIL, says, len(found), ", ".join(told))
    if read:
        most = sorted(read, key=lambda each: read[each].by_chance - read[each].guessed)
        says = _DIFFERENCING.guessed(releases=most, unit=unit)
        return _of_rule("differencing", Verdict.FAIL, says, len(found), ", ".join(read))
    if nothing_shared:
        says = _DIFFERENCING.nothing_shared(releases=nothing_shared, unit=unit)
        return _of_rule("differencing", Verdict.REVIEW, says, len(found), ", ".join(nothing_shared))
    if nobody_found:
        return _nobody_found(nobody_found, unit)
    says = _DIFFERENCING.nobody(releases=found)
    return _of_rule("differencing", Verdict.PASS, says, len(found))


def _guesses(each: Differences) -> bool:
    """Whether the values that a difference names are right more often than chance explains."""
    from scipy.stats import poisson  # loaded where it is needed

    return each.guessed > 0 and bool(poisson.sf(each.guessed - 1, each.by_chance) < _BY_CHANCE)


def _differencing_of_sums(
    policy: Asked, found: Sequence[tuple[SumOfFiles, Differences]], by_pairs: Finding, unit: str
) -> Finding:
    """The finding on pairs of files, or a worse one on sums of them."""
    if by_pairs.verdict is Verdict.FAIL or not found:
        return by_pairs
    told = max(found, key=lambda each: each[1].told)
    guessed = next((each for each in found if _guesses(each[1])), None)
    few = next((each for each in found if 0 < each[1].changed < policy.minimum_cell), None)
    verdict = Verdict.FAIL
    if told[1].told:
        worst, says = told, _DIFFERENCING.read_off_sums(people=_count(policy, told[1].told), unit=unit)
    elif guessed is not None:
        worst, says = guessed, _DIFFERENCING.guessed_of_sums(unit=unit)
    elif few is not None and by_pairs.verdict is Verdict.PASS:
        worst, says = few, _DIFFERENCING.few_in_sums(fewest=policy.minimum_cell, unit=unit)
        verdict = Verdict.REVIEW
    else:
        return by_pairs
    earlier, later = worst[0].earlier, worst[0].later[1:]
    who = (
        _DIFFERENCING.part(later=later, earlier=earlier, unit=unit)
        if later
        else _DIFFERENCING.whole(earlier=earlier, unit=unit)
    )
    attempted = (by_pairs.attempted or 0) + len(found)
    return _of_rule("differencing", verdict, who + says, attempted, ", ".join((*earlier, *later)))


def _nobody_found(releases: Sequence[str], unit: str) -> Finding:
    says = _DIFFERENCING.nobody_found(releases=releases, unit=unit)
    return _of_rule("differencing", Verdict.REVIEW, says, len(releases), ", ".join(releases))


def _joint_classes(policy: Asked, last: Publication, earlier: Mapping[str, EarlierFile], unit: str) -> Finding:
    anonymity = [rule for rule in policy.rules if isinstance(rule, KAnonymity)]
    diversity = [rule for rule in policy.rules if isinstance(rule, LDiversity)]
    if not anonymity and not diversity:
        says = _JOINT_CLASSES.not_asked()
        return _of_rule("joint_classes", Verdict.PASS, says, len(earlier))
    looked_at = [name for rule in (*anonymity, *diversity) for name in rule.keys(last.released)]
    keys = list(dict.fromkeys([*looked_at, *_quasi_identifiers(last.released)]))
    values = [
        name
        for rule in diversity
        for name in (rule.columns or with_role(last.released, Role.SENSITIVE))
        if name in last.original
    ]
    files = [
        KeyedFile(
            each.file, [name for name in each.file.released if _is_key(name, each.file.released, keys)], each.same
        )
        for each in earlier.values()
    ]
    k = max((rule.k for rule in anonymity), default=0)
    found = joint_classes(KeyedFile(last, keys, None), files, k, list(dict.fromkeys(values)))
    names = ", ".join(earlier)
    if not found.below and not found.alike:
        says = _JOINT_CLASSES.kept(releases=list(earlier))
        return _of_rule("joint_classes", Verdict.PASS, says, len(earlier), observed=0)
    counts = {"below": _count(policy, found.below), "alike": _count(policy, found.alike)}
    sentence = (
        _JOINT_CLASSES.fewer_and_alike
        if found.below and found.alike
        else _JOINT_CLASSES.fewer
        if found.below
        else _JOINT_CLASSES.alike
    )
    says = sentence(people=found.people, unit=unit, releases=list(earlier), k=k, **counts)
    return _of_rule("joint_classes", Verdict.FAIL, says, len(earlier), names)


def _with_sets(found: Finding, last: Publication, earlier: Mapping[str, EarlierFile]) -> Finding:
    """The finding on joint classes, for a person to decide where sets of items were published before, too."""
    sets = {name for name, variable in last.released.items() if variable.kind is Kind.ITEMS}
    again = [name for name, each in earlier.items() if sets & set(each.file.released)]
    if found.verdict is not Verdict.PASS or not again:
        return found
    says = _JOINT_CLASSES.sets(sets=sorted(sets), releases=again)
    return _of_rule("joint_classes", Verdict.REVIEW, says, len(earlier), ", ".join(again))


def _is_key(name: str, released: Variables, keys: Sequence[str]) -> bool:
    return name in keys or released[name].role is Role.QUASI_IDENTIFIER


def _averaged_noise(
    policy: Asked, last: Publication, earlier: Mapping[str, EarlierFile], unit: str, rng: np.random.Generator
) -> Finding:
    margin = policy.reference_standard.margin if policy.reference_standard else _MARGIN
    files = [(each.file, each.same) for each in earlier.values()]
    keys = _quasi_identifiers(last.released)
    read = averaged_noise(last, files, keys, _MOST, rng)
    if not read:
        says = _AVERAGED_NOISE.no_other_values(releases=earlier)
        return _of_rule("averaged_noise", Verdict.PASS, says, len(earlier))
    worst = max(read, key=lambda each: each.interval[0])
    verdict = Verdict.FAIL if worst.interval[0] > margin else Verdict.PASS
    if verdict is Verdict.PASS and any(each.interval[1] > margin for each in read):
        worst = max(read, key=lambda each: each.interval[1])
        verdict = Verdict.REVIEW if worst.gain > margin else Verdict.PASS
    alone = reported_share(round(worst.alone * worst.people), worst.people, policy.minimum_cell)[1]
    together = reported_share(round(worst.together * worst.people), worst.people, policy.minimum_cell)[1]
    says = _AVERAGED_NOISE.read(
        count=worst.files, name=worst.name, share=together, unit=unit, alone=alone, margin=margin
    ) + if_near(verdict, worst.gain, margin)
    return _of_rule("averaged_noise", verdict, says, len(earlier), worst.name, worst.gain, margin)


def _count(policy: Asked, people: int) -> int | str:
    return f"fewer than {policy.minimum_cell}" if people < policy.minimum_cell else people


def _of_rule(
    rule: str,
    verdict: Verdict,
    says: Saying,
    attempted: int,
    scope: str = "",
    observed: float | None = None,
    limit: float | None = None,
) -> Finding:
    return Finding(
        rule=rule, verdict=verdict, stage="masked", scope=scope, observed=observed, limit=limit,
        attempted=attempted, completed=attempted, **as_fields(says),
    )  # fmt: skip
