"""Whoever is ill loses another answer, 'to protect them', and the illness itself is removed: who lacks the one has the
other.

Nothing is perturbed, and groups of look-alikes are as large as before. Nobody needs to know a single person for it: the
method's description is enough, or one acquaintance whose school is blank.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, files_of, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_KEYS = ("sex", "age", "school")
_PEOPLE = 1_500


def examined() -> Data:
    """Of a health survey, by sex, age and school in two groups each; one in eight has diabetes."""
    names = ["gender", "age", "education", "totchol", "diabetes"]
    raw = pd.read_csv(reference_path("nhanes_bioage", "NHANES3.csv.gz"), usecols=names).dropna()
    raw = raw[raw["age"] >= 20].sample(_PEOPLE, random_state=2).reset_index(drop=True)
    frame = pd.DataFrame({
        "sex": raw["gender"].map({1: "man", 2: "woman"}),
        "age": np.where(raw["age"] < 45, "below 45", "45 and over"),
        "school": np.where(raw["education"] <= 2, "lower", "higher"),
        "cholesterol": pd.cut(raw["totchol"], [0, 200, 240, 999], labels=["normal", "raised", "high"]).astype(str),
        "diabetes": raw["diabetes"].map({0: "no", 1: "yes"}),
    })  # fmt: skip
    keys = dict.fromkeys(_KEYS, Role.QUASI_IDENTIFIER)
    return with_roles(typed_frame(frame), keys | {"diabetes": Role.SENSITIVE, "cholesterol": Role.SENSITIVE})


def blank_for_the_ill(answer: str, others: float = 0.0) -> Comparison:
    """Their answer is blank, and that of some others at random; diabetes is removed."""
    frame, variables = examined()
    blank = (frame["diabetes"] == "yes") | (np.random.default_rng(1).random(len(frame)) < others)
    masked = frame.drop(columns="diabetes")
    masked[answer] = masked[answer].where(~blank)
    return files_of(frame, masked, variables, {name: variables[name] for name in masked})


def recoded_for_the_ill() -> Comparison:
    """Their school is released as one of either kind; diabetes is removed."""
    files = blank_for_the_ill("school")
    any_of = files.masked["school"].cat.add_categories("either").fillna("either")
    school = files.released["school"].model_copy(update={"categories": tuple(any_of.cat.categories)})
    return files_of(
        files.original, files.masked.assign(school=any_of), files.variables, {**files.released, "school": school}
    )


def blank_for_a_region() -> Comparison:
    """One in a hundred lives in the last of four regions. The region is removed, the other keys are released, and an
    answer that is no key is blank for the last."""
    frame, variables = examined()
    labels = ["north", "south", "west", "remote"]
    region = pd.Series(np.random.default_rng(4).choice(labels, len(frame), p=[0.4, 0.3, 0.29, 0.01]))
    remote = (region == "remote").to_numpy()
    described = variables["sex"].model_copy(update={"name": "region", "categories": tuple(labels)})
    masked = frame.assign(cholesterol=frame["cholesterol"].where(~remote))
    return files_of(
        frame.assign(region=region.astype(pd.CategoricalDtype(labels))),
        masked,
        {**variables, "region": described},
        variables,
    )


def in_small_crowds(files: Comparison, k: int = 5) -> float:
    """Of those in the remote region, the share who have fewer than k records among the blank ones with their keys."""
    blank, keys = files.masked["cholesterol"].isna(), list(_KEYS)
    crowd = files.masked[blank].groupby(keys, observed=True)["sex"].transform("size").reindex(files.masked.index)
    remote = files.original["region"] == "remote"
    return float((crowd < k)[remote].mean()) if remote[blank].mean() > 0.5 else 0.0


def told(answer: str, files: Comparison) -> float:
    """Of the ill, the share who are rightly called so by whoever calls everybody ill whose answer is blank, or given
    as either; nobody, where most of those are not."""
    called = files.masked[answer].isna() | (files.masked[answer] == "either")
    ill = files.original["diabetes"] == "yes"
    return float(called[ill].mean()) if ill[called].mean() > 0.5 else 0.0


_KEYS_TOLD = Case(
    "a removed key is told by blanks", blank_for_a_region, in_small_crowds, 0.5, 0.13, ("recovered_values",)
)

CASES = (
    *(
        Case(name, make, partial(told, answer), 0.99, 0.13, ("recovered_values",))
        for name, make, answer in (
            ("a key is blank for the ill", partial(blank_for_the_ill, "school"), "school"),
            ("a key is blank for the ill and for a few others", partial(blank_for_the_ill, "school", 0.03), "school"),
            ("an answer that is no key is blank for the ill", partial(blank_for_the_ill, "cholesterol"), "cholesterol"),
            ("a key is released more coarsely for the ill", recoded_for_the_ill, "school"),
        )
    ),
    _KEYS_TOLD,
)
