"""What is proposed of each column: by its name in several languages, by what it tells apart, and never a rare value."""

from cProfile import Profile
from dataclasses import replace
from pathlib import Path
from pstats import Stats

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml

from schemas.reading.column_proposal import Proposal
from schemas.reading.contract_draft import contract_yaml, draft_contract, read_draft
from schemas.reading.interval_categories import intervals_in_order
from schemas.reading.overview import Overview, overview
from schemas.reading.proposal import Proposals, in_words, propose, share, worst_sets
from schemas.reading.typing import SourceTyping
from schemas.reading.usual_names import usual_role
from sluice.ground.variables import Kind, Role
from sluice.sources.csv_source import CsvSource
from sluice.sources.statistical_file import SpssSource, StataSource
from sluice.sources.tabular_source import ColumnDescription
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


def test_of_many_columns_the_worst_sets_are_sought_among_those_that_tell_most_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({f"q{at}": rng.integers(0, 40 if at in (3, 47) else 2, 300) for at in range(50)})
    [pair, triple] = worst_sets(seen_of(frame, tmp_path), list(frame))
    assert pair.columns == (3, 47)
    assert {3, 47} < set(triple.columns)


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
        ("Oral sex within 12 months", Role.SENSITIVE), ("Sex of respondent", Role.QUASI_IDENTIFIER),
        ("npartner", Role.SENSITIVE), ("Condom use", Role.SENSITIVE), ("Sign of lymph", Role.SENSITIVE),
        ("Reinfection", Role.SENSITIVE),
        ("maried", Role.QUASI_IDENTIFIER), ("educyr", Role.QUASI_IDENTIFIER), ("hlth", Role.SENSITIVE),
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


