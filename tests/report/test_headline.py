"""The words of the verdict, and what to do next."""

from datetime import date

import pytest

from sluice.ground.verdict import Acceptance
from sluice.report.dossier import Dossier
from sluice.report.headline import (
    ToChange,
    further_reasons,
    headline,
    in_lines,
    most_telling,
    next_steps,
    reasons,
    what_to_change,
)
from sluice.report.report_page import render
from tests.golden import golden
from tests.report.pages import FAIL, PASS, REVIEW, UNKNOWN, Page, dossier, finding, full_tables, variable

RECODE = [finding(FAIL, rule="k_anonymity", advice="Recode."), finding(PASS, rule="suda", advice="Not this.")]
BROKEN = dossier(finding(FAIL, stage="masked", advice="Coarser groups."))
HELD = {
    "blocked by the worst deciding reason": dossier(
        finding(REVIEW, says="Near the limit."),
        finding(FAIL, says="2,570 of 6,366 women are alone."),
        finding(FAIL, says="Second."),
        finding(UNKNOWN, says="Reported only.", binding=False),
    ),
    "passing": dossier(finding(), finding(FAIL, stage="original", binding=False)),
    "one waived": dossier(finding(), finding(FAIL, says="Means moved.", waiver="B. Moe until 2027-01-01: teaching")),
    "two waived": dossier(*[finding(REVIEW, waiver="w")] * 2),
    "unknown is worse than broken, and no waiver helps": dossier(
        finding(FAIL), finding(UNKNOWN, says="Too few records.", waiver="please"), verdict=PASS
    ),
    "review is held": dossier(finding(REVIEW, says="Near the limit.")),
    "no finding blocks": dossier(verdict=PASS),
    "no deciding finding blocks": dossier(finding(binding=False), verdict=PASS),
    "a recorded verdict without a reason blocks": dossier(finding(), verdict=FAIL),
    "or with a lesser reason": dossier(finding(REVIEW), verdict=FAIL),
    "a recorded pass does not hide a broken rule": dossier(finding(FAIL, says="Broken."), verdict=PASS),
    "at most five further reasons, the rest is counted": dossier(
        *(finding(FAIL, says=f"Reason {number}.") for number in range(9))
    ),
    "no advice twice": dossier(*RECODE * 3),
    "advice of each reason": dossier(finding(FAIL, advice="Recode."), finding(REVIEW, rule="suda", advice="Decide.")),
    "no advice": dossier(finding(FAIL)),
    "a plan may mend it": BROKEN,
    "a change was suggested": BROKEN.model_copy(update={"suggestions": ("leave town out",)}),
    "the data must be mended": dossier(finding(FAIL, stage="contract", advice="Mend the data.")),
    "an assessment has no definition": BROKEN.model_copy(update={"release": "assessment-0123456789ab"}),
    "tables have no suggestions": dossier(finding(FAIL, advice="Coarser groups."), view=full_tables().view),
}


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_the_verdict_is_told_with_its_reasons_and_what_to_do_next(held: Dossier) -> None:
    golden("\n".join([headline(held), *next_steps(held)]))
    page = Page(render(held))
    golden(page.section("verdict"))
    told = page.texts("p", class_="headline")
    assert [headline(held) in each for each in told] == [True] * bool(told)


@pytest.mark.parametrize("which", ["no finding blocks", "no deciding finding blocks"])
def test_what_nobody_judged_is_unknown(which: str) -> None:
    assert Page(render(HELD[which])).all("section", id="verdict")[0][0]["class"] == "verdict unknown"


def test_what_could_not_be_judged_hides_neither_what_fails_nor_what_needs_a_decision() -> None:
    held = dossier(
        finding(UNKNOWN, says="Too few."),
        finding(REVIEW, says="Near the limit."),
        finding(FAIL, says="20 unique records."),
        finding(FAIL, says="20 unique records.", scope="age"),
    )
    assert [each.verdict for each in reasons(held)] == [FAIL, FAIL, REVIEW, UNKNOWN]
    assert headline(held).startswith("Blocked: 20 unique records. Beside that, 1 finding needs a decision and 1 rule")
    assert [(each.title, each.reasons[0][0]) for each in further_reasons(held)] == [
        ("Needs a decision", ("Near the limit.",)),
        ("Could not be judged", ("Too few.",)),
    ]
    page = Page(render(held))
    assert page.all("section", id="verdict")[0][0]["class"] == "verdict fail"
    assert page.section("verdict").count("20 unique records.") == 1


def test_of_what_is_open_and_what_is_unknown_the_release_is_blocked() -> None:
    held = dossier(finding(REVIEW, says="Near."), finding(UNKNOWN, says="Too few."))
    assert headline(held) == "Blocked, could not be judged: Too few. Beside that, 1 finding needs a decision."
    assert [each.title for each in further_reasons(held)] == ["Needs a decision"]


def test_an_acceptance_is_said_and_a_decision_asked_of_those_who_may() -> None:
    said = Acceptance(by="mina", at="2026-01-02", until=date(2026, 2, 1), reason="Two regions as large as countries.")
    assert headline(dossier(finding(REVIEW, accepted=said), verdict=PASS)).startswith(
        "Meets the policy under 1 accepted finding: "
    )
    held = dossier(finding(REVIEW), decides=("methodologist", "lawyer"))
    assert next_steps(held)[0].startswith("Somebody with the role methodologist or lawyer, other than the submitter")


# What to change, as the terminal says it of a dossier.


RARE = "age: without it, none instead of 40 people would break this rule."


def test_each_advice_once_with_all_rules_and_where_they_are_broken() -> None:
    held = dossier(
        finding(FAIL, rule="k_anonymity", advice="Recode.", where=(RARE,)),
        finding(FAIL, rule="k_map", advice="Recode."),
        finding(PASS, rule="suda", advice="Not this."),
        finding(FAIL, rule="l_diversity", advice="Mix."),
    )
    assert what_to_change(held) == [
        ToChange(("k_anonymity", "k_map"), "Recode.", (RARE,)),
        ToChange(("l_diversity",), "Mix."),
    ]
    assert in_lines(held) == ["k-anonymity, k-map: Recode.", f"  - {RARE}", "l-diversity: Mix."]
    assert RARE in Page(render(held)).section("findings")


def test_of_an_attack_the_variables_are_named_that_still_tell_people_apart() -> None:
    view = dossier().view.model_copy(
        update={
            "variables": (
                variable("sex", entropy_after=1.0, changed=0.0),
                variable("age", entropy_after=6.0, changed=0.25),
                variable("income", entropy_after=None, changed=0.5),
                variable("constant", entropy_after=0.0, changed=0.0),
            )
        }
    )
    attacked = dossier(finding(FAIL, stage="reference", advice="Swap."), view=view)
    golden(most_telling(attacked))
    assert in_lines(attacked)[-1] == most_telling(attacked)
    assert most_telling(attacked) not in in_lines(dossier(finding(FAIL, stage="masked", advice="Swap."), view=view))
    assert most_telling(full_tables()) == ""


def test_what_passes_has_nothing_to_change() -> None:
    assert what_to_change(dossier(finding(PASS))) == []
    assert in_lines(dossier(finding(PASS))) == []
