"""All attacks on one file, each on people it has not learned from: what a benchmark of the gate takes for the truth.

Written apart from the product's measures, as `attacks` and `readings`. Half of the people are known to the intruder,
with their records; an attack and its thresholds are chosen on some of the others, and counted on the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from policies.policy import Policy
from sluice.ground.verdict import Finding
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, coded, ranks
from tests.red_team.linkers import by_keys, linked, minorities, nearest_by, outside, sets_of
from tests.red_team.reach import JUDGED, Parts, Reach, Reaches, Rows
from tests.red_team.told_keys import came_back, copies, key_solved, lost_values, together

_PLAIN_TO_SEE = 0.15  # found among all: whose, needs no telling


_PLAIN = {"distance_linkage": "nearest by keys", "probabilistic_linkage": "most alike by keys"}


@dataclass(frozen=True)
class Beyond:
    """What attacks reach of a policy's limits."""

    aim: str
    limit: float
    reach: Reach


def limits(policy: Policy) -> dict[str, float]:
    """By aim, the share of the people that the policy lets an intruder reach; an aim that binds nobody is not there."""
    found: dict[str, float] = {}
    standard = policy.reference_standard
    if standard is None:
        return found
    if standard.learned.binding:
        found |= {"found": standard.learned.found, "sure": standard.learned.claims}
    for each in standard.intruders:
        if each.binding and not isinstance(each.knows, str):
            known = each.knows.any
            found |= {f"found by {known}": each.found, f"sure by {known}": each.claims, f"read by {known}": each.gain}
    found["copies"] = standard.copies_excess
    for rule in policy.attacks:
        if rule.binding and rule.rule in _PLAIN:
            alike = getattr(rule, "alike", None)
            aim = _PLAIN[rule.rule] if alike is None else outside(_PLAIN[rule.rule], alike)
            found[aim] = float(rule.excess)  # type: ignore[attr-defined]
    if standard.reference == "leave_one_out" and "distance" in standard.binding:
        found["nearer"] = standard.margin
    surely = next((limit for aim, limit in found.items() if aim.startswith("sure")), 0.02)
    found |= dict.fromkeys(("together", "key"), surely)
    if any(isinstance(rule, KAnonymity) for rule in policy.rules):
        found["came back"] = surely
    if standard.transparency.binding:
        found["lost values"] = standard.transparency.confident
    if standard.transparency.binding and standard.reference == "holdout":
        found["took part"] = standard.transparency.participation
    if standard.learned.binding:
        of_all = {"found": standard.learned.found, "sure": standard.learned.claims}
        found |= {f"{aim}, of a minority": 2 * limit for aim, limit in of_all.items()}
    return found


def beyond(policy: Policy, reaches: Mapping[str, Reach]) -> list[Beyond]:
    """Aims whose limits the attacks surely pass; a copy may stand there by chance as well, which shows no harm."""
    return [
        Beyond(aim, limit, reaches[aim])
        for aim, limit in limits(policy).items()
        if aim in reaches and aim != "copies" and reaches[aim].interval[0] > limit
    ]


def within(policy: Policy, reaches: Mapping[str, Reach]) -> bool:
    """Whether the attacks surely stay within all limits; of minorities and households, that nothing shows more."""
    asked = {aim: limit for aim, limit in limits(policy).items() if aim in reaches}
    if beyond(policy, reaches) or reaches.get("copies", Reach(0, 1)).interval[0] > asked.get("copies", 1.0):
        return False
    surely = (aim for aim in asked if not aim.endswith("minority") and aim not in ("together", "copies"))
    return all(reaches[aim].interval[1] <= asked[aim] for aim in surely)


_FIGURES = {
    ("learned_linkage", "everything"): "found",
    ("learned_claims", "everything"): "sure",
    **{("learned_linkage", f"any {m}"): f"found by {m}" for m in (3, 5)},
    **{("learned_claims", f"any {m}"): f"sure by {m}" for m in (3, 5)},
    **{("attribute_gain", f"any {m}"): f"read by {m}" for m in (3, 5)},
}


def figures(findings: Iterable[Finding]) -> dict[str, float]:
    """The gate's own figures beside which those of the attacks stand, by aim."""
    found: dict[str, float] = {}
    for each in findings:
        aim = _FIGURES.get((each.rule, each.scope))
        if aim is not None and each.observed is not None:
            found[aim] = max(each.observed, found.get(aim, 0.0))
    return found