GRADES, AGES, LEVELS = {"0": "not at all", "10": "extremely"}, {"0": "under 1", "1": "1"}, {"1": "low", "2": "high"}
NAMES_OF_FEW = {"1": "Ann", "2": "Bob", "3": "Col", "4": "Dan", "5": "Eva"}
PARTLY = {
    "a scale with named ends": (GRADES, [*range(11)] * 20, GRADES, None),
    "a number with a first class": (AGES, [*range(90)] * 12, {"0": "under 1"}, None),
    "codes, one more in the file": (
        {**LEVELS, "4": "none"}, [1, 2, 3] * 20 + [1, 2] * 40, {**LEVELS, "4": "none"}, ("1", "2", "3", "4")
    ),
    "texts, one more in the file": ({"a": "x", "b": "y"}, ["a", "b", "c"] * 20, {"a": "x", "b": "y"}, ("a", "b", "c")),
    "codes, a rare one more": (LEVELS, [1, 2] * 40 + [3], LEVELS, None),
    "rare texts of a program": (
        NAMES_OF_FEW, [1, 2, 3, 4] * 20 + [5, 6], {code: NAMES_OF_FEW[code] for code in ("1", "2", "3", "4")}, None
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", PARTLY)
def test_labels_of_some_codes_stay_where_others_have_none(tmp_path: Path, which: str) -> None:
    """As far as they tell of no rare value: a label of a code that few records have stays if a code list has it."""
    labels, held, kept, listed = PARTLY[which]
    pd.DataFrame({"v": held, "n": np.arange(len(held))}).to_csv(tmp_path / "x.csv", index=False)
    source = CsvSource(path=(str(tmp_path / "x.csv"),))
    seen = overview(source, {"v": ColumnDescription(labels=labels)})
    found = propose(seen).by_name("v")
    [drafted, _] = read_draft(contract_yaml(seen, propose(seen), "x"), "x").variables
    assert (dict(found.labels), drafted.labels, drafted.categories) == (kept, kept, listed)


def described(frame: pd.DataFrame, folder: Path, **labels: str) -> dict[str, Proposal]:
    """As a dictionary that has these labels describes it."""
    frame.to_csv(folder / "x.csv", index=False)
    said = {name: ColumnDescription(label=label) for name, label in labels.items()}
    return {each.name: each for each in propose(overview(CsvSource(path=(str(folder / "x.csv"),)), said)).columns}


def test_a_label_says_of_whom_a_number_is_and_siblings_are_alike(tmp_path: Path) -> None:
    """A number that tells people apart may be known, whatever else is: its label has to say that it is not."""
    rng = np.random.default_rng(1)
    n = 400
    frame = pd.DataFrame(
        {
            "v1": rng.integers(0, 60, n), "v2": rng.integers(0, 60, n), "sex": rng.integers(1, 3, n),
            "region": rng.integers(1, 5, n), "age": rng.integers(20, 80, n), "level1": rng.integers(0, 2, n),
            "level2": rng.integers(0, 2, n), "v3": rng.integers(1, 6, n), "sw": rng.integers(0, 90, n) / 7,
            "wage": rng.integers(0, 5000, n),
        }
    )  # fmt: skip
    found = described(
        frame, tmp_path, v1="Total in the dwelling", level1="Education: none", level2="Complete primary",
        v3="How often do you see your family", sw="Alternative weight",
    )  # fmt: skip
    roles = {name: each.role for name, each in found.items()}
    assert roles["v1"] is roles["v2"] is Role.QUASI_IDENTIFIER
    assert roles["level1"] is roles["level2"] is Role.QUASI_IDENTIFIER
    assert roles["v3"] is Role.OTHER
    assert roles["sw"] is Role.OTHER  # with noughts, no weight that a contract takes
    assert found["level1"].kind is Kind.BINARY


def test_a_label_says_more_than_the_word_that_a_column_is_called(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: [0, 1] * 30 for name in ("discharge", "sex", "os12m", "released")})
    found = described(
        frame, tmp_path, discharge="Sign of discharge", sex="Sex of the patient", os12m="Oral sex within 12 months",
        released="Discharge from hospital",
    )  # fmt: skip
    assert [found[name].role for name in frame] == [
        Role.SENSITIVE, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.QUASI_IDENTIFIER
    ]  # fmt: skip


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize(
    ("code", "times", "missing", "doubtful"),
    [
        ("-99", 12, True, False), ("-99.00", 12, True, False), ("9999", 12, True, False), ("9999.0", 12, True, False),
        ("999", 12, False, True),  # may be somebody's amount
        ("-99", 2, False, False), ("9999", 2, False, False),  # may be somebody's
        ("-13", 12, False, False), ("5000", 12, False, False),
    ],
)  # fmt: skip
def test_codes_among_amounts_are_those_among_whole_numbers(
    tmp_path: Path, code: str, times: int, missing: bool, doubtful: bool, decimal: str
) -> None:
    """-99 and 9999 were released as amounts of money, and moved means and totals."""
    amounts = np.random.default_rng(2).uniform(1, 400, 300).round(2).astype(str)
    column = [each.replace(".", decimal) for each in (*amounts, *[code] * times)]
    pd.DataFrame({"paid": column, "by": "a"}).to_csv(tmp_path / "x.csv", index=False, sep=";")
    source = CsvSource(path=(str(tmp_path / "x.csv"),), separator=";", decimal=decimal)
    seen = overview(source)
    paid = propose(seen).by_name("paid")
    code = code.replace(".", decimal)
    assert paid.kind is Kind.CONTINUOUS
    assert (paid.missing_codes == (code,), paid.doubtful_codes == (code,)) == (missing, doubtful)
    draft = read_draft(contract_yaml(seen, propose(seen), "x"), ["paid", "by"])
    typed = SourceTyping(draft, lambda _, text: text, decimal).type_batch(next(source.batches(["paid", "by"])))
    assert typed["paid"].isna().sum() == missing * times


def test_a_label_is_read_without_what_it_says_beside(tmp_path: Path) -> None:
    """Answers in quotes, a note, when it was asked, how long somebody lives there, what is thought of others."""
    rng = np.random.default_rng(2)
    labels = {
        "ladder": 'career ladder level: "level1", "apprentice", "probation"',
        "year": "Year that wage information was recorded",
        "futime": "days until the end. Note that some have a date of death",
        "months": "Months living at current address",
        "good": "whether respondent thinks that immigrants are good for the economy",
        "fica": "Amount put into the fund, in US dollars",
        "drive_ind": "",
        "sex": "",
    }
    frame = pd.DataFrame({name: rng.integers(1, 6, 300) for name in labels})
    found = described(frame.assign(fica=rng.integers(1, 90, 300) / 4), tmp_path, **labels)
    roles = {name: each.role for name, each in found.items()}
    assert roles == dict.fromkeys(labels, Role.OTHER) | {"fica": Role.SENSITIVE, "sex": Role.QUASI_IDENTIFIER}


def test_what_is_the_same_of_every_record_names_none_of_them(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["ESS9"] * 60, "sex": ["f", "m"] * 30, "village_name": ["a", "b", "c"] * 20})
    found = {each.name: each for each in proposed(frame, tmp_path).columns}
    assert [found[name].role for name in frame] == [Role.OTHER, Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER]
    assert not found["name"].sure


