"""The strongest of several linkages: where more than one fits a masking, an intruder tries them on known people."""

from dataclasses import dataclass, replace

import numpy as np

from sluice.ground.variables import Kind
from sluice.risk.transparency.linkage import Likelihood, Linkage, found
from sluice.risk.transparency.pairs import Pairs

_TRIED = 200  # people on whom the linkages are compared


@dataclass(frozen=True)
class Strongest(Linkage):
    """Take the linkage that finds most of some people, others than those attacked where there are any."""

    choices: tuple[Linkage, ...]

    @property
    def knows(self) -> str:
        return self.choices[0].knows

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]  # those that all choices compare
        return tuple(kind for kind in Kind if all(kind in choice.kinds for choice in self.choices))

    def restricted(self, columns: tuple[str, ...]) -> "Strongest":
        return Strongest(columns, tuple(choice.restricted(columns) for choice in self.choices))

    def likelihood(self, pairs: Pairs) -> Likelihood:
        others = np.setdiff1d(np.arange(len(pairs.masked)), pairs.rows)
        tried = np.sort(pairs.rng.permutation(others if len(others) >= _TRIED else pairs.rows)[:_TRIED])
        asked = replace(pairs, rows=np.union1d(pairs.rows, tried))
        each = [choice.likelihood(asked) for choice in self.choices]
        right = [sum(float(found(of(row), row)[0].sum()) for row in tried[:, None]) for of in each]
        return each[int(np.argmax(right))]
