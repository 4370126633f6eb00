"""What is proposed of each column: by its name in several languages, by what it tells apart, and never a rare value."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from schemas.reading.draft import draft_contract
from schemas.reading.intervals import intervals_in_order
from schemas.reading.overview import Overview, overview
from schemas.reading.proposal import Proposals, in_words, propose, share, worst_sets
from schemas.reading.usual_names import usual_role
from sluice.sources.csv_source import CsvSource
from sluice.variables import Kind, Role
from tests.golden import golden


def seen_of(frame: pd.DataFrame, folder: Path) -> Overview:
    frame.to_csv(folder / "x.csv", index=False)
    return overview(CsvSource(path=(str(folder / "x.csv"),)))


def proposed(frame: pd.DataFrame, folder: Path) -> Proposals:
    return propose(seen_of(frame, folder))


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    households = np.sort(rng.integers(0, 250, 600))
    regions, roofs = rng.choice(list("NESW"), 250), rng.integers(1, 4, 250)
    return pd.DataFrame(
        {
            "nr": np.arange(1000, 1600),
            "unit_no": households + 5000,
            "other1": rng.integers(18, 90, 600),
            "region": regions[households],
            "Geschlecht": rng.choice(["m", "w"], 600),
            "x9": roofs[households],
            "Einkommen": rng.lognormal(10, 0.5, 600).round(2),
            "hrf": rng.uniform(80, 120, 600).round(3),
            "remark": [f"words {n * 7919 % 60000:05d}" for n in range(600)],
        }
    )


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("age", Role.QUASI_IDENTIFIER), ("ALTERSGRUPPE", Role.QUASI_IDENTIFIER),
        ("date_naissance", Role.QUASI_IDENTIFIER),
        ("código postal", Role.QUASI_IDENTIFIER), ("płeć", None), ("plec", Role.QUASI_IDENTIFIER),
        ("hhSize", Role.QUASI_IDENTIFIER), ("wage", Role.SENSITIVE), ("Monatseinkommen", None),
        ("salaire_net", Role.SENSITIVE), ("hh_id", Role.HOUSEHOLD), ("patientID", Role.PERSON),
        ("e-mail", Role.IDENTIFIER),
        ("sampling.weight", Role.WEIGHT), ("UTILITYID", Role.CONTRIBUTOR), ("Latitude", Role.QUASI_IDENTIFIER),
        ("ucod_leading", Role.SENSITIVE), ("household", None), ("stage", None), ("idea", None),
    ],
)  # fmt: skip
def test_usual_names_in_several_languages(name: str, role: Role | None) -> None:
    found = usual_role(name)
    assert (found[0] if found else None) is role


def test_each_role_is_found_by_name_or_by_what_the_values_do(people: pd.DataFrame, tmp_path: Path) -> None:
    found = proposed(people, tmp_path)
    assert {each.name: each.role for each in found.columns} == {
        "nr": Role.IDENTIFIER, "unit_no": Role.HOUSEHOLD, "other1": Role.QUASI_IDENTIFIER,
        "region": Role.QUASI_IDENTIFIER, "Geschlecht": Role.QUASI_IDENTIFIER, "x9": Role.OTHER,
        "Einkommen": Role.SENSITIVE, "hrf": Role.WEIGHT, "remark": Role.IDENTIFIER,
    }  # fmt: skip
    assert found.record_key == ("nr",)


def test_of_a_column_called_household_one_shared_attribute_says_that_it_numbers_them(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    people = people.drop(columns="x9")
    assert proposed(people, tmp_path).by_name("unit_no").role is not Role.HOUSEHOLD
    assert proposed(people.rename(columns={"unit_no": "HH"}), tmp_path).by_name("HH").role is Role.HOUSEHOLD
    sizes = people.assign(household=people.groupby("unit_no")["unit_no"].transform("size"))
    assert proposed(sizes, tmp_path).by_name("household").role is not Role.HOUSEHOLD


def test_an_age_that_hides_behind_a_name_of_no_meaning_is_found_by_its_separation(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    other1 = proposed(people, tmp_path).by_name("other1")
    assert (other1.role, other1.sure) == (Role.QUASI_IDENTIFIER, False)
    golden(other1.why)


def test_where_no_column_is_known_to_others_the_worst_are_proposed(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({f"v{n}": rng.normal(0, 10**n, 200).round(1) for n in range(5)})
    roles = [each.role for each in proposed(frame, tmp_path).columns]
    assert roles.count(Role.QUASI_IDENTIFIER) == 3


def test_a_weight_beside_a_height_is_one_of_the_body(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"weight": rng.uniform(50, 90, 300).round(1)})
    assert proposed(frame, tmp_path).by_name("weight").role is Role.WEIGHT
    frame["height"] = rng.uniform(150, 190, 300).round(1)
    assert proposed(frame, tmp_path).by_name("weight").role is Role.QUASI_IDENTIFIER


def test_a_second_weight_is_no_secret_of_anybody_and_says_why_it_is_no_weight(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "weight": rng.uniform(50, 90, 300).round(3)})
    frame["weight_2"] = (frame["weight"] * rng.uniform(0.9, 1.1, 300)).round(3)
    second = proposed(frame, tmp_path).by_name("weight_2")
    assert (second.role, second.sure) == (Role.OTHER, False)
    golden.words(second.why)


def test_an_id_of_few_values_is_a_code_and_no_name(tmp_path: Path) -> None:
    frame = pd.DataFrame({"admission_type_id": [1, 2, 3, 4] * 100, "patient_nbr": np.arange(400) // 2})
    found = proposed(frame, tmp_path)
    assert found.by_name("admission_type_id").role is not Role.IDENTIFIER
    assert found.by_name("patient_nbr").role is Role.PERSON


def test_a_column_that_repeats_another_is_said_to(people: pd.DataFrame, tmp_path: Path) -> None:
    people["region_no"] = people["region"].map({"N": 1, "E": 2, "S": 3, "W": 4})
    found = proposed(people, tmp_path)
    assert (found.by_name("region_no").repeats, found.by_name("region").repeats) == ("region", "")


def test_numbers_are_codes_where_the_name_says_so_and_stay_numbers_where_it_does_not(tmp_path: Path) -> None:
    n = np.arange(1200)
    frame = pd.DataFrame({"admission_type_id": n % 8 + 1, "visits": n % 4 + 1, "zip": 501 + n // 20 * 97, "sex": n % 2})
    frame["region_id"], frame["race"] = n % 7 + 1.0, np.where(n < 4, 9, n % 3)  # a rare code is no reason
    frame.loc[5, "region_id"] = np.nan  # hence 1.0, 2.0, ...
    found = proposed(frame, tmp_path)
    kinds = {each.name: each.kind for each in found.columns}
    assert kinds == {
        "admission_type_id": Kind.NOMINAL, "visits": Kind.INTEGER, "zip": Kind.NOMINAL, "sex": Kind.BINARY,
        "region_id": Kind.NOMINAL, "race": Kind.NOMINAL,
    }  # fmt: skip
    assert found.by_name("region_id").role is Role.QUASI_IDENTIFIER, "an id of few values is what the rest says"
    drafted = draft_contract(CsvSource(path=(str(tmp_path / "x.csv"),)), "x")
    assert '- "7.0"' in drafted, "as the file has it"
    assert "# codes, by the name; check" in drafted


def test_intervals_are_in_their_order_where_all_can_be_listed(tmp_path: Path) -> None:
    ages = ["[0-10)", "[10-20)", "[20-100)", "[100-110)"]
    n = np.arange(600)
    frame = pd.DataFrame({"age": np.take(ages, n % 4), "rare": np.take(ages, np.where(n < 3, 3, n % 3))})
    frame["others"] = np.take(["NO", "<30", ">30"], n % 3)
    found = proposed(frame, tmp_path)
    kinds = {each.name: each.kind for each in found.columns}
    assert kinds == {"age": Kind.ORDINAL, "rare": Kind.NOMINAL, "others": Kind.NOMINAL}
    drafted = yaml.safe_load(draft_contract(CsvSource(path=(str(tmp_path / "x.csv"),)), "x"))
    assert drafted["variables"][0]["categories"] == ages


def test_of_many_columns_in_which_all_differ_most_are_amounts(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    even = {name: rng.permutation(90_000)[:300] + 10_000 for name in ("c1", "c2", "c3")}
    skewed = {"c4": np.sort(rng.lognormal(9, 2, 300)).astype(int) + np.arange(300)}
    roles = {each.name: each.role for each in proposed(pd.DataFrame(even | skewed), tmp_path).columns}
    assert roles["c1"] is Role.IDENTIFIER
    assert Role.IDENTIFIER not in (roles["c2"], roles["c3"], roles["c4"])
    two = {name: even[name] for name in ("c1", "c2")}
    roles = {each.name: each.role for each in proposed(pd.DataFrame(two), tmp_path).columns}
    assert (roles["c1"], roles["c2"]) == (Role.IDENTIFIER, Role.IDENTIFIER)


def test_where_nothing_is_called_sensitive_amounts_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 500), "flow": rng.lognormal(5, 1, 500), "floor": rng.integers(1, 5, 500)}
    )
    assert [each.role for each in proposed(frame, tmp_path).columns] == [
        Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.OTHER,
    ]  # fmt: skip
    frame["wage"] = frame["flow"]
    assert proposed(frame.sample(frac=1), tmp_path).by_name("flow").role is Role.OTHER


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (["65+", "<5", "5-64"], ("<5", "5-64", "65+")),
        (["10 to 19", "0 to 9", "over 19"], ("0 to 9", "10 to 19", "over 19")),
        (["1-5", "3-9"], None),  # they overlap
        (["9-1", "10-12"], None),
        (["2-3", "none"], None),
        (["2-3"], None),
    ],
)
def test_intervals_in_words_and_signs(labels: list[str], ordered: tuple[str, ...] | None) -> None:
    assert intervals_in_order(labels) == ordered


def test_codes_of_a_quasi_identifier_are_categories_in_their_order(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"education": [1, 2, 3, 10] * 50, "sex": [1, 2] * 100, "children": [0, 1, 2, 3] * 49 + [4] * 4}
    )
    found = proposed(frame, tmp_path)
    kinds = {each.name: each.kind for each in found.columns}
    assert kinds == {"education": Kind.ORDINAL, "sex": Kind.BINARY, "children": Kind.INTEGER}  # a 4 is rare


# -- missing or not asked


def test_a_question_that_was_not_asked_is_told_from_a_missing_answer(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(5, 60, 2000)
    frame = pd.DataFrame({"age": age, "kind": np.where(age < 15, "child", "adult")})
    frame["job"] = np.where(age < 15, None, rng.choice(["cook", "clerk"], 2000))
    frame["mood"] = np.where(rng.random(2000) < 0.2, None, "fine")
    frame["branch"] = np.where(age < 15, "Not in universe", rng.choice(["food", "office"], 2000))
    found = proposed(frame, tmp_path)
    assert found.by_name("job").universe == "asked where kind is adult"
    assert found.by_name("branch").universe == "asked where kind is adult"
    assert found.by_name("mood").universe == ""
    assert proposed(frame.drop(columns="kind"), tmp_path).by_name("job").universe == "asked where age is 15 or more"
    frame.loc[frame.index[frame["kind"] == "adult"][0], "job"] = None
    assert proposed(frame, tmp_path).by_name("job").universe == ""


def test_a_rare_value_that_decides_who_was_asked_is_not_named(tmp_path: Path) -> None:
    kinds = ["adult"] * 100 + ["child"] * 60 + ["monk"] * 3
    frame = pd.DataFrame({"status": kinds, "job": ["cook"] * 100 + [None] * 63})
    says = proposed(frame, tmp_path).by_name("job").universe
    golden(says)


def test_negative_codes_are_missing_where_nothing_else_is_negative(tmp_path: Path) -> None:
    frame = pd.DataFrame({"score": [*range(1, 90), *[-9] * 11], "profit": [*range(-50, 39), *[-9] * 11]})
    found = proposed(frame, tmp_path)
    assert (found.by_name("score").missing_codes, found.by_name("profit").missing_codes) == (("-9",), ())
    frame["score"] = [*range(1, 92), *[-9] * 9]
    assert proposed(frame, tmp_path).by_name("score").missing_codes == ()


# -- what the words tell


def test_shares_tell_of_no_small_count() -> None:
    assert [share(part, 1000) for part in (0, 0.005, 0.009, 0.01, 0.5, 0.995, 1)] == [
        "none", "hardly any", "hardly any", "1 %", "50 %", "nearly all", "all",
    ]  # fmt: skip


def test_the_worst_sets_are_in_words(people: pd.DataFrame, tmp_path: Path) -> None:
    seen = seen_of(people, tmp_path)
    [pair, triple] = worst_sets(seen, ["other1", "region", "Geschlecht"])
    assert in_words(pair, ["other1", "region", "Geschlecht"], 600).startswith("other1, region: ")
    assert triple.alone > pair.alone
    everybody_shares = replace(pair, alone=0.0)
    golden(in_words(everybody_shares, ["a", "b", "c"], 600))


@pytest.mark.parametrize("records", [10, 21, 30, 31])
def test_of_any_number_of_records_so_many_are_kept(
    records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the last batch is the one by which they become too many."""
    monkeypatch.setattr("schemas.reading.overview.MOST_RECORDS", 10)
    monkeypatch.setattr(CsvSource, "batches", lambda self, names: (frame[at : at + 7] for at in range(0, records, 7)))
    frame = pd.DataFrame({"age": np.arange(records).astype(str)})
    frame.to_csv(tmp_path / "x.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "x.csv"),)))
    assert (seen.kept, seen.records, len(set(seen.codes["age"]))) == (10, records, 10)
