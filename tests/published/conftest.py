"""The data that several published figures come from."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.masking.column_numbers import dummy_code

CONTINUOUS = ["age", "bmi", "height", "weight", "fev", "albumin", "alp", "bun", "creat", "glucose", "uap", "lymph"]
CONTINUOUS += ["mcv", "rbc", "wbc", "sbp", "dbp"]
BINARY = ["gender", "status", "crp_cat"]
NOMINAL = ["ethnicity", "edu"]  # four categories each, coded 1 to 4


@pytest.fixture(scope="session")
def nhanes(reference_data: Path) -> np.ndarray:
    """All complete records of NHANES III, coded as in Lasko and Vinterbo (2010), section IV-A; shape (13,830, 28)."""
    columns = CONTINUOUS + BINARY + NOMINAL
    frame = pd.read_csv(reference_data / "nhanes_bioage" / "NHANES3.csv.gz", usecols=columns).dropna()
    logged = np.log(frame[CONTINUOUS].to_numpy())
    binary = np.where(frame[BINARY].to_numpy() == frame[BINARY].max().to_numpy(), 1.0, -1.0)
    dummies = [dummy_code(frame[name].to_numpy().astype(np.int64) - 1, 4) for name in NOMINAL]
    return np.hstack([(logged - logged.mean(axis=0)) / logged.std(axis=0, ddof=1), binary, *dummies])
