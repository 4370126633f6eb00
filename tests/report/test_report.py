"""The report: structure, escaping, self-containedness, determinism, small counts, and the words of the verdict."""

import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import SluiceError
from sluice.report.dossier import Dossier
from sluice.report.headline import next_steps, reasons
from sluice.report.report import figure, headline, render_report
from sluice.report.small_counts import safe_counts, share
from sluice.risk.reference.curve import Curve
from sluice.utility.variable_summary import VariableSummary
from sluice.variables import Kind, Role
from sluice.verdict import Finding, Verdict

PASS, REVIEW, FAIL, UNKNOWN = Verdict
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Elements with their attributes and the text inside them; refuses tags that do not close in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(html)
        self.close()
        assert not self._open, "an element is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag, f"</{tag}> closes another element"
        if tag in ("td", "th", "dt", "dd", "li", "p"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for index in self._open:
            self.elements[index][2].append(data)

    def all(self, tag: str, **attributes: str) -> list[tuple[dict[str, str | None], str]]:
        """Attributes and whitespace-normalised text of every such element."""
        return [
            (attrs, " ".join("".join(text).split()))
            for name, attrs, text in self.elements
            if name == tag and all(attrs.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]

    def texts(self, tag: str, **attributes: str) -> list[str]:
        return [text for _, text in self.all(tag, **attributes)]

    def section(self, name: str) -> str:
        return self.texts("section", id=name)[0]


def finding(verdict: Verdict = PASS, rule: str = "k_anonymity", **given: Any) -> Finding:
    return Finding(
        **{"rule": rule, "verdict": verdict, "stage": "masked", "says": f"{rule} says {verdict.name}.", **given}
    )


def curve(measure: str = "distance", **given: Any) -> Curve:
    shares = {"grid": (0.2, 0.4, 0.8), "masked": (0.2, 0.5, 1.0), "reference": (0.1, 0.4, 1.0)}
    judged = {"statistic": 0.1, "at": 0.4, "margin": 0.05, "p_value": 0.0004, "verdict": FAIL, "binding": True}
    return Curve(**{"measure": measure, **shares, **judged, **given})


def variable(name: str = "age", **given: Any) -> VariableSummary:
    described = {"description": f"about {name}", "unit": "years", "role": Role.QUASI_IDENTIFIER}
    kinds = {"kind_before": Kind.CONTINUOUS, "kind_after": Kind.ORDINAL}
    shares = {"missing_before": 0.0, "missing_after": 0.02, "changed": 0.5, "suppressed": 0.02}
    bins = {"bins": ("20 to 30", "30 to 40"), "counts_before": (400, 600), "counts_after": (390, 590)}
    moments = {"mean_before": 31.25, "mean_after": 31.5, "deviation_before": 6.0, "deviation_after": 6.5}
    return VariableSummary(**{"name": name, **described, **kinds, **shares, **bins, **moments, **given})


def dossier(*findings: Finding, **given: Any) -> Dossier:
    base = {
        "release": "survey-1",
        "name": "survey-teaching",
        "title": "Survey, teaching file",
        "dataset": "survey",
        "contract_version": "3",
        "policy": "public-use",
        "policy_version": "2",
        "submitter": "m.okafor",
        "evaluated_at": "2026-01-02T03:04:05Z",
        "verdict": max((f.verdict for f in findings if f.binding and not f.waiver), default=PASS),
        "findings": findings,
        "plan": ("Ages were grouped into bands of ten years.",),
        "approvals_needed": "2 people must approve before it is published.",
        "records_original": 1000,
        "records_holdout": 0,
        "records_released": 1000,
        "earlier_attempts": 0,
        "minimum_cell": 10,
        "hashes": {"data": "ab" * 32, "plan": "cd" * 32},
        "versions": {"sluice": "0.1.0", "numpy": "2.4.1"},
    }
    return Dossier(**{**base, **given})


@pytest.fixture(scope="module")
def full() -> Dossier:
    return dossier(
        finding(stage="contract", rule="record_key", scope="person"),
        finding(FAIL, stage="original", binding=False, observed=1, limit=5, scope="age", says="Before, it says more."),
        finding(FAIL, stage="masked", observed=2, limit=5, scope="age, sex", attempted=1000, completed=990),
        finding(UNKNOWN, rule="ambiguity", stage="reference", waiver="A. Lind until 2027-01-01: too few"),
        finding(FAIL, rule="mean", stage="utility", waiver="B. Moe until 2027-01-01: for teaching only"),
        finding(REVIEW, rule="own_check", stage="somewhere_else"),
        finding(stage="pipeline", rule="steps_completed", scope="4 steps", observed=4, limit=4),
        curves=(
            curve("distance"),
            curve("ambiguity", verdict=REVIEW, p_value=0.2),
            curve("uncertainty", binding=False),
        ),
        variables=(
            variable("age"),
            variable("sex", kind_before=Kind.NOMINAL, kind_after=Kind.NOMINAL, mean_before=None, mean_after=None),
            variable("note", kind_before=Kind.TEXT, kind_after=Kind.TEXT, bins=(), counts_before=(), counts_after=()),
            variable("person", role=Role.IDENTIFIER, kind_after=None, bins=(), counts_before=(), counts_after=()),
        ),
        earlier_attempts=3,
    )


@pytest.fixture(scope="module")
def page(full: Dossier) -> Page:
    return Page(render_report(full))


class TestStructure:
    def test_sections_come_in_the_reviewers_order(self, page: Page) -> None:
        assert page.texts("h1") == ["Survey, teaching file"]
        assert page.texts("h2") == [
            "Verdict",
            "Findings",
            "The reference standard",
            "Variable by variable",
            "What was done",
            "Appendix",
            "Glossary",
        ]

    def test_a_heading_never_skips_a_level(self, page: Page) -> None:
        levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_is_accessible_to_those_who_cannot_see_it(self, page: Page) -> None:
        assert page.all("html")[0][0]["lang"] == "en-GB"
        assert all(attrs.get("scope") in ("col", "row") for attrs, _ in page.all("th"))
        plots = [attrs for attrs, _ in page.all("svg") if attrs.get("class") == "plot"]
        assert len(plots) == 5  # three curves, two distributions
        assert all(attrs["role"] == "img" and len(attrs["aria-label"] or "") > 30 for attrs in plots)
        assert all(attrs.get("aria-hidden") == "true" for attrs, _ in page.all("svg") if attrs not in plots)
        assert len(page.all("figure")) == len(page.all("figcaption")) == 6
        assert all(text for text in page.texts("figcaption"))

    def test_every_id_is_unique_and_every_link_leads_somewhere(self, full: Dossier, page: Page) -> None:
        ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
        assert len(ids) == len(set(ids))
        html = render_report(full)
        wanted = re.findall(r'href="#([^"]+)"', html) + re.findall(r"url\(#([^)]+)\)", html)
        assert wanted
        assert set(wanted) <= set(ids)

    def test_every_finding_appears_with_its_verdict_in_words(self, full: Dossier, page: Page) -> None:
        rows = [text for text in page.texts("tr") if "says" in text]
        assert len(rows) == len(full.findings)
        for found in full.findings:
            row = next(row for row in rows if found.says in row and (found.scope or "–") in row)
            word = {PASS: "✓ meets the rule", REVIEW: "! needs a decision", FAIL: "✗ breaks the rule"}
            assert word.get(found.verdict, "? could not be judged, therefore blocked") in row
            assert ("reported only" in row) is not found.binding
            assert (found.waiver or "") in row
            assert ("waived" in row) is bool(found.waiver)
        assert "990 of 1,000 cases examined" in next(row for row in rows if "k-anonymity" in row and "990" in row)
        assert "cannot be excused" in next(row for row in rows if "A. Lind" in row)

    def test_stages_stand_in_order_and_a_foreign_stage_is_not_lost(self, page: Page) -> None:
        section = page.section("findings")
        titles = ["against their contract", "Before masking", "The masked file", "beside the reference standard"]
        titles += ["still good for", "The run itself", "Other findings"]
        places = [section.index(title) for title in titles]
        assert places == sorted(places)
        assert "own_check says REVIEW." in section[places[-1] :]

    def test_each_curve_says_its_verdict_and_figures(self, page: Page) -> None:
        section = page.section("curves")
        assert section.count("rises at most 0.100 above the reference, at 0.4") == 3
        assert "more than chance explains (p < 0.001)" in section
        assert "chance could explain it (p = 0.200): a person must decide" in section
        assert "✗ breaks the rule reported only" in section

    def test_every_variable_appears_and_the_withheld_are_listed(self, page: Page) -> None:
        section = page.section("variables")
        released, withheld = section.split("Not released")
        rows = page.texts("tr")
        assert any(
            row.startswith("age (years) quasi-identifier continuous → ordinal 31.25 → 31.5 6 → 6.5") for row in rows
        )
        assert "50.0 %" in released
        assert "0.0 % → 2.0 %" in released
        assert "No distribution is shown for this variable" in released
        assert "person (identifier)" in withheld
        assert "person (" not in released

    def test_what_was_done_and_the_appendix_are_complete(self, full: Dossier, page: Page) -> None:
        done, appendix = page.section("done"), page.section("appendix")
        for text in (
            *full.plan,
            full.approvals_needed,
            full.submitter,
            "Original records 1,000",
            "public-use, version 2",
        ):
            assert text in done
        for text in (*full.hashes.values(), *full.versions.values(), "no count of records below 10"):
            assert text in appendix
        assert "These data were judged 3 times before." in appendix
        assert len(page.texts("dt")) >= 10
        assert sum(term in page.section("glossary") for term in ("k-anonymity", "Masking", "Equivalence class")) == 3
        assert len(Page(render_report(dossier())).all("dl", class_="glossary")) == 1

    def test_the_first_attempt_is_not_warned_about(self) -> None:
        html = render_report(dossier(finding()))
        assert "judged before:" not in html
        assert "No other release of these data was judged before this one." in html

    def test_many_groups_are_drawn_in_part_and_told_in_full(self) -> None:
        bins = tuple(f"group {number}" for number in range(40))
        counts = tuple(range(100, 140))
        html = render_report(
            dossier(finding(), variables=(variable(bins=bins, counts_before=counts, counts_after=counts),))
        )
        page = Page(html)
        assert "The 16 smallest groups are only in the figures" in page.section("variables")
        assert set(bins) <= set(page.texts("th"))
        assert sum(text in bins for text in page.texts("text")) == 24


class TestContainment:
    def test_loads_nothing_and_runs_nothing(self, full: Dossier, page: Page) -> None:
        html = render_report(full)
        assert not {"script", "link", "img", "iframe", "object", "embed", "image", "base"} & {
            e[0] for e in page.elements
        }
        for tag, attrs, _ in page.elements:
            assert not [name for name in attrs if name.startswith("on")], tag
            for name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                assert (attrs.get(name) or "#").startswith("#"), f"<{tag} {name}> leads outside"
        assert not re.search(r"https?:|@import|@font-face|url\((?!#)", html)
        assert "default-src 'none'" in html

    def test_everything_is_escaped(self) -> None:
        attack = """</style></svg><script>alert("1")</script><img src=x onerror='a'>{{ 7*7 }} & $x$"""
        html = render_report(
            dossier(
                finding(FAIL, rule=attack, says=attack, scope=attack, stage=attack, waiver=attack),
                finding(UNKNOWN, says=attack),
                **dict.fromkeys(("release", "name", "title", "dataset", "contract_version", "policy"), attack),
                **dict.fromkeys(("policy_version", "submitter", "evaluated_at", "approvals_needed"), attack),
                plan=(attack,),
                hashes={attack: attack},
                versions={attack: attack},
                curves=(curve(attack),),
                variables=(
                    variable(attack, description=attack, unit=attack, bins=(attack, "<b>x</b> $y$")),
                    variable(attack, description=attack, kind_after=None),
                ),
            )
        )
        page = Page(html)
        assert not {"script", "img", "b"} & {tag for tag, _, _ in page.elements}
        assert " ".join(attack.split()) in page.texts("h1")
        assert "<b>x</b> $y$" in page.texts("text")
        assert "49" not in page.texts("h1")[0]
        assert len(page.all("style")) == 1

    def test_same_dossier_same_bytes_in_another_process_with_other_settings(
        self, full: Dossier, tmp_path: Path
    ) -> None:
        (tmp_path / "matplotlibrc").write_text("font.size: 30\nlines.linewidth: 9\nsvg.fonttype: path\n")
        (tmp_path / "dossier.json").write_text(full.model_dump_json())
        program = (
            "import sys; from sluice.report.dossier import Dossier; from sluice.report.report import render_report; "
            "sys.stdout.buffer.write(render_report(Dossier.model_validate_json(open('dossier.json').read())).encode())"
        )
        there = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONHASHSEED": "7",
                "TZ": "Asia/Tokyo",
                "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
            },
            capture_output=True,
            check=True,
        ).stdout
        assert there.decode() == render_report(full) == render_report(full)
        assert not re.search(r"20\d\d-\d\d-\d\dT", there.decode().replace(full.evaluated_at, ""))

    def test_twenty_variables_stay_small_and_quick(self) -> None:
        bins = tuple(f"{low} to {low + 5}" for low in range(0, 60, 5))
        counts = tuple(range(50, 62))
        summaries = tuple(variable(f"v{i}", bins=bins, counts_before=counts, counts_after=counts) for i in range(20))
        grid = tuple(i / 200 for i in range(1, 201))
        curves = tuple(
            curve(m, grid=grid, masked=grid, reference=grid) for m in ("distance", "ambiguity", "uncertainty")
        )
        start = time.process_time()
        html = render_report(dossier(finding(), variables=summaries, curves=curves))
        assert time.process_time() - start < 3
        assert len(html.encode()) < 1_500_000

    def test_text_and_marks_have_contrast_in_light_and_dark(self) -> None:
        """By WCAG 2.2's definitions of relative luminance and contrast ratio: 4.5 for text, 3 for graphics."""
        css = files("sluice.report").joinpath("report.css").read_text(encoding="utf-8")

        def luminance(colour: str) -> float:
            parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        def contrast(one: str, other: str) -> float:
            light, dark = sorted((luminance(one), luminance(other)), reverse=True)
            return (light + 0.05) / (dark + 0.05)

        blocks = re.findall(r":root \{([^}]*--paper[^}]*--pass[^}]*)\}", css)
        assert len(blocks) == 2
        for block in blocks:
            colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
            for ground in ("paper", "panel"):
                for text in ("ink", "soft", "link", "pass", "review", "fail", "unknown"):
                    assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
            assert contrast(colours["masked"], colours["paper"]) >= 3
            assert contrast(colours["reference"], colours["paper"]) >= 3


