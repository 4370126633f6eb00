"""The report on tables: the maps against a plain count, what a dossier may tell, and the page."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.report import pattern_map
from sluice.report.dossier import Dossier
from sluice.report.pattern_map import EMPTY, SHARE_MARKS, STATUS_MARKS, WITHHELD, Axis, pattern_maps, tree_order
from sluice.report.table_dossier import AuditOutcome, TableSummary, summarise
from sluice.report.table_report import percent, render_table_report
from sluice.report.table_report_plots import SHARE_KEY, STATUS_KEY, map_svg
from sluice.tabular.audit.audit import Audit, Breach
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.verdict import Finding, Verdict
from tests.report.test_report import Page
from tests.tabular.tables import business, tables

FEW = settings(max_examples=40, deadline=None)


def names(cells: Cells) -> list[str]:
    return [dimension.name for dimension in cells.dimensions]


def random_status(cells: Cells, seed: int, kinds: int = 4) -> Statuses:
    return np.random.default_rng(seed).integers(0, kinds, len(cells)).astype(np.uint8)


def flat(count: int, name: str = "d") -> Cells:
    """A table of one dimension with a contributor in each of so many codes."""
    leaves = np.arange(1, count + 1, dtype=np.int32)[:, None]
    values = np.arange(1001, count + 1001)
    return aggregate([Dimension.flat(name, [f"c{n}" for n in range(count)])], leaves, np.arange(count), values)


class TestPatternMap:
    def test_a_tree_is_walked_branch_by_branch(self) -> None:
        rows = [("T", ""), ("A", "T"), ("B", "T"), ("b1", "B"), ("a1", "A"), ("a2", "A")]
        other = [("X", ""), ("a2", "X"), ("b1", "X")]
        dimension = Dimension.of("d", rows, other)
        walked = [(dimension.codes[code], depth) for code, depth in tree_order(dimension)]
        assert walked == [("T", 0), ("A", 1), ("a1", 2), ("a2", 2), ("B", 1), ("b1", 2), ("X", 0)]

    @FEW
    @given(tables(), st.integers(0, 99))
    def test_each_place_bears_the_status_of_its_cell(self, cells: Cells, seed: int) -> None:
        status = random_status(cells, seed)
        maps = pattern_maps(cells, status, names(cells))
        told = {
            tuple(d.codes[code] for d, code in zip(cells.dimensions, codes, strict=True)): STATUS_MARKS[Status(known)]
            for codes, known in zip(cells.codes.tolist(), status, strict=True)
        }
        last, third = maps[-1], cells.dimensions[2] if len(cells.dimensions) > 2 else None
        assert not last.shares
        places = 0
        for panel in last.panels:
            for row, marks in zip(last.rows.labels, panel.marks, strict=True):
                for column, mark in zip(last.columns.labels, marks, strict=True):
                    place = (row, column, panel.title.removeprefix("c "))[: len(cells.dimensions)]
                    assert mark == told.get(place, EMPTY)
                    places += mark != EMPTY
        if third is None:
            assert places == len(cells)

    @FEW
    @given(tables(), st.integers(0, 99), st.integers(2, 4))
    def test_shares_are_those_of_all_cells_at_and_below_two_codes(self, cells: Cells, seed: int, most: int) -> None:
        status = random_status(cells, seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pattern_map, "MOST_ROWS", most)
            patch.setattr(pattern_map, "MOST_COLUMNS", most)
            shown = pattern_maps(cells, status, names(cells))[0]
        if not shown.shares:
            return
        counted: dict[tuple[int, int], Counter[Status]] = {}
        for codes, known in zip(cells.codes.tolist(), status, strict=True):
            at = [_line(axis, cells.dimensions[n], codes[n]) for n, axis in enumerate((shown.rows, shown.columns))
                  if axis.name]  # fmt: skip
            counted.setdefault((at[0], at[1] if len(at) > 1 else 0), Counter())[Status(known)] += 1
        for row, marks in enumerate(shown.panels[0].marks):
            for column, mark in enumerate(marks):
                assert mark == _share_mark(counted.get((row, column), Counter()))

    def test_neighbours_share_a_line_where_even_the_first_level_does_not_fit(self) -> None:
        cells = flat(200)
        shown = pattern_maps(cells, np.zeros(201, dtype=np.uint8), ["d"])[0]
        assert shown.rows.labels[:2] == ("Total", "c0 … c2")
        assert shown.rows.labels[-1] == "c198 … c199"
        assert len(shown.rows.labels) <= pattern_map.MOST_ROWS
        assert shown.shares

    def test_a_large_hierarchy_is_cut_at_the_level_that_fits(self) -> None:
        rows = [
            ("T", ""),
            *((f"g{g}", "T") for g in range(20)),
            *((f"g{g}l{i}", f"g{g}") for g in range(20) for i in range(5)),
        ]
        dimension = Dimension.of("d", rows)
        cells = aggregate([dimension], dimension.leaves[:, None], np.arange(100), np.arange(1, 101))
        shown = pattern_maps(cells, np.zeros(len(cells), dtype=np.uint8), ["d"])[0]
        assert shown.rows.labels == ("T", *(f"g{g}" for g in range(20)))
        assert "stands for a code and all codes below it" in shown.says

    def test_a_table_that_ends_at_a_level_has_no_lines_below_it(self) -> None:
        dimension = Dimension.of("d", [("T", ""), ("A", "T"), ("B", "T"), ("a1", "A"), ("a2", "A")])
        leaves = np.array([[2, 1], [3, 1], [4, 1]], dtype=np.int32)
        cells = aggregate([dimension, Dimension.flat("e", ["x"])], leaves, np.arange(3), np.arange(3))
        status = np.zeros(len(cells), dtype=np.uint8)
        assert pattern_maps(cells, status, ["e", "d:1"])[0].columns.labels == ("T", "A", "B")
        table = summarise(cells, status, requirements_of([], cells.contributions), "t", ["d:1"], 3)
        assert (table.dimensions, table.cells, table.empty) == ({"d": 3}, 3, 0)

    def test_further_codes_of_the_third_dimension_are_counted_not_shown(self) -> None:
        two = [Dimension.flat("a", ["x", "y"]), Dimension.flat("b", ["x", "y"])]
        third = Dimension.flat("c", [str(n) for n in range(12)])
        leaves = np.array([[1, 1, 1 + n] for n in range(12)], dtype=np.int32)
        cells = aggregate([*two, third], leaves, np.arange(12), np.arange(1, 13))
        panels = pattern_maps(cells, np.zeros(len(cells), dtype=np.uint8), ["a", "b", "c"])[1]
        assert [panel.title for panel in panels.panels] == ["c Total", *(f"c {n}" for n in range(8))]
        assert "4 further codes of c are not shown" in panels.says


def _line(axis: Axis, dimension: Dimension, code: int) -> int:
    """The line that holds a code: its own or its nearest upper one's, by the first grouping that has it."""
    above: dict[int, int] = {}
    for group, parts in dimension.sums:
        for part in parts:
            above.setdefault(part, group)
    lines = {name: line for line, label in enumerate(axis.labels) for name in _held(label, dimension)}
    while dimension.codes[code] not in lines:
        code = above[code]
    return lines[dimension.codes[code]]


