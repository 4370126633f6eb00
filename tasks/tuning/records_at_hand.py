"""The records that plans are tried on: typed, of whole people and households, with the documents that judge them.

A search has a part of the people, the rest is for its best plans.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Self

import numpy as np
import pandas as pd

from policies.policy import Policy
from schemas.contract import Contract
from sluice.documents.document_reading import document_bytes
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError
from sluice.ground.variables import Role, Variable
from sluice.risk.people_of_records import groups_of_people, number_of_people
from tasks.release.intake.staging import choose
from tasks.tuning.space import SearchSettings

_LEAST = 5  # times as many records as the policy's reference standard needs: fewer meet rules on groups more coarsely
_SPLIT = 2**40  # of the search's seed: no trial has this number


@dataclass(frozen=True)
class RecordsAtHand:
    """Typed records of whole people and households, the documents that they are judged by, and a name for them.

    frame    : without identifiers, index 0..n-1
    declared : the variables as far as the contract alone tells them
    """

    name: str
    frame: pd.DataFrame
    variables: dict[str, Variable]
    declared: dict[str, Variable]
    contract: Contract
    policy: Policy
    release_name: str
    owner: str
    today: date  # by which waivers are live

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets; a contract's rules are read there again, as code is not sent."""
        return vars(self) | {"contract": document_bytes(self.contract)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        contract = Contract.model_validate_json(state["contract"])
        vars(self).update(state | {"contract": contract})

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def of(
        cls, staged: pd.DataFrame, variables: dict[str, Variable], contract: Contract, policy: Policy,
        release_name: str, owner: str, today: date,
    ) -> Self:  # fmt: skip
        """Everything that was staged."""
        kept = {name: each for name, each in variables.items() if each.role is not Role.IDENTIFIER}
        declared = {name: each for name, each in contract.staged.items() if each.role is not Role.IDENTIFIER}
        frame = staged[list(kept)].reset_index(drop=True)
        return cls("all records", frame, kept, declared, contract, policy, release_name, owner, today)

    def split(self, settings: SearchSettings) -> tuple[Self, Self | None]:
        """The records to search on and the others; everything and nothing where the policy could judge neither part.

        Whole people and households, drawn from the search's seed.
        """
        standard = self.policy.reference_standard
        people = number_of_people(self.frame, self.variables)
        needed = round(_LEAST * (standard.minimum_records if standard else 1) * len(self) / max(people, 1))
        wanted = min(int(settings.people * len(self)), settings.most_records)
        wanted = min(max(wanted, needed), len(self))
        if len(self) - wanted < needed:
            return self, None
        rng = np.random.default_rng([settings.seed, _SPLIT])
        try:
            searched = choose(groups_of_people(self.frame, self.variables), wanted / len(self), rng)
        except DataError:  # one household is all there is
            return self, None
        return self.part("the records searched", searched), self.part("the other records", ~searched)

    def part(self, name: str, chosen: BoolArray) -> Self:
        """The records that are chosen, shape (n,), under a name of their own."""
        return replace(self, name=name, frame=self.frame[chosen].reset_index(drop=True))

    def in_another_order(self, seed: Sequence[int]) -> Self:
        """The same records in an order drawn from a seed: where methods break ties by it, the file is another."""
        order = np.random.default_rng(list(seed)).permutation(len(self))
        return replace(self, frame=self.frame.iloc[order].reset_index(drop=True))

    def with_holdout(self, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Who would be masked, and who would be set aside, as the policy asks. Raises DataError."""
        standard = self.policy.reference_standard
        if standard is None or standard.holdout_share is None:
            return self.frame, None
        groups: IntArray = groups_of_people(self.frame, self.variables)
        held = choose(groups, standard.holdout_share, rng)
        return self.frame[~held].reset_index(drop=True), self.frame[held].reset_index(drop=True)
