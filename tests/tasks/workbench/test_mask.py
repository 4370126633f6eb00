"""`sluice mask`: a plan is tried on a file, outside any release."""

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import sluice
from flows.cli.main import main
from policies.policy import shipped_policies
from sluice.ground.errors import DataError, DocumentError, PlanError
from sluice.masking.noise.additive_noise import AdditiveNoise
from tasks.workbench.file_masking import NOT_JUDGED, kinds_given, load_plan, mask_file
from tests.flows.house import answered
from tests.golden import golden

NOISE = {"method": "additive_noise", "columns": ["income"], "amount": 0.1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "income": np.round(rng.lognormal(10, 0.5, 200), 2),
            "age": rng.integers(18, 90, 200),
            "region": rng.choice(["01", "02", "NA"], 200),
            "born": rng.choice(["1980-05-01", "1990-12-31"], 200),
            "children": np.where(rng.random(200) < 0.1, "NA", rng.integers(0, 4, 200).astype(str)),
            "household": np.repeat(np.arange(100), 2),
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump([NOISE]), encoding="utf-8")
    return tmp_path


def run(folder: Path, **given: Any) -> pd.DataFrame:
    output = given.pop("output", folder / "masked.csv")
    mask_file(folder / "people.csv", folder / "plan.yaml", output, **given)
    return pd.read_parquet(output) if output.suffix == ".parquet" else pd.read_csv(output, dtype={"region": "str"})


def test_only_what_the_plan_names_is_changed_and_codes_stay_text(folder: Path) -> None:
    before = pd.read_csv(folder / "people.csv", dtype={"region": "str"})
    after = run(folder)
    assert (before["income"] != after["income"]).all()
    pd.testing.assert_frame_equal(before.drop(columns="income"), after.drop(columns="income"))


def test_the_file_says_that_it_was_not_judged(folder: Path) -> None:
    run(folder)
    run(folder, output=folder / "masked.parquet")
    assert pq.read_metadata(folder / "masked.parquet").metadata[b"sluice:judged"] == b"no"
    for name in ("masked.csv", "masked.parquet"):
        told = json.loads((folder / f"{name}.datapackage.json").read_text(encoding="utf-8"))
        assert told["sluice:judged"] is False
        assert told["description"] == NOT_JUDGED
        assert told["resources"][0]["path"] == name


def test_nothing_is_recorded_or_published(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SLUICE_HOME", str(folder / "workspace"))
    before = set(folder.iterdir())
    assert main(["mask", "people.csv", "--plan", "plan.yaml", "--output", "masked.csv"]) == 0
    assert {path.name for path in set(folder.iterdir()) - before} == {"masked.csv", "masked.csv.datapackage.json"}


def test_the_seed_file_makes_the_same_file_again(folder: Path) -> None:
    seed = folder / "seed"
    first = run(folder, seed_file=seed)
    assert seed.stat().st_mode & 0o777 == 0o600
    pd.testing.assert_frame_equal(run(folder, seed_file=seed), first)
    assert not run(folder)["income"].equals(first["income"])
    seed.write_text("12\n", encoding="utf-8")
    assert not run(folder, seed_file=seed)["income"].equals(first["income"])
    seed.write_text("secret words", encoding="utf-8")
    golden.refused(DocumentError, run, folder, seed_file=seed)


def test_native_types_of_a_parquet_file_are_taken_as_they_are(folder: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.normal(size=50), "n": np.arange(50), "yes": rng.random(50) < 0.5})
    frame.to_parquet(folder / "people.parquet")
    made = mask_file(folder / "people.parquet", folder / "plan.yaml", folder / "out.parquet")
    assert {name: str(v.kind) for name, v in made.variables.items()} == {
        "income": "continuous",
        "n": "integer",
        "yes": "binary",
    }
    assert pq.read_table(folder / "out.parquet")["n"].to_pylist() == list(range(50))


