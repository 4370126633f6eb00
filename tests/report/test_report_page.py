"""The report on records, whole: its sections, what stands in each, and that it is the same in every process."""

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from jinja2 import Environment

from sluice.report.dossier import Dossier
from sluice.report.report_page import render
from tests.golden import golden
from tests.report.pages import Page, curve, dossier, finding, full_records, variable


@pytest.fixture(scope="module")
def full() -> Dossier:
    return full_records()


@pytest.fixture(scope="module")
def page(full: Dossier) -> Page:
    return Page(render(full))


class TestStructure:
    def test_every_drawing_has_a_caption(self, page: Page) -> None:
        assert len(page.all("svg", class_="plot")) == 5  # three curves, two distributions
        assert len(page.all("figure")) == len([text for text in page.texts("figcaption") if text]) == 6

    def test_the_appendix_holds_all_hashes_and_a_glossary_that_an_empty_dossier_has_too(
        self, full: Dossier, page: Page
    ) -> None:
        assert all(each in page.section("appendix") for each in full.hashes.values())
        assert len(Page(render(dossier())).all("dl", class_="glossary")) == 1

    def test_the_first_attempt_is_not_warned_about(self) -> None:
        html = render(dossier(finding()))
        assert "judged before:" not in html
        assert "No other release of these data, or of nearly the same, was judged before this one." in html

    def test_many_groups_are_drawn_in_part_and_told_in_full(self) -> None:
        bins = tuple(f"group {number}" for number in range(40))
        counts = tuple(range(100, 140))
        html = render(dossier(finding(), variables=(variable(bins=bins, counts_before=counts, counts_after=counts),)))
        page = Page(html)
        golden([line for line in page.lines if " 16 " in line])
        assert set(bins) <= set(page.texts("th"))
        assert sum(text in bins for text in page.texts("text")) == 24


class TestContainment:
    @pytest.mark.servers
    def test_same_dossier_same_bytes_in_another_process_with_other_settings(
        self, full: Dossier, tmp_path: Path
    ) -> None:
        (tmp_path / "dossier.json").write_text(full.model_dump_json())
        program = (
            "import sys; from sluice.report.dossier import Dossier; from sluice.report.report_page import render; "
            "sys.stdout.buffer.write(render(Dossier.model_validate_json(open('dossier.json').read())).encode())"
        )
        there = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
            capture_output=True,
            check=True,
        ).stdout
        assert there.decode() == render(full) == render(full)
        assert not re.search(r"20\d\d-\d\d-\d\dT", there.decode().replace(full.evaluated_at, ""))

    def test_twenty_variables_stay_small_and_no_template_is_read_again(
        self, full: Dossier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bins = tuple(f"{low} to {low + 5}" for low in range(0, 60, 5))
        counts = tuple(range(50, 62))
        summaries = tuple(variable(f"v{i}", bins=bins, counts_before=counts, counts_after=counts) for i in range(20))
        grid = tuple(i / 200 for i in range(1, 201))
        curves = tuple(
            curve(m, grid=grid, masked=grid, reference=grid) for m in ("distance", "ambiguity", "uncertainty")
        )
        render(full)
        monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("a template is compiled again"))
        assert len(render(dossier(finding(), variables=summaries, curves=curves)).encode()) < 300_000

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


def test_an_assessment_says_nothing_of_earlier_attempts_of_which_nobody_keeps_a_record() -> None:
    released, assessed = (
        dossier(finding()),
        dossier(finding()).model_copy(update={"release": "assessment-0123456789ab"}),
    )
    found = [Page(render(each)).all("h3", id="attempts") for each in (released, assessed)]
    assert [len(each) for each in found] == [1, 0]
