"""What the page on records says of variables and curves: small counts and extremes."""

from typing import Any

import pytest

from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Verdict
from sluice.report.report_page import render
from tests.golden import golden
from tests.report.pages import PASS, UNKNOWN, Page, curve, dossier, finding, variable

COUNTS = ("counts_before", "counts_after")


class TestSmallCounts:
    @pytest.mark.parametrize(
        "given",
        [
            *({"variables": (variable(**{field: (small, 600)}),)} for field in COUNTS for small in (0, 1, 9)),
            {"variables": (variable(kind_after=None, counts_before=(3, 600)),)},  # a withheld one is looked at, too
            {"variables": (variable(counts_after=(20, 30, 40)),)},  # they do not fit the bins
            {"curves": (curve(grid=(0.1, 0.2)),)},  # nor these the grid
        ],
    )
    def test_a_small_count_in_the_dossier_is_refused_and_figures_that_do_not_fit(self, given: dict[str, Any]) -> None:
        with golden.raises(SluiceError) as error:
            render(dossier(finding(), **given))
        assert "600" not in str(error.value)

    def test_the_minimum_itself_is_shown(self) -> None:
        page = Page(render(dossier(finding(), variables=(variable(counts_before=(10, 990)),))))
        assert "20 to 30 10 390" in " ".join(page.texts("tr"))

    def test_a_hidden_count_is_hatched_and_cannot_be_subtracted(self) -> None:
        summary = variable(
            bins=("a", "b", "c", "d"), counts_before=(None, 20, 300, 675), counts_after=(100, 200, 300, 380)
        )
        page = Page(render(dossier(finding(), variables=(summary,))))
        rows = [row for row in page.texts("tr") if row[:2] in ("a ", "b ", "c ", "d ")]
        # 1,000 - 20 - 300 - 675 = 5 would be the hidden count, so 20 is left out as well
        assert rows == ["a not shown 100", "b not shown 200", "c 300 300", "d 675 380"]
        assert len(page.all("pattern")) == 1
        golden.where(" 10 records", "\n".join(page.lines))

    def test_of_a_sample_a_hidden_count_cannot_be_subtracted_either(self) -> None:
        """Whom a sample left out is in no count: 1,000 records, of which the 300 of the sample are compared."""
        summary = variable(
            records_before=300, bins=("a", "b", "c"), counts_before=(None, 20, 275), counts_after=(100, 100, 100)
        )
        page = Page(render(dossier(finding(), variables=(summary,))))
        rows = [row for row in page.texts("tr") if row[:2] in ("a ", "b ", "c ")]
        assert rows == ["a not shown 100", "b not shown 100", "c 275 100"]  # 300 - 20 - 275 = 5 would be the hidden one
        golden([line for line in page.lines if "91.7 % to 10.0 %" in line])


class TestCurveExtremes:
    def test_an_empty_grid_says_so(self) -> None:
        empty = curve(grid=(), masked=(), reference=(), statistic=float("nan"), at=0.0, verdict=UNKNOWN)
        page = Page(render(dossier(finding(), curves=(empty,))))
        golden(page.section("curves"))
        assert not page.all("svg", class_="plot")

    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_all_mass_at_zero_and_a_curve_that_is_nowhere_above(self, verdict: Verdict) -> None:
        degenerate = curve(
            "uncertainty", grid=(0.0,), masked=(1.0,), reference=(0.0,), statistic=1.0, at=0.0, verdict=verdict
        )
        safe = curve("ambiguity", masked=(0.0, 0.3, 0.9), statistic=0.0, verdict=PASS)
        page = Page(render(dossier(finding(), curves=(degenerate, safe))))
        golden([line for line in page.lines if "0.05" in line])
        assert [text for text in page.texts("text") if text.startswith("D+")] == ["D+ 1.000", "D+ 0.000"]
        assert "nan" not in render(dossier(finding(), curves=(degenerate, safe)))
