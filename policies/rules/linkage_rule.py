"""LinkageRule: a rule on the share of records that are linked to their own released record."""

from abc import abstractmethod

import numpy as np
import numpy.typing as npt
from pydantic import Field

from policies.rules.paired_rule import PairedRule, told_share
from sluice.ground.sentence import END, Saying, Sentences
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import share_at_risk
from sluice.risk.measurement import Measurement
from sluice.risk.reference.reference_attack import some_of
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "linkage",
    linked="Among {completed:,} {unit}, {linked:percent} were linked to their own masked record by somebody who knows "
    "their {names:commas} and",
    not_compared=" Not compared: {left_out:commas}.",
    needs=" Give what the intruder knows in 'columns', or release the others so that they can be compared.",
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class LinkageRule(PairedRule):
    """A rule on the share of records that are linked to their own released record."""

    records: int = Field(
        default=20_000, ge=1, description="original records that are attacked, drawn at random when there are more"
    )

    def attack(self, files: Comparison, names: list[str]) -> Finding:
        n = len(files.masked)
        rows = some_of(n, min(n, self.records), files.rng)
        measured, how = self.link(files, names, rows)
        linked = told_share(measured.value, measured.completed, files.minimum_cell)
        says = _SAYS.linked(completed=measured.completed, unit=files.unit, linked=linked, names=names)
        says += how + END() + self._not_compared(files, names)
        finding = self.judge(measured, says, ", ".join(names), files.minimum_cell)
        if self._not_compared(files, names) and finding.verdict is not Verdict.FAIL and self._takes_any_kind:
            return finding.adding(_SAYS.needs()).model_copy(update={"verdict": Verdict.UNKNOWN})
        return finding

    @property
    def _takes_any_kind(self) -> bool:
        """Whether a variable that was not compared is a gap, and not of a kind that the attack is not made for."""
        return True

    @abstractmethod
    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        """The share linked, of the attacked rows, and how the intruder does it, to follow 'knows ... and'."""

    def _not_compared(self, files: Comparison, names: list[str]) -> Saying:
        """A sentence on released quasi-identifiers that the figure says nothing of."""
        left_out = [
            name
            for name, variable in files.variables.items()
            if variable.role is Role.QUASI_IDENTIFIER
            and name not in names
            and any(column == name or column.startswith(f"{name}=") for column in files.released)
        ]
        return _SAYS.not_compared(left_out=left_out) if left_out and self.columns is None else ()

    def _share_linked(self, correct: FloatArray, files: Comparison) -> Measurement:
        # Ties are shared, so that guessing finds one record in n whatever the data.
        return share_at_risk(correct, len(files.masked), baseline=1 / len(files.masked))
