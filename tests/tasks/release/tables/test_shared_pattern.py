"""How far deviations of the whole show that two of its parts leave it open: by hand, and those that are no proofs."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sluice.tabular.model.cells import Status
from tasks.release.tables.shared_pattern import _shown_by, _told_anyway
from tests.tabular.grids import at, grid

BOX = {("a", "u"): 1, ("a", "v"): 2, ("b", "u"): 3, ("b", "v"): 4}


def shown(change: dict[tuple[str, str], float], published: tuple[str, str] | None = None) -> tuple[Any, Any]:
    """Of a box of which half is one part, but of b, u a third."""
    cells = grid(BOX)
    status = np.full(len(cells), Status.PUBLISHED, dtype=np.uint8)
    hidden = [at(cells, *cell) for cell in BOX]
    status[hidden] = Status.SECONDARY
    if published is not None:
        status[at(cells, *published)] = Status.PUBLISHED
    whole = cells.total.astype(np.float64)
    part = whole / 2
    part[at(cells, "b", "u")] = whole[at(cells, "b", "u")] / 3
    moved = sorted((at(cells, *cell), value) for cell, value in change.items())
    proof: Any = SimpleNamespace(
        cells=np.array([cell for cell, _ in moved], dtype=np.int32), change=np.array([value for _, value in moved])
    )
    below, above = _shown_by([proof], cells, (part, whole - part), status)
    return below[hidden], above[hidden]


CIRCLE = {("a", "u"): 1.0, ("a", "v"): -1.0, ("b", "u"): -1.0, ("b", "v"): 1.0}


def test_each_part_moves_as_far_as_its_smallest_cell_lets_it() -> None:
    """Cells of 100. u of a up: v of a and u of b go down, of which one part has 50 and 33, the other 50 and 67."""
    below, above = shown(CIRCLE)
    assert above.tolist() == pytest.approx([100 / 3 + 50, 100, 100, 100 / 3 + 50])
    assert below.tolist() == pytest.approx([100, 100 / 3 + 50, 100 / 3 + 50, 100])


@pytest.mark.parametrize(
    ("change", "published"),
    [
        ({**CIRCLE, ("a", "u"): 2.0}, None),  # sums would not hold
        (CIRCLE, ("b", "v")),  # readers see that this cell did not move
        ({("a", "u"): 1.0}, None),
    ],
)
def test_what_is_no_proof_shows_nothing(
    change: dict[tuple[str, str], float], published: tuple[str, str] | None
) -> None:
    below, above = shown(change, published)
    assert not below.any()
    assert not above.any()


def told_anyway(
    hidden: list[tuple[str, str]], *, sensitive: Sequence[tuple[str, str]] = (), moved: Sequence[tuple[str, str]] = ()
) -> list[bool]:
    """Of these suppressed cells of two measures: whether each is published in the end."""
    cells = grid(BOX)
    which = np.zeros((3, len(cells)), dtype=bool)
    for row, names in zip(which, (hidden, sensitive, moved), strict=True):
        row[[at(cells, *cell) for cell in names]] = True
    nothing = np.zeros(len(cells), dtype=bool)

    def measured(asked: Any) -> Any:
        return SimpleNamespace(
            cells=cells, first=nothing, request=SimpleNamespace(requirements=SimpleNamespace(sensitive=asked))
        )

    proof = SimpleNamespace(cells=np.flatnonzero(which[2]))
    made: Any = {"one": SimpleNamespace(proofs=[]), "other": SimpleNamespace(proofs=[proof])}
    found = _told_anyway({"one": measured(which[1]), "other": measured(nothing)}, made, which[0])
    return [bool(found[at(cells, *cell)]) for cell in hidden]


def test_what_the_sums_tell_of_every_measure_is_published_unless_a_rule_asks_for_it() -> None:
    """a, u and a, w: one is alone in its column, and so is the other in its row then."""
    alone = [("a", "u"), ("a", "w")]
    assert told_anyway(alone) == [True, True]
    assert told_anyway(alone, sensitive=[("a", "u")]) == [False, True]
    assert told_anyway(alone, moved=alone) == [False, False]
    assert told_anyway(list(BOX)) == [False] * 4
