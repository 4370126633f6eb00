"""Attacks on having taken part: whether somebody is in the file, and what it reveals of those who are alone."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import ClassVar, Literal

import pandas as pd
from pydantic import Field

from policies.reported_shares import disclosed_share
from policies.rules.control_rules import ControlRule, SinglingOut, comparable_columns
from sluice.ground.comparable_values import plain_values
from sluice.ground.document_parts import Share
from sluice.ground.rule import AnyOf
from sluice.ground.sentence import Sentence, Sentences, listed, percent, word
from sluice.ground.verdict import Finding
from sluice.risk.attacks.attack_success import FEWEST, LOOKS, OF_FOLDS, half_width, is_open, people_of_looks
from sluice.risk.attacks.membership import (
    Membership,
    learned_membership,
    membership,
    nearer_to_original,
    widest_interval,
)
from sluice.risk.attacks.participant_inference import participant_inference
from sluice.risk.attacks.rare_combinations import RareFinds, rare_finds
from sluice.risk.attacks.subset_inference import subset_inference
from sluice.risk.classes.microdata_rule import Columns
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison
from sluice.utility.folds import Fold

_SUBSETS = Sentences(
    "subset_inference",
    needs_people="The attack needs {fewest} {unit} in the file{aside}.",
    read="An intruder who knows the most informative variables of a person reads another off the records near in these "
    "({ways}): rightly for {share:percent} of the {unit} in the file, and for {baseline:percent} {others}.",
)

_PARTICIPANTS = Sentences(
    "participant_inference",
    needs_people="The attack needs {fewest} {unit} in the file and {fewest} set aside.",
    read="An intruder who knows all variables but one reads {variables} off the nearest released records for "
    "{share:percent} of the {unit} in the file, and for {baseline:percent} of those who are not in it; "
    "no variable gains more.",
)

_RARE = Sentences(
    "rare_combinations",
    nobody_alone="Nobody is alone with {size} values that others have.",
    stand_in_file="Among the combinations of {size} values that are common each by itself and that one of the {unit} "
    "alone holds, {share:percent} occur in the file; of those of {unit} who are not in it, {baseline:percent}.",
    in_folds=" So few were set aside that the plan was also carried out on other parts of the {unit}: each of them "
    "stayed away once.",
)

_SAYS = Sentences(
    "membership",
    needs_two="The attack needs 2 {unit} in the file and 2 set aside.",
    needs_examples="To learn from examples takes {inside} {unit} in the file and {outside} set aside.",
    nearer="{value:Percent} of the released records are nearer to one of the {unit} behind the file than to one who "
    "was set aside; without a trace of them it would be half.",
    told_apart="By {by}, {unit} who are in it can be told from others with an advantage of {advantage:.3g} (0 is "
    "guessing, 1 certainty); of one who is and one who is not, the one more like it is in it in {area:percent} of the "
    "cases.",
)


class MembershipInference(ControlRule):
    """Neither nearness to a released record nor a learned model reveals who was in the original data."""

    rule: Literal["membership"] = "membership"
    example: ClassVar[str] = "{rule: membership, limit: 0.1}"
    about: ClassVar[str] = "Membership inference: who was in the original data."
    source: ClassVar[str] = (
        "Source: Hanley and McNeil (1982); Yeom, Giacomelli, Fredrikson and Jha (2018); Shokri, Stronati, Song and "
        "Shmatikov (2017); Platzer and Reutterer (2021)."
    )
    advice: ClassVar[str] = (
        "Released records cluster around the people who took part: the masking or synthesis reproduces single records, "
        "so perturb more or smooth more, and release a sample so that taking part is itself uncertain."
    )
    columns: Columns | None = Field(default=None, description="all released columns by default")
    nearer: Share | None = Field(
        default=None,
        ge=0.5,
        description="share of released records nearer to a person of the original than to one set aside; 0.5 is "
        "chance. Not judged by default",
    )

    nothing_to_play: ClassVar[Sentence] = SinglingOut.nothing_to_play

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        if not columns:
            return
        if min(len(files.recoded), len(control)) < 2:
            yield self.unknown(_SAYS.needs_two(unit=files.unit), 2 * self.attacks)
            return
        attacked = self.attacked(files, control, columns)
        yield self._called(membership(attacked), files, "their nearness to the file", "nearness to the file")
        if min(len(files.recoded), len(control) // 2) < FEWEST:
            yield self.unknown(
                _SAYS.needs_examples(inside=FEWEST, unit=files.unit, outside=2 * FEWEST),
                2 * self.attacks, "learned from examples",
            )  # fmt: skip
        else:
            by = "how near, how frequent and how rare their values are in the file, learned from others' examples"
            yield self._called(learned_membership(attacked), files, by, "learned from examples")
        if self.nearer is not None:
            measured = nearer_to_original(attacked)
            says = _SAYS.nearer(value=measured.value, unit=files.unit)
            yield self.model_copy(update={"limit": self.nearer}).judge(measured, says, "nearer records")

    def half_width(self, inside: int, aside: int, level: float) -> float:
        n, m = (min(each, people_of_looks(self.attacks)[-1]) for each in (inside, aside))
        return widest_interval(n, m, level)

    def _called(self, found: Membership, files: Comparison, by: str, scope: str) -> Finding:
        says = _SAYS.told_apart(by=by, unit=files.unit, advantage=found.advantage.value, area=found.area.value)
        return self.judge(found.advantage.either_way(), says, scope)

    def describe(self) -> str:
        nearer = f", and at most {percent(self.nearer)} of the released records nearer to them" if self.nearer else ""
        return (
            "Neither nearness to a released record nor what can be learned from examples tells who was in the original "
            f"data (membership: advantage at most {self.limit:.4g}{nearer})."
        )


class RareCombinations(ControlRule):
    """Combinations of values that only one person has occur in the file hardly more often than those of others."""

    rule: Literal["rare_combinations"] = "rare_combinations"
    example: ClassVar[str] = "{rule: rare_combinations, limit: 0.15}"
    about: ClassVar[str] = "Rare combinations: values that one person alone holds together, found in the released file."
    source: ClassVar[str] = (
        "Source: Elliot, Manning, Mayes, Gurd and Bane (2005); Giomi, Boenisch, Wehmeyer and Tasnadi (2023)."
    )
    advice: ClassVar[str] = (
        "The file repeats combinations of values that only one person has: synthesise with larger leaves or smoothing, "
        "merge categories that are rare together, or mask the variables together and not one of them alone."
    )
    columns: Columns | None = Field(default=None, description="all released columns by default")
    sizes: tuple[int, ...] = Field(
        default=(3,), min_length=1, description="how many values a combination has; each size is judged by itself"
    )

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "rare_combinations.nothing_to_play", "The file has too few columns that the original has, too."
    )

    def half_width(self, inside: int, aside: int, level: float) -> None:
        return None

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        for size in (size for size in self.sizes if size <= len(columns)):
            found, made_again = self._found(files, columns, size)
            scope = f"{size} values"
            if not found.completed:
                yield self.unknown(_RARE.nobody_alone(size=size), found.attempted, scope)
                continue
            assert found.baseline is not None
            says = _RARE.stand_in_file(size=size, unit=files.unit, share=found.value, baseline=found.baseline)
            if made_again:
                says += _RARE.in_folds(unit=files.unit)
            yield self.judge(found.at_least_baseline().beyond_baseline(), says, scope)

    def _found(self, files: Comparison, columns: Sequence[str], size: int) -> tuple[Measurement, bool]:
        """What is found in the file and, where too few were set aside for it to decide, in those of the other folds;
        and whether in those."""

        def finds(fold: Fold) -> RareFinds:
            tables = [[plain_values(file[name]) for name in columns] for file in fold[:3]]
            return rare_finds(tables[0], tables[1], tables[2], size, files.rng, units=fold.units)

        alone = finds(files.as_fold)
        found = alone.measurement().at(LOOKS[0])
        if not found.completed or not is_open(found.at_least_baseline().beyond_baseline(), self.limit):
            return found, False
        if len(files.folds) == 1:
            return alone.measurement(), False
        return reduce(add, map(finds, files.folds)).measurement().at(LOOKS[1], OF_FOLDS), True

    def describe(self) -> str:
        return (
            f"Combinations of {' or '.join(map(str, self.sizes))} values that one person alone holds stand in the file "
            f"hardly more often than those of people who are not in it (rare combinations: at most "
            f"{self.limit:.4g} more)."
        )


class InferenceRule(ControlRule):
    """A rule on a variable that is read better of participants than of others; what an interval leaves open is looked
    at by more people."""

    def half_width(self, inside: int, aside: int, level: float) -> float:
        n, m = (min(each, people_of_looks(self.attacks)[-1]) for each in (inside, aside))
        return half_width((1 / n + 1 / m) / 4, n + m, level)


class ParticipantInference(InferenceRule):
    """An intruder who knows all but one variable of a person guesses it hardly better because of their record."""

    rule: Literal["participant_inference"] = "participant_inference"
    example: ClassVar[str] = "{rule: participant_inference, limit: 0.1}"
    about: ClassVar[str] = (
        "Participant inference: a variable is read off the nearest released records, better of those who took part."
    )
    source: ClassVar[str] = "Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023)."
    advice: ClassVar[str] = (
        "The released records nearest to a person tell the variable named: synthesise it with larger leaves, perturb "
        "it more, or keep fewer variables beside it."
    )
    columns: Columns | None = Field(default=None, description="all released columns by default")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "participant_inference.nothing_to_play", "The file has fewer than two columns that the original has, too."
    )

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        if len(columns) < 2:
            return
        if min(len(files.recoded), len(control)) < FEWEST:
            yield self.unknown(_PARTICIPANTS.needs_people(fewest=FEWEST, unit=files.unit), 2 * self.attacks)
            return
        found = participant_inference(self.attacked(files, control, columns))
        measured = found.measurement
        assert measured.baseline is not None
        which = " or ".join(map(word, found.variables))
        says = _PARTICIPANTS.read(variables=which, share=measured.value, unit=files.unit, baseline=measured.baseline)
        yield self.judge(measured.at_least_baseline().beyond_baseline(), says, "the variable that tells most")

    def describe(self) -> str:
        return (
            "Who knows all of a person but one variable guesses it hardly better for the person being in the file "
            f"(participant inference: at most {self.limit:.4g} more are guessed right)."
        )


class SubsetInference(InferenceRule):
    """An intruder who knows the most informative variables guesses another hardly better because of the record.

    Nobody needs to know which record is whose, so the rule judges files whose rows belong to nobody. Where people were
    set aside, what is read of them is what everybody's records tell; else it is what the original tells without the
    person.
    """

    rule: Literal["subset_inference"] = "subset_inference"
    example: ClassVar[str] = "{rule: subset_inference, limit: 0.05}"
    about: ClassVar[str] = (
        "Subset inference: by the few variables that serve best another is read, better of those who are in the file."
    )
    source: ClassVar[str] = (
        "Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023); Lasko and Vinterbo (2010), section II, where there is "
        "no control."
    )
    advice: ClassVar[str] = (
        "The variables that the finding names stand in the file together as real people have them: synthesise them "
        "with larger leaves, mask them together and not one of them alone, or release fewer of them."
    )
    columns: Columns | None = Field(default=None, description="all released columns by default")
    attacks: int = Field(default=6000, ge=100, description="most people on each side")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "subset_inference.nothing_to_play", "The file has fewer than two columns that the original has, too."
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return ()

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        return self._played(files, control)

    def without_control(self, files: Comparison) -> Iterator[Finding]:
        return self._played(files, None)

    def _played(self, files: Comparison, control: pd.DataFrame | None) -> Iterator[Finding]:
        columns = list(self.columns or comparable_columns(files, control))
        if len(columns) < 2:
            return
        if min(len(files.recoded), FEWEST if control is None else len(control)) < FEWEST:
            aside = "" if control is None else f" and {FEWEST} set aside"
            yield self.unknown(_SUBSETS.needs_people(fewest=FEWEST, unit=files.unit, aside=aside), self.attacks)
            return
        found = subset_inference(self.attacked(files, control, columns))
        measured = found.measurement
        assert measured.baseline is not None
        right, without = (
            disclosed_share(share, measured.completed, files.minimum_cell)
            for share in (measured.value, measured.baseline)
        )
        ways = sorted({f"{word(read)} by {listed(known)}" for known, read in found.chosen if known})
        others = "of those who are not in it" if control is not None else "from a file that they are not in"
        says = _SUBSETS.read(
            ways=" or ".join(ways) or "no variable tells of another",
            share=right,
            unit=files.unit,
            baseline=without,
            others=others,
        )
        # No variable known is a set, too: whoever reads others better than these people was not played badly.
        yield self.judge(measured.at_least_baseline().beyond_baseline(), says, "the variables that tell most")

    def describe(self) -> str:
        return (
            "Who knows any variables of a person reads another hardly better for the person being in the file "
            f"(subset inference: at most {self.limit:.4g} more are read rightly)."
        )