def _held(label: str, dimension: Dimension) -> list[str]:
    """The codes of a label, those between its ends too."""
    first, _, last = label.partition(" … ")
    if not last:
        return [first]
    order = [dimension.codes[code] for code, _ in tree_order(dimension)]
    return order[order.index(first) : order.index(last) + 1]


def _share_mark(counted: Counter[Status]) -> str:
    hidden = counted[Status.PRIMARY] + counted[Status.SECONDARY]
    listed = hidden + counted[Status.PUBLISHED]
    if not listed:
        return WITHHELD if counted[Status.WITHHELD] else EMPTY
    share = Fraction(hidden, listed)
    limits = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    return "g" if share == 1 else SHARE_MARKS[sum(share > limit for limit in limits)]


class TestPlots:
    @FEW
    @given(tables(), st.integers(0, 99), st.booleans())
    def test_each_colour_covers_as_many_places_as_bear_its_mark(self, cells: Cells, seed: int, labels: bool) -> None:
        for shown in pattern_maps(cells, random_status(cells, seed), names(cells)):
            panel = shown.panels[0]
            svg = str(map_svg(shown, panel, "A map.", 880 if labels else 300, labels))
            counted = Counter("".join(panel.marks))
            for mark, (style, _) in (SHARE_KEY if shown.shares else STATUS_KEY).items():
                path = re.search(rf'<path class="{style}" d="([^"]*)"/>', svg)
                runs = re.findall(r"h([\d.]+)v([\d.]+)h-", path[1]) if path else []
                if mark == EMPTY:
                    assert path is None
                    continue
                side = _side(svg, labels, len(shown.columns.labels))
                assert round(sum(float(wide) for wide, _ in runs) / side) == counted[mark]

    def test_no_run_crosses_the_gap_between_two_branches(self) -> None:
        dimensions = [Dimension.flat("a", ["x", "y"]), Dimension.flat("b", ["x", "y"])]
        leaves = np.array([[1, 1], [1, 2], [2, 1], [2, 2]], dtype=np.int32)
        cells = aggregate(dimensions, leaves, np.arange(4), np.arange(4))
        shown = pattern_maps(cells, np.zeros(9, dtype=np.uint8), ["a", "b"])[0]
        svg = str(map_svg(shown, shown.panels[0], "A map.", 880, True))
        runs = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", svg)
        width = re.search(r'viewBox="0 0 (\d+) ', svg)
        assert width
        assert len(runs) == 9
        assert round(max(float(x) + float(wide) for x, wide in runs)) == int(width[1]) - 1

    def test_labels_are_escaped_and_shortened(self) -> None:
        cells = aggregate(
            [Dimension.flat("d", ["<b>&", "a code that is far too long"])],
            np.array([[1], [2]], dtype=np.int32),
            np.arange(2),
            np.arange(2),
        )
        shown = pattern_maps(cells, np.zeros(3, dtype=np.uint8), ["d"])[0]
        svg = str(map_svg(shown, shown.panels[0], 'Says "so".', 880, True))
        assert "&lt;b&gt;&amp;" in svg
        assert ">a code that i…<" in svg
        assert 'aria-label="Says &#34;so&#34;."' in svg


