"""`sluice table protect`: from records to a table that is safe to publish, or to nothing."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import tasks.workbench.measures_together
import tasks.workbench.protect
from flows.cli.main import main
from flows.cli.table_options import ProtectionOptions
from sluice.ground.errors import DocumentError
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.audit.pattern_audit import Breach
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.protection_method import ControlledAdjustment, ControlledRounding, SecondarySuppression
from tests.flows.house import answered
from tests.golden import golden
from tests.reference_data import reference_path
from tests.tabular.tables import read_text

NACE = "code,parent,level\nTotal,,0\nKA,Total,1\nKB,Total,1\n"
REGION = "code,parent\nTotal,\nR1,Total\nR2,Total\nNA,Total\n"
RULES = ("--rule", "minimum_frequency=3", "--rule", "p_percent=10")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Records of two industries in three regions; one contributor alone in KA, NA."""
    (tmp_path / "nace.csv").write_text(NACE, encoding="utf-8")
    (tmp_path / "region.csv").write_text(REGION, encoding="utf-8")
    rng = np.random.default_rng(4)
    cells = [(n, r) for n in ("KA", "KB") for r in ("R1", "R2", "NA")]
    rows = [(n, r, v) for n, r in cells for v in rng.integers(50, 99, 1 if (n, r) == ("KA", "NA") else 12)]
    records = pd.DataFrame(rows, columns=["nace", "region", "value"])
    records["id"] = [f"firm {number}" for number in range(len(records))]
    records.to_csv(tmp_path / "micro.csv", index=False)
    return tmp_path


def arguments(folder: Path, *more: str, micro: str = "micro.csv", rules: tuple[str, ...] = RULES) -> list[str]:
    hierarchies = [f"--hierarchy={name}={folder / name}.csv" for name in ("nace", "region")]
    columns = ["--value", "value", "--contributor", "id"]
    return ["protect-table", str(folder / micro), *hierarchies, *columns, *rules, f"-o{folder / 'cells.csv'}", *more]


def counted(folder: Path, rule: str) -> list[str]:
    """Of the table of counts."""
    return [each for each in arguments(folder, rules=(rule,)) if each not in ("--value", "value")]


def change(folder: Path, **columns: Any) -> None:
    pd.read_csv(folder / "micro.csv", keep_default_na=False).assign(**columns).to_csv(folder / "micro.csv", index=False)


def test_sensitive_cells_and_their_protection(folder: Path) -> None:
    told = answered(arguments(folder, "--json")).json
    made = read_text(folder / "cells.csv")
    assert set(made["status"]) == {"published", "suppressed"}
    assert main(arguments(folder, "--set=form.tell_primary=true")) == 0
    plain, made = made, read_text(folder / "cells.csv")
    assert plain["value"].tolist() == made["value"].tolist()
    assert list(made) == ["nace", "region", "status", "value"]
    assert len(made) == 12  # 3 codes by 4: "NA" is one of them
    micro = read_text(folder / "micro.csv").astype({"value": int})
    primary = made[made["status"] == "primary"]
    assert primary[["nace", "region"]].to_numpy().tolist() == [["KA", "NA"]]
    suppressed = made[made["status"] != "published"]
    assert len(suppressed) == 4  # a cycle around the sensitive cell
    assert (suppressed["value"] == "").all()
    for row in made[made["status"] == "published"].itertuples():
        inside = micro["nace"].isin([row.nace] if row.nace != "Total" else ["KA", "KB"])
        inside &= micro["region"].isin([row.region] if row.region != "Total" else ["R1", "R2", "NA"])
        assert int(row.value) == micro["value"][inside].sum()
    assert told["sensitive"] == {"minimum_frequency": 1, "p_percent": 1}
    assert (told["primary"], told["secondary"], told["safe"]) == (1, 3, True)
    assert told["attacks"]["attempted"] == told["attacks"]["completed"] > 0


def test_the_summary_for_people(folder: Path) -> None:
    told = answered(arguments(folder)).out
    for words in ("12 cells; sensitive: 1 by", "1 primary, 3 secondary", "audit: safe", "the narrowest", "cells.csv"):
        assert words in told


