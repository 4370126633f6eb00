"""Learned closeness: for values whose masking has no closed form, what true pairs show of how far they move.

An intruder who knows plan and parameters masks a file of his own and sees it; see `learned_variable` for the weights.
Several steps on one variable, variants without a bound and households masked as one are attacked so.
"""

from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.linkage.learned_variable import compared_variables
from sluice.risk.transparency.linkage import Likelihood, Linkage
from sluice.risk.transparency.pairs import Pairs

_EXAMPLES = 5000  # true pairs to learn from


@dataclass(frozen=True)
class LearnedCloseness(Linkage):
    """Compare values by the distances that masking leaves between true pairs, learned on other people's."""

    @property
    def knows(self) -> str:
        return "how far such masking moves values"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        variables = {name: pairs.variables[name] for name in self.columns}
        compared = compared_variables(pairs.original, pairs.recoded, pairs.masked, variables, pairs.released)
        everyone = pairs.rng.permutation(len(pairs.masked))
        # Each half of the people is attacked with what the other half shows.
        halves = [everyone[everyone % 2 == parity][:_EXAMPLES] for parity in (1, 0)]
        learned = [[variable.learn(half) for variable in compared] for half in halves]

        def of(rows: IntArray) -> FloatArray:
            from sluice.risk.transparency.linkage_kernel import add_levels

            logs = np.zeros((len(rows), len(pairs.masked)))
            for parity in (0, 1):
                at = np.flatnonzero(rows % 2 == parity)
                of_half = np.zeros((len(at), len(pairs.masked)))
                for variable in learned[parity]:
                    add_levels(variable.weights(rows[at]), variable.compared.released, of_half)
                logs[at] = of_half
            return logs

        return of
