"""Waived cells: sensitive cells that a waiver allows to be published."""

from collections.abc import Iterable, Sequence
from datetime import date

from policies.waivers import ABOUT, Waiver, apply_waivers, remark
from sluice.ground.errors import did_you_mean
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.verdict import Finding, Verdict

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
