"""Original and masked files of frames, and what is found of their utility."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding
from sluice.masking.masking_step import MaskingStep
from sluice.utility.comparison import Comparison
from tests.typed_frame import typed_frame


def data(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    town = rng.choice(list("abcd"), n)
    frame = {"town": town, "sex": rng.choice(["m", "f"], n), "x": rng.normal(size=n) + (town == "a")}
    return pd.DataFrame(frame)


def files(
    original: pd.DataFrame,
    masked: pd.DataFrame,
    recoded: pd.DataFrame | None = None,
    steps: Sequence[MaskingStep] | None = None,
    **roles: Role,
) -> Comparison:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    between = before[list(masked)] if recoded is None else typed_frame(recoded)[0]
    variables, released = (
        {name: each.model_copy(update={"role": roles.get(name, each.role)}) for name, each in of.items()}
        for of in (variables, released)
    )
    rng = np.random.default_rng(0)
    return Comparison(before, between, after, None, variables, released, rng, carried_out=steps)


def declared(original: pd.DataFrame, masked: pd.DataFrame, **roles: Role) -> Comparison:
    """With the towns as categories that the contract declares, of which subgroups are formed."""
    of = files(original, masked, **roles)
    of_town = {"town": ("a", "b", "c", "d")}
    variables = {name: each.model_copy(update={"categories": of_town.get(name)}) for name, each in of.variables.items()}
    return replace(of, variables=variables)


def judge(of: Comparison, **limits: Any) -> tuple[Utility, dict[str, Finding]]:
    found = UtilityLimits.model_validate(limits).find(of)
    return found, {finding.rule: finding for finding in found.findings}