class TestSmallCounts:
    @pytest.mark.parametrize("field", ["counts_before", "counts_after"])
    @pytest.mark.parametrize("small", [0, 1, 9])
    def test_a_small_count_in_the_dossier_is_refused(self, field: str, small: int) -> None:
        with pytest.raises(
            SluiceError, match=rf"^{field} of 'age' must be None .* minimum cell of 10; got 1 such"
        ) as error:
            render_report(dossier(finding(), variables=(variable(**{field: (small, 600)}),)))
        assert "600" not in str(error.value)

    def test_a_withheld_variable_is_looked_at_too(self) -> None:
        with pytest.raises(SluiceError, match="minimum cell"):
            render_report(dossier(finding(), variables=(variable(kind_after=None, counts_before=(3, 600)),)))

    def test_the_minimum_itself_is_shown(self) -> None:
        page = Page(render_report(dossier(finding(), variables=(variable(counts_before=(10, 990)),))))
        assert "20 to 30 10 390" in " ".join(page.texts("tr"))

    def test_counts_that_do_not_fit_the_bins_are_refused(self) -> None:
        with pytest.raises(SluiceError, match="one count for each of 2 bins; got 3"):
            render_report(dossier(finding(), variables=(variable(counts_after=(20, 30, 40)),)))

    def test_curves_that_do_not_fit_the_grid_are_refused(self) -> None:
        with pytest.raises(SluiceError, match="one share for each of 2 grid values; got 3 and 3"):
            render_report(dossier(finding(), curves=(curve(grid=(0.1, 0.2)),)))

    def test_a_hidden_count_is_hatched_and_cannot_be_subtracted(self) -> None:
        summary = variable(
            bins=("a", "b", "c", "d"), counts_before=(None, 20, 300, 675), counts_after=(100, 200, 300, 380)
        )
        page = Page(render_report(dossier(finding(), variables=(summary,))))
        rows = [row for row in page.texts("tr") if row[:2] in ("a ", "b ", "c ", "d ")]
        # 1,000 - 20 - 300 - 675 = 5 would be the hidden count, so 20 is left out as well
        assert rows == ["a not shown 100", "b not shown 200", "c 300 300", "d 675 380"]
        assert len(page.all("pattern")) == 1
        assert "fewer than 10 records" in page.section("variables")

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 12))
    def test_what_is_hidden_is_never_a_small_group_of_known_size(self, true: list[int], minimum: int) -> None:
        given_counts = [count if count >= minimum else None for count in true]
        shown = safe_counts(given_counts, sum(true), minimum)
        hidden = [count for count, seen in zip(true, shown, strict=True) if seen is None]
        assert all(seen in (None, count) for count, seen in zip(true, shown, strict=True))
        assert all(count >= minimum for count in shown if count is not None)
        assert not any(hidden) or len(hidden) == len(true) or (len(hidden) > 1 and sum(hidden) >= minimum)

    def test_nothing_hidden_leaves_the_counts_alone(self) -> None:
        assert safe_counts((20, 30), 50, 10) == (20, 30)
        assert safe_counts((), 0, 10) == ()
        assert safe_counts((None, None), 7, 10) == (None, None)

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            (None, "–"),
            (0.0, "0.0 %"),
            (1.0, "100.0 %"),
            (0.01, "1.0 %"),
            (0.009, "under 1 %"),
            (0.001, "under 1 %"),
            (0.992, "over 99 %"),
            (0.5, "50.0 %"),
        ],
    )
    def test_a_share_of_few_records_is_only_bounded(self, value: float | None, says: str) -> None:
        assert share(value, 1000, 10) == says

    def test_a_share_of_no_records(self) -> None:
        assert share(0.0, 0, 10) == "0.0 %"


