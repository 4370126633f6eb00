"""Data that a stranger has, too: the survey that statsmodels carries, and the testdata of sdcMicro."""

from pathlib import Path

import pandas as pd
import pytest

KEYS = ["age", "yrs_married", "children", "religious", "educ", "occupation", "occupation_husb"]
HOUSEHOLD_KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.fixture(scope="session")
def fair() -> pd.DataFrame:
    """6,366 women asked by Redbook magazine in 1974."""
    from statsmodels.datasets import fair as survey

    frame: pd.DataFrame = survey.load_pandas().data
    return frame


@pytest.fixture(scope="session")
def households(reference_data: Path) -> pd.DataFrame:
    return pd.read_csv(reference_data / "sdcmicro_testdata" / "testdata.csv.gz")