def _side(svg: str, labels: bool, columns: int) -> float:
    """The width of a place, as the module's documentation gives it."""
    return max(11.0 if labels else 3.0, min(22.0, ((880 if labels else 300) - 60) / columns))


def summary(cells: Cells, status: Statuses, minimum_cell: int = 3, audit: Audit | None = None) -> TableSummary:
    requirements = requirements_of([MinimumFrequency(2)], cells.contributions)
    return summarise(cells, status, requirements, "t", names(cells), minimum_cell, audit)


class TestDossier:
    @FEW
    @given(tables(), st.integers(0, 99))
    def test_cells_are_counted_once(self, cells: Cells, seed: int) -> None:
        status = random_status(cells, seed)
        table = summary(cells, status)
        assert table.published + table.suppressed + table.withheld == table.cells == len(cells)
        assert table.cells + table.empty == np.prod([len(d.codes) for d in cells.dimensions])
        assert table.sensitive == table.by_rule["minimum_frequency"] == (cells.contributors < 2).sum()
        for dimension in names(cells):
            levels = [level for level in table.levels if level.dimension == dimension]
            assert sum(level.cells for level in levels) == table.cells - table.withheld
            assert sum(level.suppressed for level in levels) == table.suppressed

    @pytest.mark.parametrize(
        ("suppressed", "minimum", "told"), [(0, 3, True), (2, 1, False), (3, 1, True), (3, 4, False)]
    )
    def test_sums_are_told_only_where_they_say_nothing_of_one_cell(
        self, suppressed: int, minimum: int, told: bool
    ) -> None:
        cells, status = flat(9), np.zeros(10, dtype=np.uint8)
        status[1 : 1 + suppressed] = Status.PRIMARY
        table = summary(cells, status, minimum)
        figures = (table.value_suppressed, table.value_share, table.contributors_suppressed, table.contributors_share)
        assert [figure is not None for figure in figures] == [told] * 4
        if suppressed == 3 and told:
            assert figures == (3010.0, 3006 / (2 * cells.total[0]), 3, 3 / 18)

    def test_cells_of_value_zero_do_not_hide_another(self) -> None:
        cells, status = flat(9), np.full(10, Status.PRIMARY, dtype=np.uint8)
        cells = replace(cells, total=np.array([905, 905, *[0] * 8]))
        assert summary(cells, status).value_suppressed is None

    def test_an_audit_is_told_by_table(self) -> None:
        cells = flat(3)
        breaches = (
            Breach(1, "outsider", "Everybody can compute d c0."),
            Breach(2, "contributor", "Not of this table."),
        )
        found = Audit(False, breaches, np.zeros(4), np.zeros(4), 9, 8, ((1, float("inf")), (2, 1.5)))
        outcome = AuditOutcome.of(found, cells, np.array([True, True, False, False]))
        assert outcome.verdict is Verdict.FAIL
        assert (outcome.breaches, outcome.examples) == (1, ("Everybody can compute d c0.",))
        assert [(margin.cell, margin.reached) for margin in outcome.narrowest] == [("d c0", 1000.0)]
        assert AuditOutcome.of(replace(found, breaches=()), cells, cells.published).verdict is Verdict.UNKNOWN
        assert AuditOutcome.of(replace(found, breaches=(), safe=True), cells, cells.published).verdict is Verdict.PASS


