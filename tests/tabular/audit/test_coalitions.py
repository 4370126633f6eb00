"""Contributors who know a suppressed cell, alone and together."""

from sluice.tabular.model.assumptions import Assumptions
from tests.tabular.grids import BOX, TWO_BOXES, at, grid, run, table


def test_a_sole_contributor_undoes_a_box() -> None:
    outcome = run(grid({("a", "u"): 1, ("b", "v"): 2}), BOX)
    assert {(b.attacker, b.owners, b.says, b.exact) for b in outcome.breaches} == {
        ("contributor", (2,), "the sole contributor of r b, c v can compute r a, c u exactly", True),
        ("contributor", (1,), "the sole contributor of r a, c u can compute r b, c v exactly", True),
    }
    assert run(grid({("a", "u"): 1, ("b", "v"): 2}), BOX, Assumptions(coalition=0, unions=False)).safe


def test_one_holding_in_both_corners_undoes_nothing_of_its_own() -> None:
    """Both cells are wholly its own: it learns nothing of others, and outsiders see a box."""
    assert run(grid({("a", "u"): 1, ("b", "v"): 1}), BOX).safe


def test_a_holding_owns_what_its_members_are_alone_in() -> None:
    """By contributor, (b, v) has three and nobody knows it; by holding it has one, who undoes the box."""
    records = [("a", "u", 1, 100), ("b", "v", 7, 34), ("b", "v", 8, 33), ("b", "v", 9, 33)]
    records += [(r, c, 10 * k + n, 25) for k, (r, c) in enumerate((("a", "v"), ("b", "u")), 2) for n in range(4)]
    records += [("c", c, 100 * k + n, 25) for k, c in enumerate("uvw", 1) for n in range(4)]
    records += [(r, "w", 1000 * k + n, 25) for k, r in enumerate("ab", 1) for n in range(4)]
    assert run(table(records), BOX).safe
    by_holding = [(r, c, 7 if who in (8, 9) else who, value) for r, c, who, value in records]
    assert {b.owners for b in run(table(by_holding), BOX).breaches} == {(7,), (1,)}


def test_two_contributors_together_undo_what_neither_undoes_alone() -> None:
    """(a, u) can move along (b, v) or along (b, w); the two who own those leave it no way."""
    cells = grid({("a", "u"): 1, ("b", "v"): 2, ("b", "w"): 3}, shape=(3, 4))
    alone = run(cells, TWO_BOXES, Assumptions(coalition=1, unions=False))
    assert alone.safe
    together = run(cells, TWO_BOXES, Assumptions(coalition=2, unions=False))
    breach = next(b for b in together.breaches if b.cell == at(cells, "a", "u"))
    assert (breach.attacker, breach.owners) == ("coalition", (2, 3))
    assert breach.says == "the contributors of r b, c v and of r b, c w together can compute r a, c u exactly"
