"""The words of the verdict, and what to do next."""

import pytest

from sluice.report.headline import SUGGEST, headline, next_steps, reasons
from sluice.report.report import render
from sluice.verdict import Finding
from tests.golden import golden
from tests.report.pages import FAIL, PASS, REVIEW, UNKNOWN, Page, dossier, finding, full_tables


class TestHeadline:
    def test_blocked_gives_the_worst_deciding_reason(self) -> None:
        held = dossier(
            finding(REVIEW, says="Near the limit."),
            finding(FAIL, says="2,570 of 6,366 women are alone."),
            finding(FAIL, says="Second."),
            finding(UNKNOWN, says="Reported only.", binding=False),
        )
        golden(headline(held))
        page = Page(render(held))
        assert page.texts("p", class_="headline") == ["✗ Blocked: 2,570 of 6,366 women are alone."]
        verdict = page.section("verdict")
        assert verdict.index("Second.") < verdict.index("Near the limit.")
        assert "Reported only." not in verdict

    def test_passing_says_who_must_approve(self) -> None:
        passing = dossier(finding(), finding(FAIL, stage="original", binding=False))
        golden(headline(passing))
        assert "Further reasons" not in Page(render(passing)).section("verdict")

    def test_waived_is_said_in_the_headline_and_shown_beside_it(self) -> None:
        passing = dossier(finding(), finding(FAIL, says="Means moved.", waiver="B. Moe until 2027-01-01: teaching"))
        golden(headline(passing))
        assert "Means moved. Waiver: B. Moe until 2027-01-01: teaching" in Page(render(passing)).section("verdict")
        two = dossier(*[finding(REVIEW, waiver="w")] * 2)
        golden(headline(two))

    def test_unknown_is_worse_than_broken_and_no_waiver_helps(self) -> None:
        held = dossier(finding(FAIL), finding(UNKNOWN, says="Too few records.", waiver="please"), verdict=PASS)
        golden(headline(held))
        assert reasons(held)[0].verdict is UNKNOWN

    def test_review_is_held(self) -> None:
        golden(headline(dossier(finding(REVIEW, says="Near the limit."))))

    @pytest.mark.parametrize("findings", [(), (finding(binding=False),)])
    def test_no_deciding_finding_blocks(self, findings: tuple[Finding, ...]) -> None:
        empty = dossier(*findings, verdict=PASS)
        golden.words(headline(empty))
        page = Page(render(empty))
        assert page.all("section", id="verdict")[0][0]["class"] == "verdict unknown"
        assert "Meets the policy" not in page.section("verdict")

    def test_a_recorded_verdict_without_a_reason_blocks(self) -> None:
        golden.words(headline(dossier(finding(), verdict=FAIL)))
        golden.words(headline(dossier(finding(REVIEW), verdict=FAIL)))

    def test_a_recorded_pass_does_not_hide_a_broken_rule(self) -> None:
        assert headline(dossier(finding(FAIL, says="Broken."), verdict=PASS)) == "Blocked: Broken."

    def test_at_most_five_further_reasons_the_rest_is_counted(self) -> None:
        held = dossier(*(finding(FAIL, says=f"Reason {number}.") for number in range(9)))
        verdict = Page(render(held)).section("verdict")
        assert [f"Reason {number}." in verdict for number in range(9)] == [True] * 6 + [False] * 3
        assert "And 3 more among the findings." in verdict

    def test_what_to_do_next_is_the_advice_on_each_reason_and_no_sentence_twice(self) -> None:
        recode = [finding(FAIL, rule="k_anonymity", advice="Recode."), finding(PASS, rule="suda", advice="Not this.")]
        assert next_steps(dossier(*recode * 3)) == ["Recode.", SUGGEST]
        steps = next_steps(dossier(finding(FAIL, advice="Recode."), finding(REVIEW, rule="suda", advice="Decide.")))
        assert steps[:2] == ["Recode.", "Decide."]
        assert "record a waiver" in steps[-1]
        assert next_steps(dossier(finding(FAIL))) == [
            "Read below what the rule found, change what was released and evaluate again.",
            SUGGEST,
        ]


def test_what_a_plan_may_mend_points_to_the_search_of_changes_until_somebody_made_it() -> None:
    broken = finding(FAIL, stage="masked", advice="Coarser groups.")
    assert any("sluice suggest FILE" in step for step in next_steps(dossier(broken)))
    assert "sluice suggest FILE" in Page(render(dossier(broken))).section("verdict")
    assert not any("sluice suggest" in step for step in next_steps(dossier(broken, suggestions=("leave town out",))))
    of_data = finding(FAIL, stage="contract", advice="Mend the data.")
    golden(next_steps(dossier(of_data)))
    assert not any("sluice suggest" in step for step in next_steps(dossier(broken, view=full_tables().view)))
