"""The reader itself: it finds what can be found, on tables small enough to list every possibility."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.golden import golden
from tests.reader.knowledge import anybody, largest_sensitive_count, who_knows_the_status
from tests.reader.published import Hierarchy, Published, read_tables
from tests.reader.solve import Solver, suppressed

A, B = (Hierarchy.flat(name, [f"{name}{i}" for i in range(3)]) for name in "ab")


def table(inner: np.ndarray, hidden: set[tuple[str, str]]) -> Published:
    lines = ["a,b,status,value"]
    for i, j in product([0, 1, 2, None], repeat=2):
        total = int(inner[np.s_[:] if i is None else i, np.s_[:] if j is None else j].sum())
        cell = ("Total" if i is None else f"a{i}", "Total" if j is None else f"b{j}")
        if total:
            lines.append(f"{','.join(cell)},{'suppressed,' if cell in hidden else f'published,{total}'}")
    return read_tables(["\n".join(lines)], [A, B])


def by_hand(published: Published, most: int) -> dict[tuple[str, ...], tuple[int, int]]:
    """Every table of 1 to `most` in the suppressed cells, all most ** hidden of them tried at once."""
    hidden = np.flatnonzero(suppressed(published))
    if not len(hidden):
        return {}
    tried = np.indices((most,) * len(hidden), dtype=np.int16).reshape(len(hidden), -1) + 1
    equations = published.equations.toarray().astype(np.int16)
    rest = equations @ np.where(suppressed(published), 0, published.value).astype(np.int16)
    for weights, shown in zip(equations[:, hidden], rest, strict=True):
        tried = tried[:, weights @ tried + shown == 0]
    return {published.cells[at]: (values.min(), values.max()) for at, values in zip(hidden, tried, strict=True)}


@given(
    st.lists(st.integers(0, 3), min_size=9, max_size=9).filter(any), st.sets(st.integers(0, 8), min_size=2, max_size=6)
)
def test_intervals_are_those_of_all_tables(values: list[int], which: set[int]) -> None:
    inner = np.array(values).reshape(3, 3)
    published = table(inner, {(f"a{at // 3}", f"b{at % 3}") for at in which})
    solver = Solver(published, *anybody(published, counts=True))
    for cell, ends in by_hand(published, 9).items():
        found = solver.interval(published.place[cell])
        assert (found.low, found.high, found.tight) == (*ends, True)


def test_who_knows_more_is_nearer_and_leaves_no_trace() -> None:
    inner = np.array([[1, 4, 5], [4, 9, 5], [5, 5, 5]])
    published = table(inner, {(f"a{i}", f"b{j}") for i in (0, 1) for j in (0, 1)})
    solver, corner = Solver(published, *anybody(published, counts=True)), published.place["a0", "b0"]
    before = solver.interval(corner)
    assert (before.low, before.high) == (1, 4)
    assert solver.interval(corner, {published.place["a0", "b1"]: (3, 9)}).high == 2
    assert solver.interval(corner) == before
    primary = np.array([cell == ("a0", "b0") for cell in published.cells])
    assert Solver(published, *who_knows_the_status(published, primary, 2)).interval(corner).high == 2


def test_what_contradicts_itself_fits_no_table() -> None:
    published = table(np.full((3, 3), 2), {("a0", "b0"), ("a0", "b1"), ("a1", "b0"), ("a1", "b1")})
    lower, upper = anybody(published, counts=True)
    lower[published.place["a0", "b0"]] = 5
    with golden.raises(ValueError):
        Solver(published, lower, upper).interval(published.place["a0", "b1"])


def test_the_largest_sensitive_count_is_the_rules_own() -> None:
    assert largest_sensitive_count([{"rule": "minimum_frequency", "n": 5}]) == 4
    assert largest_sensitive_count([{"rule": "p_percent", "p": 10}]) == 2
    assert largest_sensitive_count([{"rule": "dominance", "n": 1, "k": 40}]) == 2
