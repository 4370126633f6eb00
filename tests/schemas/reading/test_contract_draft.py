"""The draft of a contract: good guesses, no rare category and no extreme in it, and no role that nobody chose."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import schemas.reading.contract_draft as contract_draft_module
from schemas.checks.frame_check import check_frame
from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import draft_contract, inferred_contract, read_draft
from schemas.reading.overview import overview
from schemas.reading.proposal import propose
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.variables import Kind, Role
from sluice.ground.verdict import Verdict
from sluice.publication.study import Study
from sluice.sources.sources import CsvSource, ParquetSource
from sluice.sources.tabular_source import ColumnDescription, Descriptions
from tests.golden import golden
from tests.schemas.typed import type_source


def drafted(folder: Path, frame: pd.DataFrame, said: Descriptions | None = None) -> str:
    frame.to_csv(folder / "people.csv", index=False)
    return draft_contract(CsvSource(path=(str(folder / "people.csv"),)), "people", said or {})


def variables(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(text)["variables"]
    return found


N = range(200)
PEOPLE = pd.DataFrame(
    {
        "id": [f"P-{i:05d}" for i in N],
        "age": [17 + i % 61 for i in N],
        "income": [round(1234.56 + 17.3 * i, 2) for i in N],
        "level": [1 + i % 4 for i in N],
        "sex": ["f" if i % 2 else "m" for i in N],
        "town": [*("Ulm" if i % 3 else "Bonn" for i in N[:-1]), "Tinyville"],
        "seen": [str(date(2020, 3, 1) + timedelta(days=i)) for i in N],
        "smokes": [("yes", "no", "?")[i % 3] for i in N],
    }
)
DRAFTED = {
    "people": PEOPLE,
    "codes with zeros in front": pd.DataFrame(
        {"nace": [f"{1 + i % 40:02d}" for i in range(400)], "region": [f"0{1 + i % 3}" for i in range(400)]}
    ),
    "two categories, one of them rare, and spellings of truth": pd.DataFrame(
        {"x": ["common"] * 99 + ["rare"], "y": ["yes", "no", "true", "off"] * 25}
    ),
    "a mark among words stands for missing": pd.DataFrame({"job": ["clerk", "cook", "?"] * 20}),
    "a rare mark is not told from other marks": pd.DataFrame({"job": ["clerk", "cook"] * 30 + ["n/a"] * 3}),
    "extremes on round numbers": pd.DataFrame(
        {"x": [200 + 10 * (i % 21) for i in range(100)], "d": ["2020-01-01", "2021-12-31"] * 50}
    ),
    "nines far from the other codes may mean missing": pd.DataFrame(
        {"far": [1, 2, 3, 99] * 15, "further": [0, 10, 999] * 20, "near": [1, 2, 9] * 20, "next": [97, 98, 99] * 20}
    ),
    "eights beside nines, and codes at the end of a scale": pd.DataFrame(
        {
            "age": [*range(20, 78), 888, 999] * 15,
            "q": ([1, 2, 3, 4, 5, 8, 9] * 129)[:900],
            "rooms": [*range(1, 11)] * 90,
        }
    ),
    "decimals that a number does not keep, and such as it does": pd.DataFrame(
        {
            "long": [f"{10**15 + 7 * i}.{i % 90 + 10}" for i in N],
            "third": [i / 3 for i in N],
            "zeros": [f"{i}.250000000000000000" for i in N],
            "whole": [10**17 + 9 * i for i in N],
        }
    ),
    "numbers in an order": pd.DataFrame({"education": [1, 2, 3, 10] * 50}),
    "what all have is no wide range, and a weight no code": pd.DataFrame({"year": [1991] * 60, "weight": [100] * 60}),
}


@pytest.mark.parametrize("written", [str, Decimal])
def test_a_decimal_that_a_release_would_refuse_is_marked_in_the_draft(tmp_path: Path, written: type) -> None:
    pd.DataFrame({"x": [written(f"{10**15 + 7 * i}.{i % 90 + 10}") for i in N]}).to_parquet(tmp_path / "x.parquet")
    text = draft_contract(ParquetSource(path=str(tmp_path / "x.parquet")), "people", {})
    (line,) = [line for line in text.splitlines() if "kind: continuous" in line]
    assert "check" in line


@pytest.mark.parametrize("frame", DRAFTED.values(), ids=DRAFTED)
def test_kinds_ranges_categories_and_missing_codes_are_guessed(tmp_path: Path, frame: pd.DataFrame) -> None:
    golden(drafted(tmp_path, frame))


def test_no_rare_category_no_extreme_and_no_identifier_is_written(tmp_path: Path) -> None:
    text = drafted(tmp_path, PEOPLE)
    for confidential in ("Tinyville", "P-00", "1234.56", "4677.26", "17", "77", "2020-03-01", "2020-09-16"):
        assert confidential not in text
    golden.where("# categories: ", text)
    golden.where('["Bonn", "Ulm"]', text)


@pytest.mark.parametrize("rich", [1, 9, 10])
def test_of_very_many_values_no_end_tells_of_few_records_either(tmp_path: Path, rich: int) -> None:
    """The incomes of nearly all lie below 100,000; of one born in 1871 the decade would be told."""
    days = pd.Series(pd.date_range("1950-01-01", periods=20_000).astype(str)).to_list()
    incomes = [50_000 + number * 2 for number in range(20_000)]
    frame = pd.DataFrame(
        {"income": incomes + [7_300_000 + n for n in range(rich)], "born": days + ["1871-05-05"] * rich}
    )
    text = drafted(tmp_path, frame)
    income, born = variables(text)
    assert (income["minimum"], "maximum" in income) == (0, False), "a later edition may hold a larger amount"
    if rich < 10:
        assert "# maximum: 10000000  #" in text
        assert born["minimum"] == "1800-01-01"
    else:
        assert "# maximum: 8000000  #" in text
        assert born["minimum"] == "1870-01-01"


def test_a_role_that_is_taken_out_must_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(drafted(tmp_path, PEOPLE).replace("role: other  #", "role: #"), encoding="utf-8")
    with golden.raises(DocumentError):
        load_contract(path)


def test_as_it_is_drafted_it_loads_and_the_data_keep_to_it(tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(drafted(tmp_path, PEOPLE), encoding="utf-8")
    contract, people = load_contract(path), CsvSource(path=(str(tmp_path / "people.csv"),))
    frame, _ = type_source(people.batches(list(contract.by_name)), contract, lambda name, text: text)
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]


def test_that_somebody_was_not_asked_is_drafted_as_harmless(tmp_path: Path) -> None:
    """Else groups in which nobody was asked fail rules on sensitive values, and no draft of a plan can pass."""
    rng, works = np.random.default_rng(1), np.arange(400) % 2
    wages = np.where(works, rng.lognormal(7, 0.5, 400).round(2), np.nan)
    frame = pd.DataFrame({"works": works, "sex": rng.choice(["f", "m"], 400), "wage": wages})
    lost = frame.assign(wage=frame["wage"].mask(rng.random(400) < 0.2))  # missing, though asked
    for table, harmless in ((frame, True), (lost, False)):
        variables = yaml.safe_load(drafted(tmp_path, table))["variables"]
        (wage,) = (each for each in variables if each["name"] == "wage")
        assert wage["role"] == "sensitive"
        assert ("harmless" in wage) is harmless


@pytest.mark.parametrize(
    ("values", "labels", "harmless"),
    [
        (("no", "yes"), {}, "no"),
        ((0, 1), {}, "0"),
        ((1, 2), {"1": "Nein", "2": "Ja"}, "1"),
        ((1, 2), {}, None),  # nobody says which of them denies
        (("yes", "no"), {}, None),  # to be without may be what accuses
    ],
)
def test_what_most_people_do_not_have_is_drafted_as_harmless(
    tmp_path: Path, values: tuple[Any, Any], labels: dict[str, str], harmless: str | None
) -> None:
    """A rare trait is kept: groups of those without it tell nobody's secret, but for an owner to confirm."""
    n, rng = 400, np.random.default_rng(1)
    for share, found in ((0.06, harmless), (0.4, None), (0.01, None)):  # of four people no category is told
        has = np.array([values[int(at < share * n)] for at in range(n)])
        frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": rng.integers(20, 60, n), "diabetes": has})
        said = {"diabetes": ColumnDescription(labels=labels)} if labels else {}
        text = drafted(tmp_path, frame, said)
        (trait,) = (each for each in yaml.safe_load(text)["variables"] if each["name"] == "diabetes")
        assert trait["role"] == "sensitive"
        assert trait.get("harmless", {}).get("values") == (found and [found])
        if found:
            read_draft(text, "people")
            golden.where("may everybody", text)