@pytest.mark.exhaustive  # the tables of tests/tabular, by the command
def test_real_records(tmp_path: Path) -> None:
    """Primary cells as in cells_reference.csv.gz, which was computed without this project."""
    data = reference_path("business_generated", "s1k")
    output, axes = tmp_path / "cells.csv", ("nace", "region", "size")
    hierarchies = [f"--hierarchy={axis}={data}/hier_{axis}.csv" for axis in axes]
    columns = ["--value=value", "--contributor=id"]
    protect = ["protect-table", f"{data}/micro.csv.gz", *hierarchies, *columns, *RULES, f"--output={output}"]
    assert main([*protect, "--set=form.tell_primary=true"]) == 0
    made = read_text(output).merge(read_text(data / "cells_reference.csv.gz"), on=list(axes), validate="1:1")
    assert len(made) == 1053
    sensitive = (made["prim_freq3"] == "True") | (made["prim_p10"] == "True")
    assert ((made["status"] == "primary") == sensitive).all()
    published = made[made["status"] == "published"]
    assert (published["value"].astype(float) == published["X"].astype(float)).all()
    assert (made.loc[made["status"] != "published", "value"] == "").all()
    assert answered(["audit-table", str(output), *hierarchies, "--json"]).json["breaches"] == []
    with_records = [f"--microdata={data}/micro.csv.gz", *columns, *RULES]
    assert answered(["audit-table", str(output), *hierarchies, *with_records, "--json"]).json["sensitive"] == {
        "minimum_frequency": 54,
        "p_percent": 65,
    }


def test_parquet_and_csv_give_the_same_cells(folder: Path) -> None:
    assert main(arguments(folder)) == 0
    from_csv = (folder / "cells.csv").read_bytes()
    pd.read_csv(folder / "micro.csv", keep_default_na=False).to_parquet(folder / "micro.parquet")
    assert main(arguments(folder, micro="micro.parquet")) == 0
    assert (folder / "cells.csv").read_bytes() == from_csv
    assert sorted(path.name for path in folder.iterdir()) == [
        "cells.csv",
        "micro.csv",
        "micro.parquet",
        "nace.csv",
        "region.csv",
    ]


def test_a_count_table_and_linked_tables(folder: Path) -> None:
    given = arguments(folder, "--table=nace", "--table=region", rules=("--rule=minimum_frequency=3",))
    given = [each for each in given if each not in ("--value", "value", "--contributor", "id")]
    assert main(given) == 0
    made = read_text(folder / "cells.csv")
    assert len(made) == 1 + 2 + 3  # no cell of an industry in a region
    assert made.set_index(["nace", "region"]).loc[("KA", "Total"), "value"] == "25"
    assert (made["status"] == "published").all()


