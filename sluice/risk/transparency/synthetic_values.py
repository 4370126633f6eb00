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
from sluice.risk.attacks.attack_success import FEWEST, Attacked, Units, share_at_risk
from sluice.risk.attacks.membership import learned_membership
from sluice.risk.attacks.participant_inference import InferenceGain, participant_inference
from sluice.risk.attacks.rare_combinations import RareFinds, rare_finds
from sluice.risk.measurement import Measurement
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.transparency.attack import Attack, Leak, Pairs

_Side = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, Units]
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
        """cost : that of the three attacks on `pairs.rows` people; twice without a holdout, with two syntheses"""
        compared = [name for name in self.columns if name in pairs.recoded and name in pairs.masked]
        compared = [name for name in compared if pairs.released[name].kind is not Kind.TEXT]
        if len(compared) < 2:
            raise DataError("fewer than two synthetic variables are left to compare.")
        sides, said = self._sides(pairs)
        if min(len(file) for people, _, others, _ in sides for file in (people, others)) < 2 * FEWEST:
            raise DataError(f"it takes {2 * FEWEST} people who took part, and as many who did not.")
        attacked = _TIMES * len(pairs.rows)  # a difference of two shares is less certain than one
        members, rare = [], []
        inferred: list[InferenceGain] = []
        once = len(sides)
        # A small file tells little by one pair of halves: of who takes part in which, and of the few who are alone.
        for _ in range(min(_MOST_HALVES, _HALVED // len(pairs.original)) - 1 if once > 1 else 0):
            sides += self._halves(pairs)
        for people, released, others, units in sides:
            side = Attacked(people, released, others, pairs.released, compared, attacked, pairs.rng, units=units)
            members.append(learned_membership(side).advantage)
            if len(inferred) < once:  # costs most
                inferred.append(participant_inference(side))
            rare.append(self._rare(people, released, others, compared, units, pairs))
        read = " or ".join(dict.fromkeys(name for each in inferred for name in each.variables))
        leaks = [
            Leak("participation", _mean(members), f"by what was learned of members and others{said}"),
            Leak(
                "participation",
                _mean([each.measurement.beyond_baseline() for each in inferred]),
                f"of {read}, read off the nearest records{said}",
            ),
        ]
        if (found := reduce(add, rare).measurement()).completed:
            what = f"of the combinations of {min(_SIZE, len(compared))} values that one person alone holds{said}"
            leaks.append(Leak("participation", found.beyond_baseline(), what))
        return tuple(leaks)

    def _rare(
        self, people: pd.DataFrame, released: pd.DataFrame, others: pd.DataFrame, compared: Sequence[str], units: Units,
        pairs: Pairs,
    ) -> RareFinds:  # fmt: skip
        one, made, other = ([plain_values(file[name]) for name in compared] for file in (people, released, others))
        own, theirs = units
        if pairs.others is not None and len(pairs.others):
            theirs = theirs + own.max(initial=-1) + 1  # others than those of the file; of two halves they are the same
        kept = [at for at, name in enumerate(compared) if name in self.given]
        return rare_finds(one, made, other, min(_SIZE, len(compared)), pairs.rng, units=(own, theirs), kept=kept)

    def _sides(self, pairs: Pairs) -> tuple[list[_Side], str]:
        """Those who took part, a file made of them, others, and who belongs together: nobody took part whose household
        is among the others. And how the file came about, if by another run."""
        if pairs.others is not None and len(pairs.others):
            units = groups_of_people(pairs.original, pairs.variables)
            theirs = np.arange(len(pairs.others)) if pairs.others_units is None else pairs.others_units
            return [(pairs.recoded, pairs.masked, pairs.others, (units, theirs))], ""
        return self._halves(pairs), ", where the method is run on each half of the people"

    def _halves(self, pairs: Pairs) -> list[_Side]:
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
