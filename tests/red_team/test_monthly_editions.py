"""Twelve monthly editions of the same people: an intruder subtracts, follows and joins the published files.

The people are real; that some come and some leave each month, and values are revised, is played. The intruder knows of
everybody the released group and in which of the files there is a record, which is more than anybody does, and names a
value where it is certain, and not what nearly all of the group have.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import yaml

from sluice.custody.states import State
from sluice.ground.verdict import Verdict
from sluice.masking.joint_moves import Edition, stay_together
from tests.flows.house import WAITING, House
from tests.flows.house import policy as house_policy
from tests.reference_data import adult_columns, reference_path

MONTHS = 12
CERTAIN = 0.95  # share of a group with one value, from which everybody would have guessed it
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Series:
    """Who is in the source of which month; the groups are those of the first day of each person."""

    people: pd.DataFrame  # everybody ever, by the number of the person
    months: tuple[Codes, ...]
    keys: tuple[str, ...]
    values: tuple[str, ...]

    def edition(self, month: int) -> pd.DataFrame:
        return self.people.loc[self.months[month], [*self.keys, *self.values]]


def series(records: pd.DataFrame, keys: Sequence[str], values: Sequence[str], leave: float = 0.05) -> Series:
    """Six in ten records are there in the first month; each month a twentieth leave, and as many others come."""
    rng = np.random.default_rng(1)
    records = records.sample(frac=1, random_state=1).reset_index(drop=True)
    at_first = int(0.6 * len(records))
    there, waiting, months = np.arange(at_first), at_first, []
    for _ in range(MONTHS):
        months.append(there)
        newcomers = np.arange(waiting, min(waiting + int(leave * at_first), len(records)))
        waiting += len(newcomers)
        there = np.r_[there[rng.random(len(there)) >= leave], newcomers]
    return Series(records, tuple(months), tuple(keys), tuple(values))


def in_groups(column: "pd.Series[Any]", *edges: float) -> "pd.Series[Any]":
    return pd.Series(np.searchsorted(edges, column, side="right"), column.index).astype(str)


def adult() -> Series:
    records = pd.read_csv(
        reference_path("adult", "adult.data.gz"), names=adult_columns(), skipinitialspace=True, dtype=str, nrows=16_000
    )
    records = records.assign(
        age=in_groups(records["age"].astype(int), 30, 45),
        education_num=in_groups(records["education_num"].astype(int), 10),
    )
    return series(records, ["age", "sex", "education_num"], ["income", "occupation", "hours_per_week"])


def households() -> Series:
    records = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz")).astype({"age": float})
    records = records.assign(age=in_groups(records["age"], 20, 40)).astype({"sex": str, "urbrur": str})
    return series(records, ["age", "sex", "urbrur"], ["roof", "water", "income"])


def nhanes() -> Series:
    records = pd.read_csv(
        reference_path("nhanes_bioage", "NHANES3.csv.gz"), usecols=["age", "gender", "sbp", "bmi", "health"]
    )
    records = records.dropna().assign(
        age=in_groups(records["age"], 40, 60), bmi=records["bmi"].round(), gender=records["gender"].astype(str)
    )
    return series(records, ["age", "gender"], ["sbp", "bmi", "health"])


def group_codes(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    return frame.groupby(list(columns)).ngroup().to_numpy() if columns else np.zeros(len(frame), np.int64)


def named(files: Sequence[pd.DataFrame], keys: Sequence[str], values: Sequence[str]) -> set[Any]:
    """People of whom some attack names a value. The files are indexed by person, which only tells who has a record."""
    everything = pd.concat(files)
    ends = np.cumsum([len(file) for file in files])[:-1]
    known: set[Any] = set()
    finest = group_codes(everything, keys)
    for name in values:
        value = pd.factorize(everything[name])[0]
        month = np.repeat(np.arange(len(files)), [len(file) for file in files])
        counted = pd.DataFrame({"month": month, "group": finest, "value": value, "records": 1})
        alike = counted.groupby(["month", "group", "value"])["records"].transform("sum")
        share = alike / counted.groupby(["month", "group"])["records"].transform("sum")
        surprising = np.split(share.to_numpy() < CERTAIN, ends)
        for size in range(len(keys) + 1):
            for choice in combinations(keys, size):
                groups = np.split(group_codes(everything, choice), ends)
                known |= subtracted(files, groups, np.split(value, ends), surprising)
    return known | followed(everything, ends, finest, values)


def subtracted(
    files: Sequence[pd.DataFrame], groups: Sequence[Codes], values: Sequence[Codes], surprising: Sequence[Any]
) -> set[Any]:
    """Who has left or come since, where a group's counts differ in one value, by as many as did."""
    found: set[Any] = set()
    steps = max(int(each.max()) for each in values) + 1
    cells = max(int(each.max()) for each in groups) + 1
    for one, other in [*pairwise(range(len(files))), *((month, len(files) - 1) for month in range(len(files) - 2))]:
        for first, second in ((one, other), (other, one)):
            counts = [
                np.bincount(groups[each] * steps + values[each], minlength=cells * steps) for each in (first, second)
            ]
            excess = (counts[0] - counts[1]).clip(0).reshape(cells, steps)
            alone = ~files[first].index.isin(files[second].index)
            people = np.bincount(groups[first][alone], minlength=cells)
            told = (people > 0) & ((excess > 0).sum(axis=1) == 1) & (excess.sum(axis=1) == people)
            found |= {*files[first].index[alone & told[groups[first]] & surprising[first]]}
    return found


