"""What a batch of tau-ARGUS asks, word by word; the examples have the shape of the manual's and of rtauargus' own."""

from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.argus_batch import Batch, read_batch
from tests.golden import golden

HEAD = '<OPENMICRODATA> "people.asc"\n<OPENMETADATA> "people.rda"\n<SPECIFYTABLE> "Size""Region"|"Var2"||\n'


def batch(folder: Path, text: str) -> Batch:
    (folder / "a.arb").write_text(text, encoding="utf-8")
    return read_batch(folder / "a.arb")


def test_a_batch_as_the_manual_writes_it(tmp_path: Path) -> None:
    made = batch(
        tmp_path,
        '// a comment\n<LOGBOOK> "run.log"\n<VERSIONINFO> "version.txt"\n<SOLVER> FREE\n'
        '<OPENMICRODATA>   "C:\\data\\tau_testW.asc"  // where it lies\n<OPENMETADATA>    "C:\\data\\tau_testW.rda"\n'
        '<SPECIFYTABLE>    "Size""Region"|"Var2"|"Var2"|"Var2"\n'
        "<SAFETYRULE>      P(10,1)|FREQ(3,20)|MAN(30)|WGT(0)|MIS(0)\n"
        '<SPECIFYTABLE> "Region"|<freq>||-2\n<SAFETYRULE> FREQ(4,20)\n'
        "<READMICRODATA>\n"
        '<APRIORI> "asked.hst", 1, ";", 1, 0\n'
        "<SUPPRESS> OPT(1,5)\n<SUPPRESS> RND(2,5,0,10,0,3)\n"
        '<WRITETABLE> (1,3,AS-SE+,"C:\\data\\safe.txt")\n<WRITETABLE> (2, 2, , "other.csv")\n<GOINTERACTIVE>\n',
    )
    (session,) = made.sessions
    one, two = session.tables
    assert (session.data, session.added_up) == ("C:\\data\\tau_testW.asc", False)
    assert (one.dimensions, one.response, one.cost, one.cost_column) == (("Size", "Region"), "Var2", "value", "")
    assert one.rules == [{"rule": "p_percent", "p": 10, "coalition": 1}, {"rule": "minimum_frequency", "n": 3}]
    assert (one.margin, one.weight, one.holding) == (30, False, False)
    assert one.method == {"method": "suppression", "mode": "optimise", "seconds": 300}
    (asked,) = one.requests
    assert (asked.path, asked.separator, asked.ignore_errors, asked.expand_trivial) == ("asked.hst", ";", True, False)
    assert (two.response, two.cost, two.method) == ("", "cells", {"method": "controlled_rounding", "base": 5})
    assert [(file.kind, sorted(file.options)) for file in (*one.files, *two.files)] == [
        (3, ["QU", "SE"]),
        (2, ["FL", "QU"]),
    ]
    assert (made.logbook, made.version_info) == ("run.log", "version.txt")
    assert [remark.line for remark in made.remarks] == [4, 8, 10, 13, 14, 17]
    golden(". ".join(map(str, made.remarks)))


@pytest.mark.parametrize(
    ("rule", "rules", "coalition"),
    [
        ("NK(2,75)|NK(0,0)", [{"rule": "dominance", "n": 2, "k": 75}], 1),
        ("P(15,2)", [{"rule": "p_percent", "p": 15, "coalition": 2}], 2),
        ("P(25,100,1)", [{"rule": "p_percent", "p": 25, "coalition": 1}], 1),
        ("P(25,60,1)", [{"rule": "prior_posterior", "p": 25, "q": 60, "coalition": 1}], 1),
        ("ZERO(10)|", [{"rule": "zero_cells"}], 1),
        ("FREQ(1,0)", [], 1),
        ("MAN(10)", [], 1),
        ("REQ(70,60,10)", [{"rule": "request_rule", "k": 70, "k_before": 60}], 1),
        ("", [], 1),
    ],
)
def test_safety_rules(rule: str, rules: object, coalition: int, tmp_path: Path) -> None:
    (table,) = batch(tmp_path, f"{HEAD}<SAFETYRULE> {rule}\n").sessions[0].tables
    assert (table.rules, table.coalition, table.holding) == (rules, coalition, False)


