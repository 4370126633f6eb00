"""Cells that come added up: protected as their records would be, where each contributor is in one cell."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sluice
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.verdict import Verdict
from sluice.sources.perturbation_file import p_table_text
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from tests.flows.house import answered
from tests.golden import golden

DIMENSIONS = ["a", "b"]
RULES: list[Any] = [{"rule": "minimum_frequency", "n": 3}, {"rule": "p_percent", "p": 10}]
CELLS: dict[str, Any] = {"frequency": "n", "largest": ["top1", "top2", "top3"]}

firms = st.lists(
    st.tuples(st.sampled_from("uvw"), st.sampled_from("xyz"), st.sampled_from([0, 1, 2, 5, 8, 40, 300, 301])),
    min_size=3,
    max_size=40,
).map(lambda rows: pd.DataFrame(rows, columns=["a", "b", "value"]).assign(firm=range(len(rows))))


def added_up(records: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell and total."""
    rows = []
    for a in [*sorted(records["a"].unique()), None]:
        for b in [*sorted(records["b"].unique()), None]:
            inside = records[(a is None) | (records["a"] == a) & ((b is None) | (records["b"] == b))]
            inside = inside if a is not None else records[(b is None) | (records["b"] == b)]
            if len(inside):
                top = [*inside["value"].sort_values(ascending=False).head(3), 0, 0, 0][:3]
                rows.append((a or "Total", b or "Total", inside["value"].sum(), len(inside), *top))
    return pd.DataFrame(rows, columns=["a", "b", "value", "n", "top1", "top2", "top3"])


