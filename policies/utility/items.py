"""Items: limits on what sets of items lost."""

from collections.abc import Callable
from math import isnan, nan

from sluice.ground.sentence import Sentence, Sentences
from sluice.ground.variables import Kind
from sluice.utility.comparison import Comparison
from sluice.utility.item_loss import LOST, item_loss
from sluice.utility.measured import WORST, Found, Measured, figure, written_number, written_percent

_SAYS = Sentences(
    "items",
    none="Sets of items are not compared: the file has none",
    not_all_compared=": not every set could be compared",
)
_LOSSES = {
    measure: Sentence(f"{measure}.loss", words)
    for measure, words in (
        ("item_penalty", "A released item stands for {loss:percent} of all items on average"),
        ("items_left_out", "Of the items of sets, {loss:percent} were left out"),
        ("top_items", "Of the most frequent items and pairs, {loss:percent} are no longer among them"),
        ("pair_counts", "The count of a frequent pair of items is off by {loss:.3g} in the middle case"),
    )
}
_NO_SETS = Measured(nan, _SAYS.none(), "", 0, 0, written_number, False)


def items(files: Comparison) -> Found:
    """Of sets of items, the worst variable by each measure, a removed one having lost everything; nothing where the
    original has no sets."""
    expected = [name for name, variable in files.variables.items() if variable.kind is Kind.ITEMS]
    if not expected:
        return Found(dict.fromkeys(_LOSSES, _NO_SETS))
    aligned = files.paired and len(files.original) == len(files.masked)
    losses = {
        name: item_loss(files.original[name], files.masked[name], files.variables[name], files.released[name], aligned)
        for name in expected
        if name in files.released and files.released[name].kind is Kind.ITEMS
    } | {name: LOST for name in expected if name not in files.released}

    def measured(measure: str, which: str, written: Callable[[float], str]) -> Measured:
        known = {name: float(getattr(loss, which)) for name, loss in losses.items()}
        if len(known) < len(expected) or any(map(isnan, known.values())):
            says = _LOSSES[measure](loss="an unknown share") + _SAYS.not_all_compared()
            return Measured(nan, says, "", len(expected), len(known), written)
        worst = max(known, key=lambda name: known[name])
        says = _LOSSES[measure](loss=figure(known[worst])) + WORST(name=worst)
        return Measured(known[worst], says, worst, len(expected), len(known), written)

    found = {
        "item_penalty": measured("item_penalty", "penalty", written_percent),
        "items_left_out": measured("items_left_out", "left_out", written_percent),
        "top_items": measured("top_items", "top", written_percent),
        "pair_counts": measured("pair_counts", "pairs", written_number),
    }
    return Found(found)
