"""The keys of an office over the years: whose each was, and from when to when, by the rosters that were in force.

Whoever verifies a folder of three years ago needs the keys of then, and must not take one that ended for one that
counts.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from policies.people import Roster
from sluice.custody.signing.allowed_signers import PUBLISHER, AllowedSigner, signer_name
from sluice.custody.signing.public_key import PublicKey


def key_history(rosters: Sequence[tuple[datetime, Roster]]) -> list[AllowedSigner]:
    """Every key that ever counted, with its times: of each holder in one piece, or in several where it was off between.

    rosters : each that was in force, first to last, with the time at which it came into force; it ends with the next
    """
    pieces: dict[tuple[str, PublicKey], list[AllowedSigner]] = {}
    ends = [*(since for since, _ in rosters[1:]), None]
    for (since, roster), end in zip(rosters, ends, strict=True):
        for name, person in roster.people.items():
            after = max(filter(None, (since, _midnight(person.valid_from))))
            before = min(filter(None, (end, _midnight(person.valid_until, 1))), default=None)
            if before is not None and before <= after:
                continue
            for key in person.public_keys:
                found = pieces.setdefault((signer_name(name), key), [])
                if found and found[-1].before == after:
                    found[-1] = replace(found[-1], before=before)
                else:
                    found.append(AllowedSigner((signer_name(name),), key, after, before))
    return [piece for found in pieces.values() for piece in found]


def publisher_history(first: PublicKey, later: Sequence[tuple[datetime, PublicKey]]) -> list[AllowedSigner]:
    """The keys by which the installation signed what it published, each up to the adoption of the next.

    later : each that was adopted in the place of the one before, and when
    """
    begins, ends = [None, *(since for since, _ in later)], [*(since for since, _ in later), None]
    keys = (first, *(key for _, key in later))
    return [
        AllowedSigner((PUBLISHER,), key, after, before) for key, after, before in zip(keys, begins, ends, strict=True)
    ]


def _midnight(day: date | None, later: int = 0) -> datetime | None:
    """The beginning of a day, or of one that many days later, in UTC."""
    return None if day is None else datetime.combine(day + timedelta(days=later), time(), UTC)