@pytest.mark.chain  # two protections of each table
@given(firms)
def test_the_pattern_is_that_of_the_records(records: pd.DataFrame) -> None:
    try:
        expected = sluice.protect(records, DIMENSIONS, value="value", rules=RULES, contributor="firm")
    except DataError:
        with pytest.raises(DataError):
            sluice.protect(added_up(records), DIMENSIONS, value="value", rules=RULES, cells=CELLS)
        return
    made = sluice.protect(added_up(records), DIMENSIONS, value="value", rules=RULES, cells=CELLS)
    ours, theirs = made.tabulated.cells, expected.tabulated.cells
    for name in ("codes", "total", "contributors"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert np.array_equal(made.requirements.sensitive, expected.requirements.sensitive)
    assert np.array_equal(made.requirements.upper, expected.requirements.upper)
    assert made.verdict is Verdict.PASS
    audited = sluice.audit(made.table, DIMENSIONS, records=records, value="value", rules=RULES, contributor="firm")
    assert audited.verdict is Verdict.PASS, audited.breaches


@pytest.mark.exhaustive  # a protection and an audit of each table
@given(firms)
def test_frequencies_alone_protect_as_if_one_contributor_had_all(records: pd.DataFrame) -> None:
    """Whatever the largest contributions are, the audit that knows them finds the pattern safe."""
    rules = [{"rule": "minimum_frequency", "n": 3}]
    try:
        made = sluice.protect(added_up(records), DIMENSIONS, value="value", rules=rules, cells={"frequency": "n"})
    except DataError:
        return  # it says which cell cannot be protected
    assert made.verdict is Verdict.PASS
    audited = sluice.audit(made.table, DIMENSIONS, records=records, value="value", rules=rules, contributor="firm")
    assert audited.verdict is Verdict.PASS, audited.breaches


TABLE = pd.DataFrame(
    [
        ("A", "N", 100, 5, 40, 30, 10, "S"),
        ("A", "S", 80, 2, 70, 10, 0, "S"),
        ("A", "Total", 180, 7, 70, 40, 30, "S"),
        ("B", "N", 60, 4, 20, 20, 15, "U"),
        ("B", "S", 90, 6, 30, 20, 15, "P"),
        ("B", "Total", 150, 10, 30, 20, 20, "S"),
        ("Total", "N", 160, 9, 40, 30, 20, "S"),
        ("Total", "S", 170, 8, 70, 30, 20, "S"),
        ("Total", "Total", 330, 17, 70, 40, 30, "S"),
    ],
    columns=["a", "b", "value", "n", "top1", "top2", "top3", "s"],
)


def test_what_was_decided_of_a_cell_holds() -> None:
    """U is sensitive whatever the rules say; P is never suppressed for another's sake."""
    rules = [{"rule": "minimum_frequency", "n": 2}]
    free = sluice.protect(TABLE, DIMENSIONS, value="value", rules=rules, cells=CELLS)
    assert free.primary == 0
    made = sluice.protect(TABLE, DIMENSIONS, value="value", rules=rules, cells={**CELLS, "status": "s"})
    assert made.primary == 1
    status = made.table.set_index(DIMENSIONS)["status"]
    assert (status["B", "N"], status["B", "S"]) == ("suppressed", "published")


@pytest.mark.parametrize(
    "change",
    [
        {"value": [101, *TABLE["value"][1:]]},
        {"value": [None, *TABLE["value"][1:]]},
        {"n": [0, *TABLE["n"][1:]]},
        {"n": [2, *TABLE["n"][1:]]},
        {"n": [4.5, *TABLE["n"][1:]]},
        {"n": [3, *TABLE["n"][1:]]},
        {"top2": [50, *TABLE["top2"][1:]]},
        {"top1": [400, *TABLE["top1"][1:]]},
        {"top3": [-1, *TABLE["top3"][1:]]},
        {"s": ["X", *TABLE["s"][1:]]},
        {"a": ["C", *TABLE["a"][1:]]},
        {"value": 1000 * TABLE["value"], "n": TABLE["n"] + 2 * 3 ** TABLE[["a", "b"]].eq("Total").sum(axis=1)},
        {"top1": [*TABLE["top1"][:2], 40, *TABLE["top1"][3:]], "n": [5, 2, 7, 4, 6, 10, 9, 8, 17]},
        {"n": [*TABLE["n"][:7], 80, 17]},
        {"value": [*TABLE["value"][:1], -80, 20, *TABLE["value"][3:7], 10, 170]},
    ],
)
def test_cells_that_contradict_themselves_or_each_other_are_refused(change: dict[str, list[Any]]) -> None:
    with golden.raises(DataError):
        sluice.protect(TABLE.assign(**change), DIMENSIONS, value="value", rules=RULES, cells={**CELLS, "status": "s"})


@pytest.mark.parametrize(
    "given",
    [
        {"cells": {"frequency": "n", "largest": ["top1"]}},
        {"cells": {"largest": ["top1"]}},
        {"cells": CELLS, "contributor": "n"},
        {"cells": CELLS, "method": {"method": "cell_key", "maximum": 3, "variance": 1, "threshold": 1}},
        {"cells": CELLS, "tables": [["a"], ["b"]]},
    ],
)
def test_what_cells_cannot_tell_is_refused(given: dict[str, Any]) -> None:
    with golden.raises(SluiceError):
        sluice.protect(TABLE, DIMENSIONS, value="value", rules=RULES, **given)


def test_a_table_of_counts_needs_the_frequencies_alone() -> None:
    made = sluice.protect(TABLE, DIMENSIONS, rules=[{"rule": "minimum_frequency", "n": 3}], cells={"frequency": "n"})
    assert (made.primary, made.secondary) == (1, 3)


def test_the_commands_say_what_cells_cannot_tell_and_audit_and_repair_by_them(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "agg.csv", index=False)
    options = ["--hierarchy=a", "--hierarchy=b", "--value=value", "--frequency=n", "--largest=top1,top2,top3"]
    options += ["--rule=p_percent=10", "--rule=minimum_frequency=3"]
    made = answered(["protect-table", str(tmp_path / "agg.csv"), *options, f"-o{tmp_path / 'made.csv'}"])
    golden.words(made.err)
    audit = ["audit-table", str(tmp_path / "made.csv"), *options, f"--microdata={tmp_path / 'agg.csv'}", "--json"]
    assert answered(audit).json["safe"]
    cells = pd.read_csv(tmp_path / "made.csv", dtype="str", keep_default_na=False)
    shown = cells.merge(TABLE[["a", "b", "value"]].astype("str"), on=["a", "b"], suffixes=("", "_true"))
    sensitive = shown["a"].eq("A") & shown["b"].eq("S")
    shown = shown.assign(value=shown["value_true"].where(~sensitive, ""))
    shown = shown.assign(status=sensitive.map({True: "suppressed", False: "published"})).drop(columns="value_true")
    shown.to_csv(tmp_path / "careless.csv", index=False)
    audit = ["audit-table", str(tmp_path / "careless.csv"), *options, f"--microdata={tmp_path / 'agg.csv'}", "--json"]
    found = answered([*audit, f"--repair={tmp_path / 'repaired.csv'}"]).json
    assert not found["safe"]
    assert found["repaired"]["safe"]


def test_a_hierarchy_of_argus_takes_the_name_of_the_total_and_empty_cells_keep_their_codes(tmp_path: Path) -> None:
    """Nobody contributes to E of b: no pattern lists it, and the audit by the cells knows it all the same."""
    told = {"Total": "Ensemble"}
    empty = pd.DataFrame([(a, "E", 0, 0, 0, 0, 0, "S") for a in ("A", "B", "Total")], columns=TABLE.columns)
    cells = pd.concat([TABLE, empty], ignore_index=True).replace({"a": told, "b": told})
    cells.to_csv(tmp_path / "agg.csv", index=False)
    (tmp_path / "a.hrc").write_text("A\nB\n", encoding="utf-8")
    options = [f"--hierarchy=a={tmp_path / 'a.hrc'}", "--hierarchy=b", "--value=value", "--frequency=n"]
    options += ["--largest=top1,top2,top3", "--rule=p_percent=10", "--rule=minimum_frequency=3"]
    protect = ["protect-table", str(tmp_path / "agg.csv"), f"-o{tmp_path / 'made.csv'}"]
    golden.words(answered([*protect, *options, "--total=b=Ensemble"], 1).err)
    answered([*protect, *options, "--total=Ensemble"])
    audit = ["audit-table", str(tmp_path / "made.csv"), f"--microdata={tmp_path / 'agg.csv'}", "--json"]
    assert answered([*audit, *options, "--total=a=Ensemble", "--total=b=Ensemble"]).json["safe"]
    made = sluice.protect(cells, DIMENSIONS, value="value", rules=RULES, cells=CELLS, total="Ensemble")
    behind: dict[str, Any] = {"value": "value", "rules": RULES, "cells": CELLS, "total": "Ensemble"}
    assert sluice.audit(made.table, DIMENSIONS, records=cells, **behind).verdict is Verdict.PASS


@pytest.mark.parametrize("codes", [("A", "S"), ("B", "N"), ("A", "Total")])
def test_a_cell_that_the_pattern_leaves_out_is_named(codes: tuple[str, str]) -> None:
    """Sensitive, secondary or published: what is not listed was not judged, so no verdict is given."""
    made = sluice.protect(TABLE, DIMENSIONS, value="value", rules=RULES, cells=CELLS).table
    left = made[~((made["a"] == codes[0]) & (made["b"] == codes[1]))]
    behind: dict[str, Any] = {"value": "value", "rules": RULES, "cells": CELLS}
    golden.refused(DataError, sluice.audit, left, DIMENSIONS, records=TABLE, **behind)
    open_ = made.assign(status="published", value=made.merge(TABLE, on=DIMENSIONS)["value_y"])
    omitted = open_[~((open_["a"] == codes[0]) & (open_["b"] == codes[1]))]
    golden.refused(DataError, sluice.audit, omitted, DIMENSIONS, records=TABLE, **behind)


def test_cells_with_keys_of_their_own(tmp_path: Path) -> None:
    """As cellKey hands them over: each figure is read off the p-table, for count and key of the cell."""
    rng = np.random.default_rng(4)
    table = TABLE[["a", "b", "n"]].assign(key=[f"{each:.6f}" for each in rng.random(len(TABLE))])
    ours = PerturbationTable.of_largest_entropy(4, 2, 2)
    (tmp_path / "p.txt").write_text(p_table_text(ours), encoding="utf-8")
    wanted = {"method": "cell_key", "p_table": str(tmp_path / "p.txt")}
    rules = [{"rule": "minimum_frequency", "n": 3}]
    made = sluice.protect(table, DIMENSIONS, rules=rules, cells={"frequency": "n", "key": "key"}, method=wanted)
    keys = np.array([int(float(key) * 2**64) for key in table["key"]], dtype=np.uint64)
    expected = (table["n"] + ours.noise(table["n"].to_numpy(), keys)).tolist()
    changed = made.cells.set_index(DIMENSIONS)["changed_to"]
    assert [int(changed[codes]) for codes in zip(table["a"], table["b"], strict=True)] == expected
    shuffled = table.sample(frac=1, random_state=1)
    again = sluice.protect(shuffled, DIMENSIONS, rules=rules, cells={"frequency": "n", "key": "key"}, method=wanted)
    assert again.cells["changed_to"].tolist() == made.cells["changed_to"].tolist()
    for cells, method in (
        ({"frequency": "n"}, wanted),
        ({"frequency": "n", "key": "key"}, {"method": "cell_key", "p_table": str(tmp_path / "p.txt"), "maximum": 3}),
        ({"frequency": "n", "key": "key"}, {"method": "cell_key", "maximum": 3}),
        ({"frequency": "n", "key": "n"}, wanted),
    ):
        golden.refused(SluiceError, sluice.protect, table, DIMENSIONS, rules=rules, cells=cells, method=method)


def test_the_perturbation_table_is_written_for_others(tmp_path: Path) -> None:
    """Who reads it back gets the same figures by the same keys."""
    keyed = TABLE[["a", "b", "n"]].assign(key=[f"0.{at}3" for at in range(len(TABLE))])
    keyed.to_csv(tmp_path / "c.csv", index=False)
    options = ["--hierarchy=a", "--hierarchy=b", "--frequency=n", "--set=cells.key=key", "--rule=minimum_frequency=3"]
    said = ["protect-table", str(tmp_path / "c.csv"), *options, f"-o{tmp_path / 'one.csv'}"]
    answered([*said, "--method=cell_key=4,2,2", f"--p-table={tmp_path / 'p.txt'}"])
    again = ["protect-table", str(tmp_path / "c.csv"), *options, f"-o{tmp_path / 'two.csv'}"]
    answered([*again, "--set=protection.method=cell_key", f"--set=protection.p_table={tmp_path / 'p.txt'}"])
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    for wrong in (["--method=cell_key=4,2,2", f"--p-table={tmp_path / 'p.csv'}"], [f"--p-table={tmp_path / 'q.txt'}"]):
        golden.words(answered([*said, *wrong], 1).err)


def linked(records: pd.DataFrame) -> pd.DataFrame:
    """The cells of a by b and a by c, those that both have once."""
    first = added_up(records).assign(c="Total")
    second = added_up(records.drop(columns="b").rename(columns={"c": "b"})).rename(columns={"b": "c"})
    return pd.concat([first, second[second["c"] != "Total"].assign(b="Total")], ignore_index=True)


LINKED: dict[str, Any] = {"value": "value", "rules": RULES, "tables": [["a", "b"], ["a", "c"]]}


@pytest.mark.exhaustive  # a protection and an audit of each table
@given(firms, st.integers(0, 99))
def test_linked_tables_are_safe_from_those_who_know_their_part_in_each(records: pd.DataFrame, seed: int) -> None:
    """The audit knows who is in which cells, the protection finds it out by sizes, which differ."""
    records = records.assign(c=np.random.default_rng(seed).choice(list("pq"), len(records)))
    records["value"] = 100 * records["value"] + records["firm"]
    axes = ["a", "b", "c"]
    try:
        made = sluice.protect(linked(records), axes, cells=CELLS, **LINKED)
    except DataError:
        return  # it says which cell cannot be protected
    assert made.verdict is Verdict.PASS
    audited = sluice.audit(made.table, axes, records=records, contributor="firm", **LINKED)
    assert audited.verdict is Verdict.PASS, audited.breaches


def firms_in_two_tables() -> pd.DataFrame:
    """v at x has one firm, which is alone in v at q, too."""
    rng = np.random.default_rng(2)
    codes = 5 * ["uxp", "uyq", "vyp", "wxp", "wxq", "wyp", "wyq", "uxp", "vyp", "uyq", "uxp", "wxq"]
    rows = [(*each, 10 * int(n) + 1) for each, n in zip(codes, rng.integers(1, 99, 60), strict=True)]
    return pd.DataFrame([*rows, ("v", "x", "q", 500)], columns=["a", "b", "c", "value"])


def test_tables_linked_by_their_totals_are_protected_together_from_files_of_their_cells(tmp_path: Path) -> None:
    records = firms_in_two_tables().assign(firm=lambda frame: frame.index.astype(str))
    cells = linked(records)
    made = sluice.protect(cells, ["a", "b", "c"], cells=CELLS, **LINKED)
    told = made.tabulated.cells
    alone = [told.owners[at, 0] for at in range(len(told)) if told.contributors[at] == 1]
    assert [told.name(at) for at in range(len(told)) if told.contributors[at] == 1] == [
        "a v, b Total, c q", "a v, b x, c Total",
    ]  # fmt: skip
    assert alone[0] == alone[1]
    by_records = sluice.audit(made.table, ["a", "b", "c"], records=records, contributor="firm", **LINKED)
    assert by_records.verdict is Verdict.PASS
    for name, absent in (("a-b", "c"), ("a-c", "b")):
        (tmp_path / "in").mkdir(exist_ok=True)
        cells[cells[absent] == "Total"].drop(columns=absent).to_csv(tmp_path / "in" / f"{name}.csv", index=False)
    (tmp_path / "out").mkdir()
    options = ["--hierarchy=a", "--hierarchy=b", "--hierarchy=c", "--value=value", "--frequency=n"]
    options += ["--largest=top1,top2,top3", "--rule=p_percent=10", "--rule=minimum_frequency=3"]
    tables, protect = ["--table=a,b", "--table=a,c"], ["protect-table", str(tmp_path / "in"), *options]
    answered([*protect, *tables, f"-o{tmp_path / 'out'}"])
    audit = ["audit-table", str(tmp_path / "out"), *options, *tables, f"--microdata={tmp_path / 'in'}", "--json"]
    assert answered(audit).json["safe"]
    written = pd.read_csv(tmp_path / "out" / "a-b.csv", dtype="str", keep_default_na=False)
    ours = made.table[made.table["c"].eq("Total")]
    assert (written["status"].to_list(), len(written)) == (ours["status"].to_list(), len(ours))
    golden.words(answered([*protect, f"-o{tmp_path / 'out'}"], 1).err)
    cells[cells["b"] == "Total"].drop(columns="b").assign(n=9).to_csv(tmp_path / "in" / "a-c.csv", index=False)
    golden.words(answered([*protect, *tables, f"-o{tmp_path / 'out'}"], 1).err)


@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells[~(cells["a"].eq("v") & cells["b"].eq("Total") & cells["c"].eq("Total"))],
        lambda cells: cells[~(cells["b"].eq("x") & cells["a"].eq("Total"))],
        lambda cells: cells[~(cells["a"].eq("v") & (cells["b"].ne("Total")))].assign(value=0, top1=0, top2=0, top3=0),
        lambda cells: pd.concat([cells, cells[cells["b"].eq("x")].assign(c="p")]),
    ],
)
def test_linked_tables_that_are_not_whole_are_refused(change: Any) -> None:
    """A total of the cells left out would stay open, though readers can fill it."""
    with golden.raises(DataError):
        sluice.protect(change(linked(firms_in_two_tables())), ["a", "b", "c"], cells=CELLS, **LINKED)
