"""The page on tables."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.report.dossier import Dossier
from sluice.report.report_page import render
from sluice.report.tables_page import SHARE_KEY, STATUS_KEY
from sluice.tabular.model.cells import Cells
from tests.report.pages import Page, full_tables, on_tables, random_status, summary
from tests.tabular.tables import business, tables


@pytest.fixture(scope="module")
def full() -> Dossier:
    return full_tables()


@pytest.fixture(scope="module")
def html(full: Dossier) -> str:
    return render(full)


class TestPage:
    def test_every_table_has_its_maps(self, html: str) -> None:
        maps = [attrs for attrs, _ in Page(html).all("svg") if "map" in (attrs.get("class") or "")]
        assert len(maps) == 1 + 1 + 5 + 1 + 1  # at a glance, an overview, the codes of size, and each other table's
        assert all(
            attrs.get("width") and "style" not in attrs for attrs in maps
        )  # the desk lets no element have a style
        assert "Meets the policy" in Page(render(on_tables())).section("verdict")

    def test_each_colour_is_in_the_style_sheet_and_the_key(self, html: str) -> None:
        styles = {style for key in (STATUS_KEY, SHARE_KEY) for style, _ in key.values()}
        drawn = set(re.findall(r'<path class="([a-z-]+)" d=', html)) - {"ruling"}
        assert drawn <= styles
        for style in drawn - {"empty"}:
            assert f".map .{style}, .key .{style} {{ fill: var(--{style}); }}" in html
            assert f"--{style}: #" in html

    def test_the_same_dossier_gives_the_same_page_also_from_the_vault(self, full: Dossier, html: str) -> None:
        again = Dossier.model_validate_json(full.model_dump_json())
        assert again == full
        assert render(again) == html

    @pytest.mark.chain
    @given(tables(), st.integers(0, 99))
    def test_no_suppressed_value_and_no_contribution_is_printed(self, cells: Cells, seed: int) -> None:
        rng = np.random.default_rng(seed)
        total = 7 * 10**13 + rng.choice(10**13, len(cells), replace=False)
        largest = 3 * 10**13 + rng.choice(10**13, cells.largest.shape)
        cells = replace(cells, total=total, largest=largest)
        told = on_tables(summary(cells, random_status(cells, seed)))
        texts = render(told) + told.model_dump_json()
        for number in {*total.tolist(), *largest.ravel().tolist()}:
            assert not any(form in texts for form in (str(number), f"{number:,}", f"{number:.6g}"))

    def test_large_tables_stay_small_pages(self) -> None:
        cells = business("s10k")
        page = render(on_tables(summary(cells, random_status(cells, 1, 3))))
        assert len(page) < 10**6
        assert len(Page(page).all("svg", class_="plot map")) == 1 + 4
