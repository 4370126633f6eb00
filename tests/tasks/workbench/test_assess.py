"""`sluice assess`: anybody's masked file is judged as a release would be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from schemas.contract import load_contract
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from sluice.report.dossier import Dossier, RecordsView
from sluice.sources.hierarchy_file import read_hierarchy
from tasks.workbench.assess import assess_files
from tasks.workbench.masked_file import on_columns, understood
from tests.flows.house import BLOCKED, ERROR, House
from tests.golden import golden
from tests.report.pages import Page


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The data and documents of a house, and the file that its plan makes of them."""
    house = House(tmp_path / "house")
    folder = tmp_path / "assessed"
    folder.mkdir()
    house.contract["variables"] = [v for v in house.contract["variables"] if v["name"] not in ("household", "town")]
    ages = {str(age): ["under 40" if age < 40 else "40 to 59" if age < 60 else "60 and over"] for age in range(18, 100)}
    house.variable("age")["hierarchy"] = {"rows": ages}
    (folder / "contract.yaml").write_text(yaml.safe_dump(house.contract), encoding="utf-8")
    (folder / "policy.yaml").write_text(yaml.safe_dump(house.policy), encoding="utf-8")
    original = house.data
    original.to_csv(folder / "original.csv", index=False)
    rng = np.random.default_rng(1)
    rank = original["income"].rank(method="first") + rng.uniform(-150, 150, len(original))
    masked = pd.DataFrame(
        {
            "age": original["age"].astype(str).map(lambda age: ages[age][0]),
            "sex": original["sex"],
            "region": original["region"],
            "income": np.sort(original["income"].clip(upper=100_000))[rank.rank(method="first").astype(int) - 1],
        }
    )
    masked.to_csv(folder / "masked.csv", index=False)
    return folder


