"""Tables and other publications of the same records: each may be safe alone, and both together are not.

Each test lets the public read one publication, plays a reader who has it and another one, and asks which rule stops the
other. The reader has the published files alone.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sluice.ground.verdict import Finding, Verdict
from tasks.record_steps import check, mask
from tasks.release.product import AnyRelease
from tasks.release.tables.files_of_records import compare_with_tables
from tasks.table_audit import audit
from tasks.table_protection import protect, tabulate
from tests.flows.tables_house import NACE, REGION, TablesHouse, firms
from tests.golden import golden
from tests.red_team.stages import bare, made, publish

DIMENSIONS = ["nace", "region"]
TREES = {"nace": NACE, "region": REGION}
TURNOVER = {"variable": "turnover", "contributor": "firm", "decimals": 1}
Reader = dict[tuple[str, ...], float]


def firms_by_cell(folder: Path, name: str) -> TablesHouse:
    """Firms by industry and region."""
    house = TablesHouse(folder / "house")
    cells = [{"name": "cells", "dimensions": DIMENSIONS}]
    house.definition |= {"name": name, "dimensions": house.definition["dimensions"][:2], "tables": cells}
    return house


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    """Counted, unless a test adds up turnover."""
    house = firms_by_cell(tmp_path, "firms-counted")
    house.definition["measure"] = {}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 5}]
    return house


def records(house: TablesHouse, *plan: dict[str, Any]) -> None:
    """From now on the house releases a file of records."""
    for name in ("dimensions", "measure", "tables", "form", "protection"):
        house.definition.pop(name, None)
    house.definition |= {"name": "firms-file", "plan": [{"method": "removal", "columns": ["holding"]}, *plan]}
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 3, "columns": ["nace"]}]


def published_file(house: TablesHouse, *plan: dict[str, Any]) -> pd.DataFrame:
    """A file of the records is published before the tables."""
    tables = dict(house.definition), dict(house.policy)
    records(house, *plan)
    release = made(house)
    file = file_of(release)
    publish(release)
    house.definition, house.policy = tables
    return file


def file_of(release: AnyRelease) -> pd.DataFrame:
    """A file of records as the public reads it."""
    masked = bare(mask)(release)
    return pd.DataFrame(pq.read_table(release.vault.verify(masked.sha256, ".parquet")).to_pandas())


def cells_of(release: AnyRelease) -> tuple[pd.DataFrame, dict[str, Finding]]:
    """A table as the public reads it, and what was found of it."""
    staged = bare(tabulate)(release)
    protected = bare(protect)(release, staged)
    path = release.vault.verify(protected.files["cells.csv"], ".csv")
    found = bare(audit)(release, staged, protected).findings
    return pd.read_csv(path, dtype=str, keep_default_na=False), {finding.rule: finding for finding in found}


def placed(file: pd.DataFrame) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Each record with each cell of the trees that holds it."""
    for row in file.to_dict("records"):
        paths = []
        for name in DIMENSIONS:
            path = [row[name]]
            while TREES[name].get(path[-1]):
                path.append(TREES[name][path[-1]])
            paths.append(path)
        for cell in product(*paths):
            yield {str(name): value for name, value in row.items()}, cell


def added_up(file: pd.DataFrame, column: str | None = None) -> Reader:
    """What a reader makes of a file of records: every cell of the trees."""
    sums: Counter[tuple[str, ...]] = Counter()
    for row, cell in placed(file):
        sums[cell] += round(row[column], 1) if column else 1
    return dict(sums)


def suppressed(table: pd.DataFrame) -> list[tuple[str, ...]]:
    hidden = table[table["status"] == "suppressed"]
    return list(hidden[DIMENSIONS].itertuples(index=False, name=None))


def true_counts(house: TablesHouse) -> Reader:
    return added_up(house.data)


@pytest.mark.parametrize("measure", [{}, TURNOVER], ids=["counts", "amounts"])
@pytest.mark.parametrize("first", ["records", "tables"])
def test_records_of_the_table_give_its_suppressed_cells(house: TablesHouse, measure: Any, first: str) -> None:
    house.definition["measure"] = measure
    if first == "tables":
        tabulated = made(house)
        table, found = cells_of(tabulated)
        assert found["records_and_tables"].verdict is Verdict.PASS
        publish(tabulated)
        records(house)
        release = made(house)
        file = file_of(release)
        (finding,) = compare_with_tables(release)
    else:
        file = published_file(house)
        table, found = cells_of(made(house))
        finding = found["records_and_tables"]
    totals = added_up(file, measure.get("variable"))
    published_cells = table[table["status"] == "published"].set_index(DIMENSIONS)["value"].astype(float)
    assert all(abs(totals[cell] - value) < 0.05 for cell, value in published_cells.items())  # so the reader trusts them
    small = [cell for cell in suppressed(table) if true_counts(house)[cell] < 5]
    assert all(cell in totals for cell in small)
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    assert str(len(small)) in finding.says


