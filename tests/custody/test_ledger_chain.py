"""The chain of hashes, without a database: whatever is done to its rows is found."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.ledger_chain import FIELDS, START, Chain

CHAIN = Chain(bytes(range(32)))


def rows(count: int, chain: Chain = CHAIN) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for seq in range(1, count + 1):
        fields = {
            "seq": seq,
            "at": f"2026-01-{seq:02}",
            "release": "r",
            "event": "note",
            "actor": "amara",
            "body": "{}",
        }
        row = {**fields, "previous": made[-1]["hash"] if made else START}
        made.append({**row, "hash": chain.hash(row)})
    return made


def test_what_was_chained_is_whole() -> None:
    assert CHAIN.problems([], 0) == []
    assert CHAIN.problems(rows(9), 9) == []


@given(st.integers(1, 9), st.sampled_from([*FIELDS, "hash"]))
def test_any_field_of_any_row_that_changes_is_found(at: int, field: str) -> None:
    changed = rows(9)
    changed[at - 1][field] = 99 if field == "seq" else "x"
    assert not CHAIN.fits(changed[at - 1])
    assert CHAIN.problems(changed, 9)


@given(st.integers(1, 8))
def test_a_row_that_is_left_out_before_the_end_is_found(at: int) -> None:
    held = rows(9)
    assert CHAIN.problems(held[: at - 1] + held[at:], 9)[0] == f"row {at} is missing"


@given(st.permutations(range(9)))
def test_rows_in_another_order_are_found(order: list[int]) -> None:
    held = rows(9)
    moved = [{**held[old], "seq": new} for new, old in enumerate(order, start=1)]
    assert bool(CHAIN.problems(moved, 9)) is (order != list(range(9)))


def test_rows_under_another_key_do_not_fit() -> None:
    problems = CHAIN.problems(rows(3, Chain(bytes(32))), 3)
    assert problems == [f"row {seq} was changed or forged: its hash does not fit its content" for seq in (1, 2, 3)]
