"""A minority that is hardly masked, in a file that is safe for everybody else: too few for a limit in shares of all.

In most cases everybody else's record is that of another person of the same survey, so that nobody of them can be found.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from schemas.contract import load_contract
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import coded, found
from tests.red_team.case import Case
from tests.red_team.files import Data, adult, files_of, masked_by, with_roles
from tests.reference_data import ROOT, reference_path
from tests.typed_frame import typed_frame

_KEPT = 0.9  # of the minority's categories
_WINDOW = 0.02  # of the ranks, within which its numbers stay

_OF_CENSUS_INCOME = (
    "age", "sex", "race", "education", "marital_stat", "country_of_birth_self", "citizenship", "class_of_worker",
    "weeks_worked_in_year", "wage_per_hour", "capital_gains", "dividends_from_stocks", "tax_filer_stat",
)  # fmt: skip
_OF_STAYS = (
    "race", "gender", "age", "time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications",
    "number_diagnoses", "admission_type_id", "medical_specialty", "insulin", "change", "readmitted",
)  # fmt: skip
_OF_NHANES = (
    "age", "gender", "ethnicity", "height", "weight", "albumin", "alp", "bun", "creat", "glucose", "sbp", "dbp",
    "pulse", "totchol", "hdl",
)  # fmt: skip

Members = Callable[[pd.DataFrame], NDArray[np.bool_]]


@cache
def census_income() -> Data:
    """30,000 people of Census-Income by thirteen variables."""
    contract = load_contract(ROOT / "schemas" / "census_income.yaml")
    raw = pd.read_csv(
        reference_path("kdd_census_income", "census_income_1994_1995_test.csv.gz"), names=list(contract.by_name),
        dtype=str, skipinitialspace=True, keep_default_na=False, nrows=30_000,
    )  # fmt: skip
    frame, variables = typed_frame(raw[list(_OF_CENSUS_INCOME)])
    return with_roles((frame, variables), dict.fromkeys(_OF_CENSUS_INCOME[:8], Role.QUASI_IDENTIFIER))


@cache
def first_stays() -> Data:
    """The first stay in hospital of each of some 14,000 people with diabetes."""
    raw = pd.read_csv(
        reference_path("diabetes130", "diabetic_data.csv.gz"), dtype=str, na_values="?", nrows=20_000,
        usecols=["patient_nbr", *_OF_STAYS],
    ).drop_duplicates("patient_nbr")  # fmt: skip
    data = typed_frame(raw[list(_OF_STAYS)].reset_index(drop=True))
    return with_roles(data, dict.fromkeys(_OF_STAYS[:3], Role.QUASI_IDENTIFIER))


@cache
def stays() -> Data:
    """30,000 stays in hospital; the number of the patient is not released."""
    path = reference_path("diabetes130", "diabetic_data.csv.gz")
    raw = pd.read_csv(path, dtype=str, na_values="?", nrows=30_000, usecols=["patient_nbr", *_OF_STAYS])
    return with_roles(
        typed_frame(raw), dict.fromkeys(_OF_STAYS[:3], Role.QUASI_IDENTIFIER) | {"patient_nbr": Role.PERSON}
    )


@cache
def examined() -> Data:
    """Adults of NHANES III by fourteen measurements."""
    raw = pd.read_csv(reference_path("nhanes_bioage", "NHANES3.csv.gz"), dtype=str, usecols=list(_OF_NHANES)).dropna()
    data = typed_frame(raw[list(_OF_NHANES)].reset_index(drop=True))
    return with_roles(data, dict.fromkeys(_OF_NHANES[:3], Role.QUASI_IDENTIFIER))


def exposed(data: Data, members: Members, share: float = 1.0, seed: int = 1) -> Comparison:
    """A share of the minority hardly masked; the second half of the data are everybody else's records."""
    frame, variables = data
    n = len(frame) // 2
    order = np.random.default_rng(seed).permutation(len(frame))
    people, others = (frame.iloc[rows].reset_index(drop=True) for rows in (order[:n], order[n : 2 * n]))
    rng = np.random.default_rng(seed + 1)
    hardly = members(people) & (rng.random(n) < share)
    masked, released = {}, {name: variable for name, variable in variables.items() if variable.role is not Role.PERSON}
    for name, variable in released.items():
        own = people[name]
        if variable.kind.is_numeric:
            ordered = np.argsort(own.to_numpy(float, na_value=np.nan), kind="stable")
            place = np.argsort(ordered) + rng.integers(-int(_WINDOW * n), int(_WINDOW * n) + 1, n)
            near = own.iloc[ordered[np.clip(place, 0, n - 1)]].set_axis(own.index)
        else:
            near = own.where(pd.Series(rng.random(n) < _KEPT), own.iloc[rng.permutation(n)].set_axis(own.index))
        masked[name] = others[name].where(~hardly, near)
    return files_of(people, pd.DataFrame(masked), variables, released, recoded=people[[*released]])


