"""The chain of hashes, without a database: whatever is done to its rows is found."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.ledger_chain import FIELDS, START, Anchor, Chain, roots

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


# The anchor: it moves forward only, and nobody without the key can write it.


KEY = bytes(32)


def test_it_names_the_last_row_and_never_moves_back(tmp_path: Path) -> None:
    anchor = Anchor(tmp_path / "anchor", KEY)
    assert anchor.read() is None
    anchor.move(3, "c" * 64)
    anchor.move(2, "b" * 64)  # of two appends that end together the later row stays
    assert anchor.read() == (3, "c" * 64)
    anchor.move(4, "d" * 64)
    assert anchor.read() == (4, "d" * 64)
    assert (tmp_path / "anchor").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "3 cc", "x cc mac", "3 cc mac mac", f"2 {'c' * 64} {{mac}}"])
def test_another_text_is_not_believed(tmp_path: Path, content: str) -> None:
    anchor = Anchor(tmp_path / "anchor", KEY)
    anchor.move(3, "c" * 64)
    mac = anchor.path.read_text().split()[2]
    anchor.path.write_text(content.format(mac=mac))
    assert anchor.read() is None


def test_another_key_does_not_fit(tmp_path: Path) -> None:
    Anchor(tmp_path / "anchor", KEY).move(1, "a" * 64)
    assert Anchor(tmp_path / "anchor", bytes(31) + b"x").read() is None


# The Merkle tree: the published roots of certificate transparency, the definition, and what a root commits to.


ENTRIES = st.lists(st.binary(max_size=40), max_size=40)

# The entries and roots that implementations of certificate transparency test themselves with (google/
# certificate-transparency, merkletree/merkle_tree_test). Their proofs are not checked: there are none here.
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def test_the_roots_are_those_of_certificate_transparency() -> None:
    found = roots(map(bytes.fromhex, LEAVES), range(9))
    assert [found[size].hex() for size in range(9)] == ROOTS


def defined(entries: list[bytes]) -> bytes:
    """RFC 9162, 2.1.1, as it stands there."""
    if len(entries) < 2:
        return hashlib.sha256(b"\x00" + entries[0] if entries else b"").digest()
    left = 1 << (len(entries) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + defined(entries[:left]) + defined(entries[left:])).digest()


@given(ENTRIES)
def test_each_root_is_that_of_the_definition(entries: list[bytes]) -> None:
    sizes = range(len(entries) + 1)
    assert roots(entries, sizes) == {size: defined(entries[:size]) for size in sizes}


@given(ENTRIES.filter(bool), st.data())
def test_another_list_has_another_root(entries: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(entries) - 1))
    other = list(entries)
    match data.draw(st.sampled_from(["changed", "removed", "added", "moved"])):
        case "changed":
            other[place] += b"!"
        case "removed":
            del other[place]
        case "added":
            other.insert(place, entries[place])
        case "moved":
            other.insert(0, other.pop(place))
    same = roots(other, [len(other)])[len(other)] == roots(entries, [len(entries)])[len(entries)]
    assert same == (other == entries)


def test_no_node_passes_for_a_leaf() -> None:
    """Without the prefixes, the two leaves' hashes in one entry would be a list of one with the root of the two."""
    leaves = [hashlib.sha256(b"\x00" + entry).digest() for entry in (b"a", b"b")]
    assert roots([b"".join(leaves)], [1])[1] != roots([b"a", b"b"], [2])[2]


@pytest.mark.parametrize("size", [3, -1])
def test_a_size_that_there_are_no_entries_for_has_no_root(size: int) -> None:
    assert roots([b"a", b"b"], [size]) == {}
