"""Reading the ledger of 150 releases: statements, rows hashed and time, in one process that reads it again and again.

`sluice status`, the count of earlier attempts in `decide` and the search for earlier editions read all histories; each
publication begins with the full verification.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import sqlalchemy as sa

from sluice.custody.ledger import Ledger
from sluice.custody.ledger_chain import Chain

LIFE = ("received", "validated", "masked", "evaluated", "pending_review", "decision", "decision", "approved",
        "publishing", "published")  # fmt: skip
BODY = {"data": {"sha256": "a" * 64}, "says": "word " * 100}  # about as much as a row holds


def main(quick: bool = False) -> None:
    """Print a line for each way of reading; with `quick` of 15 releases."""
    releases = 15 if quick else 150
    with tempfile.TemporaryDirectory() as folder:
        place, key, anchor = f"sqlite:///{folder}/ledger.db", bytes(32), Path(folder) / "anchor"
        ledger = Ledger(place, key, anchor)
        for number in range(releases):
            for event in LIFE:
                ledger.append(f"release-{number}", event, "amara", BODY)
        ledger = Ledger(place, key, anchor)
        print(f"{releases} releases, {releases * len(LIFE):,} rows")
        print(f"{'':<24} {'statements':>10} {'hashes':>8} {'ms':>8}")
        with _counted() as counts:
            _show(counts, "all histories, first", ledger.histories)
            _show(counts, "all histories, again", ledger.histories)
            _show(counts, "one release", lambda: ledger.entries("release-7"))
            _show(counts, "append", lambda: ledger.append("release-7", "note", "amara", BODY))
            _show(counts, "verify", ledger.verify)


def _show(counts: dict[str, int], what: str, ask: Callable[[], object]) -> None:
    counts.update(statements=0, hashes=0)
    begun = perf_counter()
    ask()
    taken = perf_counter() - begun
    print(f"{what:<24} {counts['statements']:>10,} {counts['hashes']:>8,} {1000 * taken:>8.1f}")


@contextmanager
def _counted() -> Iterator[dict[str, int]]:
    counts, plain = {"statements": 0, "hashes": 0}, Chain.hash_of

    def statement(*_: object) -> None:
        counts["statements"] += 1

    def hashed(chain: Chain, fields: Sequence[Any]) -> str:
        counts["hashes"] += 1
        return plain(chain, fields)

    sa.event.listen(sa.Engine, "before_cursor_execute", statement)
    Chain.hash_of = hashed  # type: ignore[method-assign]
    try:
        yield counts
    finally:
        Chain.hash_of = plain  # type: ignore[method-assign]
        sa.event.remove(sa.Engine, "before_cursor_execute", statement)
