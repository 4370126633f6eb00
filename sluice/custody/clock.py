"""Clocks: this machine's beside those that a ledger knows. Where it was set back, expired approvals hold again."""

from datetime import UTC, datetime, timedelta

from sluice.custody.ledger import CLOCK_TOLERANCE, Ledger
from sluice.ground.errors import SluiceError


def clock_faults(ledger: Ledger) -> list[str]:
    """How this machine's clock disagrees with the ledger's rows and its database, in words; empty where it does not.

    raises : as `Ledger.entries`
    """
    now, faults = datetime.now(UTC), []
    latest = max((datetime.fromisoformat(entry.at) for entry in ledger.entries()), default=now)
    if latest - now > CLOCK_TOLERANCE:
        faults.append(f"the clock of this machine is {_apart(latest - now)} behind the ledger's latest row")
    there = ledger.database_clock()
    if there is not None and abs(there - now) > CLOCK_TOLERANCE:
        word = "behind" if there > now else "ahead of"
        faults.append(f"the clock of this machine is {_apart(abs(there - now))} {word} that of the ledger's database")
    return faults


def refuse_wrong_clock(ledger: Ledger) -> None:
    """Raise SluiceError where this machine's clock cannot be believed, so that nobody knows which approvals hold."""
    if faults := clock_faults(ledger):
        raise SluiceError(
            f"{' and '.join(faults)}: it is unknown which approvals, waivers and retentions are in force. Set the "
            "clocks right"
        )


def _apart(difference: timedelta) -> str:
    seconds = int(difference.total_seconds())
    return f"{seconds // 86400} days" if seconds >= 2 * 86400 else f"{seconds // 60} minutes"
