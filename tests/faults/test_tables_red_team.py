"""Attacks on protected tables that once succeeded, or might: on patterns, on the chain and on the commands."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from flows.cli.main import main
from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from sluice.tabular.suppression.manual_status import manual_rows
from sluice.tabular.suppression.suppression import suppress
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.table_editions import Edition, EditionPair, with_common_knowledge
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING
from tests.flows.prefect_server import PrefectServer
from tests.flows.tables_house import TablesHouse
from tests.flows.test_canary import found_in, places, spellings
from tests.golden import golden

SAFE = [30, 29, 28, 27, 26]  # of five contributors: no rule minds


def table(given: Mapping[tuple[int, int], list[tuple[int, int]]], size: int = 3) -> Cells:
    """size x size cells of five safe contributors each, but for those given as (contributor, value)."""
    made = [Dimension.flat(name, [f"{name}{code}" for code in range(1, size + 1)]) for name in "ab"]
    rows = []
    for a in range(1, size + 1):
        for b in range(1, size + 1):
            others = [(1000 + 100 * a + 10 * b + at, value) for at, value in enumerate(SAFE)]
            rows += [((a, b), *each) for each in given.get((a, b), others)]
    leaves, who, value = zip(*rows, strict=True)
    return aggregate(made, np.array(leaves, np.int32), np.array(who), np.array(value))


def at(cells: Cells, name: str) -> int:
    return next(cell for cell in range(len(cells)) if cells.name(cell) == name)


def blanked(cells: Cells, rules: list[SensitivityRule], *names: str) -> np.ndarray:
    asked = requirements_of(rules, cells.contributions, bool(cells.sizes is None))
    status = np.zeros(len(cells), dtype=np.uint8)
    status[[at(cells, name) for name in names]] = Status.SECONDARY
    status[asked.sensitive] = Status.PRIMARY
    return status


RULES: list[SensitivityRule] = [MinimumFrequency(n=3), PPercent(p=10)]


def test_a_total_of_zero_that_two_cancel_out_is_no_known_zero() -> None:
    """Each of the two would read the other's value from the row's total."""
    cells = table({(1, 1): [(1, 5), (2, -5)]})
    asked = requirements_of(RULES, cells.contributions, nonnegative=False)
    attackers = Assumptions(nonnegative=False)
    alone = asked.sensitive.astype(np.uint8)
    assert not audit(cells, alone, asked, RULES, attackers).safe
    made = suppress(cells, asked, RULES, attackers).status
    assert (made == Status.SECONDARY).sum() >= 3
    assert audit(cells, made, asked, RULES, attackers).safe


def test_negative_rests_need_protection_downwards_too() -> None:
    """Contributor 1 takes its own out of a cell that is negative; what is left must be open to both sides."""
    cells = table({(1, 1): [(1, -100), (2, -50), (3, -3)], (1, 2): [(1, 400)]})
    asked = requirements_of(RULES, cells.contributions, nonnegative=False)
    from sluice.tabular.audit.coalitions import Insiders

    everywhere, nothing = np.ones(len(cells), dtype=bool), np.zeros(len(cells))
    insiders = Insiders(cells, everywhere, asked, RULES, 1, nothing, nonnegative=False)
    need = insiders.need_of(at(cells, "a a1, b b1"), frozenset({2}))
    assert need.lower == need.upper == 7  # 10 % of 100, less the 3 of the third


def test_half_a_unit_is_not_one() -> None:
    """Believed between 0.5 and 1.5 beforehand, a count of 1 is known exactly; 1 was asked for."""
    made = [Dimension.flat(name, [f"{name}1", f"{name}2"]) for name in "ab"]
    rows = [(1, 1), *[(1, 2)] * 9, *[(2, 1)] * 9, *[(2, 2)] * 9]
    cells = aggregate(made, np.array(rows, np.int32), np.arange(len(rows)), np.ones(len(rows), np.int64))
    rules: list[SensitivityRule] = [MinimumFrequency(n=3)]
    asked = requirements_of(rules, cells.contributions)
    status = blanked(cells, rules, "a a1, b b2", "a a2, b b1", "a a2, b b2")
    attackers = Assumptions(known_within=50, coalition=0, unions=False)
    assert not audit(cells, status, asked, rules, attackers).safe
    assert audit(cells, status, asked, rules, replace(attackers, known_within=None)).safe


def test_two_pool_what_one_computes_of_a_cell() -> None:
    """8 knows its own cell and so computes its neighbour; 30, who is in that neighbour, then reads 22 from it."""
    cells = table({(1, 1): [(8, 97), (22, 13), (30, 7)], (1, 2): [(8, 44)]})
    names = [f"a {a}, b {b}" for a in ("a1", "a2") for b in ("b1", "b2")]
    rules: list[SensitivityRule] = [PPercent(p=10)]
    asked = requirements_of(rules, cells.contributions)
    found = audit(cells, blanked(cells, rules, *names), asked, rules, Assumptions(coalition=2, unions=False))
    assert frozenset({8, 30}) in {frozenset(breach.owners) for breach in found.breaches}


def test_unknowns_that_stand_in_several_rows_fit_into_the_memory_of_the_search() -> None:
    """Each of the four unknowns is in two or three of the rows that are combined; more than there are unknowns."""
    from sluice.tabular.suppression.suppression_kernel import known_unions

    rows = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
    start, cell = np.arange(0, 13, 4, dtype=np.int32), np.tile(np.arange(4, dtype=np.int32), 3)
    column_start, column_row = np.arange(0, 13, 3, dtype=np.int32), np.tile(np.arange(3, dtype=np.int32), 4)
    yes, code = np.ones(4, dtype=bool), np.array([3, 5, 7, 11])
    sign = rows.ravel().astype(float)
    arguments = (start, cell, sign, column_start, column_row, code, 3, 100)
    _, members = known_unions.py_func(np.array([0], dtype=np.int32), yes, yes, *arguments)  # Python checks the bounds
    assert sorted(members) == [0, 1, 2, 3]


def test_groups_of_the_same_leaves_cannot_be_cut_off_from_them() -> None:
    """G and A are one cell, though no sum of a table that ends above the leaves says so."""
    rows = [("Total", ""), ("A", "Total"), ("B", "Total"), ("a1", "A"), ("a2", "A"), ("b1", "B"), ("b2", "B")]
    n = Dimension.of("n", rows, [("G", ""), ("a1", "G"), ("a2", "G")])
    made = [n, Dimension.flat("r", ["u", "v"])]
    with golden.raises(DataError):
        refuse_hidden_ties(made, [["n:1", "r"]])
    refuse_hidden_ties(made, [["n", "r"]])
    refuse_hidden_ties([Dimension.of("n", rows), made[1]], [["n:1", "r"], ["n", "r"]])


def test_tables_in_a_circle_are_refused() -> None:
    """Where region r2 holds the firms of n2 alone, (r2, s) and (n2, s) are one cell; only n x r x s would tell."""
    made = [Dimension.flat(name, [f"{name}1", f"{name}2"]) for name in "nrst"]
    for circle in (["nr", "rs", "ns"], ["nr", "rs", "st", "nt"], ["nr", "rs", "ns", "t"]):
        with golden.raises(DataError):
            refuse_hidden_ties(made, [list(one) for one in circle])
    for fine in (["nr", "ns"], ["nr", "rs", "st"], ["nr", "rs", "ns", "nrs"], ["nr", "nr", "n"], ["n", "r"]):
        refuse_hidden_ties(made, [list(one) for one in fine])


def edition(name: str, cells: Cells, *cycles: int) -> Edition:
    """Blank are a1 b1 and, for each number, the three cells that protect it with row and column of that number."""
    status = np.zeros(len(cells), dtype=np.uint8)
    for k in cycles:
        status[[at(cells, f"a a{a}, b b{b}") for a, b in ((1, k), (k, 1), (k, k))]] = Status.SECONDARY
    status[at(cells, "a a1, b b1")] = Status.PRIMARY
    return Edition(name, "tables", SecondarySuppression(), cells, PublishedCells(status))


def test_three_editions_may_tell_what_no_two_of_them_do() -> None:
    cells = table({(1, 1): [(1, 77)]}, size=4)
    first, second, third = edition("e1", cells, 2, 3), edition("e2", cells, 2, 4), edition("e3", cells, 3, 4)
    asked = requirements_of(RULES, cells.contributions)

    def safe(now: Edition, before: Edition) -> bool:
        pair = EditionPair.of(cells, before)
        assert pair is not None
        joint = pair.joint.status(now.published.status, before.published.status)
        needs = pair.joint.requirements(RULES)
        return audit(pair.joint.cells, joint, needs, RULES, Assumptions()).safe

    assert asked.sensitive[at(cells, "a a1, b b1")]
    assert [safe(second, first), safe(third, first), safe(third, second)] == [True] * 3
    told = with_common_knowledge([first, second])
    assert not any(safe(third, before) for before in told)
    assert with_common_knowledge([first])[0].published.status.tolist() == first.published.status.tolist()


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    return TablesHouse(tmp_path / "house")


def test_an_interval_closer_than_was_judged_is_blocked(house: TablesHouse) -> None:
    from tasks.release.tables.table_files import table_files

    def talkative(case, measures, shown):  # type: ignore[no-untyped-def]
        (cells,) = measures.values()
        near = cells.total - 1, cells.total + 1
        return table_files(case, measures, PublishedCells(shown.status, interval=near))

    for intervals in (False, True):
        house.definition["protection"] = {"method": "suppression", "intervals": intervals}
        house.write()
        with patch("tasks.table_protection.table_files", talkative):
            told = house.release()
        assert told.code == BLOCKED
        golden.where("interval", told.out)
    assert house.shelf == []


def test_tables_in_a_circle_are_refused_before_a_record_is_read(house: TablesHouse) -> None:
    house.definition["tables"].append({"name": "region-by-size", "dimensions": ["region", "size"]})
    house.write()
    told = house.release()
    assert told.code == ERROR
    golden.words(told.words)
    assert house.ids == []


def test_firms_and_their_turnover_are_nowhere_outside_the_vault(house: TablesHouse, on_prefect: PrefectServer) -> None:
    alone = house.data.index[(house.data.nace == "05")][0]
    house.data.loc[alone, ["firm", "holding", "nace", "region", "turnover"]] = [
        "Zebulon Quixwick Ltd", "Falconer-Royal Group", "05", "S2", 987654.3
    ]  # fmt: skip
    house.definition["measure"]["holding"] = "holding"
    house.write()
    said = house.release()
    assert said.code == WAITING, said.words
    words = [said.words, house.approve("amara").words]
    done = house.approve("jonas")
    assert done.code == DONE, done.words
    words += [done.words, house.sluice("review", house.id).words, house.sluice("status").words]
    needles = {
        "firm": spellings("Zebulon Quixwick"),
        "holding": spellings("Falconer-Royal"),
        "turnover": [*spellings("987654.3"), b"9876543", b"987,654"],
    }
    assert found_in(places(house, on_prefect, "".join(words)), needles) == []


HOSTILE = ["NA", "01", "1", "=1+1", 'A, "q"', "ä;", "'--"]


def test_codes_of_any_form_come_out_as_they_went_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, by = write_records(tmp_path)
    assert main(["protect-table", str(records), *by, "--output", str(tmp_path / "out.csv"), *RULE]) == 0
    capsys.readouterr()
    read = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert set(read["n"]) == {"Total", *HOSTILE}
    assert main(["audit-table", str(tmp_path / "out.csv"), *by[:2], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["breaches"] == []


RULE = ["--rule", "p_percent=10", "--rule", "minimum_frequency=3"]


def write_records(folder: Path) -> tuple[Path, list[str]]:
    rng = np.random.default_rng(2)
    rows = [(n, r) for n in HOSTILE for r in "xyz" for _ in range(1 if (n, r) == ("NA", "x") else 6)]
    frame = pd.DataFrame(rows, columns=["n", "r"]).assign(v=rng.integers(50, 90, len(rows)))
    frame.assign(firm=[f"f{at}" for at in range(len(rows))]).to_csv(folder / "records.csv", index=False)
    for name, codes in (("n", HOSTILE), ("r", ["x", "y", "z"])):
        tree = pd.DataFrame({"code": ["Total", *codes], "parent": ["", *["Total"] * len(codes)]})
        tree.to_csv(folder / f"{name}.csv", index=False)
    by = [f"--hierarchy=n={folder / 'n.csv'}", f"--hierarchy=r={folder / 'r.csv'}", "--value=v", "--contributor=firm"]
    return folder / "records.csv", by


def test_a_hierarchy_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, by = write_records(tmp_path)
    before = (tmp_path / "n.csv").read_bytes()
    assert main(["protect-table", str(records), *by, *RULE, "--output", str(tmp_path / "n.csv")]) == 1
    golden(capsys.readouterr().err)
    assert (tmp_path / "n.csv").read_bytes() == before
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert main(["protect-table", str(records), *by, *RULE, "--output", str(folder)]) == 0
    assert [file.name for file in folder.iterdir()] == ["n-r.csv"]  # a file for each table


@pytest.mark.parametrize(
    "text", ["1e30", "1e400", "1e999999999", "1e-999999999", "9" * 5000, "inf", "nan", "-1", "1/0"]
)
def test_numbers_of_the_manual_file_have_bounds(text: str) -> None:
    for column in ("lower", "upper", "cost"):
        with golden.raises(DataError):
            manual_rows([{"n": "a", "status": "sensitive", column: text}], ["n"])


def test_the_width_in_the_report_does_not_reveal_what_was_required() -> None:
    """By the exact ratio and the width, which is public, a contributor could be worked out from its level."""
    from sluice.report.table_summary import AuditOutcome

    cells = table({(1, 1): [(1, 777)]})
    asked = requirements_of(RULES, cells.contributions)
    status = suppress(cells, asked, RULES).status
    found = audit(cells, status, asked, RULES)
    assert found.safe
    narrowest = AuditOutcome.of(found, cells, np.ones(len(cells), dtype=bool)).narrowest
    assert narrowest
    assert {interval.times_required for interval in narrowest} <= {0.0, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0}