def test_a_code_list_numbers_nobody(tmp_path: Path) -> None:
    """Strata that agree in the sex, as samples are drawn by, are no people."""
    strata = np.arange(400) % 20
    frame = pd.DataFrame({"sample": strata, "sex": strata % 2, "born": 1950 + strata})
    frame.to_csv(tmp_path / "x.csv", index=False)
    said = {"sample": ColumnDescription(labels={str(code): f"stratum {code}" for code in range(20)})}
    seen = overview(CsvSource(path=(str(tmp_path / "x.csv"),)), said)
    assert propose(seen).by_name("sample").role is not Role.PERSON


def test_negative_codes_beside_labelled_ones_are_missing_and_the_labels_stay(tmp_path: Path) -> None:
    """As NLS hands out its files: 0 no, 1 yes, and -5 for who was not interviewed, of which no label tells."""
    pd.DataFrame({"own": [0] * 60 + [1] * 30 + [-5] * 20 + [-2] * 3}).to_csv(tmp_path / "x.csv", index=False)
    said = {"own": ColumnDescription(label="Owns stocks", labels={"0": "no", "1": "yes"})}
    [own] = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)), said)).columns
    assert own.kind is Kind.BINARY
    assert own.labels == {"0": "no", "1": "yes"}
    assert set(own.missing_codes) == {f"-{digit}" for digit in range(1, 10)}


def test_numbers_from_0_to_100_in_several_columns_are_answers_on_a_line_and_one_may_be_an_age(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    line = {f"{name}_now": np.r_[0, 100, rng.integers(0, 101, 298)] for name in ("warm", "near", "eager")}
    frame = pd.DataFrame({**line, "x": rng.integers(18, 90, 300), "income": rng.integers(0, 5000, 300)})
    roles = {name: each.role for name, each in described(frame, tmp_path).items()}
    assert [roles[name] for name in line] == [Role.OTHER] * 3
    assert roles["x"] is Role.QUASI_IDENTIFIER
    alone = described(frame[["warm_now", "x", "income"]], tmp_path)
    assert alone["warm_now"].role is Role.QUASI_IDENTIFIER


def test_a_number_with_a_sign_left_behind_is_what_it_is_called_and_names_nobody(tmp_path: Path) -> None:
    texts = [f"{100 + 7.03 * n:.2f}{'_' * (n % 9 == 0)}" for n in range(300)]
    frame = pd.DataFrame({"debt": texts, "q7": texts, "sex": np.arange(300) % 2})
    found = described(frame, tmp_path)
    assert (found["debt"].role, found["debt"].sure, found["debt"].other_form) == (Role.SENSITIVE, False, "numbers")
    assert found["q7"].role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("labels", "codes", "means"),
    [
        ({"agree strongly": "5", "no": "1"}, ["5", "1"], {"5": "agree strongly", "1": "no"}),
        ({"M": "male", "F": "female"}, ["male", "female"], {}),
        ({"1": "2", "2": "1"}, ["1", "2"], {"1": "2", "2": "1"}),
        ({"1": "male", "2": "female"}, ["1.0", "2.0", ""], {"1.0": "male", "2.0": "female"}),  # as pandas writes it
        ({"1": "a", "2": "b", "3": "c"}, ["1.0", "2.0"], {"1.0": "a", "2.0": "b", "3.0": "c"}),
        ({"1.0": "a", "2.0": "b", "3.0": "c"}, ["1", "2"], {"1": "a", "2": "b", "3": "c"}),
        ({"01": "a", "2": "b"}, ["1", "2"], {"1": "a", "2": "b"}),
        ({"1": "a", "2": "b"}, ["01", "02"], {"01": "a", "02": "b"}),
        ({"1": "a", "2": "b"}, ["1", "01", "2.0"], {"1": "a", "2.0": "b"}),  # 01 beside 1 is another code
        ({"1": "a", "01": "b"}, ["1.0"], {"1": "a", "01": "b"}),
    ],
)
def test_a_code_is_what_the_data_have_and_words_mean_themselves(
    labels: dict[str, str], codes: list[str], means: dict[str, str], tmp_path: Path
) -> None:
    pd.DataFrame({"v": codes * 30}).to_csv(tmp_path / "x.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "x.csv"),)), {"v": ColumnDescription(labels=labels)})
    assert seen.said("v").labels == means


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([*range(60), *[9999] * 12], ("9999",)),
        ([*range(60), *[888] * 12, *[999] * 12], ("888", "999")),
        ([*range(60), 9999], ()),  # of one person
        ([*range(950, 9990, 50), *[9999] * 12], ()),  # amounts that are cut there
        ([*range(600), *[9999] * 12], ("9999",)),
        ([*range(2000), *[9999] * 12], ()),
        ([0, 1, *[9999] * 12], ()),
        ([*range(8), *[99] * 12], ()),  # may be years
    ],
)
def test_nines_far_from_all_other_numbers_are_missing(
    tmp_path: Path, numbers: list[int], missing: tuple[str, ...]
) -> None:
    pd.DataFrame({"hours": numbers, "by": 1}).to_csv(tmp_path / "x.csv", index=False)
    [hours, _] = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)))).columns
    assert hours.missing_codes == missing
    assert not {*missing} & {*hours.doubtful_codes}


