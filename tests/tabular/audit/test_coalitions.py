"""Contributors who know a suppressed cell, alone and together."""

from itertools import combinations

import numpy as np

from sluice.tabular.audit.coalitions import Exposed, Insiders
from sluice.tabular.audit.proven_interval import ProvenInterval
from sluice.tabular.model.assumptions import Assumptions
from tests.golden import golden
from tests.tabular.generated import generated
from tests.tabular.grids import BOX, RULES, TWO_BOXES, at, grid, needs_of, run, table


def test_a_sole_contributor_undoes_a_box() -> None:
    outcome = run(grid({("a", "u"): 1, ("b", "v"): 2}), BOX)
    by_owner = sorted(outcome.breaches, key=lambda breach: breach.owners)
    assert [(b.attacker, b.owners, b.exact) for b in by_owner] == [
        ("contributor", (1,), True),
        ("contributor", (2,), True),
    ]
    golden([breach.says for breach in by_owner])
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
    golden(breach.says)


def test_what_two_have_of_a_cell_together_is_what_they_know_of_it() -> None:
    """(b, v) has 120 of four firms; that it falls by 65 is news to one of 30, and none to two of them."""
    cells = grid({("a", "u"): 1}, others=4, value=30)
    free = np.ones(len(cells), dtype=bool)
    needs = needs_of(cells)
    cell = at(cells, "b", "v")
    owners = [int(owner) for owner in cells.owners[cell, :4]]
    alone, together = (Insiders(cells, free, needs, RULES, size, np.zeros(len(cells))) for size in (1, 2))
    assert (alone.spare[cell], together.spare[cell], alone.spare[at(cells, "a", "u")]) == (90, 60, -1)
    proof = ProvenInterval(65.0, 65.0, np.array([cell]), np.array([65.0]))
    far, less = (Exposed(np.array([cell]), np.array([fall])) for fall in (65.0, 60.0))
    (nothing,), (found,) = alone.exposed([proof]), together.exposed([proof])
    assert len(nothing.cells) == 0
    assert (found.cells.tolist(), found.falls.tolist()) == ([cell], [65.0])
    pairs = {frozenset(pair) for pair in combinations(owners, 2)}
    assert together.joined(frozenset(), far) == pairs
    assert together.joined(frozenset(owners[:1]), far) == {pair for pair in pairs if owners[0] in pair}
    assert together.refutes(frozenset(owners[:2]), far)
    assert not together.refutes(frozenset(owners[:1]), far)
    assert together.joined(frozenset(), less) == set()


def test_a_part_of_a_cell_that_two_own_together_is_known_to_each_of_them() -> None:
    records = [("a", "u", 1, 95), ("a", "u", 2, 5), ("a", "v", 3, 50), ("b", "u", 4, 50), ("b", "v", 5, 50)]
    cells = table(records)
    needs = needs_of(cells)
    insiders = Insiders(cells, np.ones(len(cells), dtype=bool), needs, RULES, 2, np.zeros(len(cells)))
    cell = at(cells, "a", "u")
    assert insiders.joined(frozenset(), Exposed(np.array([cell]), np.array([10.0]))) == {
        frozenset({1}),
        frozenset({1, 2}),
    }
    question = insiders.question(cell, frozenset({1, 4}), np.zeros(len(cells), dtype=np.int32))
    limits = dict(zip(question.limited.tolist(), zip(question.lower, question.upper, strict=True), strict=True))
    assert limits[cell] == (-5, np.inf)
    assert limits[at(cells, "b", "u")] == (0, 0)
    assert limits[at(cells, "Total", "u")] == (-5, np.inf)  # 145 of 150


def test_whoever_refutes_a_proof_is_among_those_who_join_from_nobody() -> None:
    """Proofs of random cells that fall by random parts; every contributor, one by one and by the list."""
    cells, rng = generated("several records"), np.random.default_rng(1)
    needs = needs_of(cells)
    alone = Insiders(cells, np.ones(len(cells), dtype=bool), needs, RULES, 1, np.zeros(len(cells)))
    owners = np.unique(cells.owners[cells.owners >= 0]).tolist()
    found = 0
    for _ in range(40):
        moved = rng.choice(len(cells), 6, replace=False)
        exposed = Exposed(moved, rng.random(len(moved)) * cells.total[moved])
        listed = alone.joined(frozenset(), exposed)
        for owner in owners:
            assert (frozenset([owner]) in listed) == alone.refutes(frozenset([owner]), exposed)
        found += len(listed)
        assert all(not alone.joined(who, exposed) for who in listed)
    assert found > 40