def battery(
    files: Comparison, known: Sequence[int] = (5,), seed: int = 0, unit: str | None = None, key: str | None = None
) -> Reaches:
    """What all attacks reach.

    files : paired; with a holdout, participation is played, too
    known : how many variables somebody knows who does not know all
    unit  : the original variable that says who belongs together
    key   : the original variable that numbers the people
    """
    rng = np.random.default_rng(seed)
    people = Parts.of(len(files.original), rng)
    names = [name for name in files.original if name not in (unit, key)]
    reaches: Reaches = {}
    if files.holdout is None or _has_pairs(files):
        reaches["found"], reaches["sure"] = linked(files, names, people)
        for count in known:
            each = [linked(files, chosen, people, choosing=True) for chosen in sets_of(files, names, people, count)]
            reaches[f"found by {count}"] = max((found for found, _ in each), key=lambda reach: reach.share)
            reaches[f"sure by {count}"] = max((sure for _, sure in each), key=lambda reach: reach.share)
        reaches |= by_keys(files, unit)
        if not {"found", "sure"} & {aim for aim, each in reaches.items() if each.interval[0] > _PLAIN_TO_SEE}:
            reaches |= minorities(files, names, people)
    for count in known:
        reaches[f"read by {count}"] = _read(files, sets_of(files, names, people, count), people)
    if unit is not None:
        reaches["together"] = together(files, unit)
    if key is not None:
        reaches["key"] = key_solved(files, key, people.learners, people.judged)
    if files.recoded_holdout is None:
        reaches["nearer"] = nearer(files, people)
    if files.paired:
        reaches["copies"] = copies(files)
    reaches["lost values"] = lost_values(files, people.learners)
    reaches["came back"] = came_back(files, people.learners)
    if files.recoded_holdout is not None:
        reaches["took part"] = took_part(files, rng)
    for block in files.blocks:  # variables that left their records together are somebody else's there
        moved = battery(files.of_block(block), known, seed, unit, key)
        for aim, each in moved.items():
            if aim not in reaches or each.interval[0] > reaches[aim].interval[0]:
                reaches[aim] = each
    return reaches


def _has_pairs(files: Comparison) -> bool:
    """Whether row i of the masked file is the record of row i of the original; else they stand there by chance."""
    return files.paired


# -- what is read, and who took part ------------------------------------------------------------


def _read(files: Comparison, sets: Sequence[Sequence[str]], people: Parts) -> Reach:
    """People of whom one more value is read rightly than without their record, or than of people set aside."""
    best = (-1.0, Reach(0, len(people.judged), variance=0.0))
    names = [name for name in files.recoded if name in files.released]
    numeric = [files.released[name].kind.is_numeric for name in names]
    apart = files.recoded_holdout is not None and not files.paired
    before, after, before_other = _with_those_set_aside(files)
    at = np.array([ranks(column, own) for column, own in zip(after.T, after.T, strict=True)]).T
    for known in sets:
        places = [names.index(name) for name in known if name in names]
        others = [place for place in range(len(names)) if place not in places]
        if not places or not others:
            continue
        rows = {"choose": people.chosen_on, "judge": people.judged}
        gains, variance = {}, np.zeros(len(names))
        for part, persons in rows.items():
            with_own = _right(before, after, at, numeric, places, persons, without=False)
            if apart:
                drawn = np.random.default_rng(5).permutation(len(before_other))
                middle = len(drawn) // 3
                drawn = drawn[:middle] if part == "choose" else drawn[middle:]
                without = _right(before_other, after, at, numeric, places, drawn[: len(persons)], without=False)
                gains[part] = with_own.mean(axis=0) - without.mean(axis=0)
                variance = with_own.var(axis=0) / len(with_own) + without.var(axis=0) / max(1, len(without))
            else:
                without = _right(before, after, at, numeric, places, persons, without=True)
                gains[part] = (with_own - without).mean(axis=0)
                variance = (with_own - without).var(axis=0) / len(with_own)
        target = max(others, key=lambda place: gains["choose"][place])
        if gains["choose"][target] > best[0]:
            count = len(people.judged)
            of_all = float(gains["judge"][target]) * count
            best = gains["choose"][target], Reach(of_all, count, variance=float(variance[target]) * count**2)
    return best[1]


