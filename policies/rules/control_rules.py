"""ControlRule: an attack that must work better on the people in the file than on others, and the three of Giomi,
Boenisch, Wehmeyer and Tasnadi (2023): singling out, linkability and inference."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from policies.rules.attack_rule import AttackRule
from sluice.ground.document_parts import Share
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Saying, Sentence, Sentences
from sluice.ground.variables import NAMES, Kind, Role, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import Attacked, AttackSuccess, ControlledAttack, Units
from sluice.risk.attacks.inference import inference
from sluice.risk.attacks.linkability import linkability
from sluice.risk.attacks.singling_out import Mode, singling_out
from sluice.risk.classes.microdata_rule import Columns
from sluice.risk.people_of_records import groups_of_people
from sluice.utility.comparison import Comparison

_INFERENCE = Sentences(
    "inference",
    sets_of_items="{secret} holds sets of items, of which this attack does not guess single ones.",
    guesses="An intruder who knows {facts} facts guesses {secret:word}",
    nothing_known="Nothing is known to guess {secret:word} by.",
)

_LINKABILITY = Sentences(
    "linkability",
    links="An intruder who knows two sets of facts links them by the file",
    fewer_than_k="The file holds fewer than {k:,} {unit}.",
)

_DESCRIBES = Sentence(
    "singling_out.describes",
    "An intruder who describes a released record by {columns} describes exactly one of the {unit}",
)

_SAYS = Sentences(
    "control",
    nobody="There are no {unit} {what}.",
    left_out=" Left out, because the original has no such column: {left_out:commas}.",
    no_control="No {unit} were set aside as a control (a holdout), so disclosure through the file cannot be "
    "separated from what is true of everybody.",
    no_guess="The intruder could make no guess.",
    risk=" in {main:percent} of the guesses on {unit} in the file, and in {control:percent} of those on {unit} who "
    "are not in it: a risk of {risk:.3g} through the file itself.",
    no_better_than_guessing=" Guessing at random is right in {baseline:percent}, so the attack did not beat "
    "guessing and says little about the risk. Give the intruder other columns or more attacks.",
)


class ControlRule(AttackRule):
    """An attack on the people in the file and on a control: people of the same kind who are not in it, the holdout.

    Original and control are looked at as the recodings of the plan leave them, in the categories of the released file.
    An attack that does worse than guessing beyond chance is UNKNOWN; one that does no better is REVIEW at least: a file
    of pure noise and an ill-chosen attack look alike.
    """

    needs: ClassVar[str] = (
        "Set people aside before masking (reference: holdout with a holdout_share), or hand in a holdout, and name "
        "columns with which the attack does better than guessing."
    )

    nothing_to_play: ClassVar[Sentence]  # why no attack was possible

    limit: Share = Field(description="largest figure allowed, a share from 0 to 1")
    excess: None = Field(default=None, description="not used: these figures are already beyond what the control gives")
    attacks: int = Field(default=2000, ge=100, description="most guesses on each side")

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return ((Need.HOLDOUT,),)

    def find(self, files: Comparison) -> list[Finding]:
        control = files.recoded_holdout
        for what, frame in (
            ("in the original", files.recoded), ("in the released file", files.masked), ("set aside", control),
        ):  # fmt: skip
            if frame is not None and not len(frame):
                return [self.unknown(_SAYS.nobody(unit=files.unit, what=what), self.attacks)]
        played = self.without_control(files) if control is None else self.play(files, control)
        findings = list(played) or [self.unknown(self.nothing_to_play(), self.attacks)]
        left_out = [
            name
            for name, variable in files.released.items()
            if variable.role not in NAMES and name not in comparable_columns(files, control)
        ]
        if not left_out:
            return findings
        note = _SAYS.left_out(left_out=left_out)
        return [finding.adding(note) for finding in findings]

    def without_control(self, files: Comparison) -> Iterator[Finding]:
        """The findings where nobody was set aside."""
        yield self.unknown(_SAYS.no_control(unit=files.unit))

    def half_width(self, inside: int, aside: int, level: float) -> float | None:
        """Half of the interval of the figure where half of the guesses are right on either side, which is the widest;
        None where the number of guesses depends on more than that of people.

        inside, aside : records in the file and set aside
        """
        sides = [AttackSuccess(n, n, n / 2) for n in (min(inside, self.attacks), min(aside, self.attacks))]
        measured = ControlledAttack(sides[0], sides[1], 0.0).risk(level)
        assert measured.interval is not None
        return measured.value - measured.interval[0]

    def attacked(self, files: Comparison, control: pd.DataFrame | None, columns: Sequence[str]) -> Attacked:
        people, variables = files.recoded, files.released
        units = units_of(files)
        return Attacked(people, files.masked, control, variables, columns, self.attacks, files.rng, self.limit, units)

    @abstractmethod
    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        """The findings, none where the file lacks what the attack needs; `control` is typed as the released file."""

    def found(self, attack: ControlledAttack, says: Saying, unit: str, scope: str) -> Finding:
        """The finding on one attack. `says` begins the sentence with what a right guess is."""
        if not attack.completed:
            return self.unknown(_SAYS.no_guess(), attack.main.attempted, scope)
        main, control, measured = attack.main.share, attack.control.share, attack.risk()
        says += _SAYS.risk(main=main, unit=unit, control=control, risk=max(0.0, measured.value))
        finding = self.judge(measured, says, scope)
        if attack.informative:
            return finding
        verdict = Verdict.UNKNOWN if attack.worse_than_guessing else Verdict.REVIEW
        finding = finding.adding(_SAYS.no_better_than_guessing(baseline=attack.baseline))
        return finding.model_copy(update={"verdict": max(finding.verdict, verdict)})


def units_of(files: Comparison) -> Units:
    """Who belongs together in the file, and among those set aside; of these nobody where none are."""
    others = files.original.iloc[:0] if files.holdout is None else files.holdout
    return groups_of_people(files.original, files.variables), groups_of_people(others, files.variables)


def comparable_columns(files: Comparison, control: pd.DataFrame | None) -> list[str]:
    """Released columns that describe a person and that original and control have, too."""
    frames = [frame for frame in (files.recoded, files.masked, control) if frame is not None]
    return [
        name
        for name, variable in files.released.items()
        if variable.kind is not Kind.TEXT
        and variable.role not in NAMES
        and all(name in frame.columns for frame in frames)
    ]


def known_columns(files: Comparison, control: pd.DataFrame) -> Sequence[str]:
    return [name for name in comparable_columns(files, control) if files.released[name].role is Role.QUASI_IDENTIFIER]


class SinglingOut(ControlRule):
    """Descriptions that fit one released record fit one person of the original hardly more often than one of others."""

    rule: Literal["singling_out"] = "singling_out"
    example: ClassVar[str] = "{rule: singling_out, limit: 0.1}"
    about: ClassVar[str] = "Singling out: descriptions that fit exactly one person."
    source: ClassVar[str] = "Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023); Cohen and Nissim (2020)."
    advice: ClassVar[str] = (
        "Rare combinations or extreme values of the released file describe real people: top- and bottom-code the "
        "numbers, merge rare categories, or synthesise with larger leaves or smoothing."
    )
    mode: Mode = Field(default="multivariate", description="descriptions by one column, or by several")
    attributes: int = Field(
        default=3, ge=2, description="columns in a multivariate description; all, if there are fewer"
    )
    columns: Columns | None = Field(default=None, description="all released columns by default")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "singling_out.nothing_to_play", "The file has no column that the original has, too."
    )

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        attack = self.attack(files, control)
        if attack is None:
            return
        attributes = self.columns_described(files, control)
        says = _DESCRIBES(columns="one column" if attributes == 1 else f"{attributes} columns", unit=files.unit)
        yield self.found(attack, says, files.unit, self.mode)

    def attack(self, files: Comparison, control: pd.DataFrame) -> ControlledAttack | None:
        """The attack and how it fared; None where there is no column to describe anybody by."""
        attributes = self.columns_described(files, control)
        if not attributes:
            return None
        return singling_out(
            files.recoded, files.masked, control, files.released, self._columns(files, control), self.mode, attributes,
            self.attacks, files.rng,
        )  # fmt: skip

    def columns_described(self, files: Comparison, control: pd.DataFrame) -> int:
        """How many columns a description speaks of; 0 where there are none."""
        return min(1 if self.mode == "univariate" else self.attributes, len(self._columns(files, control)))

    def _columns(self, files: Comparison, control: pd.DataFrame) -> list[str]:
        return list(self.columns or comparable_columns(files, control))

    def describe(self) -> str:
        return (
            "A description read off the file fits exactly one person of the original hardly more often than one of "
            f"people who are not in it (singling out, {self.mode}: risk at most {self.limit:.4g})."
        )


class Linkability(ControlRule):
    """The file helps little to find out that two sets of facts are about one person."""

    rule: Literal["linkability"] = "linkability"
    example: ClassVar[str] = "{rule: linkability, limit: 0.1}"
    about: ClassVar[str] = "Linkability: whether the file tells that two sets of facts are about one person."
    source: ClassVar[str] = "Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023)."
    advice: ClassVar[str] = (
        "The file joins facts from two places about one person: mask one of the two sets of columns independently of "
        "the other, so that their nearest released records differ."
    )
    known: tuple[Columns, Columns] | None = Field(
        default=None,
        description="what is known from one source, and from another; when not given, the quasi-identifiers in turn",
    )
    k: int = Field(default=1, ge=1, description="nearest released records that are looked at")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "linkability.nothing_to_play",
        "The file has fewer than 2 quasi-identifiers, one to be known from each place.",
    )

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        both = sorted(set(self.known[0]) & set(self.known[1])) if self.known else []
        if both:
            raise ValueError(
                f"the two lists of linkability's known must share no column; got {', '.join(both)} in both"
            )
        return self

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.known else (*super().requires, (Need.QUASI_IDENTIFIERS,))

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        keys = known_columns(files, control)
        first, second = self.known or (keys[::2], keys[1::2])
        if not second:
            return
        if len(files.masked) < self.k:
            yield self.unknown(_LINKABILITY.fewer_than_k(k=self.k, unit=files.unit), self.attacks)
            return
        attack = linkability(
            files.recoded, files.masked, control, files.released, first, second, self.k, self.attacks,
            files.rng, units_of(files),
        )  # fmt: skip
        scope = f"{', '.join(first)} to {', '.join(second)}"
        yield self.found(attack, _LINKABILITY.links(), files.unit, scope)

    def describe(self) -> str:
        return (
            "The file hardly tells that two sets of facts from two places are about one person "
            f"(linkability: risk at most {self.limit:.4g})."
        )


class Inference(ControlRule):
    """Knowing some facts about a person, an intruder guesses a sensitive one hardly better because of their record."""

    rule: Literal["inference"] = "inference"
    example: ClassVar[str] = "{rule: inference, limit: 0.1}"
    about: ClassVar[str] = "Inference: guessing a sensitive value better because the person is in the file."
    source: ClassVar[str] = "Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023)."
    advice: ClassVar[str] = (
        "The nearest released record gives a person's sensitive value away better than a stranger's: perturb the "
        "sensitive variable itself, or fit a synthesis less closely (larger leaves, fewer predictors)."
    )
    known: Columns | None = Field(default=None, description="all quasi-identifiers by default")
    secrets: Columns | None = Field(default=None, description="all variables with the role sensitive by default")
    tolerance: Share = Field(default=0.05, description="how far a guessed number may be off, a share of the true one")

    nothing_to_play: ClassVar[Sentence] = Sentence(
        "inference.nothing_to_play",
        "The file has no quasi-identifier to know a person by, or no sensitive variable to guess.",
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        keys = () if self.known else ((Need.QUASI_IDENTIFIERS,),)
        secrets = () if self.secrets else ((Need.SENSITIVE,),)
        return (*super().requires, *keys, *secrets)

    def play(self, files: Comparison, control: pd.DataFrame) -> Iterator[Finding]:
        comparable = comparable_columns(files, control)
        known = list(self.known or known_columns(files, control))
        secrets = self.secrets or [name for name in with_role(files.released, Role.SENSITIVE) if name in comparable]
        for secret in secrets:
            if files.released[secret].kind is Kind.ITEMS:
                why = _INFERENCE.sets_of_items(secret=secret)
                yield self.unknown(why, self.attacks, secret)
                continue
            by = [name for name in known if name != secret]
            if not by:
                yield self.unknown(_INFERENCE.nothing_known(secret=secret), self.attacks, secret)
                continue
            attack = inference(
                files.recoded, files.masked, control, files.released, by, secret, self.tolerance, self.attacks,
                files.rng, units_of(files),
            )  # fmt: skip
            says = _INFERENCE.guesses(facts=len(by), secret=secret)
            yield self.found(attack, says, files.unit, f"{secret} by {', '.join(by)}")

    def describe(self) -> str:
        of = "sensitive variables" if self.secrets is None else ", ".join(self.secrets)
        risk = f"inference: risk at most {self.limit:.4g}"
        return f"Being in the file hardly helps others to guess a person's {of} ({risk})."