@pytest.mark.parametrize("measure", [{}, TURNOVER], ids=["counts", "amounts"])
@pytest.mark.parametrize("labels", ["as in the table", "codes of its own"])
def test_dimensions_are_known_under_other_names(house: TablesHouse, measure: Any, labels: str) -> None:
    """Beside a column with the same codes, which tells nothing of the table."""
    house.definition["measure"] = measure
    tabulated = made(house)
    table, _ = cells_of(tabulated)
    publish(tabulated)
    records(house)
    others = {"nace": "branch", "region": "area"}
    (region,) = [each for each in house.contract["variables"] if each["name"] == "region"]
    house.contract["variables"].append({**region, "name": "zone"})
    house.data["zone"] = house.data["region"].sample(frac=1, random_state=1).to_numpy()
    for variable in house.contract["variables"]:
        if variable["name"] in (*others, "zone"):
            variable["name"] = others.get(variable["name"], variable["name"])
            variable.pop("categories", None)
    house.data = house.data.rename(columns=others)
    if labels != "as in the table":
        for name in others.values():
            codes = sorted(set(house.data[name]))
            house.data[name] = house.data[name].map({label: f"c{place}" for place, label in enumerate(codes)})
    house.policy["rules"] = [{"rule": "k_anonymity", "k": 3, "columns": ["branch"]}]
    release = made(house)
    file_of(release)
    (finding,) = compare_with_tables(release)
    assert finding.verdict is Verdict.FAIL
    assert finding.observed
    assert finding.attempted <= len(suppressed(table))


def test_the_check_of_a_file_of_records_holds_it_beside_tables(house: TablesHouse) -> None:
    tabulated = made(house)
    cells_of(tabulated)
    publish(tabulated)
    records(house)
    release = made(house)
    masked = bare(mask)(release)
    (finding,) = (each for each in bare(check)(release, masked) if each.rule == "records_and_tables")
    assert finding.verdict is Verdict.FAIL
    golden.words(finding.says)


def test_a_file_of_which_one_dimension_was_drawn_anew_gives_the_cells_of_the_other(house: TablesHouse) -> None:
    """Regions were exchanged at random, industries left alone: a small industry is told, and its regions are not."""
    file = published_file(house, {"method": "pram", "columns": ["region"], "retention": 0.3})
    table, found = cells_of(made(house))
    totals, true = added_up(file), true_counts(house)
    small = [cell for cell in suppressed(table) if true[cell] < 5]
    right = sum(totals.get(cell, 0) == true[cell] for cell in small)
    assert totals["05", "Total"] == true["05", "Total"] < 5
    finding = found["records_and_tables"]
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    assert str(right) in finding.says
    assert str(len(small)) in finding.says


def test_what_both_do_not_hold_is_not_compared(house: TablesHouse) -> None:
    """A file without turnover says nothing of its sums, and one without dimensions nothing of their cells."""
    published_file(house, {"method": "removal", "columns": ["turnover"]})
    house.definition["measure"] = TURNOVER
    _, found = cells_of(made(house))
    assert found["records_and_tables"].verdict is Verdict.PASS
    golden.words(found["records_and_tables"].says)


def test_a_file_that_tells_the_cells_around_a_suppressed_one_opens_it(house: TablesHouse) -> None:
    """Firms of small cells have no industry in the file, most others do: a total less the others is the small cell."""
    (house.documents / "cells.csv").write_text("nace,region,status\nB,N1,not_secondary\n", encoding="utf-8")
    suppression = {"method": "local_suppression", "columns": ["nace", "region"], "k": 5, "importance": {"region": 1}}
    file = published_file(house, suppression)
    house.definition["protection"] = {"method": "suppression", "a_priori": "cells.csv"}
    table, found = cells_of(made(house))
    told, totals = table.set_index(DIMENSIONS)["value"], added_up(file)
    assert ("05", "N1") in suppressed(table)
    assert ("05", "N1") not in totals
    others = sum(totals[nace, "N1"] for nace in ("NA", "04"))
    assert int(told["B", "N1"]) - others == true_counts(house)["05", "N1"] == 1
    finding = found["records_and_tables"]
    assert finding.verdict in (Verdict.REVIEW, Verdict.FAIL)  # FAIL where nearly all published cells agree
    golden.words(finding.says)