class TestHeadline:
    def test_blocked_gives_the_worst_deciding_reason(self) -> None:
        held = dossier(
            finding(REVIEW, says="Near the limit."),
            finding(FAIL, says="2,570 of 6,366 women are alone."),
            finding(FAIL, says="Second."),
            finding(UNKNOWN, says="Reported only.", binding=False),
        )
        assert headline(held) == "Blocked: 2,570 of 6,366 women are alone."
        page = Page(render_report(held))
        assert page.texts("p", class_="headline") == ["✗ Blocked: 2,570 of 6,366 women are alone."]
        verdict = page.section("verdict")
        assert verdict.index("Second.") < verdict.index("Near the limit.")
        assert "Reported only." not in verdict

    def test_passing_says_who_must_approve(self) -> None:
        passing = dossier(finding(), finding(FAIL, stage="original", binding=False))
        assert headline(passing) == "Meets the policy: 2 people must approve before it is published."
        assert "Further reasons" not in Page(render_report(passing)).section("verdict")

    def test_waived_is_said_in_the_headline_and_shown_beside_it(self) -> None:
        passing = dossier(finding(), finding(FAIL, says="Means moved.", waiver="B. Moe until 2027-01-01: teaching"))
        assert headline(passing) == "Meets the policy under 1 waiver: 2 people must approve before it is published."
        assert "Means moved. Waiver: B. Moe until 2027-01-01: teaching" in Page(render_report(passing)).section(
            "verdict"
        )
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
        page = Page(render_report(empty))
        assert page.all("section", id="verdict")[0][0]["class"] == "verdict unknown"
        assert "Meets the policy" not in page.section("verdict")

    def test_a_recorded_verdict_without_a_reason_blocks(self) -> None:
        assert headline(dossier(finding(), verdict=FAIL)).startswith("Blocked: the recorded verdict is worse")
        assert headline(dossier(finding(REVIEW), verdict=FAIL)).startswith("Blocked: the recorded verdict is worse")

    def test_a_recorded_pass_does_not_hide_a_broken_rule(self) -> None:
        assert headline(dossier(finding(FAIL, says="Broken."), verdict=PASS)) == "Blocked: Broken."

    def test_at_most_five_further_reasons_the_rest_is_counted(self) -> None:
        held = dossier(*(finding(FAIL, says=f"Reason {number}.") for number in range(9)))
        verdict = Page(render_report(held)).section("verdict")
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
            ("something_new", "masked", FAIL, "change the masking plan"),
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


