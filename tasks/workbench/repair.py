"""A pattern that is not safe, made so by suppressing further cells, outside any release."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sluice.tabular.audit.audit import Audit, audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule


@dataclass(frozen=True, eq=False)
class RepairedPattern:
    """What was suppressed stays so; `added` cells are suppressed besides.

    status : shape (c,), of the cells of the records
    audit  : of the repaired pattern, which is not taken on trust
    files  : that were written
    """

    status: Statuses
    added: int
    audit: Audit
    files: tuple[Path, ...] = ()

    @property
    def safe(self) -> bool:
        return self.audit.safe

    def summary(self) -> dict[str, Any]:
        """For machines."""
        return {
            "safe": self.safe,
            "added": self.added,
            "suppressed": int((self.status != Status.PUBLISHED).sum()),
            "attacks": {"attempted": self.audit.attempted, "completed": self.audit.completed},
            "breaches": [breach.says for breach in self.audit.breaches],
            "files": [str(file) for file in self.files],
        }


def repaired(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule],
    assumptions: Assumptions,
    workers: int,
) -> RepairedPattern:
    """The pattern with as few further cells suppressed, by their value, as make it safe. Raises DataError."""
    from sluice.tabular.suppression.suppression import repair  # takes time to load

    found = repair(cells, status, requirements, rules, assumptions, workers=workers)
    result = audit(cells, found.status, requirements, rules, assumptions, found.certificates, workers)
    added = (found.status != Status.PUBLISHED) & (status == Status.PUBLISHED)
    return RepairedPattern(found.status, int(np.count_nonzero(added)), result)