@pytest.mark.parametrize("first", [pytest.param("records", marks=pytest.mark.exhaustive), "tables"])
def test_amounts_that_the_file_caps_are_what_the_table_has_more(house: TablesHouse, first: str) -> None:
    """Industry by region: where one firm of a cell is capped, the cell less the other firms is its turnover."""
    house.definition["measure"] = TURNOVER
    capped: dict[str, Any] = {"method": "top_bottom_coding", "columns": ["turnover"], "top": {"quantile": 0.97}}
    if first == "tables":
        tabulated = made(house)
        table, _ = cells_of(tabulated)
        publish(tabulated)
        records(house, capped)
        release = made(house)
        file = file_of(release)
        findings = compare_with_tables(release)
    else:
        file = published_file(house, capped)
        table, found = cells_of(made(house))
        findings = [found["records_and_tables"]]
    shown, cap, largest = added_up(file, "turnover"), file["turnover"].max(), Reader()
    for row, cell in placed(house.data):
        largest[cell] = max(largest.get(cell, 0.0), row["turnover"])
    capped_in = added_up(file[file["turnover"] == cap])
    told = table[table["status"] == "published"].set_index(DIMENSIONS)["value"].astype(float).to_dict()
    single = [cell for cell in told if capped_in.get(cell) == 1]
    assert len(single) >= 2
    assert [told[cell] - shown[cell] + cap for cell in single] == pytest.approx([largest[c] for c in single], abs=0.06)
    failed = [each for each in findings if each.verdict is Verdict.FAIL]
    assert failed
    golden(failed[-1].says)


def read_by_subtraction(house: TablesHouse, left: pd.DataFrame, whole: Reader, rest: Reader) -> tuple[int, int]:
    """How many regions a reader tells of those who left, whose industry they know; and how many rightly."""
    told = right = 0
    for nace, gone in left.groupby("nace"):
        lost = {region: whole[nace, region] - rest[nace, region] for region in REGIONS}
        if sum(change != 0 for change in lost.values()) == 1:
            told += len(gone)
            right += int((gone["region"] == max(lost, key=lambda region: lost[region])).sum())
    return told, right


REGIONS = ("N1", "N2", "S1")


@pytest.mark.parametrize("left", [3, pytest.param(6, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("order", [("tables", "records"), ("records", "tables"), ("tables", "tables")])
def test_who_is_in_one_of_two_publications_alone_is_told_by_subtraction(
    house: TablesHouse, order: tuple[str, str], left: int
) -> None:
    """Neither suppresses anything; no cell of either has fewer than the policy asks for."""
    house.variable("region")["role"] = "sensitive"
    everybody = firms(4000)
    everybody = everybody[everybody["region"].isin(REGIONS) & (everybody["nace"] != "05")].reset_index(drop=True)
    gone = everybody.sample(left, random_state=2)
    tables = dict(house.definition), dict(house.policy)
    counts: list[Reader] = []
    for number, (kind, data) in enumerate(zip(order, (everybody, everybody.drop(index=gone.index)), strict=True)):
        house.data, house.policy = data, dict(tables[1])
        house.definition = dict(tables[0]) | {"name": f"of-{number}"}
        if kind == "records":
            records(house)
        release = made(house)
        if kind == "records":
            counts.append(added_up(file_of(release)))
            findings = compare_with_tables(release)
        else:
            staged = bare(tabulate)(release)
            protected = bare(protect)(release, staged)
            findings = list(bare(audit)(release, staged, protected).findings)
            counts.append(added_up(data))
        publish(release)
    told, right = read_by_subtraction(house, gone, *counts)
    assert told == right > 0
    rule = "earlier_editions" if order == ("tables", "tables") else "records_and_tables"
    stops = [each for each in findings if each.rule == rule and each.verdict is not Verdict.PASS]
    few = "fewer than 10"  # or fewer changed than the table's rule asks for
    assert [each.data.get("read", few) for each in stops] == [few]


@pytest.mark.parametrize("first", ["tables", "records"])
def test_publications_of_other_people_are_not_subtracted(house: TablesHouse, first: str) -> None:
    house.variable("region")["role"] = "sensitive"
    tables = dict(house.definition), dict(house.policy)
    for kind, seed in zip((first, "records" if first == "tables" else "tables"), (1, 7), strict=True):
        house.data, (house.definition, house.policy) = firms(4000, seed), (dict(tables[0]), dict(tables[1]))
        if kind == "records":
            records(house)
        release = made(house)
        if kind == "records":
            file_of(release)
            findings = compare_with_tables(release)
        else:
            findings = [*cells_of(release)[1].values()]
        publish(release)
    assert all(each.verdict is Verdict.PASS for each in findings if each.rule == "records_and_tables")