class TestCurveExtremes:
    def test_an_empty_grid_says_so(self) -> None:
        empty = curve(grid=(), masked=(), reference=(), statistic=float("nan"), at=0.0, verdict=UNKNOWN)
        page = Page(render_report(dossier(finding(), curves=(empty,))))
        assert "too few records to draw curves" in page.section("curves")
        assert not page.all("svg", class_="plot")

    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_all_mass_at_zero_and_a_curve_that_is_nowhere_above(self, verdict: Verdict) -> None:
        degenerate = curve(
            "uncertainty", grid=(0.0,), masked=(1.0,), reference=(0.0,), statistic=1.0, at=0.0, verdict=verdict
        )
        safe = curve("ambiguity", masked=(0.0, 0.3, 0.9), statistic=0.0, verdict=PASS)
        page = Page(render_report(dossier(finding(), curves=(degenerate, safe))))
        assert "The masked curve is nowhere above the reference. That is within the margin of 0.05." in page.section(
            "curves"
        )
        assert [text for text in page.texts("text") if text.startswith("D+")] == ["D+ 1.000", "D+ 0.000"]
        assert "nan" not in render_report(dossier(finding(), curves=(degenerate, safe)))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (-0.0, "0"),
        (6366, "6,366"),
        (0.0123456, "0.01235"),
        (-12.5, "−12.5"),
        (123456.7, "123,457"),
        (0.0000123, "1.2e−05"),
    ],
)
def test_figures_are_written_for_reading(value: float | None, says: str) -> None:
    assert figure(value) == says