def followed(everything: pd.DataFrame, ends: Codes, finest: Codes, values: Sequence[str]) -> set[Any]:
    """Records that no other equals are found again in each file; so are the people who are in the same of them."""
    month = np.searchsorted(ends, np.arange(len(everything)), side="right")
    seen = pd.DataFrame(
        {
            "person": everything.index,
            "group": finest,
            "bit": 1 << month,
            "record": group_codes(everything.assign(_=finest), ["_", *values]),
        }
    )
    repeated = seen.duplicated(["record", "bit"], keep=False).groupby(seen["record"]).transform("any")
    people = seen.groupby(["group", "person"])["bit"].sum().reset_index()
    single = seen[~repeated].assign(**{name: everything[name].to_numpy()[~repeated] for name in values})
    records = (
        single.groupby(["group", "record"])
        .agg(bit=("bit", "sum"), **{name: (name, "first") for name in values})
        .reset_index()
    )
    found: set[Any] = set()
    together = {key: set(part["person"]) for key, part in people.groupby(["group", "bit"])}
    for key, part in records.groupby(["group", "bit"]):
        who = together.get(key, set())
        if len(who) != len(part):
            continue
        for name in values:
            share = (everything[name][finest == key[0]] == part[name].iloc[0]).mean()
            if (part[name] == part[name].iloc[0]).all() and share < CERTAIN:
                found |= who
    return found


def kept_together(of: Series, k: int, newcomers: int) -> list[pd.DataFrame]:
    """The files of an office that lets nobody move alone."""
    order = np.random.default_rng(2).permutation(len(of.people))
    groups = group_codes(of.people, of.keys)
    values = {name: pd.factorize(of.people[name])[0] for name in of.values}
    editions: list[Edition] = []
    files = []
    for there in of.months:
        now = np.full(len(of.people), -1)
        now[there] = groups[there]
        stay = stay_together(editions, Edition(now, values), order, k, newcomers)
        editions.append(Edition(np.where(stay, now, -1), values))
        files.append(of.people.loc[np.flatnonzero(stay), [*of.keys, *of.values]])
    return files


@pytest.mark.parametrize(
    "data",
    [pytest.param(adult, marks=pytest.mark.exhaustive), households, pytest.param(nhanes, marks=pytest.mark.exhaustive)],
)
def test_twelve_months_name_nobody_who_moves_with_others_and_many_who_do_not(data: Any) -> None:
    """Nearly all are released in the first month, and two thirds or more in the last."""
    of = data()
    plain = [of.edition(month) for month in range(MONTHS)]
    assert len(named(plain, of.keys, of.values)) >= 5
    files = kept_together(of, 5, 50)
    assert named(files, of.keys, of.values) == set()
    assert len(files[-1]) > 0.65 * len(plain[-1])


def workers() -> Series:
    """Adult as it comes; the plan makes groups of it."""
    columns = ["age", "education", "marital_status", "sex", "workclass", "income"]
    path = reference_path("adult", "adult.data.gz")
    records = pd.read_csv(path, names=adult_columns(), skipinitialspace=True, usecols=columns, nrows=8_000)
    return series(records.assign(age=records["age"].clip(17, 70))[columns], columns[:4], columns[4:])


COLLEGE = ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
MARRIED = ["Married-civ-spouse", "Married-AF-spouse"]


