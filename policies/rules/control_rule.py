"""ControlRule: an attack that must work better on the people in the file than on others."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pandas as pd
from pydantic import Field

from policies.rules.attack_rule import AttackRule
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Saying, Sentence, Sentences
from sluice.ground.shares import Share
from sluice.ground.variables import NAMES, Kind, Role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import ControlledAttack
from sluice.utility.comparison import Comparison

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
    attacks: int = Field(default=2000, ge=100, description="guesses on each side; fewer where there are fewer records")

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


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"