def repeated(data: Data, members: Members, share: float = 1.0, seed: int = 1) -> Comparison:
    """The same as a synthetic file, in another order; a sixth of all people was set aside."""
    frame, variables = data
    aside = len(frame) // 6
    files = exposed((frame.iloc[aside:], variables), members, share, seed)
    masked = files.masked.sample(frac=1.0, random_state=seed).reset_index(drop=True)
    holdout = frame.iloc[:aside].reset_index(drop=True)
    return replace(files, masked=masked, paired=False, holdout=holdout, recoded_holdout=holdout)


def found_of(members: Members, files: Comparison) -> float:
    """Of the minority, whose own record has most values in common with them: the same, or of nearly the same rank."""
    people = np.flatnonzero(members(files.original))
    return found(_alike(files, people), people)


def met_of(members: Members, files: Comparison) -> float:
    """Of the minority, for how many more some record has all values but two in common with them than of those of it
    who were set aside."""
    others = files.recoded_holdout
    assert others is not None
    met = []
    for known in (files.recoded, others):
        people = np.flatnonzero(members(known))
        met.append(float((_alike(replace(files, recoded=known), people).max(axis=1) >= len(files.released) - 2).mean()))
    return met[0] - met[1]


def _alike(files: Comparison, people: NDArray[np.int64]) -> NDArray[np.float64]:
    """In how many values each record is like these people, shape (people, records)."""
    before, after = coded(files)
    alike = np.zeros((len(people), len(after)))
    for column, name in enumerate(name for name in files.recoded if name in files.released):
        mine, theirs = before[people, column], after[:, column]
        if files.released[name].kind.is_numeric:
            among = np.sort(before[:, column])
            mine, theirs = (np.searchsorted(among, each) / len(among) for each in (mine, theirs))
            alike += np.abs(mine[:, None] - theirs[None, :]) <= 2 * _WINDOW
        else:
            alike += mine[:, None] == theirs[None, :]
    return alike


_SWAPPED = 0.1  # of the ranks
_KEYS = ("age", "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex")
_IN_GROUPS_OF_FIVE = [
    {"method": "removal", "columns": ["fnlwgt", "education_num", "native_country", "capital_gain", "capital_loss"]},
    {
        "method": "generalization", "columns": _KEYS, "suppression_limit": 0.1,
        "models": [{"model": "k_anonymity", "k": 5}, {"model": "distinct_l_diversity", "sensitive": "income", "l": 2}],
    },
    {"method": "top_bottom_coding", "columns": ["hours_per_week"], "bottom": {"value": 10}, "top": {"value": 60}},
    {"method": "rank_swapping", "columns": ["hours_per_week"], "window": _SWAPPED},
]  # fmt: skip
"""Every group of look-alikes has both incomes, so that somebody who earns much may be the only one in it."""


def alone_of(members: Members, files: Comparison) -> float:
    """Of the minority, of whom only one record can be theirs: that has their keys and income, and hours that may have
    been swapped for theirs."""
    both = pd.concat([each[[*_KEYS, "income"]].astype(str) for each in (files.recoded, files.masked)])
    known, released = np.split(both.groupby([*both], sort=False, dropna=False).ngroup().to_numpy(), 2)
    hours, swapped = (each["hours_per_week"].to_numpy(float) for each in (files.recoded, files.masked))
    ordered = np.sort(hours)
    below, at_most = (np.searchsorted(ordered, swapped, side) / len(ordered) for side in ("left", "right"))
    alone = []
    for row in np.flatnonzero(members(files.original)):
        lowest, highest = (np.searchsorted(ordered, hours[row], side) / len(ordered) for side in ("left", "right"))
        near = (below <= highest + _SWAPPED) & (at_most >= lowest - _SWAPPED)
        alone.append(np.flatnonzero(near & (released == known[row])).tolist() == [row])
    return float(np.mean(alone))


