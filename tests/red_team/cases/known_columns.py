"""An intruder who knows a few variables of a person, finds the record by them and reads the others off it.

A share of the cells stands verbatim. By all variables the distances drown: some were permuted, others drawn anew. By
the few that the intruder knows, the record with the most equal values is mostly the own one, and what else stands in
it was not known before.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from sluice.ground.comparable_values import plain_values
from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, Data, adult, census, diabetes, masked_by, with_roles

_PERMUTED = (("PTOTVAL", "EMCONTRB", "INTVAL"), ("POTHVAL", "AGI", "STATETAX"))
_TRAITS = ("workclass", "education", "marital_status", "occupation", "relationship", "native_country")


def partly_imputed(permuted: Sequence[str]) -> Comparison:
    drawn = [name for name in CENSUS if name not in permuted]
    imputation = {"method": "multiple_imputation", "columns": drawn, "share": 0.52, "given": []}
    return masked_by(census(600), [imputation, {"method": "permutation", "columns": list(permuted)}])


def mostly_retained(retention: float) -> Comparison:
    """Every category of Adult by PRAM, every number swapped among a fifth of the people."""
    frame, variables = adult(800)
    data = with_roles((frame.drop(columns="fnlwgt"), {n: v for n, v in variables.items() if n != "fnlwgt"}), {})
    categories = [name for name, variable in data[1].items() if variable.kind.is_categorical]
    numbers = [name for name in data[1] if name not in categories]
    pram = {"method": "pram", "columns": categories, "retention": retention}
    return masked_by(data, [pram, {"method": "rank_swapping", "columns": numbers, "window": 0.2}])


def diagnoses(retention: float) -> Comparison:
    """Hospital stays whose diagnoses, age and length were kept with this probability."""
    columns = ["age", "diag_1", "diag_2", "diag_3", "admission_source_id", "insulin"]
    frame, variables = diabetes(500)
    kept: Data = (frame[columns], {name: variables[name] for name in columns})
    kept = with_roles(kept, dict.fromkeys(columns, Role.QUASI_IDENTIFIER))
    categories = [name for name, variable in kept[1].items() if variable.kind.is_categorical]
    return masked_by(kept, [{"method": "pram", "columns": categories, "retention": retention}])


def _most_equal(files: Comparison, known: Sequence[str]) -> np.ndarray:
    """Shape (n, n): the chance with which each released record is taken, shared among those with most equal values."""
    equal = sum(
        (plain_values(files.original[name])[:, None] == plain_values(files.masked[name])[None, :]).astype(np.int8)
        for name in known
    )
    best = equal == equal.max(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)


def reads(known: Sequence[str], other: str) -> Attack:
    """The share of people whose value of `other` stands in the record that is taken."""

    def attack(files: Comparison) -> float:
        before, after = plain_values(files.original[other]), plain_values(files.masked[other])
        return float((_most_equal(files, known) * (before[:, None] == after[None, :])).sum(axis=1).mean())

    return attack


def finds(known: Sequence[str]) -> Attack:
    """The share of people whose own record is taken."""
    return lambda files: float(_most_equal(files, known).diagonal().mean())


_FIVE = ("AGI", "FEDTAX", "STATETAX", "TAXINC", "POTHVAL")
_OTHER_FIVE = ("EMCONTRB", "FEDTAX", "PTOTVAL", "TAXINC", "INTVAL")
_GAIN = ("attribute_gain",)

CASES = (
    Case(
        "half of the cells drawn anew, five of nine columns known",
        partial(partly_imputed, _PERMUTED[0]), reads(_FIVE, "PEARNVAL"), 0.4, 0.06, _GAIN,
    ),
    Case(
        "half of the cells drawn anew, other columns known",
        partial(partly_imputed, _PERMUTED[1]), reads(_OTHER_FIVE, "WSALVAL"), 0.35, 0.06, _GAIN, more=True,
    ),
    Case(
        "PRAM that keeps 80 % of the categories, six traits known",
        partial(mostly_retained, 0.8), finds(_TRAITS), 0.1, 0.001, ("learned_claims",), more=True,
    ),
    Case(
        "PRAM that keeps 80 % of the diagnoses, two of them known",
        partial(diagnoses, 0.8), reads(("diag_1", "diag_2", "age"), "diag_3"), 0.3, 0.1, _GAIN,
    ),
)  # fmt: skip