def dossier(*tables: TableSummary, **given: Any) -> Dossier:
    base = {
        "release": "turnover-1",
        "name": "turnover",
        "title": "Turnover & more",
        "dataset": "survey",
        "measure": "turnover",
        "unit": "EUR",
        "contract_version": "3",
        "policy": "public tables",
        "policy_version": "2",
        "submitter": "m.okafor",
        "evaluated_at": "2026-01-02T03:04:05Z",
        "verdict": Verdict.PASS,
        "findings": (Finding(rule="p_percent", verdict=Verdict.PASS, says="All is well.", stage="attack"),),
        "tables": tables,
        "plan": ("Cells with fewer than 2 contributors are sensitive.",),
        "approvals_needed": "2 people must approve before it is published.",
        "records_original": 1000,
        "records_holdout": 0,
        "earlier_attempts": 0,
        "minimum_cell": 3,
        "hashes": {"data": "ab" * 32},
        "versions": {"sluice": "0.1.0"},
    }
    return Dossier(**{**base, **given})


@pytest.fixture(scope="module")
def full() -> Dossier:
    cells = business("s1k")
    status = random_status(cells, 1, 3)
    requirements = requirements_of([MinimumFrequency(3)], cells.contributions)
    found = Audit(
        False,
        (Breach(70, "outsider", "Everybody can compute a cell."),) * 30,
        np.zeros(len(cells)),
        np.zeros(len(cells)),
        1234,
        1200,
        ((70, 1.25), (71, 20.0)),
    )
    told = (["It is safe by construction."], ["In 31 cells <everybody> learns."], ["Nobody learns."])
    three = summarise(cells, status, requirements, "three", ["nace", "region", "size"], 3, found, *told)
    two = summarise(cells, status, requirements, "two", ["region", "nace"], 3, None)
    one = summarise(cells, np.zeros_like(status), requirements, "one", ["size"], 3, replace(found, breaches=()))
    findings = (
        Finding(rule="unsafe", verdict=Verdict.FAIL, says="30 cells can be computed.", stage="attack"),
        Finding(rule="lost", verdict=Verdict.REVIEW, says="Much is lost.", stage="utility", observed=0.4, limit=0.3),
        Finding(rule="odd", verdict=Verdict.UNKNOWN, says="It stopped.", stage="elsewhere"),
    )
    return dossier(three, two, one, verdict=Verdict.UNKNOWN, findings=findings)


@pytest.fixture(scope="module")
def html(full: Dossier) -> str:
    return render_table_report(full)


