"""sluice.masking.recoding.removal."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.plan import apply_recodings
from sluice.masking.recoding.removal import Removal
from tests.golden import golden

VARIABLES = {
    "name": Variable(name="name", kind=Kind.TEXT, role=Role.IDENTIFIER),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "income": Variable(name="income", kind=Kind.CONTINUOUS),
}
FRAME = pd.DataFrame(
    {"name": ["a", "b"], "age": pd.array([30, None], dtype="Int64"), "income": [1.0, 2.0]}, index=[7, 7]
)
RNG = np.random.default_rng(0)


def test_the_directly_identifying_variable_is_gone() -> None:
    # Desfontaines (2020), section 2.1.1: "all directly identifying information was removed: name, ..."
    step = Removal(columns=("name",))
    assert list(step.released(VARIABLES)) == ["age", "income"]
    masked = step.mask(FRAME, VARIABLES, RNG)
    pd.testing.assert_frame_equal(masked, FRAME[["age", "income"]])


@given(st.sets(st.sampled_from(list(VARIABLES)), min_size=1, max_size=2))
def test_an_intruder_lacks_the_variables_as_well(gone: set[str]) -> None:
    step = Removal(columns=tuple(gone))
    kept = [name for name in VARIABLES if name not in gone]
    assert list(step.released(VARIABLES)) == kept == list(apply_recodings([step], FRAME, VARIABLES))


def test_refusals() -> None:
    with golden.raises(PlanError):
        Removal(columns=tuple(VARIABLES)).mask(FRAME, VARIABLES, RNG)
