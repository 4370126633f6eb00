"""What to change, as the terminal says it of a dossier."""

from sluice.report.headline import ToChange, in_lines, most_telling, what_to_change
from sluice.report.report_page import render
from tests.golden import golden
from tests.report.pages import FAIL, PASS, Page, dossier, finding, full_tables, variable

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
