"""A key is removed, or suppressed where it is rare, and columns stay of which it is a function: a weight, a code, years
of school.

Whoever has some of these people's records (their own, their household's, those of a public register) learns the
function by them and reads the removed value of everybody else.

Source: Farkas and Jajodia (2002), inference channels of functional dependencies.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, adult, files_of, masked_by, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_KNOWN = 0.2  # of the people the intruder knows everything


def survey() -> Data:
    """4,580 people of 1,000 households: the size of each is a key, and each person's weight is 100 over it."""
    frame = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz"), dtype=str)
    frame["size"] = frame.groupby("ori_hid")["ori_hid"].transform("size").clip(upper=9).astype(str)
    frame["place"] = frame["urbrur"].map({"1": "town", "2": "country"})
    frame["sex"] = frame["sex"].map({"1": "man", "2": "woman"})
    frame["size"] = frame["size"] + " people"
    names = ["place", "sex", "size", "household_weights", "savings"]
    keys = dict.fromkeys(("place", "sex", "size"), Role.QUASI_IDENTIFIER)
    return with_roles(typed_frame(frame[names]), keys | {"savings": Role.SENSITIVE})


def firms() -> Data:
    """9,786 firms: the first two digits of an office's number are the region, the last one is as it comes."""
    frame = pd.read_csv(reference_path("business_indiv_dt", "indiv_dt.csv.gz"), dtype=str)
    office = pd.factorize(frame["NUTS2"], sort=True)[0] * 10 + np.random.default_rng(1).integers(0, 10, len(frame))
    frame["office"] = (office + 110).astype(str)
    names = ["A21", "SIZE", "NUTS2", "office", "TURNOVER"]
    keys = dict.fromkeys(("A21", "SIZE", "NUTS2"), Role.QUASI_IDENTIFIER)
    return with_roles(typed_frame(frame[names]), keys | {"TURNOVER": Role.SENSITIVE})


def schooling() -> Data:
    """6,000 people of Adult: years of school stand beside the last school left, and nobody thinks them a key."""
    frame, variables = adult()
    names = ["sex", "race", "education", "education_num", "hours_per_week"]
    roles = {"education_num": Role.OTHER, "education": Role.QUASI_IDENTIFIER, "hours_per_week": Role.SENSITIVE}
    return with_roles((frame[names], {name: variables[name] for name in names}), roles)


def two_weights() -> Comparison:
    """Each person's weight is the household's times its size; one draw a record hides both, and they are rounded."""
    rng = np.random.default_rng(1)
    frame, _ = survey()
    frame = frame.astype(str)[["place", "sex", "size", "savings"]]
    frame["weight"] = np.round(100 * rng.lognormal(0, 0.3, len(frame)), 1)
    frame["of_person"] = np.round(frame["weight"] * frame["size"].str[0].astype(int), 1)
    roles = dict.fromkeys(("place", "sex", "size"), Role.QUASI_IDENTIFIER)
    original, variables = with_roles(typed_frame(frame.astype(str)), roles | {"savings": Role.SENSITIVE})
    drawn = rng.lognormal(0, 0.4, len(frame))
    masked = original.assign(**{name: np.round(original[name] * drawn, 1) for name in ("weight", "of_person")})
    masked["savings"] = rng.permutation(masked["savings"])
    released = {name: each for name, each in variables.items() if name != "size"}
    return files_of(original, masked.drop(columns="size"), variables, released, original.drop(columns="size"))


def year_of_birth() -> Data:
    """6,000 people of Adult: a year of birth, and of some event in life the year and the age there."""
    frame, variables = adult()
    birth = (1994 - frame["age"].astype(int)).to_numpy()
    event = np.random.default_rng(1).integers(birth + 16, 1995)
    told = pd.DataFrame({"birth": [f"born {year}" for year in birth], "event": event, "age_there": event - birth})
    added, described = typed_frame(told.astype(str))
    names = ["sex", "race", "hours_per_week"]
    data = pd.concat([frame[names], added], axis=1), {name: variables[name] for name in names} | described
    return with_roles(data, {"birth": Role.QUASI_IDENTIFIER, "hours_per_week": Role.SENSITIVE})


def without(data: Data, removed: str) -> Comparison:
    """All that is measured goes to somebody else: a file that passes but for what comes back."""
    amounts = [name for name, variable in data[1].items() if variable.role is Role.SENSITIVE]
    moved = {"method": "permutation", "columns": amounts}
    return masked_by(data, [{"method": "removal", "columns": [removed]}, moved])


def suppressed(data: Data, name: str, k: int) -> Comparison:
    """By other programs' way: the key is blank where its group is small, and the other column says it all the same."""
    return masked_by(data, [{"method": "local_suppression", "columns": ["sex", "race", name], "k": k}])


def read(removed: str, by: str, digits: int | None, files: Comparison) -> float:
    """Of the people who are not known, and whose value is not the commonest, the share read rightly by what those who
    are known have with the same value of a column, or the same first digits."""
    truth = files.original[removed].astype(str)
    clue = files.masked[by].astype(str).str[:digits]
    blank = files.masked[removed].isna() if removed in files.masked else pd.Series(True, truth.index)
    known = pd.Series(np.random.default_rng(3).random(len(truth)) < _KNOWN)
    usual = truth[known].groupby(clue[known]).agg(lambda each: each.mode().iloc[0])
    others = ~known & blank & (truth != truth.mode().iloc[0])
    return float((clue.map(usual)[others] == truth[others]).mean())


def in_few_by_ratio(files: Comparison) -> float:
    """Of those who live with four others or more, the share whose household's size is one weight over the other."""
    size = files.original["size"].astype(str).str[0].astype(int)
    told = np.rint(files.masked["of_person"] / files.masked["weight"])
    return float((told == size)[size > 4].mean())


def born_then(files: Comparison) -> float:
    born = files.original["birth"].astype(str).str[-4:].astype(int)
    return float((files.masked["event"] - files.masked["age_there"] == born).mean())


_RULES = ("recovered_values",)

CASES = (
    Case(
        "the size of a household by the weight of its people", lambda: without(survey(), "size"),
        partial(read, "size", "household_weights", None), 0.95, rules=_RULES,
    ),
    Case(
        "the region of a firm by the first digits of its number", lambda: without(firms(), "NUTS2"),
        partial(read, "NUTS2", "office", 2), 0.95, rules=_RULES, policy="public-use-business",
    ),
    Case(
        "the last school by the years of school", lambda: without(schooling(), "education"),
        partial(read, "education", "education_num", None), 0.95, rules=_RULES,
    ),
    Case(
        "a suppressed school by the years of school", lambda: suppressed(schooling(), "education", 30),
        partial(read, "education", "education_num", None), 0.9, rules=_RULES, policy="scientific-use-file", more=True,
    ),
    Case("the size of a household by the ratio of two weights", two_weights, in_few_by_ratio, 0.95, rules=_RULES),
    Case(
        "the year of birth by another year and the age there", lambda: without(year_of_birth(), "birth"), born_then,
        0.95, rules=_RULES,
    ),
)  # fmt: skip
