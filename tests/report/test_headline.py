"""The words of the verdict, and what to do next."""

import pytest

from sluice.report.headline import headline, next_steps, reasons
from sluice.report.report import render
from sluice.verdict import Finding, Verdict
from tests.report.pages import FAIL, PASS, REVIEW, UNKNOWN, Page, dossier, finding


class TestHeadline:
    def test_blocked_gives_the_worst_deciding_reason(self) -> None:
        held = dossier(
            finding(REVIEW, says="Near the limit."),
            finding(FAIL, says="2,570 of 6,366 women are alone."),
            finding(FAIL, says="Second."),
            finding(UNKNOWN, says="Reported only.", binding=False),
        )
        assert headline(held) == "Blocked: 2,570 of 6,366 women are alone."
        page = Page(render(held))
        assert page.texts("p", class_="headline") == ["✗ Blocked: 2,570 of 6,366 women are alone."]
        verdict = page.section("verdict")
        assert verdict.index("Second.") < verdict.index("Near the limit.")
        assert "Reported only." not in verdict

    def test_passing_says_who_must_approve(self) -> None:
        passing = dossier(finding(), finding(FAIL, stage="original", binding=False))
        assert headline(passing) == "Meets the policy: 2 people must approve before it is published."
        assert "Further reasons" not in Page(render(passing)).section("verdict")

    def test_waived_is_said_in_the_headline_and_shown_beside_it(self) -> None:
        passing = dossier(finding(), finding(FAIL, says="Means moved.", waiver="B. Moe until 2027-01-01: teaching"))
        assert headline(passing) == "Meets the policy under 1 waiver: 2 people must approve before it is published."
        assert "Means moved. Waiver: B. Moe until 2027-01-01: teaching" in Page(render(passing)).section("verdict")
        two = dossier(*[finding(REVIEW, waiver="w")] * 2)
        assert headline(two).startswith("Meets the policy under 2 waivers: ")

    def test_unknown_is_worse_than_broken_and_no_waiver_helps(self) -> None:
        held = dossier(finding(FAIL), finding(UNKNOWN, says="Too few records.", waiver="please"), verdict=PASS)
        assert headline(held) == "Blocked, could not be judged: Too few records."
        assert reasons(held)[0].verdict is UNKNOWN

    def test_review_is_held(self) -> None:
        assert headline(dossier(finding(REVIEW, says="Near the limit."))) == "Held for a decision: Near the limit."

    @pytest.mark.parametrize("findings", [(), (finding(binding=False),)])
    def test_no_deciding_finding_blocks(self, findings: tuple[Finding, ...]) -> None:
        empty = dossier(*findings, verdict=PASS)
        assert headline(empty).startswith("Blocked: nothing was judged")
        page = Page(render(empty))
        assert page.all("section", id="verdict")[0][0]["class"] == "verdict unknown"
        assert "Meets the policy" not in page.section("verdict")

    def test_a_recorded_verdict_without_a_reason_blocks(self) -> None:
        assert headline(dossier(finding(), verdict=FAIL)).startswith("Blocked: the recorded verdict is worse")
        assert headline(dossier(finding(REVIEW), verdict=FAIL)).startswith("Blocked: the recorded verdict is worse")

    def test_a_recorded_pass_does_not_hide_a_broken_rule(self) -> None:
        assert headline(dossier(finding(FAIL, says="Broken."), verdict=PASS)) == "Blocked: Broken."

    def test_at_most_five_further_reasons_the_rest_is_counted(self) -> None:
        held = dossier(*(finding(FAIL, says=f"Reason {number}.") for number in range(9)))
        verdict = Page(render(held)).section("verdict")
        assert [f"Reason {number}." in verdict for number in range(9)] == [True] * 6 + [False] * 3
        assert "And 3 more among the findings." in verdict

    @pytest.mark.parametrize(
        ("rule", "stage", "verdict", "advice"),
        [
            ("k_anonymity", "masked", FAIL, "suppress the rare values locally"),
            ("sample_uniques_share", "masked", FAIL, "suppress the rare values locally"),
            ("l_diversity", "masked", FAIL, "coarsen the sensitive variable"),
            ("distance", "reference", FAIL, "Perturb more"),
            ("exact_matches", "reference", FAIL, "came through almost unchanged"),
            ("record_linkage", "masked", FAIL, "the attack used"),
            ("p_percent", "masked", FAIL, "suppress cells"),
            ("mean", "utility", FAIL, "more gently"),
            ("freshness", "contract", FAIL, "at the source"),
            ("steps", "pipeline", FAIL, "step that stopped"),
            ("something_new", "masked", FAIL, "change the definition"),
            ("distance", "reference", UNKNOWN, "why the check could not be completed"),
            ("distance", "reference", REVIEW, "record a waiver"),
        ],
    )
    def test_what_to_do_next_follows_the_kind_of_rule(
        self, rule: str, stage: str, verdict: Verdict, advice: str
    ) -> None:
        steps = next_steps(dossier(*[finding(verdict, rule=rule, stage=stage)] * 3))
        assert sum(advice in step for step in steps) == 1
        assert len(steps) == len(set(steps)) <= 2
