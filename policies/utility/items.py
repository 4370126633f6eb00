"""Items: limits on what sets of items lost."""

from collections.abc import Callable
from math import isnan, nan

from policies.original_and_masked import OriginalAndMasked
from policies.utility.measured import Found, Measured, written_number, written_percent
from sluice.utility.item_loss import LOST, item_loss
from sluice.variables import Kind

_MEASURES = ("item_penalty", "items_left_out", "top_items", "pair_counts")
_NO_SETS = Measured(nan, "Sets of items are not compared: the file has none", "", 0, 0, written_number, False)


def items(files: OriginalAndMasked) -> Found:
    """Of sets of items, the worst variable by each measure, a removed one having lost everything; nothing where the
    original has no sets."""
    expected = [name for name, variable in files.variables.items() if variable.kind is Kind.ITEMS]
    if not expected:
        return Found(dict.fromkeys(_MEASURES, _NO_SETS))
    aligned = files.paired and len(files.original) == len(files.masked)
    losses = {
        name: item_loss(files.original[name], files.masked[name], files.variables[name], files.released[name], aligned)
        for name in expected
        if name in files.released and files.released[name].kind is Kind.ITEMS
    } | {name: LOST for name in expected if name not in files.released}

    def measured(which: str, what: str, written: Callable[[float], str]) -> Measured:
        known = {name: float(getattr(loss, which)) for name, loss in losses.items()}
        if len(known) < len(expected) or any(map(isnan, known.values())):
            says = f"{what.format('an unknown share')}: not every set could be compared"
            return Measured(nan, says, "", len(expected), len(known), written)
        worst = max(known, key=lambda name: known[name])
        return Measured(
            known[worst], f"{what.format(written(known[worst]))} ({worst})", worst, len(expected), len(known), written
        )

    found = {
        "item_penalty": measured("penalty", "A released item stands for {} of all items on average", written_percent),
        "items_left_out": measured("left_out", "Of the items of sets, {} were left out", written_percent),
        "top_items": measured(
            "top", "Of the most frequent items and pairs, {} are no longer among them", written_percent
        ),
        "pair_counts": measured(
            "pairs", "The count of a frequent pair of items is off by {} in the middle case", written_number
        ),
    }
    return Found(found)
