"""A small survey on which plans are tried in a fraction of a second: records, a policy of cheap rules, and a space."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from policies.policy import Policy
from schemas.contract import Contract
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SpaceOfPlans
from tasks.workbench.tabular_file import typed_table
from tests.flows.house import contract, survey

PLAN: list[dict[str, Any]] = [
    {"method": "removal", "columns": ["household", "town"]},
    {"method": "global_recoding", "columns": ["age"], "bins": {"any_of": [[40, 60], [30, 40, 50, 60], [50]]}},
    {"method": "local_suppression", "columns": ["age", "sex", "region"], "k": [3, 5, 10], "optional": True},
    {
        "alternatives": [
            {"method": "rank_swapping", "columns": ["income"], "window": {"from": 0.02, "to": 0.4, "log": True}},
            {"method": "top_bottom_coding", "columns": ["income"], "top": {"quantile": [0.9, 0.99]}},
            [],
        ]
    },
]


def policy(**changes: Any) -> Policy:
    """Rules that are cheap; distance_linkage is the only attack."""
    content: dict[str, Any] = {
        "name": "of plans",
        "version": 1,
        "rules": [{"rule": "k_anonymity", "k": 5}],
        "attacks": [{"rule": "distance_linkage", "excess": 0.2}],
        "reference_standard": {
            "reference": "leave_one_out", "margin": 0.1, "copies_excess": 0.1, "minimum_records": 100,
            "tail_share": 0.05, "learned": {"found": 0.3, "claims": 0.08},
        },
        "approvals": {"count": 2, "roles": [], "valid_days": 30, "identity": "declared"},
    }  # fmt: skip
    return Policy.model_validate({**content, **changes})


def records(n: int = 600, of: Policy | None = None, seed: int = 1) -> RecordsAtHand:
    """The survey's records, typed."""
    known = Contract.model_validate(contract())
    frame, variables = typed_table(survey(n, seed).astype(str), known, 1)
    return RecordsAtHand.of(frame, variables, known, of or policy(), "people", "emil", date(2030, 1, 1))


def space(plan: list[dict[str, Any]] | None = None, **changes: Any) -> SpaceOfPlans:
    """A definition with ranges."""
    content: dict[str, Any] = {
        "name": "people", "title": "People", "owner": "emil", "source": {"type": "csv", "path": "people.csv"},
        "contract": "contract.yaml", "policy": "policy.yaml", "target": "../published",
        "plan": PLAN if plan is None else plan, "search": {"trials": 10, "seed": 7, "people": 1},
    }  # fmt: skip
    return SpaceOfPlans.model_validate({**content, **changes})


def uniform(seed: int) -> Any:
    """A chooser that draws."""
    from tasks.tuning.variation import drawn

    rng = np.random.default_rng(seed)
    return lambda place, of: drawn(of, rng)


def same_frame(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether two frames hold the same."""
    return one.equals(other)
