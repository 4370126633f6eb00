"""People in two files, masked by a plan, for the measures of several publications."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, TypeAdapter

from sluice.masking import Step
from sluice.masking.plan import apply_plan, released_variables
from sluice.risk.publications.publication import Publication
from tests.flows.house import survey
from tests.typed_frame import typed_frame

_STEP: TypeAdapter[Any] = TypeAdapter(Annotated[Step, Field(discriminator="method")])

KEYS, VALUES = ["age", "sex", "region"], ["income", "town"]


def people(count: int = 1500, seed: int = 1) -> pd.DataFrame:
    return survey(count, seed)[[*KEYS, *VALUES]]


def published(records: pd.DataFrame, plan: Sequence[dict[str, Any]] = (), seed: int = 1) -> Publication:
    """The records masked by a plan, in an order that the seed tells."""
    frame, variables = typed_frame(records.astype(str))
    steps = [_STEP.validate_python(step) for step in plan]
    masked, _ = apply_plan(steps, frame, variables, np.random.SeedSequence(seed))
    order = np.random.default_rng(seed).permutation(len(masked))
    return Publication(
        original=frame,
        masked=masked.iloc[order].reset_index(drop=True),
        people=masked.index.to_numpy()[order],
        variables=variables,
        released=released_variables(steps, variables),
    )


def recoded(*bins: int) -> dict[str, Any]:
    return {"method": "global_recoding", "columns": ["age"], "bins": list(bins)}
