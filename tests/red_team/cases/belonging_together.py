"""Records of one household, firm or patient that find each other by what they share, and are known by what they are.

The name of the unit was removed. Nobody is alone by their own keys, but the keys of all members of one unit together
are few units'. The intruder puts together the records with one value, or with one ratio of two, and looks for the set
of keys that they know. Or a released value follows from what is known of all members, such as their total, or from the
order of the units' names.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.case import Attack, Case
from tests.red_team.files import Data, adult, diabetes, masked_by, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

RULES = ("reconstructed_units", "reconstructed_claims")
BANDS = {"method": "global_recoding", "columns": ["age"], "bins": [10, 20, 30, 45, 60]}
KEYS, QUASI = ("age", "sex", "urbrur"), Role.QUASI_IDENTIFIER


def survey(households: int = 700) -> Data:
    """People of so many households with their rent, which is the household's."""
    raw = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz"), dtype=str)
    raw = raw[raw["ori_hid"].astype(int) <= households].reset_index(drop=True)
    raw["rent"] = raw.groupby("ori_hid")["expend"].transform("first")
    # Letters, because codes would be read as numbers.
    codes = {name: "c" + raw[name] for name in ("sex", "urbrur", "relat")}
    frame = raw[["age", "rent"]].assign(**codes, household=raw["ori_hid"])
    roles = {"household": Role.HOUSEHOLD, "relat": Role.SENSITIVE} | dict.fromkeys(KEYS, QUASI)
    return with_roles(typed_frame(frame), roles)


def households(*steps: dict[str, object]) -> Comparison:
    """The survey by age in bands, after these steps, without the household."""
    return masked_by(survey(), [BANDS, *steps, {"method": "removal", "columns": ["household"]}])


SWAPPED: dict[str, object] = {"method": "rank_swapping", "columns": ["rent"], "window": 0.15, "unit": "household"}


def facilities() -> Comparison:
    """Plants by state and branch, with the postal code of the firm that they belong to."""
    path = reference_path("ghgrp_2019", "2019_parent_company.csv.gz")
    raw = pd.read_csv(path, dtype=str, encoding="utf-8-sig").drop_duplicates("GHGRP FACILITY ID").reset_index(drop=True)
    firms = sorted({*raw["PARENT COMPANY NAME"].dropna()})
    raw = raw[raw["PARENT COMPANY NAME"].isin(firms[::3])].reset_index(drop=True)
    states = raw["FACILITY STATE"].map(
        {state: f"r{at % 12}" for at, state in enumerate(sorted({*raw["FACILITY STATE"]}))}
    )
    branch = "n" + raw["FACILITY NAICS CODE"].str[:2]
    branch = branch.where(branch.map(branch.value_counts()) >= 100, "others")
    frame = pd.DataFrame({"firm": raw["PARENT COMPANY NAME"], "region": states, "branch": branch})
    frame["head_office"] = "z" + raw["PARENT CO. ZIP"]
    data = with_roles(typed_frame(frame), {"firm": Role.CONTRIBUTOR, "region": QUASI, "branch": QUASI})
    return masked_by(data, [{"method": "removal", "columns": ["firm"]}])


def workplaces() -> Comparison:
    """People of Adult at workplaces of two to nine; their pay and bonus are their own, the rate is the workplace's."""
    frame, variables = adult(3_000)
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 10, len(frame))
    place = np.repeat(np.arange(len(frame)), sizes)[: len(frame)]
    pay = np.round(frame["hours_per_week"].to_numpy(float) * rng.lognormal(3, 0.5, len(frame)), 2)
    bonus = np.round(pay * rng.uniform(0.01, 0.2, len(frame))[place], 2)
    kept = frame[["age", "sex", "education"]].assign(workplace=place.astype(float), pay=pay, bonus=bonus)
    numbers = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("pay", "bonus")}
    of_place = Variable(name="workplace", kind=Kind.CONTINUOUS, role=Role.HOLDING)
    known = {name: variables[name].model_copy(update={"role": QUASI}) for name in ("age", "sex")}
    other = {"education": variables["education"].model_copy(update={"role": Role.SENSITIVE})}
    bands = {"method": "global_recoding", "columns": ["age"], "bins": [25, 35, 45, 55]}
    data = kept, known | other | {"workplace": of_place} | numbers
    return masked_by(data, [bands, {"method": "removal", "columns": ["workplace"]}])


def patients() -> Comparison:
    """Stays of people who came at least thrice; district, insurer, practice and cohort tell them apart together."""
    raw, variables = diabetes(40_000)
    raw = raw[raw.groupby("patient_nbr")["patient_nbr"].transform("size") >= 3].reset_index(drop=True)
    keys = ["admission_type_id", "discharge_disposition_id", "time_in_hospital"]
    person = pd.factorize(raw["patient_nbr"])[0]
    rng = np.random.default_rng(6)
    shared = {
        name: [f"{name[0]}{at}" for at in rng.integers(0, count, len(raw))[person]] for name, count in _SHARED.items()
    }
    frame = raw[[*keys, "diag_1"]].assign(patient=person.astype(float), **shared)
    frame = frame.astype(dict.fromkeys(shared, "category"))
    described = {name: variables[name].model_copy(update={"role": QUASI}) for name in keys}
    described["diag_1"] = variables["diag_1"].model_copy(update={"role": Role.SENSITIVE})
    described["patient"] = Variable(name="patient", kind=Kind.CONTINUOUS, role=Role.PERSON)
    described |= {name: Variable(name=name, kind=Kind.NOMINAL) for name in shared}
    return masked_by((frame, described), [{"method": "removal", "columns": ["patient"]}])


_SHARED = {"district": 9, "insurer": 8, "practice": 12, "cohort": 6}