def holding(**values: str) -> Members:
    """Those who have all these values."""

    def members(frame: pd.DataFrame) -> NDArray[np.bool_]:
        return np.all([(frame[name].astype(str) == value).to_numpy() for name, value in values.items()], axis=0)

    return members


def aged(years: int) -> Members:
    return lambda frame: np.asarray((frame["age"] >= years).to_numpy(bool))


def between(name: str, low: float, people: int) -> Members:
    """So many people, those next above a quantile of a number."""

    def members(frame: pd.DataFrame) -> NDArray[np.bool_]:
        place = frame[name].astype(float).rank(pct=True).to_numpy()
        return np.asarray((place > low) & (place <= low + people / len(frame)))

    return members


def farthest(people: int) -> Members:
    """So many people who are farthest from the middle of the ranks of all numbers."""

    def members(frame: pd.DataFrame) -> NDArray[np.bool_]:
        places = frame.select_dtypes("number").astype(float).rank(pct=True).to_numpy() - 0.5
        return np.asarray((places**2).sum(axis=1) >= np.sort((places**2).sum(axis=1))[-people])

    return members


def of_so_many_stays(stays: int) -> Members:
    return lambda frame: np.asarray(frame.groupby("patient_nbr")["patient_nbr"].transform("size") >= stays)


_MEXICO = holding(native_country="Mexico")
_INDIANS = holding(race="Amer Indian Aleut or Eskimo")
_HISPANIC_WOMEN = holding(race="Hispanic", gender="Female")
_UNMARRIED_RICH = holding(relationship="Unmarried", income=">50K")

_RARELY = {  # larger files than those that show the same
    "those born in Mexico, of Adult, hardly masked", "American Indians of Census-Income",
    "patients with many stays, who are no category",
}  # fmt: skip

CASES = tuple(
    Case(
        name, make, partial(met_of if policy == "synthetic-file" else found_of, members), reaches, 0.05,
        ("small_groups",), policy, more, rarely=name in _RARELY,
    )
    for name, make, members, reaches, policy, more in (
        (
            "those born in Mexico, of Adult, hardly masked",
            lambda: exposed(adult(20_000), _MEXICO), _MEXICO, 0.6, "perturbed-file", True,
        ),
        (
            "every third of those born in Mexico",
            lambda: exposed(adult(20_000), _MEXICO, 0.33), _MEXICO, 0.2, "perturbed-file", True,
        ),
        (
            "those born in Mexico copied into a synthetic file",
            lambda: repeated(adult(20_000), _MEXICO), _MEXICO, 0.4, "synthetic-file", True,
        ),
        (
            "American Indians of Census-Income",
            lambda: exposed(census_income(), _INDIANS), _INDIANS, 0.4, "perturbed-file", True,
        ),
        (
            "those of two keys, Hispanic women with diabetes",
            lambda: exposed(first_stays(), _HISPANIC_WOMEN), _HISPANIC_WOMEN, 0.4, "perturbed-file", True,
        ),
        (
            "those aged 85 and over, of NHANES III",
            lambda: exposed(examined(), aged(85)), aged(85), 0.6, "perturbed-file", True,
        ),
        (
            "those of middling height, of NHANES III",
            lambda: exposed(examined(), between("height", 0.4, 150)), between("height", 0.4, 150), 0.5,
            "public-use-file", True,
        ),
        (
            "those farthest from the middle, of NHANES III",
            lambda: exposed(examined(), farthest(150)), farthest(150), 0.5, "public-use-file", True,
        ),
        (
            "patients with many stays, who are no category",
            lambda: exposed(stays(), of_so_many_stays(5)), of_so_many_stays(5), 0.4, "public-use-file", True,
        ),
    )
) + tuple(
    Case(
        f"unmarried people who earn much, alone in their groups of five, draw {draw}",
        partial(lambda draw: masked_by(adult(16_000 if draw == 1 else 32_561), _IN_GROUPS_OF_FIVE, draw), draw),
        partial(alone_of, _UNMARRIED_RICH), 0.1, 0.04, ("small_groups",), more=True,
        rarely=draw > 1,
    )
    for draw in (1, 2, 3)
)  # fmt: skip
