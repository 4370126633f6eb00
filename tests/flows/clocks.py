"""A clock that is ahead, or behind, to be put in the place of `datetime` in a module."""

from datetime import UTC, datetime, timedelta


def in_days(days: float) -> type[datetime]:
    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime.now(UTC) + timedelta(days=days)

    return Later
