"""The Merkle tree over the rows of a ledger: one hash that commits to all of them, in their order.

Hashed as certificate transparency does it (RFC 9162, 2.1.1; the same as in RFC 6962), with SHA-256: a leaf is
H(0x00 || entry), a node H(0x01 || left || right), and of n entries the left subtree has the largest power of two that
is smaller than n. Nobody can find another list with the same root, and no node passes for a leaf.
"""

import hashlib
from collections.abc import Collection, Iterable


def roots(entries: Iterable[bytes], sizes: Collection[int]) -> dict[int, bytes]:
    """The roots of the trees over the first entries: size -> root, for those of the sizes that there are entries for.

    cost : O(n) hashes, and O(log n) for each size; O(log n) memory
    """
    wanted, found = set(sizes), {}
    complete: list[tuple[int, bytes]] = []  # the complete subtrees from left to right: number of leaves, root
    if 0 in wanted:
        found[0] = hashlib.sha256(b"").digest()
    for size, entry in enumerate(entries, 1):
        complete.append((1, hashlib.sha256(b"\x00" + entry).digest()))
        while len(complete) > 1 and complete[-2][0] == complete[-1][0]:
            (leaves, left), (_, right) = complete[-2:]
            complete[-2:] = [(2 * leaves, _node(left, right))]
        if size in wanted:
            root = complete[-1][1]
            for _, left in complete[-2::-1]:
                root = _node(left, root)
            found[size] = root
    return found


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
