"""The worst subgroup of a measure, as its finding and the report may tell of it."""

from collections.abc import Collection, Sequence

from sluice.ground.sentence import Sentence
from sluice.utility.changed_subgroups import Change, changed_subgroups
from sluice.utility.measured import Found, Measured

_FEW = Sentence("utility.few_changed", "{what} is not told: too few of its records changed")


def found_of_worst(
    rule: str,
    view: str,
    what: str,
    measured: Measured,
    found: Sequence[Change],
    few: Collection[str],
    minimum_cell: int,
) -> Found:
    """The measure and the subgroups that are shown, neither of which tells of fewer records than the minimum cell.

    rule, view : names of the limit and of UtilityView's field
    what       : what is not told, where it is not
    measured   : of the worst subgroup; scope "" where nothing changed
    found      : of all subgroups, the largest change first
    few        : variables of which the comparison would tell of a few people
    """
    if few:
        return Found({rule: measured.told(what, few)})
    if measured.scope and found[0].moved < minimum_cell:
        hidden = _FEW(what=what)
        return Found({rule: measured._replace(says=hidden, scope="", tells_of_few=True)})
    return Found({rule: measured}, {view: changed_subgroups(found, minimum_cell)})
