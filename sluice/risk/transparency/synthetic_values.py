"""The attacks on synthesis: what released records tell of those who took part, and which values were not replaced.

No record is anybody's, so nobody is linked; but a model that learns its people by heart repeats them. Those who took
part are compared with others: a holdout where there is one. Else the intruder runs the published method on each half of
the people, so that the other half took no part.

Source: Shokri, Stronati, Song and Shmatikov (2017), who train the attacked model anew on people of the intruder's own;
Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the control.

Methods that replace a known share of the values only leave the others as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import sqrt
from operator import add

import numpy as np
import pandas as pd

from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError, PlanError
from sluice.ground.sentence import percent
from sluice.ground.variables import Kind, Variables
from sluice.risk.attacks.attack_success import FEWEST, LOOKS, OF_FOLDS, Attacked, is_open, share_at_risk
from sluice.risk.attacks.membership import learned_membership
from sluice.risk.attacks.participant_inference import participant_inference
from sluice.risk.attacks.rare_combinations import RareFinds, rare_finds
from sluice.risk.measurement import Measurement
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.transparency.attack import Attack, Leak, Pairs, Side

Synthesis = Callable[[pd.DataFrame, Variables, np.random.Generator], pd.DataFrame]

_SIZE = 3  # values in a rare combination
_MOST_HALVES, _HALVED = 8, 6000  # how often people are halved at most, and how many in all
_TELLING = 4  # pairs of halves from which on it is told by how much one differs from the next
_TIMES = 2  # as many people are attacked as by a linkage, where there are so many


@dataclass(frozen=True)
class CopiedPeople(Attack):
    """Tell participants by what was learned, look for rare combinations of theirs, and read single variables.

    synthesis : the step itself, to be run again
    given     : those of the columns that it leaves as they are
    """

    synthesis: Synthesis
    given: tuple[str, ...] = ()

    @property
    def knows(self) -> str:
        return "the method of synthesis"

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """Where people were set aside and a figure's interval crosses `pairs.participation`, files of other folds are
        attacked as well.

        cost : that of the three attacks on `pairs.rows` people; twice without a holdout, with two syntheses; and for
               each further fold that of the plan and of the attacks whose figures are open
        """
        compared = [name for name in self.columns if name in pairs.recoded and name in pairs.masked]
        compared = [name for name in compared if pairs.released[name].kind is not Kind.TEXT]
        if len(compared) < 2:
            raise DataError("fewer than two synthetic variables are left to compare.")
        aside = pairs.others is not None and len(pairs.others) > 0
        sides = [_with_holdout(pairs)] if aside else self._halves(pairs)
        if min(len(file) for people, _, others, _ in sides for file in (people, others)) < 2 * FEWEST:
            raise DataError(f"it takes {2 * FEWEST} people who took part, and as many who did not.")
        said = "" if aside else ", where the method is run on each half of the people"
        attacks = _Attacks(pairs, compared, [at for at, name in enumerate(compared) if name in self.given])
        inferred = [attacks.inferred(side) for side in sides]  # costs most: halves are not drawn again for it
        if not aside:
            # A small file tells little by one pair of halves: of who takes part in which, and of the few who are alone.
            for _ in range(min(_MOST_HALVES, _HALVED // len(pairs.original)) - 1):
                sides += self._halves(pairs)
        members = _mean([attacks.members(side) for side in sides])
        read, rare = _mean([gain for gain, _ in inferred]), reduce(add, map(attacks.rare, sides)).measurement()
        if aside and pairs.folds and pairs.participation is not None:
            limit = pairs.participation
            first = [each.beyond_baseline().at(LOOKS[0]) for each in (members, read, rare)]
            opened = [bool(each.completed) and is_open(each, limit) for each in first]
            if any(opened) and len(folds := pairs.folds()) > 1:
                members, read, rare = first
                if opened[0]:
                    members = _mean([members, *map(attacks.members, folds[1:])]).at(LOOKS[1], OF_FOLDS)
                if opened[1]:
                    inferred += map(attacks.inferred, folds[1:])
                    read = _mean([gain for gain, _ in inferred]).at(LOOKS[1], OF_FOLDS)
                if opened[2]:
                    rare = reduce(add, map(attacks.rare, folds)).measurement().at(LOOKS[1], OF_FOLDS)
                said = ", where the plan is also carried out on other parts of the people"
        names = " or ".join(dict.fromkeys(name for _, variables in inferred for name in variables))
        leaks = [
            Leak("participation", members, f"by what was learned of members and others{said}"),
            Leak("participation", read, f"of {names}, read off the nearest records{said}"),
        ]
        if rare.completed:
            what = f"of the combinations of {attacks.size} values that one person alone holds{said}"
            leaks.append(Leak("participation", rare.beyond_baseline(), what))
        return tuple(leaks)

    def _halves(self, pairs: Pairs) -> list[Side]:
        """Two halves, drawn at random: each is made into a file that the other took no part in, so that everybody is
        judged on both sides."""
        units = groups_of_people(pairs.original, pairs.variables)
        codes, names = pd.factorize(units)
        inside = np.argsort(pairs.rng.permutation(len(names)))[codes] < len(names) // 2
        halves = [(pairs.recoded[of].reset_index(drop=True), units[of]) for of in (inside, ~inside)]
        try:
            return [
                (people, self.synthesis(people, pairs.released, pairs.rng), others, (own, theirs))
                for (people, own), (others, theirs) in (halves, halves[::-1])
            ]
        except (PlanError, KeyError):
            raise DataError("there is no holdout, and the step cannot be run again on half of the people.") from None


def _with_holdout(pairs: Pairs) -> Side:
    """The file and those set aside: nobody took part whose household is among the others."""
    assert pairs.others is not None
    own = groups_of_people(pairs.original, pairs.variables)
    theirs = np.arange(len(pairs.others)) if pairs.others_units is None else pairs.others_units
    return pairs.recoded, pairs.masked, pairs.others, (own, theirs + own.max(initial=-1) + 1)


@dataclass(frozen=True)
class _Attacks:
    """The three attacks on the released file of a side.

    compared : variables that the intruder looks at
    kept     : places of those among them that the step leaves as they are
    """

    pairs: Pairs
    compared: Sequence[str]
    kept: Sequence[int]

    @property
    def size(self) -> int:
        return min(_SIZE, len(self.compared))

    def members(self, side: Side) -> Measurement:
        return learned_membership(self._attacked(side)).advantage

    def inferred(self, side: Side) -> tuple[Measurement, tuple[str, ...]]:
        """The gain, and of which variables."""
        found = participant_inference(self._attacked(side))
        return found.measurement.beyond_baseline(), found.variables

    def rare(self, side: Side) -> RareFinds:
        one, made, other = ([plain_values(file[name]) for name in self.compared] for file in side[:3])
        return rare_finds(one, made, other, self.size, self.pairs.rng, units=side[3], kept=self.kept)

    def _attacked(self, side: Side) -> Attacked:
        people, released, others, units = side
        most = _TIMES * len(self.pairs.rows)  # a difference of two shares is less certain than one
        return Attacked(people, released, others, self.pairs.released, self.compared, most, self.pairs.rng, units=units)


def _mean(several: Sequence[Measurement]) -> Measurement:
    """The mean figure, its errors taken as independent, and as no less than they are seen to be from one pair of halves
    to the next. Of two halves they are less: whoever is easily taken for one who took part raises the one figure and
    lowers the other."""
    if len(several) == 1:
        return several[0]
    count = len(several)
    value = sum(each.value for each in several) / count
    ends = [each.interval or (each.value, each.value) for each in several]
    below, above = (
        sqrt(sum((end[side] - each.value) ** 2 for end, each in zip(ends, several, strict=True))) / count
        for side in (0, 1)
    )
    pairs = [(one.value + other.value) / 2 for one, other in zip(several[::2], several[1::2], strict=False)]
    if len(pairs) >= _TELLING:
        from scipy.special import stdtrit  # Student's t

        seen = float(np.std(pairs, ddof=1)) / sqrt(len(pairs)) * float(stdtrit(len(pairs) - 1, 0.975))
        below, above = max(below, seen), max(above, seen)
    return replace(
        several[0],
        value=value,
        attempted=sum(each.attempted for each in several),
        completed=sum(each.completed for each in several),
        interval=(value - below, value + above),
    )


@dataclass(frozen=True)
class KeptValues(Attack):
    """Take every released value for the true one.

    share : of the values that were replaced
    """

    share: float

    @property
    def knows(self) -> str:
        return f"that {percent(self.share)} of the values were replaced"

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """cost : O(q) for q people and each variable"""
        right, by_chance = [], []
        for name in (name for name in self.columns if name in pairs.recoded and name in pairs.masked):
            known, released = plain_values(pairs.recoded[name]), plain_values(pairs.masked[name])
            equal = known == released
            right.append(equal[pairs.rows])
            by_chance.append((known == np.roll(released, 1))[pairs.rows])
        if not right:
            right = by_chance = [np.zeros(len(pairs.rows))]
        each = np.mean(right, axis=0)
        measured = share_at_risk(each, len(pairs.masked), baseline=float(np.mean(by_chance)))
        return (Leak("reconstructed", measured, "they are released as they were"),)
