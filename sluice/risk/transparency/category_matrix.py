"""The attack on PRAM: the matrix says how likely each category became each other one.

Source: Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), the matrix; over several variables, drawn independently,
the likelihoods multiply.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import codes_of
from sluice.ground.variables import Kind
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.linkage import LearnedCloseness, Likelihood, Linkage, Together

Rows = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class CategoryMatrix(Linkage):
    """Weigh each released category by its probability given the known one.

    matrices : for each column its matrix: known category, released category, probability (0 where left out)
    missing  : the category that stands for a missing value; of others a missing value stays one
    """

    matrices: Mapping[str, Rows]
    missing: str

    kinds = (Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY)

    @property
    def knows(self) -> str:
        return "the probabilities by which categories were changed"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        within = tuple(name for name in self.columns if self._has_all(name, pairs))
        if within != self.columns:  # a recoding afterwards gave it categories that the matrix does not know
            others = LearnedCloseness(tuple(name for name in self.columns if name not in within))
            parts = [others, *([self.restricted(within)] if within else [])]
            return Together.of(parts).likelihood(pairs)
        tables = []
        for name in self.columns:
            labels = [*self.matrices[name], self.missing]
            matrix = np.array([[self.matrices[name].get(a, {}).get(b, 0.0) for b in labels] for a in labels])
            if self.missing not in self.matrices[name]:
                matrix[-1, -1] = 1.0
            with np.errstate(divide="ignore"):
                tables.append((np.log(matrix), *(_codes(file[name], labels) for file in (pairs.recoded, pairs.masked))))

        def of(rows: IntArray) -> FloatArray:
            logs = np.zeros((len(rows), len(pairs.masked)))
            for matrix, known, published in tables:
                logs += matrix[known[rows]][:, published]
            return logs

        return of

    def _has_all(self, name: str, pairs: Pairs) -> bool:
        categories = {str(label) for file in (pairs.recoded, pairs.masked) for label in file[name].cat.categories}
        return categories <= set(self.matrices[name])


def _codes(column: "pd.Series[str]", labels: list[str]) -> IntArray:
    """The place of each value among the labels, the last of which is missing."""
    places = pd.Index(labels).get_indexer(pd.Index([str(label) for label in column.cat.categories]))
    return np.append(places, len(labels) - 1)[codes_of(column)].astype(np.int64)
