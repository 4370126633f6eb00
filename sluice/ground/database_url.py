"""The address of a database, and the driver that it is read with."""

import os
import re

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from sluice.ground.dialects import with_driver

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_OPTION = re.compile(
    r"\w*(password|passwd|pwd|passphrase|token|secret|credentials\w*|access_key\w*|api_?key|private_key)", re.IGNORECASE
)
_WITHIN_ODBC = re.compile(r"\b(?:pwd|password)\s*=\s*([^;]*)", re.IGNORECASE)


def database_url(address: str | sa.URL) -> sa.URL:
    """The address with our driver, unless it names one: `postgresql://` means `postgresql+psycopg://`.

    SQLAlchemy's own choice is often another, which is not installed.

    raises : ValueError when it is no address; its text repeats nothing of it, which may hold a password
    """
    try:
        url = sa.make_url(address)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise ValueError("no address of a database, such as postgresql://user@host/database") from None
    return with_driver(url)


def typed_address(written: str) -> str:
    """An address as a person types it at the terminal: without a password, or ${NAME} of an environment variable.

    raises : ValueError; its text repeats nothing of it
    """
    if variable := _VARIABLE.fullmatch(written):
        if not os.environ.get(variable[1]):
            raise ValueError(f"the environment variable {variable[1]} is not set")
        return os.environ[variable[1]]
    if holds_password(database_url(written)):
        raise ValueError(
            "the address holds a password, which your shell's history may hold now, too. Read it whole into an "
            "environment variable, where no history keeps it (read -rs WAREHOUSE; export WAREHOUSE), and write "
            "'${WAREHOUSE}'"
        )
    return written


def holds_password(url: sa.URL, *, but: re.Pattern[str] | None = None) -> bool:
    """Whether a password stands in an address, or an option that is called like one; `but` what such a pattern fits."""
    given = [url.password or "", *(str(url.query[name]) for name in url.query if _SECRET_OPTION.fullmatch(name))]
    given += _WITHIN_ODBC.findall(str(url.query.get("odbc_connect", "")))
    return any(value and not (but and but.fullmatch(value)) for value in map(str, given))