def test_a_contract_says_what_the_variables_are(folder: Path) -> None:
    contract = {
        "dataset": "people",
        "version": 1,
        "variables": [
            {"name": "income", "kind": "continuous", "role": "sensitive"},
            {"name": "age", "kind": "integer", "role": "identifier"},
            {"name": "region", "kind": "nominal", "role": "quasi_identifier"},
            {"name": "household", "kind": "integer", "role": "household"},
        ],
    }
    (folder / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    masked = run(folder, contract_file=folder / "contract.yaml")
    assert list(masked) == ["income", "region", "household"]
    original = pd.read_csv(folder / "people.csv")
    assert not set(masked["household"].astype(str)) & set(original["household"].astype(str))
    assert (masked["household"][::2].to_numpy() == masked["household"][1::2].to_numpy()).all()


def test_a_hierarchy_without_declared_categories_groups_those_that_are_found(folder: Path) -> None:
    rows = {"01": ["north"], "02": ["south"], "NA": ["abroad"]}
    region = {"name": "region", "kind": "nominal", "role": "quasi_identifier", "hierarchy": {"rows": rows}}
    contract = {"dataset": "people", "version": 1, "variables": [region]}
    (folder / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    plan = [{"method": "global_recoding", "columns": ["region"], "level": 1}]
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    masked = run(folder, contract_file=folder / "contract.yaml")
    original = pd.read_csv(folder / "people.csv", dtype="str", keep_default_na=False)
    assert masked["region"].tolist() == [rows[code][0] for code in original["region"]]


def test_decimal_commas_of_declared_numbers_are_read_where_they_can_be_nothing_else(folder: Path) -> None:
    income = {"name": "income", "kind": "continuous", "role": "sensitive"}
    contract = {"dataset": "people", "version": 1, "variables": [income]}
    (folder / "contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
    (folder / "seed").write_text("5", encoding="utf-8")
    given = {"contract_file": folder / "contract.yaml", "seed_file": folder / "seed"}
    with_points = run(folder, **given)
    people = pd.read_csv(folder / "people.csv")
    people.to_csv(folder / "people.csv", index=False, sep=";", decimal=",")
    pd.testing.assert_frame_equal(run(folder, output=folder / "commas.csv", **given), with_points)
    people.assign(income="1,234").to_csv(folder / "people.csv", index=False, sep=";")
    golden.refused(DataError, run, folder, output=folder / "doubtful.csv", **given)


def test_a_household_level_step_needs_to_know_the_household(folder: Path) -> None:
    plan = [{"method": "rank_swapping", "columns": ["income"], "window": 0.2, "unit": "household"}]
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    people = pd.read_csv(folder / "people.csv", dtype={"region": "str"})
    people["income"] = np.repeat(people["income"].to_numpy()[::2], 2)
    people.to_csv(folder / "people.csv", index=False)
    golden.refused(PlanError, run, folder)
    masked = run(folder, household="household")
    assert (masked["income"][::2].to_numpy() == masked["income"][1::2].to_numpy()).all()
    assert sorted(masked["income"]) == sorted(people["income"])


def test_a_mark_for_missing_among_words_is_no_category(folder: Path) -> None:
    pram = {"method": "pram", "columns": ["region"], "retention": 0.5}
    (folder / "plan.yaml").write_text(yaml.safe_dump([pram]), encoding="utf-8")
    told = answered(["mask", f"{folder / 'people.csv'}", "--plan", f"{folder / 'plan.yaml'}", f"-o{folder / 'b.csv'}"])
    golden.where("taken for missing", told.err)
    before, after = (pd.read_csv(folder / name, dtype={"region": "str"})["region"] for name in ("people.csv", "b.csv"))
    assert list(before.isna()) == list(after.isna())
    assert set(after.dropna()) == {"01", "02"}


def test_the_user_knows_better_what_a_column_is(folder: Path) -> None:
    pram = {"method": "pram", "columns": ["children"], "retention": 0.5}
    (folder / "plan.yaml").write_text(yaml.safe_dump([pram]), encoding="utf-8")
    golden.refused(PlanError, run, folder)
    made = mask_file(
        folder / "people.csv", folder / "plan.yaml", folder / "out.csv", kinds=kinds_given(["children=ordinal"])
    )
    assert made.variables["children"].categories == ("0", "1", "2", "3")
    told = json.loads((folder / "out.csv.datapackage.json").read_text(encoding="utf-8"))
    assert told["sluice:parameters"][0]["matrix"]["children"]["0"]["0"] == 0.5
    golden.refused(DocumentError, kinds_given, ["children=number"])
    golden.refused(DocumentError, run, folder, kinds=kinds_given(["kids=nominal"]))


def test_the_plan_of_a_release_definition_is_a_plan(folder: Path) -> None:
    (folder / "plan.yaml").write_text(yaml.safe_dump({"name": "x", "plan": [NOISE]}), encoding="utf-8")
    assert load_plan(folder / "plan.yaml") == (AdditiveNoise(columns=("income",), amount=0.1),)


@pytest.mark.parametrize("policy", ["small-file", "mine.yaml"])
def test_a_step_of_a_release_definition_searches_under_its_policy(folder: Path, policy: str) -> None:
    (folder / "mine.yaml").write_bytes(shipped_policies()["small-file"].read_bytes())
    step = {"method": "generalization", "columns": ["region"], "under": "policy"}
    given = "dataset: d\nversion: 1\nvariables:\n- {name: region, kind: nominal, role: quasi_identifier}\n"
    (folder / "contract.yaml").write_text(given)
    (folder / "plan.yaml").write_text(yaml.safe_dump({"policy": policy, "plan": [step]}), encoding="utf-8")
    assert {"01", "02"} <= set(run(folder, contract_file=folder / "contract.yaml")["region"])


@pytest.mark.parametrize("plan", [[NOISE | {"amuont": 1}], [NOISE | {"method": "additive_nois"}], []])
def test_a_wrong_plan_is_refused_where_it_is_wrong(folder: Path, plan: list[Any]) -> None:
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    golden.refused(DocumentError, run, folder)
    assert not (folder / "masked.csv").exists()


def test_a_plan_that_does_not_fit_writes_nothing(folder: Path) -> None:
    (folder / "plan.yaml").write_text(yaml.safe_dump([NOISE | {"columns": ["region"]}]), encoding="utf-8")
    (folder / "masked.csv").write_text("earlier", encoding="utf-8")
    before = set(folder.iterdir())
    golden.refused(PlanError, run, folder)
    assert set(folder.iterdir()) == before
    assert (folder / "masked.csv").read_text(encoding="utf-8") == "earlier"


def test_no_input_is_overwritten(folder: Path) -> None:
    for given in ("people.csv", "plan.csv"):
        (folder / "plan.csv").write_text(yaml.safe_dump([NOISE]), encoding="utf-8")
        before = (folder / given).read_bytes()
        golden.refused(DataError, mask_file, folder / "people.csv", folder / "plan.csv", folder / given)
        assert (folder / given).read_bytes() == before
    golden.refused(DataError, run, folder, output=folder / "masked.xlsx")
    golden.refused(DataError, run, folder, output=folder / "nowhere" / "masked.csv")
    golden.refused(DocumentError, run, folder, household="hosuehold")


@pytest.mark.servers
def test_the_command_starts_without_the_slow_libraries(folder: Path) -> None:
    """Prefect, Great Expectations, scikit-learn and numba take seconds to load and are not needed to add noise."""
    program = (
        "import sys; from flows.cli.main import main; "
        "code = main(['mask', 'people.csv', '--plan', 'plan.yaml', '--output', 'masked.csv']); "
        "slow = {'prefect', 'great_expectations', 'sklearn', 'numba', 'sqlalchemy', 'matplotlib', 'duckdb', 'scipy'}; "
        "sys.exit(code or ', '.join(slow & set(sys.modules)) or 0)"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    ran = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_what_was_not_read_as_it_stands_is_told(folder: Path) -> None:
    people = pd.read_csv(folder / "people.csv", dtype="str", keep_default_na=False)
    people.loc[:1, "region"] = " 01"
    people.to_csv(folder / "people.csv", index=False)
    command = ["mask", str(folder / "people.csv"), "--plan", str(folder / "plan.yaml"), f"-o{folder / 'masked.csv'}"]
    (remark,) = answered([*command, "--json"]).json["reading"]
    assert (remark["code"], remark["column"], remark["count"]) == ("reading.blanks", "region", 2)
    assert remark["says"] in answered(command).err


BY_RULES = """dataset: people
version: 1
variables:
  - {name: age, kind: integer, role: quasi_identifier}
  - {name: activity, kind: nominal, role: quasi_identifier, categories: [student, retired, work]}
rules:
  - {name: no_young_pensioner, expression: 'activity != "retired" or age > 50', says: Nobody retires before 50}
"""


@pytest.mark.parametrize(
    ("step", "broken"),
    [
        ({"method": "pram", "columns": ["activity"], "retention": 0.5}, ()),
        ({"method": "local_suppression", "columns": ["age", "activity"], "k": 3}, ()),
        ({"method": "microaggregation", "columns": ["age", "activity"], "k": 3}, ()),
        ({"method": "data_swapping", "columns": ["activity"], "swap_rate": 0.5}, ("no_young_pensioner",)),
        ({"method": "permutation", "columns": ["age"]}, ("no_young_pensioner",)),
    ],
)
def test_rules_of_the_contract_are_kept_or_the_step_refuses_unless_it_is_accepted(
    tmp_path: Path, step: dict[str, Any], broken: tuple[str, ...]
) -> None:
    ages = np.arange(10, 90).repeat(2)
    activity = np.select([ages < 20, ages > 64], ["student", "retired"], "work")
    people = pd.DataFrame({"age": ages, "activity": activity})
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "contract.yaml").write_text(BY_RULES)
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump([step]))
    (tmp_path / "seed").write_text("5")
    files = {name: str(tmp_path / name) for name in ("people.csv", "plan.yaml", "contract.yaml", "seed", "masked.csv")}
    command = ["mask", files["people.csv"], "--plan", files["plan.yaml"], "--contract", files["contract.yaml"]]
    command += ["--seed-file", files["seed"], "-o", files["masked.csv"], "--json"]
    given: dict[str, Any] = {"contract": tmp_path / "contract.yaml", "seed": 5}
    if broken:
        golden.refused(PlanError, sluice.mask, people, [step], **given)
        with pytest.raises(PlanError):
            mask_file(
                *(tmp_path / name for name in ("people.csv", "plan.yaml", "masked.csv")),
                contract_file=given["contract"],
            )
        assert not (tmp_path / "masked.csv").exists()
        command, given = [*command, "--accept-broken-rules"], given | {"accept_broken_rules": True}
    told = answered(command)
    assert tuple(told.json["impossible"]) == broken
    masked = sluice.mask(people, [step], **given)
    assert masked.impossible == broken
    assert all(name in masked.says for name in broken)


def test_that_no_record_has_a_value_left_is_told(folder: Path) -> None:
    alone = [{"method": "local_suppression", "columns": ["region", "household"], "k": 5}]  # two of a household
    (folder / "plan.yaml").write_text(yaml.safe_dump(alone), encoding="utf-8")
    command = ["mask", str(folder / "people.csv"), "--plan", str(folder / "plan.yaml"), f"-o{folder / 'masked.csv'}"]
    assert answered([*command, "--json"]).json["emptied"] == ["household"]
    golden.where("left", answered(command).err)
    masked = sluice.mask(pd.read_csv(folder / "people.csv"), alone, seed=1)
    assert masked.emptied == ("household",)
    golden(masked.says)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_truth_values_of_a_file_of_texts_keep_their_spellings(tmp_path: Path, ending: str) -> None:
    own = ["yes", "Yes", "TRUE", "no", "NA", ""] * 5
    pd.DataFrame({"own": own, "income": range(30)}).to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "plan.yaml").write_text("- {method: rounding, columns: [income], base: 10}\n")
    made = mask_file(tmp_path / "a.csv", tmp_path / "plan.yaml", tmp_path / f"b.{ending}").output
    read = pd.read_csv(made) if ending == "csv" else pd.read_parquet(made)
    assert read["own"].tolist() == ["yes", "Yes", "TRUE", "no", np.nan, np.nan] * 5


MOMENT, BERLIN = datetime(2020, 1, 1, 10, 30, 1), datetime(2020, 1, 1, 12, 30, tzinfo=UTC)
ARROW_TYPES: dict[str, tuple[list[Any], pa.DataType]] = {
    **{str(kind): ([1, 2, None, 100], kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{str(kind): ([1, 2, None, 100], kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    "beyond 2^53": ([2**62 + 1, None], pa.int64()),
    "beyond 2^63": ([2**64 - 1, None], pa.uint64()),
    "bool": ([True, False, None], pa.bool_()),
    "float16": ([np.float16(1.5), np.float16(2)], pa.float16()),
    "float32": ([0.1, 2.5, None], pa.float32()),
    "whole floats": ([1.0, 2.0, None], pa.float64()),
    "nan and null": ([0.1, float("nan"), None], pa.float64()),
    "decimal": ([Decimal("59.471"), Decimal("1.000"), None], pa.decimal128(10, 3)),
    "long decimal": ([Decimal("12345678901234567.89"), None], pa.decimal128(38, 2)),
    "date": ([date(1990, 1, 1), None], pa.date32()),
    **{f"moment in {unit}": ([MOMENT, None], pa.timestamp(unit)) for unit in ("ms", "us", "ns")},
    "nanoseconds": ([1_577_874_601_000_000_001, None], pa.timestamp("ns")),
    "zone": ([BERLIN, None], pa.timestamp("us", "Europe/Berlin")),
    "time": ([time(10, 30), None], pa.time64("us")),
    "text": (["1", "1e3", "+1", " 2", "", None], pa.string()),
    "codes": (["01", "NA", None], pa.large_string()),
    "dictionary": (["b", "a", None], pa.dictionary(pa.int32(), pa.string())),
    "nothing": ([None], pa.null()),
}  # fmt: skip
IN_CSV = {  # the first of these values
    **{f"moment in {unit}": "2020-01-01T10:30:01.000000" for unit in ("ms", "us", "ns")},
    "beyond 2^63": "18446744073709551615",
    "bool": "true",
    "float32": "0.1",
    "whole floats": "1",
    "decimal": "59.471",
    "long decimal": "12345678901234567.89",
    "date": "1990-01-01",
    "nanoseconds": "2020-01-01T10:30:01.000000001",
    "zone": "2020-01-01T13:30:00.000000",
    "time": "10:30:00",
}


@pytest.mark.parametrize("source", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ARROW_TYPES)
def test_what_no_step_names_leaves_as_it_came_whatever_its_type(name: str, source: str, tmp_path: Path) -> None:
    values, kind = ARROW_TYPES[name]
    given = pa.array([values[row % len(values)] for row in range(30)], kind)
    row = pa.array(range(30), pa.int16())
    table = pa.table({"first": given, "income": np.arange(30) ** 1.5, "row": row, "last": given})
    file = tmp_path / f"people.{source}"
    if source == "parquet":
        pq.write_table(table, file)
    else:
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    plan = [NOISE, {"method": "sampling", "fraction": 0.8}]
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    for output in ("out.parquet", "out.csv"):
        mask_file(file, tmp_path / "plan.yaml", tmp_path / output, seed_file=tmp_path / "seed")
    made = pq.read_table(tmp_path / "out.parquet")
    assert made.column_names == table.column_names
    wanted = table.take(made["row"])
    for column in ("first", "row", "last"):
        assert made.schema.field(column).type == table.schema.field(column).type
        assert repr(made[column].to_pylist()) == repr(wanted[column].to_pylist())
    cells = pd.read_csv(tmp_path / "out.csv", dtype="str", keep_default_na=False)
    assert cells["row"].tolist() == [str(each) for each in made["row"].to_pylist()]
    of_first = cells.loc[cells["row"].astype(int) % len(values) == 0, "first"]
    assert set(of_first) == {IN_CSV.get(name, "" if values[0] is None else str(values[0]))}


@pytest.mark.parametrize("step", [{"method": "data_swapping", "columns": ["activity"], "swap_rate": 0.5}])
def test_a_rule_of_the_source_alone_stops_no_step(tmp_path: Path, step: dict[str, Any]) -> None:
    ages = np.arange(10, 90).repeat(2)
    people = pd.DataFrame({"age": ages, "activity": np.select([ages < 20, ages > 64], ["student", "retired"], "work")})
    (tmp_path / "contract.yaml").write_text(BY_RULES.replace("says:", "of: source, says:"))
    assert sluice.mask(people, [step], contract=tmp_path / "contract.yaml", seed=5).impossible == ()


def test_a_notebook_says_what_the_command_says_of_words_read_otherwise(folder: Path) -> None:
    plan = [{"method": "pram", "columns": ["works"], "retention": 0.9}]
    people = pd.DataFrame({"works": ["Yes", "no", "NO", "yes"] * 50, "children": ["1", "NA"] * 100})
    people.to_csv(folder / "people.csv", index=False)
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan))
    command = ["mask", str(folder / "people.csv"), "--plan", str(folder / "plan.yaml"), f"-o{folder / 'masked.csv'}"]
    told = answered([*command, "--json"]).json["reading"]
    found = [remark.model_dump() for remark in sluice.mask(people, plan, seed=1).reading]
    assert found == told
    assert [each["code"] for each in found] == ["reading.other_words"]
