"""The draft of a contract: good guesses, no rare category and no extreme in it, and no role that nobody chose."""

from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest
import yaml

from schemas.checks.frame_check import check_frame
from schemas.contract import load_contract
from schemas.reading.draft import draft_contract
from sluice.errors import DataError, DocumentError
from sluice.reading.values import MISSING_MARKS
from sluice.sources.description import ColumnDescription
from sluice.sources.sources import CsvSource, ParquetSource
from sluice.verdict import Verdict
from tests.golden import golden
from tests.schemas.typed import type_source


@pytest.fixture
def people(tmp_path: Path) -> CsvSource:
    n = 200
    frame = pd.DataFrame(
        {
            "id": [f"P-{i:05d}" for i in range(n)],
            "age": [17 + i % 61 for i in range(n)],
            "income": [round(1234.56 + 17.3 * i, 2) for i in range(n)],
            "level": [1 + i % 4 for i in range(n)],
            "sex": ["f" if i % 2 else "m" for i in range(n)],
            "town": ["Ulm" if i % 3 else "Bonn" for i in range(n - 1)] + ["Tinyville"],
            "seen": [str(date(2020, 3, 1) + timedelta(days=i)) for i in range(n)],
            "smokes": [("yes", "no", "?")[i % 3] for i in range(n)],
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    return CsvSource(path=str(tmp_path / "people.csv"))


def test_kinds_ranges_and_categories_are_guessed(people: CsvSource) -> None:
    text = draft_contract(people, "people")
    assert yaml.safe_load(text)["records_are"] == "records", "said where a person decides otherwise"
    assert "# reference_period: " in text
    drafted = {variable["name"]: variable for variable in yaml.safe_load(text)["variables"]}
    kinds = {name: variable["kind"] for name, variable in drafted.items()}
    assert kinds == {
        "id": "text",
        "age": "integer",
        "income": "continuous",
        "level": "integer",
        "sex": "binary",
        "town": "nominal",
        "seen": "date",
        "smokes": "binary",
    }
    assert 'if these are codes: categories: ["1", "2", "3", "4"]' in draft_contract(people, "people")
    assert (drafted["age"]["minimum"], drafted["age"]["maximum"]) == (10, 80)
    assert (drafted["income"]["minimum"], drafted["income"]["maximum"]) == (1000, 5000)
    assert (drafted["seen"]["minimum"], drafted["seen"]["maximum"]) == ("2020-01-01", "2020-12-31")
    assert drafted["smokes"]["missing_codes"] == ["?"]
    assert drafted["smokes"]["nullable"] is True


def test_codes_keep_their_leading_zeros(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    nace, regions = [f"{1 + i % 40:02d}" for i in range(400)], [f"0{1 + i % 3}" for i in range(400)]
    pd.DataFrame({"nace": nace, "region": regions}).to_csv(path, index=False)
    drafted = {v["name"]: v for v in yaml.safe_load(draft_contract(CsvSource(path=str(path)), "firms"))["variables"]}
    assert {name: variable["kind"] for name, variable in drafted.items()} == {"nace": "nominal", "region": "nominal"}
    assert drafted["nace"]["categories"] == [f"{code:02d}" for code in range(1, 41)]
    assert drafted["region"]["categories"] == ["01", "02", "03"]


def test_two_categories_of_which_one_is_rare_are_binary_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pd.DataFrame({"x": ["common"] * 99 + ["rare"], "y": ["yes", "no", "true", "off"] * 25}).to_csv(path, index=False)
    text = draft_contract(CsvSource(path=str(path)), "people")
    x, y = yaml.safe_load(text)["variables"]
    assert (x["kind"], "categories" in x, 'rare"' in text) == ("binary", False, False)
    assert (y["kind"], y["categories"]) == ("binary", ["false", "true"])


def test_a_mark_among_words_stands_for_missing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pd.DataFrame({"job": ["clerk", "cook", "?"] * 20}).to_csv(path, index=False)
    text = draft_contract(CsvSource(path=str(path)), "people")
    [job] = yaml.safe_load(text)["variables"]
    assert (job["categories"], job["missing_codes"], job["nullable"]) == (["clerk", "cook"], ["?"], True)


def test_a_rare_mark_is_not_told_from_other_marks(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pd.DataFrame({"job": ["clerk", "cook"] * 30 + ["n/a"] * 3}).to_csv(path, index=False)
    [job] = yaml.safe_load(draft_contract(CsvSource(path=str(path)), "people"))["variables"]
    assert job["missing_codes"] == list(MISSING_MARKS)


def test_no_rare_category_no_extreme_and_no_identifier_is_written(people: CsvSource) -> None:
    text = draft_contract(people, "people")
    for confidential in ("Tinyville", "P-00", "1234.56", "4677.26", "17", "77", "2020-03-01", "2020-09-16"):
        assert confidential not in text
    assert "too many or too rare to be listed here" in text
    assert 'frequent ones: ["Bonn", "Ulm"]' in text


def test_an_extreme_on_a_round_number_is_not_written_either(tmp_path: Path) -> None:
    path = tmp_path / "round.csv"
    pd.DataFrame({"x": [200 + 10 * (i % 21) for i in range(100)], "d": ["2020-01-01", "2021-12-31"] * 50}).to_csv(
        path, index=False
    )
    x, d = yaml.safe_load(draft_contract(CsvSource(path=str(path)), "round"))["variables"]
    assert (x["minimum"], x["maximum"]) == (100, 500)
    assert d["minimum"] == "2019-01-01"
    assert d["maximum"] == "2022-12-31"


@pytest.mark.parametrize("rich", [1, 9, 10])
def test_of_very_many_values_no_end_tells_of_few_records_either(tmp_path: Path, rich: int) -> None:
    """The incomes of nearly all lie below 100,000; of one born in 1871 the decade would be told."""
    path = tmp_path / "incomes.csv"
    days = pd.Series(pd.date_range("1950-01-01", periods=20_000).astype(str)).to_list()
    incomes = [50_000 + number * 2 for number in range(20_000)]
    pd.DataFrame(
        {"income": incomes + [7_300_000 + n for n in range(rich)], "born": days + ["1871-05-05"] * rich}
    ).to_csv(path, index=False)
    income, born = yaml.safe_load(draft_contract(CsvSource(path=str(path)), "incomes"))["variables"]
    if rich < 10:
        assert (income["minimum"], income["maximum"]) == (0, 10_000_000)
        assert born["minimum"] == "1800-01-01"
    else:
        assert (income["minimum"], income["maximum"]) == (0, 8_000_000)
        assert born["minimum"] == "1870-01-01"


def test_a_role_that_is_taken_out_must_be_chosen(people: CsvSource, tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(draft_contract(people, "people").replace("role: other  #", "role: #"), encoding="utf-8")
    with golden.raises(DocumentError):
        load_contract(path)


def test_as_it_is_drafted_it_loads_and_the_data_keep_to_it(people: CsvSource, tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(draft_contract(people, "people"), encoding="utf-8")
    contract = load_contract(path)
    frame, _ = type_source(people.batches(list(contract.by_name)), contract, lambda name, text: text)
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]


def test_names_and_categories_are_quoted_for_yaml(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pd.DataFrame({"a: #b": ["- x", 'y"z', "no"] * 20, "n": [None] * 60, "few": [None] * 59 + [5.0]}).to_parquet(path)
    text = draft_contract(ParquetSource(path=str(path)), "a: b")
    odd, few = yaml.safe_load(text)["variables"]
    assert '# "n" has no value and is left out' in text
    assert odd["name"] == "a: #b"
    assert odd["categories"] == ["- x", "no", 'y"z']
    assert "minimum" not in few  # one value makes no range


@pytest.mark.parametrize(
    ("codes", "is_pointed_out"),
    [([1, 2, 3, 99], True), ([0, 10, 999], True), ([1, 2, 9], False), ([97, 98, 99], False)],
)
def test_a_code_of_nines_far_from_the_others_may_mean_missing(
    tmp_path: Path, codes: list[int], is_pointed_out: bool
) -> None:
    path = tmp_path / "people.csv"
    pd.DataFrame({"education": codes * 20}).to_csv(path, index=False)
    text = draft_contract(CsvSource(path=str(path)), "people")
    assert (f"# check: {codes[-1]} may stand for missing; then it belongs into missing_codes" in text) == is_pointed_out


def test_a_wrong_separator_is_no_draft_of_one_column(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n30;f\n", encoding="utf-8")
    with golden.raises(DataError):
        draft_contract(CsvSource(path=str(path)), "people")
    assert 'name: "sex"' in draft_contract(CsvSource(path=str(path), separator=";"), "people")


def test_a_date_without_end_is_no_bound_but_a_question(people: CsvSource) -> None:
    (path,) = people.path
    frame = pd.read_csv(path, dtype=str)
    frame.loc[3:9, "seen"] = "9999-12-31"
    frame.to_csv(path, index=False)
    draft = draft_contract(people, "people")
    seen = next(variable for variable in yaml.safe_load(draft)["variables"] if variable["name"] == "seen")
    assert not {"minimum", "maximum"} & set(seen)
    assert "# check: the first or last date may mean missing or no end" in draft


def test_an_end_of_the_range_tells_nothing_of_the_few_who_are_there(tmp_path: Path) -> None:
    """One has seven children, and one was born in 1909: an intruder who knows that they are in the data."""

    def ends(children: int, born: str) -> list[tuple[object, object]]:
        path = tmp_path / "few.csv"
        frame = pd.DataFrame({"children": [i % 4 for i in range(100)], "born": ["1950-05-05", "1999-05-05"] * 50})
        frame.loc[0] = [children, born]
        frame.to_csv(path, index=False)
        drafted = yaml.safe_load(draft_contract(CsvSource(path=str(path)), "few"))["variables"]
        return [(each["minimum"], each["maximum"]) for each in drafted]

    assert ends(7, "1909-05-05") == ends(8, "1903-05-05")
    (_, children), (born, _) = ends(7, "1909-05-05")
    assert (children, born) == (10, "1900-01-01")


def test_what_all_records_have_is_no_wide_range_and_a_weight_is_no_code(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("year,weight\n" + "1991,100\n" * 60)
    drafted = draft_contract(CsvSource(path=(str(tmp_path / "x.csv"),)), "x")
    assert "minimum: 1990 " in drafted
    assert "maximum: 1992 " in drafted
    weight = drafted.split('name: "weight"')[1]
    assert "role: weight" in weight
    assert "codes" not in weight


def test_a_rare_value_in_a_range_of_missing_ones_is_not_written(tmp_path: Path) -> None:
    said = {"income": ColumnDescription(missing_ranges=((90_000, 99_999),))}
    path = tmp_path / "income.csv"
    pd.DataFrame({"income": [*range(1000, 1100), *[99_998] * 10, 98_765]}).to_csv(path, index=False)
    draft = draft_contract(CsvSource(path=str(path)), "income", said)
    assert "98765" not in draft
    assert yaml.safe_load(draft)["variables"][0]["missing_codes"] == ["99998"]
