"""What is proposed of each column: by its name in several languages, by what it tells apart, and never a rare value."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml

from schemas.reading.contract_draft import draft_contract
from schemas.reading.interval_categories import intervals_in_order
from schemas.reading.overview import Overview, overview
from schemas.reading.proposal import Proposal, Proposals, in_words, propose, share, worst_sets
from schemas.reading.usual_names import usual_role
from sluice.ground.variables import Kind, Role
from sluice.sources.csv_source import CsvSource
from sluice.sources.statistical_file import SpssSource, StataSource
from tests.golden import golden
from tests.reference_data import adult_columns, reference_path


def seen_of(frame: pd.DataFrame, folder: Path) -> Overview:
    frame.to_csv(folder / "x.csv", index=False)
    return overview(CsvSource(path=(str(folder / "x.csv"),)))


def proposed(frame: pd.DataFrame, folder: Path) -> Proposals:
    return propose(seen_of(frame, folder))


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


def bodies(**more: tuple[float, float]) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    ends = {"weight": (50, 90), **more}
    return pd.DataFrame({name: rng.uniform(*between, 300).round(1) for name, between in ends.items()})


def two_weights() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "weight": rng.uniform(50, 90, 300).round(3)})
    return frame.assign(weight_2=(frame["weight"] * rng.uniform(0.9, 1.1, 300)).round(3))


def codes() -> pd.DataFrame:
    n = np.arange(1200)
    frame = pd.DataFrame({"admission_type_id": n % 8 + 1, "visits": n % 4 + 1, "zip": 501 + n // 20 * 97, "sex": n % 2})
    frame["region_id"], frame["race"] = n % 7 + 1.0, np.where(n < 4, 9, n % 3)  # a rare code is no reason
    frame.loc[5, "region_id"] = np.nan  # hence 1.0, 2.0, ...
    return frame


def intervals() -> pd.DataFrame:
    ages, n = ["[0-10)", "[10-20)", "[20-100)", "[100-110)"], np.arange(600)
    return pd.DataFrame(
        {
            "age": np.take(ages, n % 4),
            "rare": np.take(ages, np.where(n < 3, 3, n % 3)),
            "others": np.take(["NO", "<30", ">30"], n % 3),
        }
    )


def numbers_that_all_differ(*names: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    even = {name: rng.permutation(90_000)[:300] + 10_000 for name in ("c1", "c2", "c3")}
    skewed = {"c4": np.sort(rng.lognormal(9, 2, 300)).astype(int) + np.arange(300)}
    return pd.DataFrame(even | skewed)[list(names)]


def amounts(**more: str) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 500), "flow": rng.lognormal(5, 1, 500), "floor": rng.integers(1, 5, 500)}
    )
    return frame.assign(**{name: frame[of] for name, of in more.items()})


def asked() -> pd.DataFrame:
    """Children are asked for no job, and some adults have no mood."""
    rng = np.random.default_rng(3)
    age = rng.integers(5, 60, 2000)
    frame = pd.DataFrame({"age": age, "kind": np.where(age < 15, "child", "adult")})
    frame["job"] = np.where(age < 15, None, rng.choice(["cook", "clerk"], 2000))
    frame["mood"] = np.where(rng.random(2000) < 0.2, None, "fine")
    return frame.assign(branch=np.where(age < 15, "Not in universe", rng.choice(["food", "office"], 2000)))


def asked_with_one_missing_answer() -> pd.DataFrame:
    frame = asked().drop(columns=["mood", "branch"])
    frame.loc[frame.index[frame["kind"] == "adult"][0], "job"] = None
    return frame


IDS = np.arange(400)
SIZES = people().groupby("unit_no")["nr"].transform("size")
FRAMES = {
    "by names or by what the values do; an age that hides is found by its separation": people(),
    "of a household two shared attributes say that it numbers them": people().drop(columns="x9"),
    "or one, where it is called so": people().drop(columns="x9").rename(columns={"unit_no": "HH"}),
    "the size of a household numbers none": people().assign(
        household=people().groupby("unit_no")["nr"].transform("size")
    ),
    "where no column is known to others the worst": pd.DataFrame(
        {f"v{n}": np.random.default_rng(n).normal(0, 10**n, 200).round(1) for n in range(5)}
    ),
    "a weight": bodies(),
    "a weight beside a height is one of the body": bodies(height=(150, 190)),
    "or of the survey, where no body weighs so much": bodies(weight=(200, 4000), height=(150, 190)),
    "a second weight is no secret": two_weights(),
    "an id of few values is a code": pd.DataFrame({"admission_type_id": IDS % 4 + 1, "patient_nbr": IDS // 2}),
    "a column that repeats another": people().assign(region_no=people()["region"].map("NESW".index)),
    "numbers are codes where the name says so": codes(),
    "intervals are in their order where all can be listed": intervals(),
    "of many columns in which all differ most are amounts": numbers_that_all_differ("c1", "c2", "c3", "c4"),
    "of two both are names": numbers_that_all_differ("c1", "c2"),
    "where nothing is called sensitive amounts are": amounts(),
    "else they are not": amounts(wage="flow"),
    "codes of a quasi-identifier are categories in their order": pd.DataFrame(  # a 4 is rare
        {"education": [1, 2, 3, 10] * 50, "sex": [1, 2] * 100, "children": [0, 1, 2, 3] * 49 + [4] * 4}
    ),
    "a question that was not asked": asked(),
    "not asked by age": asked().drop(columns="kind"),
    "one answer is missing": asked_with_one_missing_answer(),
    "a rare value that decides who was asked is not named": pd.DataFrame(
        {"status": ["adult"] * 100 + ["child"] * 60 + ["monk"] * 3, "job": ["cook"] * 100 + [None] * 63}
    ),
    "negative codes are missing where nothing else is negative": pd.DataFrame(
        {"score": [*range(1, 90), *[-9] * 11], "profit": [*range(-50, 39), *[-9] * 11]}
    ),
    "and are no few": pd.DataFrame({"score": [*range(1, 92), *[-9] * 9]}),
}


@pytest.mark.parametrize("which", FRAMES)
def test_role_kind_and_reasons_are_proposed(which: str, tmp_path: Path) -> None:
    found = proposed(FRAMES[which], tmp_path)
    rows = [
        f"{each.name}: {each.role}, {each.kind}{'' if each.sure else ' (a guess)'}: {each.why} "
        f"| {each.universe or '-'} | repeats {each.repeats or '-'} | missing {', '.join(each.missing_codes) or '-'}"
        for each in found.columns
    ]
    golden("\n".join([f"key: {', '.join(found.record_key) or '-'}", *rows]))


def test_categories_are_drafted_as_the_file_has_them_and_in_their_order(tmp_path: Path) -> None:
    codes().to_csv(tmp_path / "codes.csv", index=False)
    drafted = draft_contract(CsvSource(path=(str(tmp_path / "codes.csv"),)), "x")
    assert '- "7.0"' in drafted
    assert "# codes, by name or number; check" in drafted
    intervals().to_csv(tmp_path / "ages.csv", index=False)
    ages = yaml.safe_load(draft_contract(CsvSource(path=(str(tmp_path / "ages.csv"),)), "x"))["variables"][0]
    assert ages["categories"] == ["[0-10)", "[10-20)", "[20-100)", "[100-110)"]


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


# -- what the words tell


def test_shares_tell_of_no_small_count() -> None:
    assert [share(part, 1000) for part in (0, 0.005, 0.009, 0.01, 0.5, 0.995, 1)] == [
        "none", "hardly any", "hardly any", "1 %", "50 %", "nearly all", "all",
    ]  # fmt: skip


def test_numbers_from_nought_on_that_fall_off_are_counts_and_other_few_ones_codes(tmp_path: Path) -> None:
    columns = {
        "child5": [0] * 300 + [1] * 120 + [2] * 60 + [3] * 15 + [4] * 5,
        "grp": [1] * 300 + [2] * 120 + [3] * 60 + [4] * 20,  # codes, by how frequent they are
        "gap": [0] * 300 + [1] * 120 + [2] * 60 + [9] * 20,
        "mid": [0] * 60 + [1] * 120 + [2] * 300 + [3] * 20,
        "two": [0] * 300 + [1] * 120 + [2] * 80,
    }
    kinds = {each.name: each.kind for each in proposed(pd.DataFrame(columns), tmp_path).columns}
    assert kinds == {"child5": Kind.INTEGER} | dict.fromkeys(("grp", "gap", "mid", "two"), Kind.NOMINAL)


def test_the_worst_sets_are_in_words(tmp_path: Path) -> None:
    seen = seen_of(people(), tmp_path)
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


# Value labels go into a draft where they are a code list, and not where they are what the records hold.


def drafted(frame: pd.DataFrame, folder: Path, labels: dict[str, dict[float, str]] | None = None) -> str:
    path = folder / "x.dta"
    frame.to_stata(path, write_index=False, version=118, value_labels=labels)
    source = StataSource(path=str(path))
    return draft_contract(source, "x", source.described())


def column(folder: Path, name: str) -> Proposal:
    source = StataSource(path=str(folder / "x.dta"))
    return propose(overview(source, source.described())).by_name(name)


def test_names_that_a_program_made_into_value_labels_are_not_told(tmp_path: Path) -> None:
    people = [f"Anna Muster {n // 2}" for n in range(2000)]
    frame = pd.DataFrame({"age": np.arange(2000) % 60, "x1": pd.Categorical(people)})
    assert "Muster" not in drafted(frame, tmp_path)
    found = column(tmp_path, "x1")
    assert (found.role, found.sure, found.labels) == (Role.IDENTIFIER, False, {})


def test_a_rare_category_of_adult_is_not_told_by_its_label(tmp_path: Path) -> None:
    """As pandas writes them, the labels are the texts that occur: of 4,000 people few are in the armed forces."""
    frame = pd.read_csv(
        reference_path("adult", "adult.data.gz"), header=None, names=adult_columns(), skipinitialspace=True, nrows=4000
    )[["age", "occupation", "sex", "marital_status"]]
    texts = frame.select_dtypes(exclude="number").columns
    text = drafted(frame.astype(dict.fromkeys(texts, "category")), tmp_path)
    few = frame["marital_status"].value_counts()
    rare = list(few[few < 10].index)
    assert rare
    assert not any(label in text for label in rare)
    assert '"Female"' in text, "of which there is no rare one"
    assert column(tmp_path, "marital_status").kind is Kind.NOMINAL


@pytest.mark.parametrize(("unused", "listed"), [(0, False), (1, False), (2, True)])
def test_a_code_list_is_told_where_nobody_knows_which_of_its_rare_codes_occur(
    tmp_path: Path, unused: int, listed: bool
) -> None:
    labels = {1.0: "none", 2.0: "flu", 3.0: "Kuru", 4.0: "Ebola"} | {5.0 + n: f"rare {n}" for n in range(unused)}
    frame = pd.DataFrame({"illness": [1.0] * 100 + [2.0] * 50 + [3.0] + [4.0] * 9, "age": np.arange(160)})
    text = drafted(frame, tmp_path, {"illness": labels})
    assert ("Kuru" in text, "Ebola" in text) == (listed, listed)
    assert column(tmp_path, "illness").kind is Kind.NOMINAL


def test_one_rare_code_of_a_code_list_and_the_labels_of_missing_codes_are_kept(tmp_path: Path) -> None:
    """Codes of a list are the same whoever is in the file, unless a program numbered the texts that it found."""
    marst = {1.0: "single", 2.0: "married", 3.0: "widowed", 4.0: "partner"}
    frame = pd.DataFrame({"marst": [float(1 + n % 3) for n in range(300)], "age": np.arange(300) % 60})
    frame.loc[:6, "marst"] = 4.0
    drafted(frame, tmp_path, {"marst": marst})
    found = column(tmp_path, "marst")
    assert (found.categories, dict(found.labels)) == (
        ("1", "2", "3", "4"), {"1": "single", "2": "married", "3": "widowed", "4": "partner"}
    )  # fmt: skip
    many = {float(n): f"occupation {n * 7919 % 300}" for n in range(300)}
    frame = pd.DataFrame({"occ": [float(n % 300) for n in range(3900)], "age": np.arange(3900) % 60})
    drafted(frame, tmp_path, {"occ": many})
    assert len(column(tmp_path, "occ").labels) == 300


def test_labels_of_missing_codes_stand_in_the_contract_of_a_number(tmp_path: Path) -> None:
    frame = pd.DataFrame({"inc": [float(100 + 7 * n) for n in range(200)] + [-9.0] * 12, "x": np.arange(212.0)})
    pyreadstat.write_sav(
        frame, tmp_path / "m.sav", variable_value_labels={"inc": {-9: "refused"}}, missing_ranges={"inc": [-9]}
    )
    source = SpssSource(path=str(tmp_path / "m.sav"))
    [inc, _] = yaml.safe_load(draft_contract(source, "x", source.described()))["variables"]
    assert (inc["kind"], inc["missing_codes"], inc["labels"]) == ("integer", ["-9"], {"-9": "refused"})