def of_answers(folder: Path, *answers: str, label: str = "", name: str = "V12") -> Proposal:
    """A column that is called nothing, with these value labels, as pandas writes codes beside a missing value."""
    codes = [f"{1 + n % len(answers)}.0" for n in range(30 * len(answers))]
    frame = pd.DataFrame({name: [*codes, ""], "age": [str(n % 60) for n in range(len(codes) + 1)]})
    frame.to_csv(folder / "x.csv", index=False)
    said = {name: ColumnDescription(label=label, labels={str(n): means for n, means in enumerate(answers, start=1)})}
    return propose(overview(CsvSource(path=(str(folder / "x.csv"),)), said)).by_name(name)


@pytest.mark.parametrize(
    ("answers", "role", "of"),
    [
        (("Male", "Female"), Role.QUASI_IDENTIFIER, "sex"),
        (("1. Hombre", "2. Mujer", "No responde"), Role.QUASI_IDENTIFIER, "sex"),
        (("Texas", "Ohio", "New York", "Utah"), Role.QUASI_IDENTIFIER, "state or region"),
        (("Kenya", "Viet Nam", "South Africa", "Other"), Role.QUASI_IDENTIFIER, "country"),
        (("White", "Black / African", "Asian", "Don't know"), Role.QUASI_IDENTIFIER, "ethnic group"),
        (("Never married", "Married", "Widowed"), Role.QUASI_IDENTIFIER, "marital status"),
        (("15-24 years", "25-44 years", "45 years and older"), Role.QUASI_IDENTIFIER, "age"),
        (("Catholic", "Muslim", "None"), Role.SENSITIVE, "religion"),
    ],
)
def test_value_labels_say_what_a_column_is_that_is_called_nothing(
    tmp_path: Path, answers: tuple[str, ...], role: Role, of: str
) -> None:
    found = of_answers(tmp_path, *answers)
    assert (found.role, found.why) == (role, f"its categories are of {of}")
    assert found.kind is (Kind.BINARY if len(answers) == 2 else Kind.ORDINAL if of == "age" else Kind.NOMINAL)


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        (("Yes", "No"), ""),
        (("A man", "Somebody young", "It does not matter"), ""),
        (("0-5 years", "6-10 years", "11 years and more"), ""),
        (("1-10", "11-20", "21-30", "31-40", "41+"), ""),  # hours
        (("Men", "Women"), "Do you think that men or women lead better?"),
        (("Agree", "Disagree", "Refused", "Don't know"), "The family suffers when a mother works"),
    ],
)
def test_other_answers_do_not(tmp_path: Path, answers: tuple[str, ...], label: str) -> None:
    found = of_answers(tmp_path, *answers, label=label)
    assert not found.why.startswith(("its categories", "called"))


def test_an_opinion_is_an_answer_though_its_name_has_a_word_that_others_know(tmp_path: Path) -> None:
    found = of_answers(tmp_path, "Strongly agree", "Agree", "Disagree", name="family_suffers")
    assert found.role is not Role.QUASI_IDENTIFIER


