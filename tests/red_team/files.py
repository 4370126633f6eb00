"""The real data of the cases as typed frames, and files masked from them by a plan."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, TypeAdapter

from schemas.contract import Contract, load_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.masking import Step
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import moved_blocks
from sluice.masking.plan import apply_plan, apply_recodings, released_variables
from sluice.utility.comparison import Comparison
from tests.items.grocery_aisles import grocery_hierarchy
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_PROJECT = Path(__file__).parents[2]
_STEP: TypeAdapter[Any] = TypeAdapter(Annotated[Step, Field(discriminator="method")])

Data = tuple[pd.DataFrame, dict[str, Variable]]

CENSUS = (
    "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "PEARNVAL", "FICA", "WSALVAL",
    "ERNVAL",
)  # fmt: skip


def with_roles(data: Data, roles: Mapping[str, Role]) -> Data:
    """The same data; a variable that is not named keeps its role."""
    frame, variables = data
    return frame, {n: v.model_copy(update={"role": roles.get(n, v.role)}) for n, v in variables.items()}


@cache
def census(people: int = 1_080) -> Data:
    """So many of 1,080 people by 12 amounts, all quasi-identifiers: what a tax office would know."""
    raw = pd.read_csv(reference_path("casc", "census.csv"), dtype=str)[list(CENSUS)]
    frame, variables = typed_frame(raw.sample(people, random_state=0).sort_index().reset_index(drop=True))
    return with_roles((frame, variables), dict.fromkeys(CENSUS, Role.QUASI_IDENTIFIER))


_NHANES = (
    "age", "bmi", "height", "waist", "weight", "albumin", "alp", "bun", "creat", "glucose", "uap", "rbc", "wbc",
    "totchol",
)  # fmt: skip


@cache
def nhanes(people: int = 3_000) -> Data:
    """So many people of a health survey by 14 measurements, no key among them."""
    raw = pd.read_csv(reference_path("nhanes_bioage", "NHANES3.csv.gz"), usecols=list(_NHANES))[list(_NHANES)]
    frame = raw.dropna().sample(people, random_state=0).reset_index(drop=True)
    return frame.astype(float), {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in _NHANES}


@cache
def adult(people: int = 6_000) -> Data:
    """So many people of Adult, by the shipped contract."""
    contract = load_contract(_PROJECT / "schemas" / "adult.yaml")
    raw = pd.read_csv(
        reference_path("adult", "adult.data.gz"), names=list(contract.by_name), dtype=str, skipinitialspace=True,
        keep_default_na=False,
    ).sample(people, random_state=0).reset_index(drop=True)  # fmt: skip
    typing = SourceTyping(contract, lambda name, text: text)
    frame = typing.type_batch(raw)
    return frame, typing.variables()


@cache
def diabetes(records: int = 8_000) -> Data:
    """So many hospital stays of people with diabetes; several may be one patient's."""
    path = reference_path("diabetes130", "diabetic_data.csv.gz")
    return typed_frame(pd.read_csv(path, dtype=str, na_values="?", nrows=records))


@cache
def groceries() -> Data:
    """9,835 baskets of one month, with the hierarchy of their 169 items."""
    lines = reference_path("groceries", "groceries.csv").read_text(encoding="utf-8").splitlines()
    basket = Variable(
        name="basket", kind=Kind.ITEMS, role=Role.QUASI_IDENTIFIER, hierarchy=grocery_hierarchy(), separator=","
    )
    contract = Contract(dataset="groceries", version="1", records_are="baskets", variables=(basket,))
    return SourceTyping(contract, lambda name, text: text).type_batch(pd.DataFrame({"basket": lines})), contract.staged


def step_of(step: MaskingStep | Mapping[str, object]) -> MaskingStep:
    """A step as it is written in a plan."""
    return step if isinstance(step, MaskingStep) else _STEP.validate_python(dict(step))


def masked_by(
    data: Data, plan: Sequence[MaskingStep | dict[str, object]], seed: int = 1, **about: object
) -> Comparison:
    """What a release would judge after this plan."""
    frame, variables = data
    steps = [step_of(step) for step in plan]
    masked, carried_out = apply_plan(steps, frame, variables, np.random.SeedSequence(seed))
    rows = masked.index.to_numpy()
    blocks = moved_blocks(steps, frame, variables, np.random.SeedSequence(seed))
    about = {"blocks": [block.among(rows) for block in blocks]} | about
    kept = frame.iloc[masked.index].reset_index(drop=True)
    recoded = apply_recodings(carried_out, kept, variables)
    released = released_variables(steps, variables)
    masked = masked.reset_index(drop=True)
    return files_of(kept, masked, variables, released, recoded, carried_out=carried_out, **about)


def files_of(
    original: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables | None = None,
    recoded: pd.DataFrame | None = None,
    **about: object,
) -> Comparison:
    """Row i of `masked` is the person of row i of `original`, unless `paired=False` is given."""
    settings: dict[str, object] = {"holdout": None, "rng": np.random.default_rng(5), "unit": "people"}
    return Comparison(
        original=original, recoded=original if recoded is None else recoded, masked=masked, variables=variables,
        released=variables if released is None else released, **(settings | about),
    )  # fmt: skip