@pytest.mark.parametrize("rule", ["P(0,1)|P(0,1)|P(10,1)", "NK(0,0)|NK(0,0)|NK(1,75)", "FREQ(3,10)|FREQ(3,10)"])
def test_rules_for_holdings_stand_behind_those_for_their_members(rule: str, tmp_path: Path) -> None:
    """The first two of P and NK are for members, the first one of FREQ and REQ."""
    read = batch(tmp_path, f"{HEAD}<SAFETYRULE> {rule}\n")
    assert read.sessions[0].tables[0].holding
    assert read.remarks


def test_linked_tables_have_number_0(tmp_path: Path) -> None:
    tables = batch(tmp_path, f'{HEAD}<SPECIFYTABLE> "Size"|"Var2"||\n<SUPPRESS> GH(0,75,0,1)\n').sessions[0].tables
    assert [(each.linked, each.known_within) for each in tables] == [(True, 75), (True, 75)]


def test_sessions(tmp_path: Path) -> None:
    more = '<OPENTABLEDATA> "b.tab"\n<OPENMETADATA> "b.rda"\n<SPECIFYTABLE> "Size"|"Var2"||\n<READTABLE> 1\n'
    read = batch(tmp_path, f"{HEAD}<CLEAR>\n{more}")
    assert [(each.data, each.added_up) for each in read.sessions] == [("people.asc", False), ("b.tab", True)]
    assert [each.data for each in batch(tmp_path, HEAD + more).sessions] == ["people.asc", "b.tab"]


def test_every_line_that_is_not_understood_is_named(tmp_path: Path) -> None:
    text = (
        '<SPECIFYTABLE> "a"|"b"\n' + HEAD + "<SAFETYRULE> P(10,1)|XY(3)\n<SAFETYRULE> P(10,9)\n"
        "<SAFETYRULE> REQ(70,60,5,10)\n<SAFETYRULE> P(-5,1)\n<RECODE> 1, Size\n<SUPPRESS> CKM(1)\n"
        "<SUPPRESS> OPT(0)\n<SUPPRESS> MOD(7)\n<SUPPRESS> XYZ(1)\n<SUPPRESS> RND(1)\n<SUPPRESS> MOD 1\n"
        '<WRITETABLE> (1,9,,"x.csv")\n<WRITETABLE> (1,2,5,"x.csv")\n<WRITETABLE> (1,2,ZZ+,"x.csv")\n'
        '<WRITETABEL> (1,3,,"x.csv")\n<WRITETABLE> (1,3,,"x.csv")\nno word\n<APRIORI> asked.hst\n<READTABLE>\n<COVER>\n'
        '<OPENMETADATA> "twice.rda"\n<CLEAR>\n<OPENTABLEDATA> "b.tab"\n'
    )
    with pytest.raises(DataError) as error:
        batch(tmp_path, text)
    golden(str(error.value))
    for line in (1, *range(5, 26), 27):
        assert f"line {line}: " in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f'{HEAD}<SUPPRESS> MOD(1)\n<SPECIFYTABLE> "Size"|"Var2"||\n<SAFETYRULE> P(10,1)\n<SUPPRESS> MOD(2)\n',
        '<OPENTABLEDATA> "b.tab"\n<OPENMETADATA> "b.rda"\n<SPECIFYTABLE> "a"|"v"||\n<SPECIFYTABLE> "b"|"v"||\n'
        "<SUPPRESS> MOD(0)\n",
    ],
)
def test_refused(text: str, tmp_path: Path) -> None:
    golden.refused(DataError, batch, tmp_path, text)


def test_no_batch(tmp_path: Path) -> None:
    golden.refused(DataError, read_batch, tmp_path / "none.arb")
    (tmp_path / "b.arb").write_bytes(b"\0\1")
    golden.refused(DataError, read_batch, tmp_path / "b.arb")
