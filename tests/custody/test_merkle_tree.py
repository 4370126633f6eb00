"""The Merkle tree: the published roots of certificate transparency, the definition, and what a root commits to."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.ledger_chain import roots

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