@pytest.fixture
def plain(files: Path) -> Path:
    """The same under a policy without a reference standard, which takes longest: for what is read, not for attacks."""
    policy = yaml.safe_load((files / "policy.yaml").read_text(encoding="utf-8"))
    del policy["reference_standard"]
    (files / "policy.yaml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    return files


@pytest.fixture
def few(files: Path) -> Path:
    """The same of so few people that nobody learns, which takes longest."""
    return of_the_first(80, files)


def of_the_first(records: int, files: Path) -> Path:
    for name in ("original.csv", "masked.csv"):
        pd.read_csv(files / name).head(records).to_csv(files / name, index=False)
    return files


def judged(files: Path, masked: str = "masked.csv", **given: Any) -> Dossier:
    return assess_files(files / "original.csv", files / masked, files / "contract.yaml", files / "policy.yaml", **given)


def test_without_a_contract_one_is_drafted_and_its_roles_are_said(files: Path) -> None:
    dossier = assess_files(files / "original.csv", files / "masked.csv", policy_file=files / "policy.yaml")
    golden("\n".join(dossier.notices))
    declared = judged(files)
    assert dossier.contract_version != declared.contract_version
    assert [each.rule for each in dossier.findings if each.verdict is Verdict.UNKNOWN and each.binding] == []
    assert not declared.notices


def test_a_category_of_those_set_aside_alone_is_drafted_too(plain: Path) -> None:
    original = pd.read_csv(plain / "original.csv")
    original.iloc[:400].to_csv(plain / "half.csv", index=False)
    original.iloc[400:].assign(region="elsewhere").to_csv(plain / "aside.csv", index=False)
    pd.read_csv(plain / "masked.csv").iloc[:400].to_csv(plain / "few.csv", index=False)
    found = assess_files(
        plain / "half.csv", plain / "few.csv", None, plain / "policy.yaml", holdout_file=plain / "aside.csv"
    )
    assert found.view.records_holdout == len(original) - 400  # type: ignore[union-attr]


def test_a_policy_that_comes_with_sluice_is_named(few: Path) -> None:
    dossier = assess_files(few / "original.csv", few / "masked.csv", policy_file=Path("small-file"))
    assert dossier.policy == "small-file"


def finding(dossier: Dossier, rule: str) -> Finding:
    return next(finding for finding in dossier.findings if finding.rule == rule and finding.stage != "original")


def change(files: Path, **columns: Any) -> None:
    masked = pd.read_csv(files / "masked.csv")
    masked.assign(**columns).to_csv(files / "changed.csv", index=False)


def test_of_a_well_masked_file_nothing_is_to_be_decided_but_its_plan_whatever_its_order(files: Path) -> None:
    dossier = judged(files, paired=True)
    assert {each.rule: each.verdict for each in dossier.findings if each.binding and each.verdict} == {
        "transparency": Verdict.REVIEW
    }
    assert finding(dossier, "comparable_values").verdict is Verdict.PASS
    pd.read_csv(files / "masked.csv").sample(frac=1, random_state=3).to_csv(files / "shuffled.csv", index=False)
    for masked in ("masked.csv", "shuffled.csv"):
        held = judged(files, masked)
        assert {each.rule for each in held.findings if each.binding and each.verdict} == {"learned_linkage"}
        assert held.verdict is Verdict.REVIEW  # nobody said whose the rows are


def test_the_same_files_give_the_same_figures(files: Path) -> None:
    first, second = judged(files), judged(files)
    assert first.findings == second.findings
    assert first.release == second.release


def test_the_original_itself_is_blocked_for_the_right_reasons(files: Path) -> None:
    original = pd.read_csv(files / "original.csv").drop(columns=["person", "name", "household", "town"])
    original.to_csv(files / "verbatim.csv", index=False)
    dossier = judged(files, "verbatim.csv", paired=True)
    assert dossier.verdict is Verdict.FAIL
    for rule in ("k_anonymity", "prediction_distance", "exact_copies", "lone_copies"):
        assert finding(dossier, rule).verdict is Verdict.FAIL


def test_an_identifier_that_was_left_in_is_found(plain: Path) -> None:
    change(plain, name="Person 00001")
    dossier = judged(plain, "changed.csv")
    found = finding(dossier, "identifiers_removed")
    assert found.verdict is Verdict.FAIL
    golden.words(found.says)
    assert "Person 00001" not in str(dossier)


def test_a_column_that_nobody_declared_needs_a_decision(plain: Path) -> None:
    change(plain, shoe_size=42)
    dossier = judged(plain, "changed.csv")
    assert finding(dossier, "unknown_columns").verdict is Verdict.REVIEW
    assert dossier.verdict >= Verdict.REVIEW


def test_one_value_in_two_spellings_needs_a_decision(plain: Path) -> None:
    """Whoever reads the bytes has the town of everybody, which was removed."""
    original, masked = (pd.read_csv(plain / name) for name in ("original.csv", "masked.csv"))
    texts, there = masked["income"].astype(str), original["town"] == "Aldby"
    told = texts.where(~there, texts + "0")
    change(plain, income=told)
    assert (pd.read_csv(plain / "changed.csv", dtype=str)["income"].str.endswith(".00") == there).all()
    found = finding(judged(plain, "changed.csv", paired=True), "unread_marks")
    assert (found.verdict, found.data["names"]) == (Verdict.REVIEW, ("income",))
    golden(found.says)


@pytest.mark.parametrize("column", ["sex", "age"])
def test_blanks_and_names_beside_the_columns_of_a_frame_need_a_decision(files: Path, column: str) -> None:
    original, masked = (pd.read_csv(files / name) for name in ("original.csv", "masked.csv"))
    told = masked.assign(**{column: masked[column] + np.where(original["town"] == "Aldby", " ", "")})
    contract = load_contract(files / "contract.yaml")
    assert understood(told, contract, 1).spelled == (column,)
    found = on_columns(understood(masked.set_axis(original["name"]), contract, 1))
    assert [(each.code, each.verdict) for each in found if each.rule == "unread_marks"] == [
        ("unread_marks.named_rows", Verdict.REVIEW)
    ]
    kept = masked.sample(frac=0.9, random_state=1)
    assert {each.verdict for each in on_columns(understood(kept, contract, 1))} == {Verdict.PASS}


def in_order_of(files: Path, by: Any) -> tuple[pd.DataFrame, Dossier]:
    """Both files, sorted before one was masked; and what was found."""
    original, masked = (pd.read_csv(files / name) for name in ("original.csv", "masked.csv"))
    order = np.argsort(by(original), kind="stable")
    for name, frame in (("original.csv", original), ("masked.csv", masked)):
        frame.iloc[order].to_csv(files / name, index=False)
    return original.iloc[order].reset_index(drop=True), judged(files, paired=True)


def test_rows_in_the_order_of_what_was_removed_tell_it(plain: Path) -> None:
    contract = yaml.safe_load((plain / "contract.yaml").read_text(encoding="utf-8"))
    contract["variables"].append({"name": "town", "kind": "nominal", "role": "sensitive"})
    (plain / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    original, dossier = in_order_of(plain, lambda people: people["town"])
    ends = np.cumsum(original["town"].value_counts().sort_index())  # which a reader knows from any census
    read = np.repeat(sorted(original["town"].unique()), np.diff([0, *ends]))
    assert (read == original["town"]).all()
    found = finding(dossier, "row_order")
    assert (found.verdict, found.data["name"]) == (Verdict.REVIEW, "town")
    golden(found.says)


@pytest.mark.parametrize("name", ["income", "age"])
def test_rows_in_the_order_of_a_number_tell_it_though_noise_or_groups_are_released(plain: Path, name: str) -> None:
    original, dossier = in_order_of(plain, lambda people: people[name])
    assert original[name].is_monotonic_increasing
    found = finding(dossier, "row_order")
    assert (found.verdict, found.data["name"]) == (Verdict.REVIEW, name)


def test_rows_in_the_order_of_what_is_released_tell_no_more(plain: Path) -> None:
    _, dossier = in_order_of(plain, lambda people: people["region"] + people["sex"])
    assert finding(dossier, "row_order").verdict is Verdict.PASS
    assert "unread_marks" not in {each.rule for each in dossier.findings}


def test_rows_in_random_order_tell_nothing_of_the_few_whose_values_were_left_blank(plain: Path) -> None:
    rng = np.random.default_rng(7)  # by chance, few of them stand beside somebody of another region
    region = pd.read_csv(plain / "original.csv")["region"]
    change(plain, region=region.mask(rng.random(len(region)) < 0.05))
    assert finding(judged(plain, "changed.csv", paired=True), "row_order").verdict is Verdict.PASS


def test_categories_that_cannot_be_compared_are_no_pass(few: Path) -> None:
    change(few, age=pd.read_csv(few / "masked.csv")["age"].map(lambda age: f"group {len(age)}"))
    dossier = judged(few, "changed.csv")
    assert dossier.verdict > Verdict.PASS
    assert finding(dossier, "comparable_values").verdict is not Verdict.PASS
    # With the pairs known, each age always becomes the same group, so it is a recoding.
    assert finding(judged(few, "changed.csv", paired=True), "comparable_values").verdict is Verdict.PASS


@pytest.mark.parametrize("blank", ["*", "NA"])
@pytest.mark.parametrize("paired", [False, True], ids=["unpaired", "paired"])
def test_what_arx_and_sdcmicro_write_for_a_suppressed_value_is_a_suppressed_value(
    files: Path, blank: str, paired: bool
) -> None:
    masked = pd.read_csv(files / "masked.csv", dtype=str)
    masked.loc[::50, ["age", "region"]] = blank
    masked.to_csv(files / "suppressed.csv", index=False)
    dossier = judged(files, "suppressed.csv", paired=paired)
    compared = finding(dossier, "comparable_values")
    assert (compared.verdict, compared.completed) == (Verdict.PASS, compared.attempted)
    assert finding(dossier, "suppressed_share").observed == pytest.approx(0.02)
    assert finding(dossier, "prediction_distance").verdict is Verdict.PASS


def test_a_recoding_is_learned_from_pairs_though_cells_are_suppressed(files: Path) -> None:
    files = of_the_first(400, files)
    ages = pd.read_csv(files / "masked.csv")["age"].map({"under 40": "A", "40 to 59": "B", "60 and over": "C"})
    change(files, age=ages.where(np.arange(len(ages)) % 40 > 0, "*"))
    dossier = judged(files, "changed.csv", paired=True)
    assert finding(dossier, "comparable_values").verdict is Verdict.PASS
    assert finding(dossier, "suppressed_share").observed == pytest.approx(1 / 40)  # not of the other cells, too
    change(files, age=ages.where(np.arange(len(ages)) % 40 > 0, "B"))
    assert finding(judged(files, "changed.csv", paired=True), "comparable_values").verdict is not Verdict.PASS


def test_intervals_of_a_number_are_read_without_pairs(few: Path) -> None:
    given = {"under 40": "[18, 40[", "40 to 59": "[40, 60[", "60 and over": "[60, 100["}  # as ARX writes them
    change(few, age=pd.read_csv(few / "masked.csv")["age"].map(given))
    contract = yaml.safe_load((few / "contract.yaml").read_text(encoding="utf-8"))
    for variable in contract["variables"]:
        variable.pop("hierarchy", None)
    (few / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    assert finding(judged(few, "changed.csv"), "comparable_values").verdict is Verdict.PASS


def test_a_column_of_the_root_alone_is_taken_for_removed(plain: Path) -> None:
    change(plain, region="*")
    dossier = judged(plain, "changed.csv")
    assert isinstance(dossier.view, RecordsView)
    assert [each.name for each in dossier.view.variables if each.kind_after] == ["age", "sex", "income"]
    assert finding(dossier, "k_anonymity").verdict is finding(judged(plain), "k_anonymity").verdict


def test_an_attack_that_needs_pairs_asks_for_a_decision_without_them(files: Path) -> None:
    policy = yaml.safe_load((files / "policy.yaml").read_text(encoding="utf-8"))
    policy["attacks"] = [{"rule": "distance_linkage", "excess": 0.1}]
    (files / "policy.yaml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    without = judged(files)
    assert finding(without, "distance_linkage").verdict is Verdict.REVIEW
    golden.words(finding(without, "distance_linkage").says)
    assert without.verdict is Verdict.REVIEW
    assert finding(judged(files, paired=True), "distance_linkage").verdict is Verdict.PASS


@pytest.mark.exhaustive  # hierarchies are read in tests/generalization, too
def test_arxs_own_hierarchies_and_stars_are_read(reference_data: Path, tmp_path: Path) -> None:
    """Adult as ARX's example project has it: full-domain generalisation, small groups suppressed by '*'."""
    adult = reference_data / "adult"
    original = pd.read_csv(adult / "arx" / "adult.csv.gz", sep=";", dtype=str, nrows=1200)[
        ["sex", "age", "education", "salary-class"]
    ]
    masked, variables = original.copy(), []
    for name in original:
        hierarchy = read_hierarchy(adult / "hierarchies_arx" / f"adult_hierarchy_{name}.csv")
        declared = {"name": name, "kind": "nominal", "role": "quasi_identifier", "categories": sorted(hierarchy.rows)}
        if name == "age":
            declared = {"name": name, "kind": "integer", "role": "quasi_identifier"}
        elif name == "education":
            declared["hierarchy"] = {"rows": {leaf: list(groups) for leaf, groups in hierarchy.rows.items()}}
        elif name == "salary-class":
            declared["role"] = "sensitive"
        variables.append(declared)
        level = {"age": 3, "education": 2}.get(name, 0)
        masked[name] = masked[name].map(hierarchy.at_level(level))
    keys = ["sex", "age", "education"]
    groups = masked.groupby(keys)["salary-class"]
    masked.loc[(groups.transform("size") < 30) | (groups.transform("nunique") < 2), keys] = "*"
    original.to_csv(tmp_path / "original.csv", index=False)
    masked.to_csv(tmp_path / "masked.csv", index=False)
    contract = {"dataset": "adult", "version": 1, "variables": variables}
    (tmp_path / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    for paired in (False, True):
        dossier = assess_files(
            tmp_path / "original.csv", tmp_path / "masked.csv", tmp_path / "contract.yaml", paired=paired
        )
        assert finding(dossier, "comparable_values").verdict is Verdict.PASS
        judged = [each for each in dossier.findings if each.binding and each.stage != "utility"]
        wrong = {each.rule: each.verdict for each in judged if each.verdict}
        assert wrong == ({} if paired else {"distance_linkage": Verdict.REVIEW, "learned_linkage": Verdict.REVIEW})


def test_pairs_need_files_of_one_length(plain: Path) -> None:
    pd.read_csv(plain / "masked.csv").iloc[1:].to_csv(plain / "shorter.csv", index=False)
    golden.refused(DataError, judged, plain, "shorter.csv", paired=True)
    assert judged(plain, "shorter.csv").view.records_released == 1199


def test_the_command_says_the_verdict_and_writes_the_report(house: House, files: Path) -> None:
    given = ["--contract", str(files / "contract.yaml"), "--policy", str(files / "policy.yaml")]
    report = files / "report.html"
    both = [str(files / "original.csv"), str(files / "masked.csv")]
    told = house.sluice("assess", *both, *given, "--paired", "--report", str(report), "--json")
    assert told.code == BLOCKED, told.err
    assert json.loads(told.out)["verdict"] == "REVIEW"  # nobody said how income was masked
    golden(next(line for line in Page(report.read_text(encoding="utf-8")).lines if "an assessment" in line))
    assert not house.home.exists() or house.ids == []  # nothing was recorded
    change(files, name="x")
    assert house.sluice("assess", str(files / "original.csv"), str(files / "changed.csv"), *given).code == BLOCKED
    assert house.sluice("assess", str(files / "nowhere.csv"), str(files / "changed.csv"), *given).code == ERROR


def test_what_cannot_be_judged_is_refused_before_a_record_is_read(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.workbench.assess.read_records", None)
    contract = yaml.safe_load((files / "contract.yaml").read_text(encoding="utf-8"))
    for variable in contract["variables"]:
        variable["role"] = "other" if variable["role"] == "quasi_identifier" else variable["role"]
    (files / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    golden.refused(DataError, judged, files)


def test_what_was_not_read_as_it_stands_is_told_of_each_file(plain: Path) -> None:
    change(plain, region=lambda masked: masked["region"].where(masked.index > 2, masked["region"] + " "))
    (remark,) = judged(plain, "changed.csv").reading
    assert (remark.code, remark.column, remark.count) == ("reading.blanks", "region", 3)
    assert remark.says.startswith("changed.csv: ")
    assert judged(plain).reading == ()
