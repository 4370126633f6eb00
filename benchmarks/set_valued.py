"""Sets of items: whom a few known items find, what it costs to hide them, and how long that takes.

    python -m benchmarks set_valued

Groceries are 9,835 baskets of 169 items. The others are generated: 200 items in ten departments, with frequencies by
Zipf's law, four to a basket on average, half of them from a department that the basket prefers. Seconds are those of
the processor.
"""

import resource
from time import process_time

import numpy as np
import pandas as pd

from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from sluice.items.item_sets import ItemSets
from sluice.masking.items.item_generalization import ItemGeneralization
from sluice.masking.items.item_suppression import ItemSuppression
from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import apply_plan
from sluice.risk.classes.km_anonymity import smallest_crowds
from sluice.utility.item_loss import item_loss
from tests.red_team.files import groceries

K = 5
ITEMS, DEPARTMENTS = 200, 10


def main(quick: bool = False) -> None:
    frame, variables = groceries()
    _judged("Groceries", frame["basket"], variables["basket"], (1, 2) if quick else (1, 2, 3))
    records = 20_000 if quick else 1_000_000
    _judged(f"{records:,} baskets", *_generated(records), (2,) if quick else (2, 3))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")


def _judged(title: str, column: "pd.Series[str]", variable: Variable, known: tuple[int, ...]) -> None:
    sets = ItemSets.of(column, variable.between_items)
    smallest_crowds(sets.take(np.arange(100)), 3)  # loads the compiled loops
    print(f"{title}: {len(sets.items):,} items in all, {len(sets.names)} different ones")
    print(
        f"{'m':>3} {'k < 5':>7} {'rule, s':>8}   {'method':<20} {'mask, s':>8} {'names':>6} {'NCP':>6} {'tKd':>5} "
        f"{'pairs':>6} {'least':>6}"
    )
    for m in known:
        begun = process_time()
        found = float((smallest_crowds(sets, m) < K).mean())
        rule = process_time() - begun
        for step in (
            ItemGeneralization(columns=("basket",), k=K, m=m),
            ItemSuppression(columns=("basket",), k=K, m=m),
        ):
            masked, seconds = _masked(step, column, variable)
            released = ItemSets.of(masked, variable.between_items)
            lost = item_loss(column, masked, variable, variable)
            print(
                f"{m:>3} {found:>7.1%} {rule:>8.2f}   {step.method:<20} {seconds:>8.1f} {len(released.names):>6} "
                f"{lost.penalty:>6.1%} {lost.top:>5.0%} {lost.pairs:>6.2f} {smallest_crowds(released, m).min():>6}",
                flush=True,
            )


def _masked(step: MaskingStep, column: "pd.Series[str]", variable: Variable) -> tuple["pd.Series[str]", float]:
    begun = process_time()
    frame, _ = apply_plan([step], pd.DataFrame({"basket": column}), {"basket": variable}, np.random.SeedSequence(1))
    return frame["basket"], process_time() - begun


def _generated(records: int) -> tuple["pd.Series[str]", Variable]:
    rng = np.random.default_rng(20261123)
    names = tuple(f"item {item:03d}" for item in range(ITEMS))
    share = 1 / np.arange(1, ITEMS + 1)
    department = rng.permutation(np.arange(ITEMS) % DEPARTMENTS)
    sizes = 1 + rng.poisson(3, records)
    rows = np.repeat(np.arange(records), sizes)
    drawn = rng.choice(ITEMS, len(rows), p=share / share.sum())
    preferred = rng.integers(0, DEPARTMENTS, records)[rows]
    stays = rng.random(len(rows)) < 0.5
    for number in range(DEPARTMENTS):
        own = np.flatnonzero(department == number)
        chosen = np.flatnonzero(stays & (preferred == number))
        drawn[chosen] = rng.choice(own, len(chosen), p=share[own] / share[own].sum())
    rows_of = {
        name: (f"shelf {department[item]}{item % 4}", f"department {department[item]}", "all")
        for item, name in enumerate(names)
    }
    variable = Variable(name="basket", kind=Kind.ITEMS, hierarchy=Hierarchy(rows=rows_of), nullable=True)
    return ItemSets.from_pairs(rows, drawn, records, names).column(";", pd.RangeIndex(records)), variable


if __name__ == "__main__":
    main()
