"""Invented records for a project that has none of its own yet."""

from io import StringIO

import numpy as np
import pandas as pd

RECORDS = 3000
_SEED = 20260101  # the same file for everybody: what the README says of it holds
_REGIONS = ("North", "East", "South", "West")


def example_csv() -> str:
    """Invented people with age, sex, region, education and income, as CSV. Nobody's; the same at each call."""
    rng = np.random.default_rng(_SEED)
    age = np.clip(rng.normal(47, 17, RECORDS).round(), 18, 89).astype(int)
    education = rng.choice(["school", "training", "degree"], RECORDS, p=[0.25, 0.45, 0.3])
    schooling = pd.Series(education).map({"school": -0.2, "training": 0.0, "degree": 0.3}).to_numpy()
    income = rng.lognormal(10.2 + schooling + 0.003 * (age - 47), 0.45)
    people = pd.DataFrame(
        {
            "person": np.arange(1, RECORDS + 1),
            "age": age,
            "sex": rng.choice(["f", "m"], RECORDS),
            "region": rng.choice(_REGIONS, RECORDS, p=[0.2, 0.25, 0.25, 0.3]),
            "education": education,
            "income": (income / 1000).round().astype(int) * 1000,
        }
    )
    text = StringIO()
    people.to_csv(text, index=False, lineterminator="\n")
    return text.getvalue()