def test_dates_with_dots_are_told_from_versions_and_from_dates(tmp_path: Path) -> None:
    days = pd.Series(pd.date_range("2024-01-01", periods=60))
    frame = pd.DataFrame({"born": days.dt.strftime("%d.%m.%y"), "came": days.dt.strftime("%Y-%m-%d"), "nr": "1.10.3"})
    frame.to_csv(tmp_path / "people.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "people.csv"),)))
    assert {each.name: each.other_form for each in propose(seen).columns} == {"born": "dates", "came": "", "nr": ""}


def test_the_first_of_few_values_in_another_form_is_named_by_its_record(tmp_path: Path) -> None:
    days = pd.Series(pd.date_range("2024-01-01", periods=60))
    dotted, iso, paid = days.dt.strftime("%d.%m.%Y"), days.dt.strftime("%Y-%m-%d"), pd.Series(range(60)).astype(str)
    dotted[7], iso[17], paid[27] = "31.02.2024", "10173-09-01", "90+"
    columns = {"born": dotted, "came": iso, "paid": paid, "all": "5 EUR"}
    pd.DataFrame(columns).to_csv(tmp_path / "people.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "people.csv"),)))
    found = {each.name: (each.other_form, each.first_other) for each in propose(seen).columns}
    assert found == {"born": ("dates", 8), "came": ("dates", 18), "paid": ("numbers", 28), "all": ("numbers", 0)}


@pytest.mark.parametrize("ending", [".0", ""])
def test_codes_and_missing_codes_meet_the_data_by_number(tmp_path: Path, ending: str) -> None:
    """pandas writes the whole numbers of a column with missing values as decimals."""
    said = ColumnDescription(labels={"1": "rural", "2": "urban", "-9.0": "Refused"}, missing_codes=("-9.0",))
    cells = [f"1{ending}", f"2{ending}", f"-9{ending}", ""] * 20
    text = drafted(tmp_path, pd.DataFrame({"v7": cells, "age": range(80)}), {"v7": said})
    [v7, _] = variables(text)
    assert v7["missing_codes"] == [f"-9{ending}"]
    assert v7["kind"] == "binary"
    assert v7["labels"] == {f"1{ending}": "rural", f"2{ending}": "urban", f"-9{ending}": "Refused"}
    contract = read_draft(text, "people")
    frame, _ = type_source(
        CsvSource(path=(str(tmp_path / "people.csv"),)).batches(["v7", "age"]), contract, lambda name, text: text
    )
    assert frame["v7"].isna().sum() == 40


def test_a_code_that_is_missing_by_the_words_of_its_label_is_to_be_checked(tmp_path: Path) -> None:
    said = ColumnDescription(labels={"1": "yes", "2": "no", "8": "Refused", "9": "Blank"}, missing_codes=("8", "9"))
    frame = pd.DataFrame({"v7": [1.0, 2, 8, 9] * 20})
    guessed = said.model_copy(update={"guessed_missing": ("8",)})
    text = drafted(tmp_path, frame, {"v7": guessed})
    assert '["8.0", "9.0"]  # check: ["8.0"] ' in text
    golden.where('["8.0", "9.0"]', text)
    assert '["8.0", "9.0"]\n' in drafted(tmp_path, frame, {"v7": said})


def test_a_label_says_that_a_question_was_not_asked(tmp_path: Path) -> None:
    said = ColumnDescription(labels={"1": "yes", "2": "no", "7": "Not applicable"})
    golden.where('["7"]', drafted(tmp_path, pd.DataFrame({"v7": [1, 2, 7] * 20}), {"v7": said}))


def test_categories_that_are_spelled_in_several_ways_are_to_be_checked(tmp_path: Path) -> None:
    """Of rare spellings nothing is said: they would tell of few records."""
    sex = ["M", "m", "F", "f"] * 30
    assert "# check: 2 categories are spelled as another" in drafted(tmp_path, pd.DataFrame({"sex": sex}))
    assert "spelled" not in drafted(tmp_path, pd.DataFrame({"sex": ["M", "F"] * 60 + ["m"]}))


def test_names_and_categories_are_quoted_for_yaml(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pd.DataFrame({"a: #b": ["- x", 'y"z', "no"] * 20, "n": [None] * 60, "few": [None] * 59 + [5.0]}).to_parquet(path)
    text = draft_contract(ParquetSource(path=str(path)), "a: b")
    odd, few = yaml.safe_load(text)["variables"]
    golden.where('# "n"', text)
    assert odd["name"] == "a: #b"
    assert odd["categories"] == ["- x", "no", 'y"z']
    assert "minimum" not in few  # one value makes no range


def test_a_wrong_separator_is_no_draft_of_one_column(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n30;f\n", encoding="utf-8")
    with golden.raises(DataError):
        draft_contract(CsvSource(path=str(path)), "people")
    assert 'name: "sex"' in draft_contract(CsvSource(path=str(path), separator=";"), "people")


def test_a_date_without_end_is_no_bound_but_a_question(tmp_path: Path) -> None:
    draft = drafted(tmp_path, pd.DataFrame({"seen": ["9999-12-31"] * 7 + PEOPLE["seen"].tolist()[7:]}))
    [seen] = variables(draft)
    assert not {"minimum", "maximum"} & set(seen)
    assert "# check: the first or last date may mean missing or no end" in draft


def test_an_end_of_the_range_tells_nothing_of_the_few_who_are_there(tmp_path: Path) -> None:
    """One has seven children, and one was born in 1909: an intruder who knows that they are in the data."""

    def ends(children: int, born: str) -> list[tuple[object, object]]:
        frame = pd.DataFrame({"children": [i % 4 for i in range(100)], "born": ["1950-05-05", "1999-05-05"] * 50})
        frame.loc[0] = [children, born]
        return [(each["minimum"], each["maximum"]) for each in variables(drafted(tmp_path, frame))]

    assert ends(7, "1909-05-05") == ends(8, "1903-05-05")
    (_, children), (born, _) = ends(7, "1909-05-05")
    assert (children, born) == (10, "1900-01-01")


def test_a_rare_value_in_a_range_of_missing_ones_is_not_written(tmp_path: Path) -> None:
    said = {"income": ColumnDescription(missing_ranges=((90_000, 99_999),))}
    draft = drafted(tmp_path, pd.DataFrame({"income": [*range(1000, 1100), *[99_998] * 10, 98_765]}), said)
    assert "98765" not in draft
    assert variables(draft)[0]["missing_codes"] == ["99998"]


def firms() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    amounts = {name: rng.lognormal(5, 1, 800).round(1) for name in ("turnover", "wages", "stock", "debt")}
    return pd.DataFrame(amounts).assign(subsidy=np.where(rng.random(800) < 0.7, 0, rng.lognormal(3, 1, 800).round(1)))


@pytest.mark.parametrize(
    ("more", "alone"),
    [
        ({}, True),
        ({"size": np.arange(800) % 5}, False),
        ({"age": np.arange(800) % 60 + 20}, False),
        ({"region": np.where(np.arange(800) % 2, "north", "south")}, False),
        ({"firm_id": [f"A{n:06d}" for n in range(800)]}, True),
    ],
)
def test_a_contract_of_amounts_alone_says_that_it_has_no_quasi_identifiers(
    tmp_path: Path, more: dict[str, object], alone: bool
) -> None:
    (tmp_path / "firms.yaml").write_text(drafted(tmp_path, firms().assign(**more)))
    found = load_contract(tmp_path / "firms.yaml")
    assert found.numbers_alone is alone
    assert any(each.role == "quasi_identifier" for each in found.variables) is not alone


def edition(quarter: str, seed: int, largest: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "hid": np.repeat(np.arange(300), 2) + 1000,
            "member": np.tile([1, 2], 300),
            "quarter": quarter,
            "region": np.repeat(rng.choice(["north", "south"], 300), 2),
            "age": rng.integers(18, 90, 600),
            "income": [*rng.lognormal(7, 0.5, 599).round(2), largest],
        }
    )


def test_a_later_edition_is_what_the_contract_of_the_first_says(tmp_path: Path) -> None:
    """Another quarter, and an amount beyond all that were seen."""
    (tmp_path / "panel.yaml").write_text(drafted(tmp_path, edition("2024-Q1", 1, 9000)))
    contract = load_contract(tmp_path / "panel.yaml")
    assert contract.record_key == ("hid", "member")
    assert contract.reference_period is not None
    assert (contract.reference_period.column, contract.reference_period.length) == ("quarter", "quarter")
    path = tmp_path / "next.csv"
    edition("2024-Q2", 2, 1e6).to_csv(path, index=False)
    typed, _ = type_source(
        CsvSource(path=(str(path),)).batches(list(contract.by_name)), contract, lambda _, value: value
    )
    assert [each for each in check_frame(typed, contract) if each.binding and each.verdict is not Verdict.PASS] == []


@pytest.mark.parametrize(
    ("column", "value", "length"),
    [
        ("quarter", "2024Q3", "quarter"),
        ("year", "2024", "year"),
        ("survey_month", "202403", "month"),
        ("month", "2024-03", "month"),
        ("code", "7", None),
        ("number", "202403", None),
    ],
)
def test_the_period_is_told_by_its_form_or_name(tmp_path: Path, column: str, value: str, length: str | None) -> None:
    frame = edition("x", 1, 9000).rename(columns={"quarter": column}).assign(**{column: value})
    (tmp_path / "panel.yaml").write_text(drafted(tmp_path, frame))
    found = load_contract(tmp_path / "panel.yaml").reference_period
    assert (None if found is None else str(found.length)) == length


def test_the_commented_study_is_one_when_its_marks_are_taken_off(tmp_path: Path) -> None:
    lines = drafted(tmp_path, PEOPLE).splitlines()
    start = lines.index("# study:")
    end = next(place for place in range(start, len(lines)) if not lines[place].startswith("#"))
    opened = [line.removeprefix("# ") for line in lines[start:end]]
    study = Study.model_validate(yaml.safe_load("\n".join(opened))["study"])
    assert study.model_fields_set == Study.model_fields.keys()


# Numbers with a decimal comma, as German files have them: read where the source says so, else told apart.


HEADER = '"income";"age";"code"\n'
ROWS = '"58123,5";"41";"1,0"\n"-0,25";"+7";"2,0"\n"12";"";"1,0"\n'
CONTRACT = Contract.model_validate(
    {
        "dataset": "german",
        "version": 1,
        "variables": [
            {"name": "income", "kind": "continuous", "role": "sensitive", "missing_codes": ["-99"]},
            {"name": "age", "kind": "integer", "role": "quasi_identifier", "nullable": True},
            {"name": "code", "kind": "nominal", "role": "other", "categories": ["1", "2"]},
        ],
    }
)


def source(tmp_path: Path, rows: str = ROWS, decimal: str = ",") -> CsvSource:
    path = tmp_path / "german.csv"
    path.write_text(HEADER + rows, encoding="utf-8")
    return CsvSource.model_validate({"path": str(path), "separator": ";", "decimal": decimal})


def typed(source: CsvSource) -> dict[str, list[object]]:
    typing = SourceTyping(CONTRACT, lambda name, text: text, source.decimal_mark)
    frames = [typing.type_batch(raw) for raw in source.batches(list(CONTRACT.staged))]
    typing.variables()
    [frame] = frames
    return {name: frame[name].tolist() for name in ("income", "code")}


def test_commas_are_read_in_numbers_and_in_codes(tmp_path: Path) -> None:
    assert typed(source(tmp_path)) == {"income": [58123.5, -0.25, 12.0], "code": ["1", "2", "1"]}


def test_without_a_word_on_commas_the_error_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        typed(source(tmp_path, decimal="."))
    golden(refused.value)
    assert "58123" not in str(refused.value)


def test_a_point_between_thousands_is_not_taken_for_a_decimal_point(tmp_path: Path) -> None:
    with golden.raises(DataError):
        typed(source(tmp_path, rows='"1.234";"1";"1"\n"1.234,5";"1";"1"\n'))


def test_the_draft_reads_them_too(tmp_path: Path) -> None:
    rows = ROWS.replace('"12";"";', '"13,5";"12";') * 10
    drafted = yaml.safe_load(draft_contract(source(tmp_path, rows), "german"))
    income, _, code = drafted["variables"]
    assert (income["kind"], income["minimum"], income["maximum"]) == ("continuous", -10000, 60000)
    assert code["kind"] == "integer"
    unread = yaml.safe_load(draft_contract(source(tmp_path, rows, decimal="."), "german"))["variables"][0]
    assert unread["kind"] != "continuous"


# A contract for a table that has none: kinds by the values, roles and better knowledge from the user.


def test_kinds_are_inferred() -> None:
    table = pd.DataFrame(
        {
            "code": ["01", "02", ""],
            "whole": ["1", "-20", "NA"],
            "number": ["1.5", "2", "1e-3"],
            "day": ["2020-01-01", "2020-01-02", ""],
            "word": ["NA", "x", "?"],
            "empty": ["", "", ""],
            "zero": ["0", "00", "1"],
        }
    ).convert_dtypes(dtype_backend="pyarrow")
    found = inferred_contract(table, "t", {}).by_name
    assert {name: variable.kind for name, variable in found.items()} == {
        "code": Kind.NOMINAL,
        "whole": Kind.INTEGER,
        "number": Kind.CONTINUOUS,
        "day": Kind.DATE,
        "word": Kind.NOMINAL,
        "empty": Kind.NOMINAL,
        "zero": Kind.NOMINAL,
    }
    assert found["whole"].missing_codes == ("NA",)
    assert found["word"].missing_codes == ()
    assert [name for name, variable in found.items() if variable.nullable] == ["code", "whole", "day", "empty"]
    read = inferred_contract(table, "t", {}, {"word": Kind.ORDINAL}, marks=True).by_name
    assert (read["word"].missing_codes, read["word"].categories) == (("?", "NA"), ("x",))
    assert read["whole"].missing_codes == ("NA",)


def test_the_user_knows_better() -> None:
    table = pd.DataFrame({"floor": ["10", "9", "NA"], "size": ["S", "M", "S"], "weight": ["1.5", "2", "3"]})
    kinds = {"floor": Kind.ORDINAL, "size": Kind.ORDINAL}
    found = inferred_contract(table, "t", {Role.WEIGHT: "weight"}, kinds).by_name
    assert found["floor"].categories == ("9", "10")  # by their numbers
    assert found["floor"].missing_codes == ("NA",)
    assert found["size"].categories == ("M", "S")
    assert found["weight"].role is Role.WEIGHT


def test_truth_values_in_several_spellings_are_two_categories() -> None:
    found = inferred_contract(pd.DataFrame({"x": ["yes", "NO", "true", "off"]}), "t", {}).by_name["x"]
    assert (found.kind, found.categories) == (Kind.BINARY, ("false", "true"))


def test_refusals() -> None:
    with golden.raises(DataError):
        inferred_contract(pd.DataFrame({"x": ["a", "b", "c"]}), "t", {Role.WEIGHT: "x"})
    with golden.raises(DataError):
        inferred_contract(pd.DataFrame({"": ["a"]}), "t", {})


def test_a_draft_that_could_not_be_read_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contract_draft_module, "LARGEST", 1_000)
    with golden.raises(DataError):
        drafted(tmp_path, PEOPLE)


def test_words_for_true_and_false_in_several_spellings_stay_as_they_are_written(tmp_path: Path) -> None:
    pd.DataFrame({"works": ["Yes", "yes", "NO"] * 20, "owns": ["Yes", "No"] * 30}).to_csv(
        tmp_path / "a.csv", index=False
    )
    draft = draft_contract(CsvSource(path=str(tmp_path / "a.csv")), "a")
    works, owns = yaml.safe_load(draft)["variables"]
    assert (works["kind"], works["categories"]) == ("nominal", ["NO", "Yes", "yes"])
    assert (owns["kind"], owns["categories"]) == ("binary", ["No", "Yes"])
    assert draft.count("# check: several words") == 1


def test_a_number_that_is_the_sum_of_two_pairs_has_a_rule_for_each_by_names_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.integers(low, low + 90, 200) for low in (1_000, 2_000, 100))
    pd.DataFrame({"a": a, "b": b, "c": c, "rest": a + b - c, "total": a + b}).to_csv(tmp_path / "a.csv", index=False)
    rules = yaml.safe_load(draft_contract(CsvSource(path=str(tmp_path / "a.csv")), "a"))["rules"]
    names = [rule["name"] for rule in rules]
    assert {"total_is_the_sum", "total_is_the_sum_2"} <= {*names}
    assert len(names) == len({*names})


@pytest.mark.parametrize(("category", "said"), [("two\nlines", True), ("te\u200ba", True), ("one line", False)])
def test_a_category_that_a_release_refuses_is_said_in_the_draft(tmp_path: Path, category: str, said: bool) -> None:
    pd.DataFrame({"x": [category, "tea", "milk"] * 40}).to_parquet(tmp_path / "x.parquet")
    text = draft_contract(ParquetSource(path="x.parquet").resolve(tmp_path), "x")
    assert ("which a release refuses" in text) is said
