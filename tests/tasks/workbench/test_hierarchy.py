"""`sluice hierarchy`: hierarchies built, drafted, checked and shown from the command line."""

import json
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flows.cli.main import main
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from sluice.sources.hierarchy_file import hierarchy_csv, read_hierarchy
from tasks.workbench.hierarchies import value_counts
from tests.flows.house import answered
from tests.golden import golden

VARIABLES = [
    {"name": "age", "kind": "integer", "role": "quasi_identifier", "minimum": 0, "maximum": 99},
    {"name": "place", "kind": "nominal", "role": "quasi_identifier", "categories": ["01", "02", "11", "12"]},
    {
        "name": "school",
        "kind": "ordinal",
        "role": "other",
        "categories": ["none", "basic", "high"],
        "missing_codes": ["?"],
        "nullable": True,
        "hierarchy": {"groups": [2]},
    },
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a contract and with records, of whom one is alone with his age."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLUICE_HOME", raising=False)
    content = {"dataset": "people", "version": 1, "variables": VARIABLES}
    (tmp_path / "people.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    ages = [20 + place % 40 for place in range(400)] + [97]
    places = ["01"] * 200 + ["02"] * 150 + ["11"] * 48 + ["12"] * 3
    schools = (["none"] * 30 + ["basic"] * 200 + ["high"] * 150 + ["?"] * 21)[: len(ages)]
    frame = pd.DataFrame({"age": ages, "place": places, "school": schools})
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    return tmp_path


def of(name: str) -> list[str]:
    return ["--contract=people.yaml", f"--variable={name}"]


def test_a_built_file_covers_the_contract_and_the_data(folder: Path) -> None:
    assert main(["hierarchy", "build", "intervals: [5, 10], highest: 80", *of("age"), "-o", "age.csv"]) == 0
    assert read_hierarchy(folder / "age.csv").rows["97"] == ("80 and over", "80 and over", "*")
    told = answered(["hierarchy", "check", "age.csv", *of("age"), "--data=people.csv", "--json"]).out
    assert json.loads(told[told.index("{") :]) == {"leaves": 100, "levels": 3, "faults": [], "remarks": []}


@pytest.mark.parametrize(
    ("how", "options", "leaf", "groups"),
    [
        ("{intervals: [10]}", ["--minimum=0", "--maximum=29"], "17", ("10 to 19", "*")),
        ("periods: [year]", ["--minimum=2023-01-01", "--maximum=2024-01-01"], "2023-05-01", ("2023", "*")),
        ("prefixes: [1]", ["--categories=A1,A2,B1"], "A2", ("A", "*")),
        ("groups: [2]", ["--categories=low,mid,high", "--ordered"], "mid", ("low to mid", "*")),
        ("times: [60]", [], "13:45", ("13:00 to 13:59", "*")),
        ("parents: {a: b, b: c}", [], "a", ("b", "c")),
        ("rows: {a: [b]}", [], "a", ("b",)),
    ],
)
def test_a_domain_needs_no_contract(
    folder: Path, how: str, options: list[str], leaf: str, groups: tuple[str, ...]
) -> None:
    (folder / "made.csv").write_text(answered(["hierarchy", "build", how, *options]).out, encoding="utf-8")
    assert read_hierarchy(folder / "made.csv").rows[leaf] == groups


def test_a_draft_tells_of_nobody_alone_and_loads_in_the_contract(folder: Path) -> None:
    with_him = answered(["hierarchy", "draft", "people.csv", *of("age"), "--groups=4"]).out
    frame = pd.read_csv(folder / "people.csv", dtype=str)
    frame[frame["age"] != "97"].to_csv(folder / "others.csv", index=False)
    assert (
        answered(["hierarchy", "draft", "others.csv", *of("age"), "--groups=4"]).out
        == with_him
        == 'hierarchy: {"cuts": [[30, 40, 50], [40]]}\n'
    )

    content = yaml.safe_load((folder / "people.yaml").read_text())
    content["variables"][0] |= yaml.safe_load(with_him)
    (folder / "people.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    assert answered(["hierarchy", "show", "people.yaml", "--variable=age", "--json"]).json["rows"]["97"] == [
        "50 and over",
        "40 and over",
        "*",
    ]


def test_a_plan_recodes_by_the_level_of_a_built_hierarchy(folder: Path) -> None:
    content = yaml.safe_load((folder / "people.yaml").read_text())
    content["variables"][0]["hierarchy"] = {"intervals": [5, 20], "highest": 80}
    (folder / "people.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    plan = [{"method": "global_recoding", "columns": ["age"], "level": 2}]
    (folder / "plan.yaml").write_text(yaml.safe_dump({"plan": plan}), encoding="utf-8")
    assert main(["mask", "people.csv", "--contract=people.yaml", "--plan=plan.yaml", "--output=masked.csv"]) == 0
    masked = pd.read_csv(folder / "masked.csv", dtype=str)["age"].value_counts()
    assert masked.to_dict() == {"20 to 39": 200, "40 to 59": 200, "80 and over": 1}


def test_a_check_says_what_is_wrong_and_names_no_value_of_the_data(folder: Path) -> None:
    (folder / "place.csv").write_text("1;x\n2;x\n11;y\n11 x;y\n", encoding="utf-8")
    told = answered(["hierarchy", "check", "place.csv", *of("place")], 1).out
    golden(told)

    (folder / "age.csv").write_text("".join(f"{age};*\n" for age in range(90)), encoding="utf-8")
    told = answered(["hierarchy", "check", "age.csv", "--data=people.csv", "--column=age"], 1).out
    golden(told)
    assert "97" not in told
    golden(
        answered(["hierarchy", "check", "place.csv", "--data=people.parquet", "--column=school", "--json"], 1).json[
            "faults"
        ]
    )


def test_a_picture_is_the_same_each_time_and_shows_names_as_text(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {f"<b>{leaf}</b>": ("$x$ & <script>", "*") for leaf in range(300)} | {"z": ("y", "*")}
    (folder / "odd.csv").write_text(hierarchy_csv(Hierarchy(rows=rows)), encoding="utf-8")
    made = {}
    for turn in ("first", "second"):
        files = [f"--{kind}={turn}.{kind}" for kind in ("svg", "png", "html")]
        assert main(["hierarchy", "show", "odd.csv", *files]) == 0
        made[turn] = [(folder / f"{turn}.{kind}").read_bytes() for kind in ("svg", "png", "html")]
    assert made["first"] == made["second"]
    svg, png, html = made["first"]
    assert png.startswith(b"\x89PNG")
    for page in (svg, html):
        assert b"<script>" not in page
        assert b"$x$ &amp; &lt;script" in page
    told = capsys.readouterr().out
    assert "└── *" in told
    assert "… 280 more" in told
    golden([line for line in told.splitlines() if "level 1" in line])


def test_counts_are_told_of_levels_without_rare_groups(folder: Path) -> None:
    told = answered(["hierarchy", "show", "people.yaml", "--variable=school", "--data=people.csv"]).out
    assert "none to basic (230)" in told
    assert "none (30)" in told
    assert main(["hierarchy", "build", "prefixes: [1]", *of("place"), "-o", "place.csv"]) == 0
    told = answered(["hierarchy", "show", "place.csv", "--data=people.csv", "--column=place"]).out
    assert "1 (51)" in told
    assert "12 (3)" not in told
    assert "11 (48)" not in told  # 51 less 48 would tell the other
    golden([line for line in told.splitlines() if "level 0" in line])


def test_values_are_read_as_the_variable_says(folder: Path) -> None:
    frame = pd.DataFrame(
        {
            "n": ["7", "7.0", "007", None],
            "d": [datetime(2024, 2, 29, 23), None, datetime(2024, 2, 29), datetime(1999, 1, 1)],
        }
    )
    frame.to_parquet(folder / "odd.parquet")
    assert value_counts(folder / "odd.parquet", "n") == {"7": 1, "7.0": 1, "007": 1}
    golden.refused(DataError, value_counts, folder / "odd.parquet", "n", Variable(name="n", kind=Kind.INTEGER))
    dates = value_counts(folder / "odd.parquet", "d", Variable(name="d", kind=Kind.DATE))
    assert dates == {"2024-02-29": 2, "1999-01-01": 1}


@given(
    st.dictionaries(
        st.text('ab;,|" 01*', min_size=1, max_size=6).map(str.strip).filter(bool),
        st.text('xy;,|"*', min_size=1, max_size=4),
        min_size=1,
        max_size=8,
    )
)
def test_a_written_file_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows: dict[str, str]) -> None:
    made = Hierarchy(rows={leaf: (group, "*") for leaf, group in rows.items()})
    path = tmp_path_factory.mktemp("csv", numbered=True) / "made.csv"
    path.write_text(hierarchy_csv(made), encoding="utf-8")
    assert read_hierarchy(path) == made


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "intervals: [5]"],
        ["build", "interval: [5]"],
        ["build", "intervals: ["],
        ["build", "intervals: [5]", "--contract=people.yaml"],
        ["build", "intervals: [5]", *of("aeg")],
        ["build", "intervals: [5]", *of("age"), "-o", "people.yaml"],
        ["build", "intervals: [5]", "--minimum=x", "--maximum=y"],
        ["build", "intervals: [5]", "--minimum=2", "--maximum=1"],
        ["build", "periods: [year]", "--minimum=2-2-2", "--maximum=x"],
        ["draft", "people.csv"],
        ["draft", "people.csv", *of("age"), "--minimum-cell=300"],
        ["check", "nowhere.csv"],
        ["check", "people.csv", "--data=people.csv"],
        ["show", "people.yaml"],
        ["show", "people.yaml", "--variable=age"],
        ["show", "people.yaml", "--variable=school", "--svg=people.yaml"],
        ["show", "people.yaml", "--variable=school", "--png=.sluice/vault/x.png"],
    ],
)
def test_a_wrong_command_is_refused(folder: Path, arguments: list[str]) -> None:
    golden(answered(["hierarchy", *arguments], 1).words)


def test_data_without_a_column_are_refused(folder: Path) -> None:
    (folder / "a.csv").write_text("a;*\n", encoding="utf-8")
    for command in ("check", "show"):
        golden.words(answered(["hierarchy", command, "a.csv", "--data=people.csv"], 1).err)
