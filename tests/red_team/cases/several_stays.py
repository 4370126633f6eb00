"""Groups of records that are one person's: a hospital's stays, several of one patient."""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import diabetes, files_of

KEYS = ["race", "gender", "age"]


def stays(suppressed: bool) -> Comparison:
    """Stays of people who came often; groups of five and more records, in some of which all are one patient's."""
    raw, variables = diabetes(40_000)
    raw = raw[raw.groupby("patient_nbr")["patient_nbr"].transform("size") >= 6]
    frame = raw[[*KEYS, "diag_1"]].assign(patient=raw["patient_nbr"].astype("str"))
    size = frame.groupby(KEYS, observed=True, dropna=False)["patient"].transform("size")
    kept = frame[size >= 5].reset_index(drop=True)
    roles = dict.fromkeys(KEYS, Role.QUASI_IDENTIFIER)
    known = {n: variables[n].model_copy(update={"role": roles.get(n, Role.OTHER)}) for n in [*KEYS, "diag_1"]}
    person = {"patient": Variable(name="patient", kind=Kind.TEXT, role=Role.PERSON)}
    masked = kept.drop(columns="patient")
    if suppressed:  # what only few patients share is suppressed for some of their stays
        rare = kept.groupby(KEYS, observed=True, dropna=False)["patient"].transform("nunique") < 3
        column = masked["gender"].copy()
        column[rare & (np.arange(len(kept)) % 2 == 0)] = None
        masked["gender"] = column
    return files_of(kept, masked, known | person, known, recoded=kept.drop(columns="patient"), unit="stays")


def one_patient(files: Comparison) -> float:
    """The share of groups of released records that are one patient's."""
    by = [files.masked[name] for name in KEYS]
    patients: pd.Series = files.original["patient"].groupby(by, observed=True, dropna=False).nunique()
    return float((patients[patients > 0] == 1).mean())


CASES = tuple(
    Case(name, partial(stays, suppressed), one_patient, 0.1, 0.0, ("k_anonymity",), policy)
    for name, suppressed, policy in (
        ("groups of five stays of one patient", False, "public-use-file"),
        ("such groups with a key suppressed for every other stay", True, "scientific-use-file"),
    )
)