def _with_those_set_aside(files: Comparison) -> tuple[Floats, Floats, Floats]:
    """People, records, and people set aside, as numbers by one code."""
    if files.recoded_holdout is None:
        before, after = coded(files)
        return before, after, before[:0]
    aside = files.recoded_holdout[list(files.recoded)]
    both, after = coded(replace(files, recoded=pd.concat([files.recoded, aside], ignore_index=True)))
    return both[: len(files.recoded)], after, both[len(files.recoded) :]


def _right(
    before: Floats, after: Floats, at: Floats, numeric: Sequence[bool], places: list[int], persons: Rows, without: bool
) -> Floats:
    """For each person and variable, the share of the nearest records whose value is nearly theirs."""
    found = np.zeros((len(persons), before.shape[1]))
    order = [np.sort(column[np.isfinite(column)]) for column in after.T]
    for place, person in enumerate(persons):
        apart = np.zeros(len(after), np.float32)
        for column in places:
            if numeric[column]:
                mine = np.searchsorted(order[column], before[person, column]) / max(1, len(order[column]))
                apart += np.abs(at[:, column] - mine).astype(np.float32)
            else:
                apart += before[person, column] != after[:, column]
        if without:
            apart[person] = np.inf
        taken = np.flatnonzero(apart <= apart.min() + 1e-9)
        values = after[taken]
        for column in range(before.shape[1]):
            if numeric[column]:
                mine = np.searchsorted(order[column], before[person, column]) / max(1, len(order[column]))
                found[place, column] = (np.abs(at[taken, column] - mine) <= 0.02).mean()
            else:
                found[place, column] = (values[:, column] == before[person, column]).mean()
    return found


def nearer(files: Comparison, people: Parts) -> Reach:
    """By how much more people have a record near in the file than in the original without them, at the distance that
    served best on others (Lasko and Vinterbo 2010)."""
    before, after = coded(files)
    numeric = [files.released[name].kind.is_numeric for name in files.recoded if name in files.released]
    told = []
    for persons in (people.chosen_on, people.judged):
        shown = nearest_by(before, after, numeric, None, persons).max(axis=1)
        without = nearest_by(before, before, numeric, None, persons)
        without[np.arange(len(persons)), persons] = -np.inf
        told.append((shown, without.max(axis=1)))
    edges = np.unique(np.concatenate(told[0]))
    gains = [float((told[0][0] >= edge).mean() - (told[0][1] >= edge).mean()) for edge in edges]
    edge, count = edges[int(np.argmax(gains))], len(people.judged)
    called = [(each >= edge).astype(float) for each in told[1]]
    apart = called[0] - called[1]
    return Reach(float(apart.sum()), count, variance=float(apart.var()) * count)


def took_part(files: Comparison, rng: np.random.Generator) -> Reach:
    """By how much more of the participants than of those set aside are called so, by nearness or by shared triples."""
    people, after, others = _with_those_set_aside(files)
    both = [people, others]
    names = [name for name in files.recoded if name in files.released]
    numeric = [files.released[name].kind.is_numeric for name in names]
    count = min(JUDGED, *(len(each) for each in both))
    drawn = [each[rng.permutation(len(each))[:count]] for each in both]
    best = (-1.0, Reach(0, max(1, count - count // 3), variance=0.0))
    triples = [tuple(rng.choice(len(names), min(3, len(names)), replace=False)) for _ in range(60)]
    standing = [{tuple(row) for row in after[:, triple]} for triple in triples]
    for feature in ("nearness", "triples"):
        told = []
        for some in drawn:
            if feature == "nearness":
                told.append(nearest_by(np.vstack([some, after]), after, numeric, None, np.arange(count)).max(axis=1))
            else:
                told.append(
                    np.array(
                        [sum(tuple(p[list(t)]) in s for t, s in zip(triples, standing, strict=True)) for p in some],
                        float,
                    )
                )
        first = count // 3
        edges = np.unique(np.r_[told[0][:first], told[1][:first]])
        gains = [(told[0][:first] >= e).mean() - (told[1][:first] >= e).mean() for e in edges]
        edge = edges[int(np.argmax(gains))]
        if max(gains) > best[0]:
            rest = count - first
            called = [float((each[first:] >= edge).mean()) for each in told]
            variance = rest * sum(share * (1 - share) for share in called)
            best = max(gains), Reach((called[0] - called[1]) * rest, rest, variance=variance)
    return best[1]
