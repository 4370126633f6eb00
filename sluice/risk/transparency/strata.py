"""The attack on what was masked stratum by stratum: each stratum is a file of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.transparency.learned_closeness import LearnedCloseness
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import Pairs

Stratum = tuple[str | None, ...]
"""One text for each stratifying variable, None where it is missing."""


@dataclass(frozen=True)
class WithinStrata(Linkage):
    """Look for a person in the own stratum only, by what was done there.

    strata : names of the stratifying variables; where the release does not show them as they were, other linkages
             cannot use them, and values are compared by learned closeness
    parts  : the linkage of each stratum
    """

    strata: tuple[str, ...]
    parts: Mapping[Stratum, Linkage]

    @property
    def knows(self) -> str:
        said = dict.fromkeys(part.knows for part in self.parts.values())
        return f"{next(iter(said))} within each {' by '.join(self.strata)}" if said else "the strata"

    def restricted(self, columns: tuple[str, ...]) -> "WithinStrata":
        parts = {stratum: part.restricted(columns) for stratum, part in self.parts.items()}
        return WithinStrata(columns, self.strata, parts)

    def likelihood(self, pairs: Pairs) -> Likelihood:
        members = self._members(pairs)
        if members is None:
            return LearnedCloseness(self.columns).likelihood(pairs)
        within = {stratum: self.parts[stratum].likelihood(pairs.part(rows)) for stratum, rows in members.items()}
        stratum_of = {row: stratum for stratum, rows in members.items() for row in rows.tolist()}

        def of(rows: IntArray) -> FloatArray:
            logs = np.full((len(rows), len(pairs.masked)), -np.inf)
            for at, row in enumerate(rows.tolist()):
                stratum = stratum_of[row]
                own = members[stratum]
                logs[at, own] = within[stratum](np.searchsorted(own, [row]))[0]
            return logs

        return of

    def _members(self, pairs: Pairs) -> dict[Stratum, IntArray] | None:
        """The records of each stratum; None where they cannot be told from the released file."""
        if not set(self.strata) <= set(pairs.recoded) & set(pairs.masked):
            return None
        texts = [pairs.masked[name].astype("string") for name in self.strata]
        before = [pairs.recoded[name].astype("string") for name in self.strata]
        if not all(one.equals(other) for one, other in zip(texts, before, strict=True)):
            return None
        codes = pd.DataFrame({at: pd.factorize(text)[0] for at, text in enumerate(texts)})
        found: dict[Stratum, IntArray] = {}
        for rows in codes.groupby(list(codes.columns), sort=False).indices.values():
            first = [text.iloc[rows[0]] for text in texts]
            found[tuple(None if pd.isna(text) else str(text) for text in first)] = np.asarray(rows, dtype=np.int64)
        return found if set(found) <= set(self.parts) else None
