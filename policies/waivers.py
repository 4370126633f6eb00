"""Waivers: a named person excuses one finding, for a reason and until a day; the report goes on showing it. A waiver
for a sensitive cell allows it to be published.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from sluice.ground.declaration import Declaration
from sluice.ground.errors import did_you_mean
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.ground.visible_text import as_name, as_prose

ABOUT = "The waiver of {rule} for {scope} by {owner}"
_SAYS = Sentences(
    "waiver",
    own=f"{ABOUT} excuses nothing: who submits a release cannot excuse it as well.",
    expired=f"{ABOUT} expired on {{day}} and excuses nothing any more.",
    too_early=f"{ABOUT} holds only from {{day}} on.",
    of_unknown=f"{ABOUT} excuses nothing: what could not be measured cannot be excused.",
    not_used=f"{ABOUT} was not used: no such finding needs it. Take it out of the policy.",
)

LONGEST = 366  # days

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(as_name)]


WAIVER = (
    Declaration(
        "waiver",
        helps="Take the waiver out of the policy, or renew it with an owner other than the submitter, a reason and an "
        "end.",
    ),
)


class Waiver(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: _Name = Field(description="name of the rule, as in the policy")
    scope: _Name = Field(description="the finding's own scope (such as a column), or the name of the release")
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=20), AfterValidator(as_prose)] = Field(
        description="why it may be excused, for a reader years later; at least 20 characters"
    )
    owner: _Name = Field(description="the person who answers for it")
    granted: date
    expires: date = Field(description=f"last day on which it holds; at most {LONGEST} days after it was granted")

    @model_validator(mode="after")
    def _ends(self) -> Self:
        days = (self.expires - self.granted).days
        if not 0 <= days <= LONGEST:
            raise ValueError(f"expires must be 0 to {LONGEST} days after granted; got {days}. Grant a new one then")
        return self

    def covers(self, finding: Finding, release_name: str) -> bool:
        """Whether the finding is of this rule and scope; dates are not looked at."""
        return finding.rule == self.rule and self.scope in (finding.scope, release_name)


def apply_waivers(
    findings: Sequence[Finding], waivers: Sequence[Waiver], release_name: str, today: date, submitter: str = ""
) -> list[Finding]:
    """The findings, those that a live waiver excuses marked with it, and a remark on each waiver that did nothing.

    Excuses REVIEW and FAIL, never UNKNOWN: what was not measured cannot be excused. A waiver of the submitter's own
    excuses nothing. Of two waivers for one finding the first is reported. The remarks come last; they are REVIEW and do
    not decide (`binding` is False).
    """
    waived = list(findings)
    remarks = []
    for waiver in waivers:
        covered = [index for index, finding in enumerate(findings) if waiver.covers(finding, release_name)]
        excused = [index for index in covered if findings[index].verdict in (Verdict.REVIEW, Verdict.FAIL)]
        if _plain(waiver.owner) == _plain(submitter):
            remarks.append(remark(waiver, _SAYS.own))
        elif today > waiver.expires:
            remarks.append(remark(waiver, _SAYS.expired, day=str(waiver.expires)))
        elif today < waiver.granted:
            remarks.append(remark(waiver, _SAYS.too_early, day=str(waiver.granted)))
        elif not excused and any(findings[index].verdict is Verdict.UNKNOWN for index in covered):
            remarks.append(remark(waiver, _SAYS.of_unknown))
        elif not excused:
            remarks.append(remark(waiver, _SAYS.not_used))
        else:
            words = f"{waiver.owner} until {waiver.expires}: {waiver.reason}"
            for index in excused:
                if waived[index].waiver is None:
                    waived[index] = waived[index].model_copy(update={"waiver": words})
    return waived + remarks


def _plain(name: str) -> str:
    return "".join(name.casefold().split())


def remark(waiver: Waiver, sentence: Sentence, **data: str) -> Finding:
    """What is to be said of a waiver, beside the findings; it does not decide."""
    return Finding(
        rule="waiver",
        verdict=Verdict.REVIEW,
        scope=waiver.scope,
        stage="pipeline",
        **as_fields(sentence(rule=waiver.rule, scope=waiver.scope, owner=waiver.owner, **data)),
        binding=False,
    )


_ASKED = Sentence("waived_cells.asked", "The a-priori file asks to publish the cell {cell}, which is sensitive.")
_FOR_NO_CELL = Sentence("waiver.for_no_cell", f"{ABOUT} is for no cell that needs it.{{hint}}")


def waived_cells(
    needed: Iterable[tuple[str, str]], waivers: Sequence[Waiver], release_name: str, today: date, submitter: str = ""
) -> tuple[list[Finding], set[tuple[str, str]]]:
    """Which sensitive cells may be published all the same, and the findings that the report goes on showing.

    needed  : (rule, cell), as `sluice.tabular.suppression.manual_status.waivers_needed` gives them
    waivers : of the policy; `rule` is the rule that calls the cell sensitive and `scope` the cell by its codes, such as
              "nace KA1, region Total", in any order
    returns : one finding for each that is needed, FAIL and marked with its waiver if there is a live one, and remarks
              on waivers that did nothing and on those whose scope is nearly that of a cell without one;
              the (rule, cell) that are waived, for `apply_manual`
    """
    findings = [
        Finding(
            rule=rule,
            verdict=Verdict.FAIL,
            stage="original",
            scope=cell,
            **as_fields(_ASKED(cell=cell)),
        )
        for rule, cell in needed
    ]
    cells = {_codes(finding.scope): finding.scope for finding in findings}
    named = {finding.rule for finding in findings}
    candidates = [waiver for waiver in waivers if waiver.rule in named]
    for_cells = [
        waiver.model_copy(update={"scope": cells.get(_codes(waiver.scope), release_name)})
        for waiver in candidates
        if _codes(waiver.scope) in cells or waiver.scope == release_name
    ]
    decided = apply_waivers(findings, for_cells, release_name, today, submitter)
    waived = {(finding.rule, finding.scope) for finding in decided[: len(findings)] if finding.waiver}
    left = {finding.scope for finding in findings} - {cell for _, cell in waived}
    others = [waiver for waiver in candidates if _codes(waiver.scope) not in cells and waiver.scope != release_name]
    return [*decided, *(remark for waiver in others if (remark := _near_miss(waiver, left)))], waived


def _codes(scope: str) -> tuple[str, ...]:
    """The codes of a cell, whatever their order."""
    return tuple(sorted(" ".join(part.split()) for part in scope.split(",")))


def _near_miss(waiver: Waiver, cells: Iterable[str]) -> Finding | None:
    """A remark where the waiver's scope is nearly that of a cell which lacks a waiver."""
    hint = did_you_mean(waiver.scope, cells)
    return remark(waiver, _FOR_NO_CELL, hint=hint) if hint else None