def test_decimals_holdings_and_what_was_left_out(folder: Path) -> None:
    micro = pd.read_csv(folder / "micro.csv", keep_default_na=False)
    values = [f"{value}.{index % 4}" for index, value in enumerate(micro["value"])]
    values[3] = ""
    change(folder, value=values, group=np.arange(len(micro)) // 2)
    assert main(arguments(folder, "--set=measure.holding=group")) == 1  # a value is missing
    told = answered(arguments(folder, "--set=measure.holding=group", "--set=measure.missing=leave_out", "--json")).json
    assert told["records_left_out"] == 1
    made = read_text(folder / "cells.csv").set_index(["nace", "region"])
    assert made.loc[("Total", "Total"), "value"] == f"{sum(round(10 * float(v)) for v in values if v) / 10:.1f}"


def test_protection_tells_what_the_audit_of_its_file_tells(folder: Path) -> None:
    told = answered(arguments(folder, "--json")).json
    given = [each for each in arguments(folder)[2:] if not each.startswith("-o")]
    again = ["audit-table", str(folder / "cells.csv"), *given, f"--microdata={folder / 'micro.csv'}", "--json"]
    found = answered(again).json
    assert (told["attacks"], told["narrowest"]) == (found["attacks"], found["narrowest"])


def test_an_a_priori_file_without_rows_asks_for_nothing(folder: Path) -> None:
    assert main(arguments(folder)) == 0
    without = (folder / "cells.csv").read_bytes()
    (folder / "wishes.csv").write_text("nace,region,status,lower,upper,cost\n", encoding="utf-8")
    assert main(arguments(folder, f"--set=protection.a_priori={folder / 'wishes.csv'}")) == 0
    assert (folder / "cells.csv").read_bytes() == without


def test_a_share_that_even_the_total_exceeds_is_said(folder: Path) -> None:
    """Suppressing more cannot help; another k can. Of the share itself, no more is said than the next ten percent.

    The total must be in doubt down to 0, and the firm of 11, which is none of its largest, knows that it is more.
    """
    firms = [("KA", 209, "yes"), ("KA", 10, ""), ("KA", 7, ""), *(("KB", value, "") for value in (14, 14, 37, 41, 11))]
    rows = "".join(f"{nace},R1,{value},i{at},{asked}\n" for at, (nace, value, asked) in enumerate(firms))
    (folder / "micro.csv").write_text(f"nace,region,value,id,asked\n{rows}", encoding="utf-8")
    asked = arguments(folder, "--requested=asked=yes", rules=("--rule=request_rule=30",))
    golden.words(answered(asked, 1).err)


def test_one_cell(folder: Path) -> None:
    """A table of one cell is that cell and its totals, which are the same; sensitive, none of them is told."""
    (folder / "micro.csv").write_text("nace,region,value,id\nKA,R1,5,i\nKA,R1,6,j\n", encoding="utf-8")
    written = folder / "cells.csv"
    assert main(arguments(folder)) == 0
    assert read_text(written)[["status", "value"]].to_numpy().tolist() == [["suppressed", ""]] * 4
    (folder / "micro.csv").write_text(
        "nace,region,value,id\n" + "".join(f"KA,R1,5,{n}\n" for n in range(20)), encoding="utf-8"
    )
    assert main(arguments(folder)) == 0
    assert read_text(written)["value"].tolist() == ["100"] * 4


def test_all_cells_sensitive(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(folder, rules=("--rule=minimum_frequency=1000",))) == 0
    made = read_text(folder / "cells.csv")
    assert (made["status"] == "suppressed").all()
    assert (made["value"] == "").all()
    assert "12 primary, 0 secondary" in capsys.readouterr().out


BAD = [
    pytest.param({"nace.csv": NACE + "KC,KD,1\nKD,KC,1\n"}, (), id="a cycle"),
    pytest.param({"nace.csv": NACE + "KC,K,1\n"}, (), id="an orphan"),
    pytest.param({"nace.csv": NACE + "All,,0\n"}, (), id="several totals"),
    pytest.param({"nace.csv": "code,parent\nTotal,\nKA,Total\nKC,Total\n"}, (), id="a strange code"),
    pytest.param({"region.csv": REGION + "R11,R1\n"}, (), id="a group"),
    pytest.param({}, ("--hierarchy=size=size.csv",), id="no file"),
    pytest.param({"size.csv": "code,parent\nT,\nS,T\n"}, ("--hierarchy=size={}/size.csv",), id="no column"),
    pytest.param({}, ("--rule=p_precent=10",), id="no rule"),
    pytest.param({}, ("--rule=p_percent=0.1",), id="a share"),
    pytest.param({}, ("--rule=dominance=1,2,3",), id="too many numbers"),
    pytest.param({}, ("--rule=dominance=1",), id="too few"),
    pytest.param({}, ("--rule=dominance=85,2",), id="swapped"),
    pytest.param({}, ("--rule=p_percent=ten",), id="no number"),
    pytest.param({}, ("--set=protection.cost=price",), id="a cost"),
    pytest.param({}, ("--method=roundin=5",), id="a method"),
    pytest.param({}, ("--method=cell_key=5",), id="too few numbers"),
    pytest.param({}, ("--method=controlled_rounding=1",), id="a base"),
    pytest.param({}, ("--method=controlled_rounding=5,6",), id="too many bases"),
    pytest.param({}, ("--method=suppression=5",), id="no options"),
    pytest.param(
        {}, ("--method=controlled_rounding=5", "--set=protection.intervals=true"), id="another method's option"
    ),
    pytest.param(
        {"manual.csv": "nace,region,status\nKA,R1,not_secondary\n"},
        ("--method=controlled_rounding=5", "--set=protection.a_priori={}/manual.csv"),
        id="a wish for another method",
    ),
    pytest.param({}, ("--previous={}/no.csv",), id="a previous file"),
    pytest.param({}, ("--set=protection.mode=best",), id="a mode"),
    pytest.param({}, ("--table=nace,size",), id="a table"),
    pytest.param({}, ("--hierarchy=nace.csv",), id="a form"),
    pytest.param({}, ("--set=measure.weight={{variable: value}}",), id="weights"),
    pytest.param(
        {"manual.csv": "nace,region,status\nKA,NA,published\n"},
        ("--set=protection.a_priori={}/manual.csv",),
        id="a published sensitive cell",
    ),
    pytest.param(
        {"manual.csv": "nace,region,status\nKA,R9,published\n"},
        ("--set=protection.a_priori={}/manual.csv",),
        id="an empty manual cell",
    ),
]


@pytest.mark.parametrize(("files", "more"), BAD)
def test_bad_input_is_told_and_nothing_is_written(folder: Path, files: dict[str, str], more: tuple[str, ...]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    before = sorted(folder.iterdir())
    told = answered(arguments(folder, *(each.format(folder) for each in more)), 1)
    golden(told.err)
    assert told.out == ""
    assert sorted(folder.iterdir()) == before


def test_duplicate_contributors(folder: Path) -> None:
    micro = pd.read_csv(folder / "micro.csv", keep_default_na=False)
    pd.concat([micro, micro.tail(2)]).to_csv(folder / "micro.csv", index=False)
    golden(answered(arguments(folder, "--set=measure.duplicates=refuse"), 1).err)
    assert not (folder / "cells.csv").exists()
    assert answered(arguments(folder, "--json")).json["records_added_up"] == 2


def test_names_of_contributors_in_capital_letters_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    micro = pd.read_csv(folder / "micro.csv", dtype="str", keep_default_na=False)
    ids = micro["id"].tolist()
    change(folder, id=["Acme", "ACME", "f1", "F1", *ids[4:]])
    capsys.readouterr()
    main(arguments(folder))
    golden(capsys.readouterr().err)


def test_values_are_never_told(folder: Path) -> None:
    change(folder, value=[-271828] + [5] * 60)
    told = answered(arguments(folder), 1)
    golden(told.err)
    assert "(--set measure.negative=absolute)" in told.err
    assert "271828" not in told.out + told.err


def test_an_unsafe_pattern_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = tasks.workbench.measures_together.audit_cells

    def finds_something(*given: Any, **named: Any) -> Any:
        return replace(audit(*given, **named), safe=False, breaches=(Breach(0, "outsider", "anybody can compute it"),))

    (folder / "cells.csv").write_text("of yesterday", encoding="utf-8")
    monkeypatch.setattr(tasks.workbench.measures_together, "audit_cells", finds_something)
    told = answered(arguments(folder), 2).out
    golden(told)
    assert (folder / "cells.csv").read_text(encoding="utf-8") == "of yesterday"
    assert answered(arguments(folder, "--json"), 2).json["output"] is None


def test_outputs_that_do_not_fit(folder: Path) -> None:
    for output in (folder / "micro.csv", folder / "cells.parquet", folder / "no" / "cells.csv"):
        before = (folder / "micro.csv").read_bytes()
        golden(answered(arguments(folder, "--output", str(output)), 1).err)
        assert (folder / "micro.csv").read_bytes() == before


@pytest.mark.servers
def test_as_a_process(folder: Path) -> None:
    command = [str(Path(sys.executable).with_name("sluice"))]
    done = subprocess.run([*command, *arguments(folder, "--json")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"] == str(folder / "cells.csv")
    assert done.stderr == ""


def test_rules_are_written_as_in_a_policy() -> None:
    found = specified(rule=["p_percent=12.5", "dominance=2, 85"]).sensitivity
    assert found == [PPercent(p=12.5), Dominance(n=2, k=85)]
    golden.refused(DocumentError, specified, rule=[""])


def test_every_form_is_written_and_tells_no_true_count(folder: Path) -> None:
    """Counts of 12 and one of 1; changed values are multiples of the base, add up, and nothing else is written."""
    given = [
        each for each in arguments(folder, rules=("--rule=minimum_frequency=3",)) if each not in ("--value", "value")
    ]
    for method, base in (("controlled_rounding", 5), ("small_count_rounding", 5), ("controlled_adjustment", 1)):
        more = [f"--method={method}{f'={base}' * (base > 1)}", f"--seed-file={folder / 'seed'}", "--json"]
        found = answered([*given, *more]).json
        assert (found["method"]["method"], found["verdict"]) == (method, "PASS")
        (finding,) = found["findings"]
        assert (finding["rule"], finding["verdict"]) == ("table_audit", "PASS")
        assert (finding["code"], finding["data"]) == ("table_audit.of_method", {"says": finding["says"]})
        made = read_text(folder / "cells.csv")
        assert list(made) == ["nace", "region", "status", "value"]
        value = made.set_index(["nace", "region"])["value"].astype(int)
        inner = value.drop("Total", level="nace").drop("Total", level="region")
        assert inner.sum() == value["Total", "Total"]
        assert value.get(("KA", "NA"), 0) != 1
        if method == "controlled_rounding":
            assert (value % base == 0).all()
    golden(answered([*given, "--method=controlled_rounding=5"]).out)


def test_a_method_that_protects_too_little_is_not_written(folder: Path) -> None:
    """Rounded to 0 or 2, a 1 can be 0 to 2; by a minimum of 5 it must be hidden by more."""
    given = counted(folder, "--rule=minimum_frequency=5")
    shown = answered([*given, "--method=small_count_rounding=2", f"--seed-file={folder / 'seed'}"], 2).out
    assert re.search(r"table_audit: FAIL\. 1 of 1 sensitive cells can be estimated too closely", shown)
    assert shown.endswith("nothing is written.\n")
    assert not (folder / "cells.csv").exists()
    golden(answered([*given, "--method=controlled_rounding=2"], 1).err)


def test_what_somebody_should_decide_is_written_and_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def decides(statement: Any) -> Finding:
        return Finding(rule="table_audit", verdict=Verdict.REVIEW, says="One cell moved further.")

    monkeypatch.setattr(tasks.workbench.protect, "judge_statement", decides)
    shown = answered(arguments(folder, "--method=controlled_rounding=50"))
    golden.where("table_audit", shown.out)
    golden(shown.err)
    assert (folder / "cells.csv").exists()
    (folder / "cells.csv").unlink()
    monkeypatch.setattr(
        tasks.workbench.protect, "judge_statement", lambda _: decides(_).model_copy(update={"verdict": Verdict.UNKNOWN})
    )
    assert main(arguments(folder, "--method=controlled_rounding=50")) == 2
    assert not (folder / "cells.csv").exists()


def test_intervals_that_anybody_could_compute(folder: Path) -> None:
    assert main(arguments(folder, "--set=protection.intervals=true")) == 0
    made = read_text(folder / "cells.csv")
    hidden = made["status"] == "suppressed"
    assert list(made)[-2:] == ["lower", "upper"]
    assert (made.loc[~hidden, ["lower", "upper"]] == "").all(axis=None)
    assert (made.loc[hidden, "lower"].astype(int) < made.loc[hidden, "upper"].astype(int)).all()


def test_two_words_would_tell_small_counts(folder: Path) -> None:
    given = [
        each for each in arguments(folder, rules=("--rule=minimum_frequency=4",)) if each not in ("--value", "value")
    ]
    golden.words(answered([*given, "--set=form.tell_primary=true"], 1).err)
    assert main(given) == 0


def test_a_budget_of_time_is_told_of(folder: Path) -> None:
    told = answered(arguments(folder, "--set=protection.seconds=100", "--json")).json
    assert 0 < told["cost"] <= told["first_cost"]
    assert told["time_ran_out"] is False
    (folder / "cells.csv").unlink()
    golden.words(answered(arguments(folder, "--set=protection.seconds=100")).out)
    (folder / "cells.csv").unlink()
    without = answered(arguments(folder)).out
    golden.words(without)


def test_methods_are_written_as_in_a_release() -> None:
    adjusted = ControlledAdjustment(method="controlled_adjustment", spread=2)
    assert specified(method="controlled_adjustment=,2").protection == adjusted
    rounded = ControlledRounding(method="controlled_rounding", base=5)
    assert specified(method="controlled_rounding= 5").protection == rounded
    given = specified(setting=["protection.mode=optimise", "protection.seconds=5"]).protection
    assert given == SecondarySuppression(mode="optimise", seconds=5)


SPECIFICATION = """dimensions:
- {variable: nace, hierarchy: nace.csv}
- {variable: region, hierarchy: region.csv}
measure: {variable: value, contributor: id}
rules:
- {rule: minimum_frequency, n: 3}
- {rule: p_percent, p: 10}
"""


def test_a_file_specifies_what_options_do(folder: Path) -> None:
    """Paths in it begin in its folder, which is not the one that the command runs in; options take its place."""
    assert main(arguments(folder)) == 0
    expected = (folder / "cells.csv").read_bytes()
    (folder / "table.yaml").write_text(SPECIFICATION, encoding="utf-8")
    given = ["protect-table", str(folder / "micro.csv"), f"--spec={folder / 'table.yaml'}", f"-o{folder / 'cells.csv'}"]
    assert main(given) == 0
    assert (folder / "cells.csv").read_bytes() == expected
    assert answered([*given, "--rule=minimum_frequency=4", "--json"]).json["sensitive"] == {"minimum_frequency": 1}
    assert answered([*given, "--set=protection.mode=optimise", "--json"]).json["proven_bound"] > 0
    overwriting = [*given[:-1], f"-o{folder / 'nace.csv'}"]
    assert "would overwrite" in answered(overwriting, 1).err


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("rules", [{"rule": "request_rule", "k": 70}]),
        ("form", {"tell_contributors": True}),
        ("rules", [{"rule": "p_percent", "p": 0.1}]),
        ("protection", {"method": "suppression", "mode": "best"}),
        ("attackers", {"coalition": 2}),
        ("dimensions", [{"variable": "nace", "hierarchy": "no.csv"}]),
        ("waivers", [{"rule": "p_percent"}]),
    ],
)
def test_what_is_wrong_in_a_file_is_said_by_its_field(folder: Path, field: str, written: Any) -> None:
    content = yaml.safe_load(SPECIFICATION) | {field: written}
    (folder / "table.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    given = ["protect-table", str(folder / "micro.csv"), f"--spec={folder / 'table.yaml'}", f"-o{folder / 'cells.csv'}"]
    golden(answered(given, 1).err)


ASKED = ("--rule=request_rule=50",)


def test_only_those_who_asked_are_protected_by_the_request_rule(folder: Path) -> None:
    """One firm is alone in its cell; no other holds half of one."""
    micro = pd.read_csv(folder / "micro.csv", dtype="str", keep_default_na=False)
    alone = (micro["nace"] == "KA") & (micro["region"] == "NA")
    for asks, sensitive in ((alone, 1), (~alone, 0)):
        micro.assign(asks=asks.map({True: "yes", False: "no"})).to_csv(folder / "asked.csv", index=False)
        given = arguments(folder, "--requested=asks=yes", "--json", micro="asked.csv", rules=ASKED)
        assert answered(given).json["sensitive"]["request_rule"] == sensitive
        (folder / "cells.csv").unlink()
    micro.assign(asks=alone.map({True: "still", False: "no"})).to_csv(folder / "asked.csv", index=False)
    before = ("--requested=asks=yes,still", "--json")
    assert (
        answered(arguments(folder, *before, micro="asked.csv", rules=("--rule=request_rule=100,50",))).json[
            "sensitive"
        ]["request_rule"]
        == 1
    )
    (folder / "cells.csv").unlink()
    assert (
        answered(arguments(folder, *before, micro="asked.csv", rules=("--rule=request_rule=100",))).json["sensitive"][
            "request_rule"
        ]
        == 0
    )
    (folder / "cells.csv").unlink()
    for requested in ("--requested=asks", "--requested=asks=Yes"):
        golden(answered(arguments(folder, requested, micro="asked.csv", rules=ASKED), 1).err)
    golden(answered(arguments(folder, micro="asked.csv", rules=ASKED), 1).err)


def test_settings_that_are_none() -> None:
    for setting in ("protection", "=5", "dimensions.0.total=All", "protection.mode.fast=1", "measure.holding={"):
        golden.refused(DocumentError, specified, setting=[setting])


def specified(**given: Any) -> Any:
    return ProtectionOptions(**({"hierarchy": ["nace"]} | given)).read()[0]


def test_what_a_person_decided(folder: Path) -> None:
    (folder / "manual.csv").write_text(
        "nace,region,status\nKA,R1,not_secondary\nKB,R2,suppress_first\nKB,R1,sensitive\n", encoding="utf-8"
    )
    assert (
        main(arguments(folder, f"--set=protection.a_priori={folder / 'manual.csv'}", "--set=form.tell_primary=true"))
        == 0
    )
    status = read_text(folder / "cells.csv").set_index(["nace", "region"])["status"]
    assert status["KA", "R1"] == "published"
    assert status["KB", "R1"] == status["KA", "NA"] == "primary"


def test_what_was_not_read_as_it_stands_is_told(folder: Path) -> None:
    change(folder, region=lambda micro: micro["region"].where(micro.index > 0, " R1"))
    (remark,) = answered(arguments(folder, "--json")).json["reading"]
    assert (remark["code"], remark["column"], remark["count"]) == ("reading.blanks", "region", 1)
    assert remark["says"] in answered(arguments(folder)).err
    asked = [each for each in arguments(folder, "--json")[1:] if not each.startswith("-o")]
    assert answered(["redesign-table", *asked]).json["reading"] == [remark]
    records = ["audit-table", str(folder / "cells.csv"), f"--microdata={folder / 'micro.csv'}", *asked[1:]]
    assert answered(records).json["reading"] == [remark]
