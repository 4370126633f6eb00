"""The learned linker beside the fixed ruler, which the reference standard has always asked, in the same minute.

The fixed ruler attacks 20,000 people, on the release and on its reference; the intruder who learns is judged on 2,000,
with all that is learned before; then an intruder who knows the worst five variables, with the search for them and what
is learned of all others. Six factors, and noise of one spread of each variable's own part.
"""

from time import perf_counter

import numpy as np
import pandas as pd

from policies.standard.learning_intruders import judge_partial_knowledge, learned_intruder
from policies.standard.reference_standard import AnyOf, Intruder
from sluice.ground.variables import Variable
from sluice.risk.coding import Coding
from sluice.risk.reference.reference_attack import attack
from sluice.utility.comparison import Comparison

# records, variables, standard deviation of the noise where a variable has one of about 2.5
CASES = ((300_000, 42, 0.5), (300_000, 42, 2.0), (1_000_000, 28, 1.0))
QUICK = ((10_000, 42, 2.0),)


def files(records: int, variables: int, noise: float) -> Comparison:
    rng = np.random.default_rng(1)
    names = [f"x{j}" for j in range(variables)]
    values = rng.normal(size=(records, 6)) @ rng.normal(size=(6, variables)) + rng.normal(size=(records, variables))
    original = pd.DataFrame(values, columns=names)
    masked = original + noise * rng.normal(size=values.shape)
    kinds = {name: Variable(name=name, kind="continuous") for name in names}
    return Comparison(original, original, masked, None, kinds, kinds, rng)


def main(quick: bool = False) -> None:
    small = files(1_000, 3, 1.0)
    first = learned_intruder(small, 100)
    assert first is not None
    first.play()  # compile, or load what was compiled
    print(
        f"{'records':>9} {'v':>3} {'noise':>5} {'fixed':>8} {'learned':>9} {'ratio':>6} {'found':>6} {'looked at':>9} "
        f"{'any five':>8}"
    )
    for records, variables, noise in QUICK if quick else CASES:
        case = files(records, variables, noise)
        start = perf_counter()
        coding = Coding.fit(case.original, case.recoded, case.variables, case.released)
        points, (released, _) = coding.original(case.original), coding.released(case.masked)
        attack(points, released, None, 5, 20_000, np.random.default_rng(2))
        fixed = perf_counter() - start
        start = perf_counter()
        intruder = learned_intruder(case, 2_000)
        assert intruder is not None
        reached = intruder.play()
        learned = perf_counter() - start
        start = perf_counter()
        judge_partial_knowledge([Intruder(knows=AnyOf(any=5))], case, intruder)
        five = perf_counter() - start
        print(
            f"{records:9,} {variables:3} {noise:5g} {fixed:6.1f} s {learned:7.1f} s {learned / fixed:6.2f} "
            f"{reached.found.mean():6.1%} {reached.candidates.looks:9.1f} {five:6.1f} s  {reached.ruler}", flush=True
        )  # fmt: skip


if __name__ == "__main__":
    main()