class TestPage:
    def test_sections_come_in_the_reviewers_order(self, html: str) -> None:
        page = Page(html)
        assert page.texts("h1") == ["Turnover & more"]
        assert page.texts("h2") == [
            "Verdict",
            "The tables",
            "Table three",
            "Table two",
            "Table one",
            "Findings",
            "What was done",
            "Appendix",
            "Glossary",
        ]
        levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_is_accessible_and_loads_nothing(self, html: str) -> None:
        page = Page(html)
        plots = [attrs for attrs, _ in page.all("svg") if "map" in (attrs.get("class") or "")]
        assert len(plots) == 1 + 5 + 1 + 1  # an overview, the codes of size, and one for each other table
        assert all(attrs["role"] == "img" and len(attrs["aria-label"] or "") > 30 for attrs in plots)
        ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
        assert not re.search(r"<script|<link|src=|https?:|url\(", html)

    def test_each_colour_is_in_the_style_sheet_and_the_key(self, html: str) -> None:
        styles = {style for key in (STATUS_KEY, SHARE_KEY) for style, _ in key.values()}
        drawn = set(re.findall(r'<path class="([a-z-]+)" d=', html)) - {"ruling"}
        assert drawn <= styles
        for style in drawn - {"empty"}:
            assert f".map .{style}, .key .{style} {{ fill: var(--{style}); }}" in html
            assert f"--{style}: #" in html

    def test_figures_of_each_table(self, full: Dossier, html: str) -> None:
        page = Page(html)
        for number, table in enumerate(full.tables):
            section = page.section(f"table-{number}")
            assert f"{table.cells:,} cells" in section
            assert f"suppressed: sensitive themselves (primary) {table.primary:,}" in section
            assert f"minimum frequency {table.sensitive:,}" in section
        first, second, third = (page.section(f"table-{number}") for number in range(3))
        assert "✗ not safe" in first
        assert "1,200 of 1,234 attacks on all tables of the release were decided." in first
        assert "30 cells of this table are not protected as the policy asks." in first
        assert first.count("Everybody can compute a cell.") == 20
        assert "And 10 more." in first
        assert "at least 100 %" in first
        assert "at least 1,000 %" in first
        assert "In 31 cells <everybody> learns." in first
        assert "It is safe by construction." in first
        assert "? not audited" in second
        assert "? not decided" in third
        assert "No cell is suppressed." in third

    def test_the_verdict_says_what_to_do(self, html: str) -> None:
        verdict = Page(html).section("verdict")
        assert "Blocked, could not be judged: It stopped." in verdict
        for advice in ("what was not measured cannot be excused", "Protect the tables again", "Merge categories"):
            assert advice in verdict
        assert "record a waiver" in verdict
        assert "Nothing has to be mended" in Page(render_table_report(dossier())).section("verdict")

    def test_the_same_dossier_gives_the_same_page_also_from_the_vault(self, full: Dossier, html: str) -> None:
        again = Dossier.model_validate_json(full.model_dump_json())
        assert again == full
        assert render_table_report(again) == html

    def test_names_and_codes_are_escaped(self) -> None:
        cells = aggregate(
            [Dimension.flat("<i>", ["<script>alert(1)</script>", "b"])],
            np.array([[1], [2]], dtype=np.int32),
            np.arange(2),
            np.arange(2),
        )
        page = render_table_report(dossier(summary(cells, np.zeros(3, dtype=np.uint8)), title="<script>"))
        assert "<script" not in page
        assert "<i>" not in page

    @settings(max_examples=20, deadline=None)
    @given(tables(), st.integers(0, 99))
    def test_no_suppressed_value_and_no_contribution_is_printed(self, cells: Cells, seed: int) -> None:
        rng = np.random.default_rng(seed)
        total = 7 * 10**13 + rng.choice(10**13, len(cells), replace=False)
        largest = 3 * 10**13 + rng.choice(10**13, cells.largest.shape)
        cells = replace(cells, total=total, largest=largest)
        told = dossier(summary(cells, random_status(cells, seed)))
        texts = render_table_report(told) + told.model_dump_json()
        for number in {*total.tolist(), *largest.ravel().tolist()}:
            assert not any(form in texts for form in (str(number), f"{number:,}", f"{number:.6g}"))

    def test_large_tables_stay_small_pages(self) -> None:
        cells = business("s10k")
        page = render_table_report(dossier(summary(cells, random_status(cells, 1, 3))))
        assert len(page) < 10**6
        assert len(Page(page).all("svg", class_="plot map")) == 1 + 4


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0.0 %"),
        (0.0004, "under 0.1 %"),
        (0.3721, "37.2 %"),
        (0.9996, "over 99.9 %"),
        (1, "100.0 %"),
        (None, "not shown"),
    ],
)
def test_percentages_never_pretend_none_or_all(share: float | None, text: str) -> None:
    assert percent(share) == text
