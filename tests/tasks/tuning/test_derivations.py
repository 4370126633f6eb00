"""A variable that repeats another one is computed from it, where it is a function that is known."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from tasks.tuning.derivations import derivations, with_derived
from tasks.tuning.draft_steps import Draft

RNG = np.random.default_rng(4)
WAGE = np.round(RNG.lognormal(7, 0.5, 300))
YEAR = RNG.integers(1950, 2000, 300).astype(float)


def found(source: np.ndarray, repeat: np.ndarray) -> dict[str, Any] | None:
    frame = pd.DataFrame({"x": source, "y": repeat, "z": np.arange(300.0)})
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
    steps = derivations(frame, variables, ["y"])
    return steps[0].model_dump(exclude_defaults=True, exclude={"columns"}) if steps else None


@pytest.mark.parametrize(
    ("source", "repeat", "expected"),
    [
        (WAGE, np.log(WAGE), {"of": "x", "by": "log"}),
        (WAGE, np.log(WAGE).astype(np.float32).astype(float), {"of": "x", "by": "log"}),
        (WAGE, np.log(WAGE).round(3), {"of": "x", "by": "log", "decimals": 3}),
        (np.log(WAGE), WAGE, {"of": "x", "by": "exp", "decimals": 0}),
        (YEAR, YEAR**2, {"of": "x", "by": "square", "decimals": 0}),
        (YEAR, 2015 - YEAR, {"of": "x", "by": "linear", "factor": -1.0, "constant": 2015.0, "decimals": 0}),
        (WAGE, (WAGE * 0.0283).round(4), {"of": "x", "by": "linear", "factor": 0.0283, "decimals": 4}),
        (WAGE, np.log(np.where(WAGE > 900, WAGE, np.nan)), None),  # not of everybody
        (WAGE, np.log(WAGE) + np.where(np.arange(300) == 7, 0.01, 0), None),
        (WAGE, WAGE**3, None),
        (np.full(300, 5.0), WAGE, None),
    ],
)
def test_functions_are_found_to_the_rounding_of_the_variable(
    source: np.ndarray, repeat: np.ndarray, expected: dict[str, Any] | None
) -> None:
    assert found(source, repeat) == expected


def test_a_draft_computes_it_in_place_of_leaving_it_out() -> None:
    frame = pd.DataFrame({"x": WAGE, "y": np.log(WAGE), "z": WAGE > 900})
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "xy"}
    steps = derivations(frame, variables, ["y"])
    removal = {"method": "removal", "columns": ["y", "z"]}
    noise = {"method": "additive_noise", "columns": ["x"], "amount": 0.1}
    computed = with_derived(Draft("noise", "perturbed", (removal, noise)), steps)
    assert computed.plan == (
        {"method": "removal", "columns": ["z"]}, noise, {"method": "derived", "columns": ["y"], "of": "x", "by": "log"},
    )  # fmt: skip
    for hinders in ({"method": "removal", "columns": ["x", "y"]}, {"method": "global_recoding", "columns": ["x"]}):
        draft = Draft("bins", "groups", (removal, hinders))
        assert with_derived(draft, steps) is draft