class Office(House):
    """It publishes the working people of Adult each month, for everybody, with groups as at entry."""

    def __init__(self, root: Path, of: Series) -> None:
        super().__init__(root)
        self.series = of
        shipped = Path(__file__).parents[2] / "policies" / "public-use-file.yaml"
        self.policy = {**yaml.safe_load(shipped.read_text(encoding="utf-8")), "approvals": house_policy()["approvals"]}
        number = {"kind": "integer", "role": "quasi_identifier", "minimum": 1}
        self.contract = {
            "dataset": "workers",
            "version": 1,
            "records_are": "people",
            "record_key": ["person"],
            "variables": [
                {"name": "person", "kind": "integer", "role": "identifier"},
                {"name": "age", **number, "minimum": 17, "maximum": 70},
                {"name": "education", "kind": "nominal", "role": "quasi_identifier"},
                {"name": "marital_status", "kind": "nominal", "role": "quasi_identifier"},
                {"name": "sex", "kind": "nominal", "role": "quasi_identifier"},
                {"name": "workclass", "kind": "nominal", "role": "other"},
                {"name": "income", "kind": "nominal", "role": "sensitive"},
                {"name": "month", "kind": "nominal", "role": "other", "categories": [*map(str, range(MONTHS))]},
            ],
        }
        recoding = {"method": "global_recoding"}
        self.definition["plan"] = [
            {**recoding, "columns": ["age"], "bins": [35, 50]},
            {**recoding, "columns": ["education"], "categories": {"college": COLLEGE}, "others": "no college"},
            {**recoding, "columns": ["marital_status"], "categories": {"married": MARRIED}, "others": "not"},
            {**recoding, "columns": ["workclass"], "categories": {"private": ["Private"]}, "others": "not"},
        ]

    def publish(self, month: int) -> str:
        """The release; nothing where it was stopped."""
        self.data = self.series.edition(month).rename_axis("person").reset_index().assign(month=str(month))
        self.write()
        if self.release().code != WAITING:
            return ""
        self.approve_as_both()
        return self.id

    def failing(self) -> set[str]:
        """The rules by which the last release was stopped."""
        findings = json.loads(self.sluice("review", self.id, "--json").out)["findings"]
        return {each["rule"] for each in findings if each["verdict"] == Verdict.FAIL and each["stage"] == "masked"}

    def released(self, release: str) -> pd.DataFrame:
        """The records of a published file by person, as whoever knows who has a record in it would have them."""
        vault, history = self.workspace().vault, self.workspace().ledger.entries(release)
        bodies = {entry.event: entry.body for entry in history}
        mine = pd.read_parquet(vault.verify(bodies[State.RECEIVED]["original"]["sha256"], ".parquet"))
        if sample := bodies[State.MASKED]["sample"]:
            mine = mine.iloc[np.frombuffer(vault.verify(sample, ".rows").read_bytes(), dtype="<i8")]
        mine = mine.set_index("person").drop(columns="month")
        mine = mine.assign(
            age=in_groups(mine["age"], 35, 50),
            education=mine["education"].isin(COLLEGE),
            marital_status=mine["marital_status"].isin(MARRIED),
            workclass=mine["workclass"] == "Private",
        )
        public = pd.read_parquet(self.target / release / f"{self.definition['name']}.parquet").drop(columns="month")
        counts = [each.astype(str).value_counts().sort_values().tolist() for each in (mine, public)]
        assert counts[0] == counts[1]
        return mine


@pytest.mark.exhaustive
@pytest.mark.parametrize("months", [4, pytest.param(MONTHS, marks=pytest.mark.longest)])
def test_each_month_is_published_for_everybody_and_names_nobody(tmp_path: Path, months: int) -> None:
    of = workers()
    office, files = Office(tmp_path / "office", of), []
    office.definition["move_together"] = {"k": 5, "newcomers": 50}
    for month in range(months):
        release = office.publish(month)
        assert release, (month, office.failing())
        files.append(office.released(release))
    assert named(files, of.keys, of.values) == set()
    assert len(files[-1]) > 0.55 * len(of.months[months - 1])


@pytest.mark.exhaustive
def test_the_second_month_is_stopped_where_people_come_and_leave_as_they_are(tmp_path: Path) -> None:
    office = Office(tmp_path / "office", workers())
    assert office.publish(0)
    assert not office.publish(1)
    assert "differencing" in office.failing()