def test_unlabelled_answers_to_one_question_on_one_scale_are_no_quasi_identifiers(tmp_path: Path) -> None:
    """The first and last grade occur in each; a statement that has a word of the family in it is no exception."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"V{n}": [1, 7, *rng.integers(1, 8, 198)] for n in range(12, 16)})
    frame["age"], frame["income"] = rng.integers(18, 90, 200), rng.integers(0, 5000, 200)
    found = described(frame, tmp_path, V14="All in all the family suffers from it")
    assert {name: each.role for name, each in found.items() if each.role is not Role.OTHER} == {
        "age": Role.QUASI_IDENTIFIER, "income": Role.SENSITIVE
    }  # fmt: skip
    two = described(frame[["V12", "V13", "age", "income"]], tmp_path)
    assert two["V12"].role is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize(("means", "kept"), [("Neonatal care", True), ("Not applicable", False)])
def test_a_mark_for_missing_is_a_value_where_its_label_says_what_it_is(tmp_path: Path, means: str, kept: bool) -> None:
    """Else the draft has it among categories and missing codes, and no contract takes both."""
    pd.DataFrame({"ward": ["A1"] * 40 + ["B1"] * 30 + ["NA"] * 20}).to_csv(tmp_path / "x.csv", index=False)
    said = {"ward": ColumnDescription(labels={"A1": "Medical", "B1": "Maternity", "NA": means})}
    [ward] = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)), said)).columns
    assert (set(ward.categories), ward.missing_codes) == ({"A1", "B1", *["NA"] * kept}, () if kept else ("NA",))


def test_a_label_of_an_amount_outdoes_the_code_that_a_survey_gives_to_another_question(tmp_path: Path) -> None:
    """v101 is the region in some surveys, and in others an income."""
    frame = pd.DataFrame({"v101": np.arange(400) * 100 % 39_700, "v024": np.arange(400) % 7})
    found = described(frame, tmp_path, v101="Total household income per year", v024="Region of residence")
    assert (found["v101"].role, found["v101"].kind) == (Role.SENSITIVE, Kind.INTEGER)
    assert (found["v024"].role, found["v024"].kind) == (Role.QUASI_IDENTIFIER, Kind.NOMINAL)


@pytest.mark.parametrize(
    ("labels", "universe"), [({"1": "employed", "2": "not", "3": "retired"}, "1"), ({}, "1 or less")]
)
def test_labelled_codes_that_decide_a_universe_are_named_and_no_span(
    tmp_path: Path, labels: dict[str, str], universe: str
) -> None:
    pd.DataFrame({"q1": [1, 2, 3] * 40, "q2": [5, None, None] * 40}).to_csv(tmp_path / "x.csv", index=False)
    said = {"q1": ColumnDescription(labels=labels)}
    found = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)), said))
    assert found.by_name("q2").universe == f"asked where q1 is {universe}"


@pytest.mark.parametrize(
    ("names", "sure"),
    [
        (["V102", "V005", "V190"], True),  # of the DHS
        (["V102", "x", "y"], False),
        (["V102", "V190", "y"], False),
        ([f"V{n}" for n in range(101, 120)], False),  # numbered through, as those of any file may be
    ],
)
def test_a_survey_s_name_that_says_nothing_counts_beside_others_of_that_survey(
    tmp_path: Path, names: list[str], sure: bool
) -> None:
    rng = np.random.default_rng(3)
    pd.DataFrame({name: rng.integers(1, 4, 200) for name in names}).to_csv(tmp_path / "x.csv", index=False)
    found = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)))).by_name("V102")
    assert (found.role, found.sure) == (Role.QUASI_IDENTIFIER, sure)


def test_a_label_outdoes_a_survey_s_name_that_nothing_speaks_for(tmp_path: Path) -> None:
    found = described(pd.DataFrame({"V102": [1, 2, 3] * 40, "age": range(120)}), tmp_path, V102="Liked the lunch")
    assert found["V102"].role is not Role.QUASI_IDENTIFIER


def _texts(different: int, words: str) -> list[str]:
    return [f"{words} {'abcdefghijklmnopqrstuvwxyz'[n % 26]}{n}" for n in range(different)]


WRITTEN = {
    "called so, a few often": ("remarks", ["nothing to add"] * 60 + ["moved to Ada"] * 20 + _texts(10, "spoke to")),
    "called so, all often": ("Bemerkung", ["wohnt bei Anna", "zog zu Bert"] * 50),
    "called nothing, of a small file": ("v7", _texts(40, "she said that Ada moved")),
    "called nothing, beside a usual one": ("v7", ["nothing was said by him"] * 80 + _texts(30, "he knew Bert of")),
}


@pytest.mark.parametrize("which", WRITTEN)
def test_texts_that_people_wrote_stand_in_no_draft(tmp_path: Path, which: str) -> None:
    name, held = WRITTEN[which]
    pd.DataFrame({name: held, "age": np.arange(len(held)) % 50}).to_csv(tmp_path / "x.csv", index=False)
    source = CsvSource(path=(str(tmp_path / "x.csv"),))
    found = propose(overview(source)).by_name(name)
    assert (found.role, found.kind) == (Role.IDENTIFIER, Kind.TEXT)
    text = draft_contract(source, "x")
    assert not [value for value in held if value in text]


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("note", [12, 15, 9, 11] * 20),  # a grade, in French
        ("comment", ["yes", "no"] * 40),
        ("v7", ["very good", "rather good", "not good at all"] * 30),
        ("region", ["North of the river", "South of the river", "West of the old town"] * 30),
    ],
)
def test_grades_and_categories_are_no_texts_that_people_wrote(tmp_path: Path, name: str, held: list[str | int]) -> None:
    pd.DataFrame({name: held, "age": np.arange(len(held)) % 50}).to_csv(tmp_path / "x.csv", index=False)
    assert propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)))).by_name(name).role is not Role.IDENTIFIER


def test_values_of_an_identifier_are_not_listed_as_frequent(tmp_path: Path) -> None:
    frame = pd.DataFrame({"surname": ["Abel", "Berg", "Cohn"] * 40 + ["Dahl"], "age": np.arange(121) % 50})
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert "Abel" not in draft_contract(CsvSource(path=(str(tmp_path / "x.csv"),)), "x")


@pytest.mark.parametrize(
    ("labels", "doubtful", "missing"),
    [
        ({}, ("8", "9"), ()),
        ({"8": "Indeterminate", "9": "Other"}, (), ()),
        ({"8": "Other", "9": "Refused"}, ("9",), ()),
        ({"9": "Weiß nicht"}, ("8", "9"), ()),
        ({"9": "9"}, ("8", "9"), ()),
    ],
)
def test_a_code_whose_label_is_an_answer_is_in_no_doubt(
    tmp_path: Path, labels: dict[str, str], doubtful: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    pd.DataFrame({"v": [1, 2, 3, 4, 8, 9] * 20, "age": range(120)}).to_csv(tmp_path / "x.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "x.csv"),)), {"v": ColumnDescription(labels=labels)})
    found = propose(seen).by_name("v")
    assert (found.doubtful_codes, found.missing_codes) == (doubtful, missing)


def test_a_far_code_whose_label_is_an_answer_is_not_missing(tmp_path: Path) -> None:
    pd.DataFrame({"v": [1, 2, 3, 4, 999] * 20, "age": range(100)}).to_csv(tmp_path / "x.csv", index=False)
    source = CsvSource(path=(str(tmp_path / "x.csv"),))
    assert propose(overview(source)).by_name("v").missing_codes == ("999",)
    seen = overview(source, {"v": ColumnDescription(labels={"999": "More than three"})})
    assert propose(seen).by_name("v").missing_codes == ()


def test_a_word_whose_label_says_that_there_is_no_answer_is_in_doubt(tmp_path: Path) -> None:
    pd.DataFrame({"v": ["yes", "no", "REF"] * 20, "age": range(60)}).to_csv(tmp_path / "x.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "x.csv"),)), {"v": ColumnDescription(labels={"REF": "Refused"})})
    assert propose(seen).by_name("v").doubtful_codes == ("REF",)
    assert "# check: REF may stand for missing" in contract_yaml(seen, propose(seen), "x")


def test_a_negative_code_is_missing_or_in_doubt(tmp_path: Path) -> None:
    pd.DataFrame({"v": [1, 2, 3, -8] * 20, "age": range(80)}).to_csv(tmp_path / "x.csv", index=False)
    seen = overview(CsvSource(path=(str(tmp_path / "x.csv"),)), {"v": ColumnDescription(labels={"-8": "Refused"})})
    found = propose(seen).by_name("v")
    assert (found.missing_codes, found.doubtful_codes) == (("-8",), ())


@pytest.mark.parametrize(("distinct", "sure"), [(300, False), (40, True)])
def test_a_weight_that_nearly_every_record_has_alone_is_a_weight_to_check(
    tmp_path: Path, distinct: int, sure: bool
) -> None:
    at = np.arange(300)
    found = proposed(pd.DataFrame({"age": at % 60, "pweight": at % distinct + 0.5}), tmp_path).by_name("pweight")
    assert (found.role, found.sure) == (Role.WEIGHT, sure)
    found = proposed(pd.DataFrame({"age": at % 60, "pweight": at % distinct + 500}), tmp_path).by_name("pweight")
    assert (found.role, found.sure) == (Role.WEIGHT, sure)


# Label of a column of numbers from 1 to 120 -> its role and kind.
LABELLED = {
    "Years since the last move": (Role.OTHER, Kind.INTEGER),
    "$ value of sick days": (Role.SENSITIVE, Kind.INTEGER),
    "Age at diagnosis": (Role.QUASI_IDENTIFIER, Kind.INTEGER),
    "present activity (1 = at work, 2 = disabled)": (Role.OTHER, Kind.INTEGER),
    "": (Role.QUASI_IDENTIFIER, Kind.INTEGER),  # nothing says that nobody knows it
}


@pytest.mark.parametrize("label", LABELLED)
def test_a_number_that_a_dictionary_tells_in_words_is_no_quasi_identifier_by_its_values_alone(
    tmp_path: Path, label: str
) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x9": rng.integers(1, 121, 900), "sex": rng.choice(["M", "F"], 900)})
    frame["income"] = rng.integers(0, 99_999, 900)
    frame.to_csv(tmp_path / "x.csv", index=False)
    described = {"x9": ColumnDescription(label=label)} if label else {}
    found = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)), described)).by_name("x9")
    assert (found.role, found.kind) == LABELLED[label]


def test_a_measure_with_few_values_is_a_number_and_a_logarithm_by_its_label_follows_its_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    pressure, pay = rng.choice([90, 100, 110, 120, 130, 140], 900), rng.integers(0, 900, 900) / 100
    frame = pd.DataFrame({"b7": pressure, "z1": pay, "z2": np.log(np.where(pay > 0, pay, 1)), "v3": ["M", "F"] * 450})
    frame["z3"] = frame["z2"].diff()
    frame.to_csv(tmp_path / "x.csv", index=False)
    labels = {
        "b7": "systolic blood pressure",
        "z1": "real earnings",
        "z2": "log(z1); zero if z1 == 0",
        "z3": "z2 - z2[_n-1]",
    }
    described = {name: ColumnDescription(label=label) for name, label in labels.items()}
    found = propose(overview(CsvSource(path=(str(tmp_path / "x.csv"),)), described))
    assert found.by_name("b7").kind is Kind.INTEGER
    assert [found.by_name(name).role for name in ("z1", "z2", "z3", "v3")] == [
        Role.SENSITIVE, Role.SENSITIVE, Role.SENSITIVE, Role.QUASI_IDENTIFIER,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mark", "missing"),
    [
        ("children", "N", True), ("number_of_rooms", "X", True), ("class", "N", False), ("grade", "K", False),
        ("class", "..", True), ("class", "(D)", True), ("class", "*", True),
    ],
)  # fmt: skip
def test_a_mark_beside_few_numbers_is_missing_where_they_count_something_or_it_is_no_word(
    tmp_path: Path, name: str, mark: str, missing: bool
) -> None:
    values = np.take(["0", "1", "2", mark], np.random.default_rng(3).choice(4, 900, p=[0.5, 0.3, 0.15, 0.05]))
    found = proposed(pd.DataFrame({name: values, "sex": ["f", "m"] * 450}), tmp_path).by_name(name)
    assert (mark in found.missing_codes) is missing


def test_twice_as_many_columns_take_about_twice_the_work(tmp_path: Path) -> None:
    """By calls and not by the clock: each name, and no pair of names, is asked for what it is called for."""

    def calls(columns: int) -> int:
        rng = np.random.default_rng(6)
        answers = {f"q{at}": rng.integers(1, 5, 30) for at in range(columns)}
        seen = seen_of(
            pd.DataFrame({"age": rng.integers(18, 80, 30), "sex": rng.choice(["m", "f"], 30)} | answers), tmp_path
        )
        with Profile() as profile:
            propose(seen)
        return int(Stats(profile).total_calls)  # type: ignore[attr-defined]

    calls(10)  # what is compiled or read once
    assert calls(60) < 2.15 * calls(30)
