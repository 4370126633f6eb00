"""The address of a database, and the driver that it is read with."""

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

_DRIVERS = {"postgresql": "postgresql+psycopg"}  # SQLAlchemy's own choice is psycopg2, which is not installed


def database_url(address: str | sa.URL) -> sa.URL:
    """The address with our driver, unless it names one: `postgresql://` means `postgresql+psycopg://`.

    raises : ValueError when it is no address; its text repeats nothing of it, which may hold a password
    """
    try:
        url = sa.make_url(address)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise ValueError("no address of a database, such as postgresql://user@host/database") from None
    return url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
