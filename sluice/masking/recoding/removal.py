"""Removal: variables that are not released at all.

Source: Desfontaines (2020), section 2.1.1 (directly identifying information is removed first); Torra (2013),
"Nonperturbative methods".
"""

from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.risk.transparency.attack import NoAttack


class Removal(MaskingStep):
    """The variables are left out of the released file."""

    method: Literal["removal"] = "removal"

    is_recoding: ClassVar[bool] = True
    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    example: ClassVar[str] = "{method: removal, columns: [name]}"
    treatment: ClassVar[str] = "left out"
    use_when: ClassVar[str] = "A variable names people, is free text, or is not needed."
    preserves: ClassVar[str] = "All other variables."
    known_attack: ClassVar[str] = (
        "Linkage on the variables that stay, such as ZIP code, birth date and sex (Desfontaines 2020, "
        "section 2.1.1). What was removed is inferred from variables that go with it."
    )
    missing_values: ClassVar[str] = "They go with their variable."
    in_an_analysis: ClassVar[str] = "The variable is not in the file."
    attack_measured: ClassVar[str] = (
        "No attack of its own: what was removed is not there; what stays is judged as it is."
    )

    def released(self, variables: Variables) -> dict[str, Variable]:
        """All other variables. Raises PlanError for an unknown variable, or when none would be left."""
        self.refuse_unless(variables, *Kind)
        kept = {name: variable for name, variable in variables.items() if name not in self.columns}
        if not kept:
            raise PlanError(f"{self.method} would remove all {len(variables)} variables; at least 1 must stay.")
        return kept

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """See MaskingStep. The columns are left out."""
        return frame[list(self.released(variables))].copy()

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("what was removed is not there; what stays is judged as it is"),)

    def describe(self) -> str:
        plural = len(self.columns) > 1
        return f"The variable{'s' * plural} {', '.join(self.columns)} {'are' if plural else 'is'} not released."
