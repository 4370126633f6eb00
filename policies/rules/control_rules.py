"""Rules on attacks with a control: what works on the people in the file better than on others."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from policies.original_and_masked import OriginalAndMasked
from policies.rules.attack_rule import AttackRule
from policies.rules.rule import Share
from sluice.risk.attacks.attack_success import ControlledAttack
from sluice.risk.attacks.inference import inference
from sluice.risk.attacks.linkability import linkability
from sluice.risk.attacks.membership import membership, nearer_to_original
from sluice.risk.attacks.singling_out import Mode, singling_out
from sluice.variables import NAMES, Kind, Role, with_role
from sluice.verdict import Finding, Verdict

Columns = Annotated[tuple[str, ...], Field(min_length=1)]


class ControlRule(AttackRule):
    """An attack on the people in the file and on a control: people of the same kind who are not in it, the holdout.

    Original and control are looked at as the recodings of the plan leave them, in the categories of the released file.
    An attack that does worse than guessing beyond chance is UNKNOWN; one that does no better is REVIEW at least: a file
    of pure noise and an ill-chosen attack look alike.
    """

    nothing_to_play: ClassVar[str]  # why no attack was possible

    limit: Share = Field(description="largest figure allowed, a share from 0 to 1")
    excess: None = Field(default=None, description="not used: these figures are already beyond what the control gives")
    attacks: int = Field(default=2000, ge=100, description="guesses on each side; fewer where there are fewer records")

    def find(self, files: OriginalAndMasked) -> list[Finding]:
        control = files.recoded_holdout
        if control is None:
            return [
                self.unknown(
                    f"No {files.unit} were set aside as a control (a holdout), so what the file gives away cannot "
                    "be told from what is true of everybody."
                )
            ]
        for what, frame in (
            ("in the original", files.recoded), ("in the released file", files.masked), ("set aside", control),
        ):  # fmt: skip
            if not len(frame):
                return [self.unknown(f"There are no {files.unit} {what}.", self.attacks)]
        findings = list(self.play(files, control)) or [self.unknown(self.nothing_to_play, self.attacks)]
        left_out = [
            name
            for name, variable in files.released.items()
            if variable.role not in NAMES and name not in _comparable(files, control)
        ]
        if not left_out:
            return findings
        note = f"Left out, because the original has no such column: {', '.join(left_out)}."
        return [finding.model_copy(update={"says": f"{finding.says} {note}"}) for finding in findings]

    @abstractmethod
    def play(self, files: OriginalAndMasked, control: pd.DataFrame) -> Iterator[Finding]:
        """The findings, none where the file lacks what the attack needs; `control` is typed as the released file."""

    def found(self, attack: ControlledAttack, what: str, unit: str, scope: str) -> Finding:
        """The finding on one attack. `what` tells what a right guess is."""
        if not attack.completed:
            return self.unknown("The intruder could make no guess.", attack.main.attempted, scope)
        main, control, measured = attack.main.share, attack.control.share, attack.risk()
        says = (
            f"An intruder {what} in {_percent(main)} of the guesses on {unit} in the file, and in {_percent(control)} "
            f"of those on {unit} who are not in it: a risk of {max(0.0, measured.value):.3g} through the file itself."
        )
        judged = self.judge(measured, says, scope)
        if attack.informative:
            return judged
        says = (
            f"{judged.says} Guessing at random is right in {_percent(attack.baseline)}, so the attack was no better "
            "than guessing and tells little of the risk. Give the intruder other columns or more attacks."
        )
        verdict = Verdict.UNKNOWN if attack.worse_than_guessing else Verdict.REVIEW
        return judged.model_copy(update={"verdict": max(judged.verdict, verdict), "says": says})


class SinglingOut(ControlRule):
    """Descriptions that fit one released record fit one person of the original hardly more often than one of others."""

    rule: Literal["singling_out"] = "singling_out"
    mode: Mode = Field(default="multivariate", description="descriptions by one column, or by several")
    attributes: int = Field(
        default=3, ge=2, description="columns in a multivariate description; all, if there are fewer"
    )
    columns: Columns | None = Field(default=None, description="all released columns, when not given")

    nothing_to_play: ClassVar[str] = "The file has no column that the original has, too."

    def play(self, files: OriginalAndMasked, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or _comparable(files, control))
        if not columns:
            return
        attributes = 1 if self.mode == "univariate" else min(self.attributes, len(columns))
        attack = singling_out(
            files.recoded, files.masked, control, files.released, columns, self.mode, attributes, self.attacks,
            files.rng,
        )  # fmt: skip
        how = "one column" if attributes == 1 else f"{attributes} columns"
        what = f"who describes a released record by {how} describes exactly one of the {files.unit}"
        yield self.found(attack, what, files.unit, self.mode)

    def describe(self) -> str:
        return (
            "A description read off the file fits exactly one person of the original hardly more often than one of "
            f"people who are not in it (singling out, {self.mode}: risk at most {self.limit:.4g})."
        )


class Linkability(ControlRule):
    """The file helps little to find out that two sets of facts are about one person."""

    rule: Literal["linkability"] = "linkability"
    known: tuple[Columns, Columns] | None = Field(
        default=None,
        description="what is known from one place, and from another; when not given, the quasi-identifiers by turns",
    )
    k: int = Field(default=1, ge=1, description="nearest released records that are looked at")

    nothing_to_play: ClassVar[str] = "The file has fewer than 2 quasi-identifiers, one to be known from each place."

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        both = sorted(set(self.known[0]) & set(self.known[1])) if self.known else []
        if both:
            raise ValueError(
                f"the two lists of linkability's known must share no column; got {', '.join(both)} in both"
            )
        return self

    def play(self, files: OriginalAndMasked, control: pd.DataFrame) -> Iterator[Finding]:
        keys = _quasi_identifiers(files, control)
        first, second = self.known or (keys[::2], keys[1::2])
        if not second:
            return
        if len(files.masked) < self.k:
            yield self.unknown(f"The file holds fewer than {self.k:,} {files.unit}.", self.attacks)
            return
        attack = linkability(
            files.recoded, files.masked, control, files.released, first, second, self.k, self.attacks,
            files.rng,
        )  # fmt: skip
        scope = f"{', '.join(first)} to {', '.join(second)}"
        yield self.found(attack, "who knows two sets of facts links them by the file", files.unit, scope)

    def describe(self) -> str:
        return (
            "The file hardly tells that two sets of facts from two places are about one person "
            f"(linkability: risk at most {self.limit:.4g})."
        )


class Inference(ControlRule):
    """Who knows some facts about a person guesses a sensitive one hardly better for the person being in the file."""

    rule: Literal["inference"] = "inference"
    known: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")
    secrets: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")
    tolerance: Share = Field(default=0.05, description="how far a guessed number may be off, a share of the true one")

    nothing_to_play: ClassVar[str] = (
        "The file has no quasi-identifier to know a person by, or no sensitive variable to guess."
    )

    def play(self, files: OriginalAndMasked, control: pd.DataFrame) -> Iterator[Finding]:
        comparable = _comparable(files, control)
        known = list(self.known or _quasi_identifiers(files, control))
        secrets = self.secrets or [name for name in with_role(files.released, Role.SENSITIVE) if name in comparable]
        for secret in secrets:
            by = [name for name in known if name != secret]
            if not by:
                yield self.unknown(f"Nothing is known to guess {secret.replace('_', ' ')} by.", self.attacks, secret)
                continue
            attack = inference(
                files.recoded, files.masked, control, files.released, by, secret, self.tolerance, self.attacks,
                files.rng,
            )  # fmt: skip
            what = f"who knows {len(by)} facts guesses {secret.replace('_', ' ')}"
            yield self.found(attack, what, files.unit, f"{secret} by {', '.join(by)}")

    def describe(self) -> str:
        of = "sensitive variables" if self.secrets is None else ", ".join(self.secrets)
        risk = f"inference: risk at most {self.limit:.4g}"
        return f"Being in the file hardly helps others to guess a person's {of} ({risk})."


class MembershipInference(ControlRule):
    """Nearness to a released record hardly tells who was in the original data."""

    rule: Literal["membership"] = "membership"
    columns: Columns | None = Field(default=None, description="all released columns, when not given")
    nearer: Share | None = Field(
        default=None,
        ge=0.5,
        description="share of released records that may be nearer to a person of the original than to one set aside; "
        "0.5 is chance. Not judged, when not given",
    )

    nothing_to_play: ClassVar[str] = SinglingOut.nothing_to_play

    def play(self, files: OriginalAndMasked, control: pd.DataFrame) -> Iterator[Finding]:
        columns = list(self.columns or _comparable(files, control))
        if not columns:
            return
        if min(len(files.recoded), len(control)) < 2:
            yield self.unknown(f"The attack needs 2 {files.unit} in the file and 2 set aside.", 2 * self.attacks)
            return
        inputs = (files.recoded, files.masked, control, files.released, columns, self.attacks, files.rng)
        told = membership(*inputs)
        says = (
            f"By their nearness to the file, {files.unit} who are in it can be told from others with an advantage "
            f"of {told.advantage.value:.3g} (0 is guessing, 1 certainty); of one who is and one who is not, the nearer "
            f"one is in it in {_percent(told.area.value)} of the cases."
        )
        yield self.judge(told.advantage, says, "nearness to the file")
        if self.nearer is not None:
            measured = nearer_to_original(*inputs)
            says = (
                f"{_percent(measured.value)} of the released records are nearer to one of the {files.unit} behind "
                "the file than to one who was set aside; without a trace of them it would be half."
            )
            yield self.model_copy(update={"limit": self.nearer}).judge(measured, says, "nearer records")

    def describe(self) -> str:
        nearer = f", and at most {_percent(self.nearer)} of the released records nearer to them" if self.nearer else ""
        return (
            "Nearness to a released record hardly tells who was in the original data (membership: advantage at most "
            f"{self.limit:.4g}{nearer})."
        )


def _comparable(files: OriginalAndMasked, control: pd.DataFrame) -> list[str]:
    """Released columns that describe a person and that original and control have, too."""
    return [
        name
        for name, variable in files.released.items()
        if variable.kind is not Kind.TEXT
        and variable.role not in NAMES
        and all(name in frame.columns for frame in (files.recoded, files.masked, control))
    ]


def _quasi_identifiers(files: OriginalAndMasked, control: pd.DataFrame) -> Sequence[str]:
    return [name for name in _comparable(files, control) if files.released[name].role is Role.QUASI_IDENTIFIER]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
