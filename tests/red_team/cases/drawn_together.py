"""Weights that say who was drawn together: replicate weights, whose ratios are a cluster's whatever masked them, and a
household's weight under other values, where the contract names no household.

Whoever took part, or knows one who did, finds the other records of the cluster or of the household, and in them people
whom everybody knows by age and sex.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, files_of, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_KEYS = ("age", "sex", "place")
_REPLICATES = 10


def survey(households: int) -> tuple[pd.DataFrame, "pd.Series[int]"]:
    """People by age, sex and place, and the household of each."""
    raw = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz"), dtype=str)
    raw = raw[raw["ori_hid"].astype(int) <= households].reset_index(drop=True)
    bands = pd.cut(raw["age"].astype(int), [-1, 15, 30, 45, 60, 200], labels=["0", "16", "31", "46", "61"])
    frame = pd.DataFrame({"age": "from " + bands.astype(str), "sex": "s" + raw["sex"], "place": "p" + raw["urbrur"]})
    return frame, pd.Series(pd.factorize(raw["ori_hid"])[0])


def with_weights(frame: pd.DataFrame, weights: dict[str, "np.ndarray"]) -> Data:
    data = typed_frame(frame.assign(**{name: np.round(each, 4).astype(str) for name, each in weights.items()}))
    return with_roles(data, dict.fromkeys(_KEYS, Role.QUASI_IDENTIFIER) | {"weight": Role.WEIGHT})


def replicate_weights(seed: int = 1) -> Comparison:
    """Balanced replicates of clusters of eight households; all weights of a record are multiplied by one draw."""
    rng = np.random.default_rng(seed)
    frame, household = survey(600)
    cluster = household.to_numpy() // 8
    weight = 100 * rng.lognormal(0, 0.4, len(frame))
    halves = np.where(rng.random((_REPLICATES, cluster.max() + 1)) < 0.5, 0.5, 1.5)
    weights = {"weight": weight} | {f"r{at}": weight * halves[at][cluster] for at in range(_REPLICATES)}
    original, variables = with_weights(frame, weights)
    factor = rng.lognormal(0, 0.5, len(frame))
    masked = original.assign(**{name: np.round(original[name].astype(float) * factor, 4) for name in weights})
    return files_of(original, masked, variables)


def weight_of_a_household(seed: int = 1) -> Comparison:
    """Each household's weight is some other one's."""
    rng = np.random.default_rng(seed)
    frame, household = survey(600)
    original, variables = with_weights(frame, {"weight": (100 * rng.lognormal(0, 0.4, household.max() + 1))[household]})
    values, at = np.unique(original["weight"], return_inverse=True)
    return files_of(original, original.assign(weight=rng.permutation(values)[at]), variables)


def few_in_a_cluster(files: Comparison) -> float:
    """People who share their keys with fewer than three of those whose ratios are theirs."""
    ratios = {f"r{at}": (files.masked[f"r{at}"] / files.masked["weight"]).round(2) for at in range(_REPLICATES)}
    by = pd.concat([files.masked[list(_KEYS)].astype(str), pd.DataFrame(ratios)], axis=1)
    return float((by.groupby(list(by))["sex"].transform("size") < 3).mean())


def alone_in_a_household(files: Comparison) -> float:
    """People who are alone with their keys in a household that is alone with those of its members."""
    keys = files.masked[list(_KEYS)].astype(str).agg(" ".join, axis=1)
    members = keys.groupby(files.masked["weight"]).agg(lambda each: ",".join(sorted(each)))
    lone = members.map(members.value_counts()) == 1
    return float((~keys.to_frame("k").assign(w=files.masked["weight"]).duplicated(keep=False)
                  & files.masked["weight"].map(lone)).mean())  # fmt: skip


CASES = (
    Case(
        "replicate weights show who was drawn together",
        replicate_weights,
        few_in_a_cluster,
        0.1,
        rules=("recovered_values",),
        policy="scientific-use-file",
        verdict=Verdict.REVIEW,
    ),
    *(
        Case(
            f"one weight for each household, which no contract names, {seed}",
            partial(weight_of_a_household, seed),
            alone_in_a_household,
            0.2,
            rules=("reconstructed_units", "reconstructed_claims"),
            more=seed > 1,
        )
        for seed in (1, 2)
    ),
)