def equal_values(columns: Sequence[str]) -> Callable[[pd.DataFrame], "pd.Series[int]"]:
    """A number for each record, the same for those that are equal in these columns."""
    return lambda masked: masked.groupby(list(columns), observed=True, dropna=False).ngroup()


def one_ratio(masked: pd.DataFrame) -> "pd.Series[int]":
    """The same number for records between whose ratios, in their order, there is no gap of more than rounding."""
    ratio = (masked["bonus"] / masked["pay"]).sort_values()
    apart = ratio.diff().fillna(0) > 2e-5
    return apart.cumsum().reindex(masked.index)


def composed(keys: Sequence[str], unit: str, together: Callable[[pd.DataFrame], "pd.Series[int]"]) -> Attack:
    """The share of people who have keys of their own in their unit, whose unit alone has its keys, in the only group
    of released records with these, and of whom the one record there with their keys is the own one."""

    def attack(files: Comparison) -> float:
        known = [tuple(row) for row in files.recoded[list(keys)].astype(str).to_numpy()]
        released = [tuple(row) for row in files.masked[list(keys)].astype(str).to_numpy()]
        units = pd.Series(range(len(known))).groupby(files.original[unit].to_numpy()).indices
        groups = pd.Series(range(len(known))).groupby(together(files.masked).to_numpy()).indices
        by_keys: dict[tuple[object, ...], list[np.ndarray]] = {}
        for rows in groups.values():
            by_keys.setdefault(tuple(sorted(released[row] for row in rows)), []).append(rows)
        found = 0
        for rows in units.values():
            fitting = by_keys.get(tuple(sorted(known[row] for row in rows)), [])
            if len(fitting) == 1 and len(rows) > 1:
                alone = Counter(known[row] for row in rows)
                here = {released[row]: row for row in fitting[0]}
                found += sum(alone[known[row]] == 1 and here[known[row]] == row for row in rows)
        return found / len(known)

    return attack


Told = Callable[[pd.DataFrame], "pd.Series[float]"]
"""What is released of each record, from the original ones."""


def of_all_members(data: Data, told: Told, column: str, unit: str) -> Comparison:
    """Each variable permuted by itself, but for one whose released value follows from all records of the unit."""
    names = [name for name in data[0] if name != unit]
    files = masked_by(data, [{"method": "permutation", "columns": names}, {"method": "removal", "columns": [unit]}])
    masked = files.masked.assign(**{column: told(files.original).to_numpy(float)})
    number = Variable(name=column, kind=Kind.CONTINUOUS)
    return replace(files, masked=masked, released={**files.released, column: number}, carried_out=None, blocks=())


def working_out(told: Told, column: str) -> Attack:
    """The share of people whose record is found by what the intruder works out, shared by those that show the same."""

    def attack(files: Comparison) -> float:
        worked_out = told(files.original).to_numpy(float)
        return float((1 / files.masked[column].map(files.masked[column].value_counts()))
                     [files.masked[column].to_numpy() == worked_out].sum()) / len(worked_out)  # fmt: skip

    return attack


def with_income(households: int = 120) -> Data:
    """People of so many households, with an income of their own."""
    raw = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz"), dtype=str)
    raw = raw[raw["ori_hid"].astype(int) <= households].reset_index(drop=True)
    frame = raw[["age", "income", "savings"]].assign(sex="c" + raw["sex"], household=raw["ori_hid"])
    return with_roles(typed_frame(frame), {"household": Role.HOUSEHOLD, "age": QUASI, "sex": QUASI})


def stays() -> Data:
    """Stays of people who came at least thrice."""
    raw, _ = diabetes(10_000)
    raw = raw[raw.groupby("patient_nbr")["patient_nbr"].transform("size") >= 3].reset_index(drop=True)
    names = ["time_in_hospital", "num_lab_procedures", "num_medications"]
    frame = raw[names].astype(float).assign(patient=raw["patient_nbr"].astype(float))
    described = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=QUASI) for name in names}
    return frame, described | {"patient": Variable(name="patient", kind=Kind.CONTINUOUS, role=Role.PERSON)}


def total_income(people: pd.DataFrame) -> "pd.Series[float]":
    return people["income"].astype(float).groupby(people["household"]).transform("sum")


def place_in_register(records: pd.DataFrame) -> "pd.Series[float]":
    return records["patient"].rank(method="dense")


CASES = (
    Case(
        "one rent for each household, swapped among households",
        partial(households, SWAPPED), composed(KEYS, "household", equal_values(["rent"])), 0.2, 0.01, RULES,
    ),
    Case(
        "a firm's plants, with the postal code of its head office", facilities,
        composed(["region", "branch"], "firm", equal_values(["head_office"])), 0.02, 0.01, RULES, "public-use-business",
    ),
    Case(
        "one rate of bonus for each workplace", workplaces,
        composed(["age", "sex"], "workplace", one_ratio), 0.1, 0.01, RULES,
    ),
    Case(
        "four traits of a patient that each many have", patients,
        composed(["admission_type_id", "discharge_disposition_id", "time_in_hospital"], "patient",
                 equal_values([*_SHARED])), 0.2, 0.02, RULES, more=True,
    ),
    Case(
        "the total of all members in place of a person's income",
        lambda: of_all_members(with_income(), total_income, "income", "household"),
        working_out(total_income, "income"), 0.15, 0.01, ("learned_linkage",), maps=True,
    ),
    Case(
        "the place of a patient in the register in place of the days of a stay",
        lambda: of_all_members(stays(), place_in_register, "time_in_hospital", "patient"),
        working_out(place_in_register, "time_in_hospital"), 0.15, 0.01, ("learned_linkage",), maps=True,
    ),
)  # fmt: skip
