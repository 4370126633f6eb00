"""Where a release may be published beside its files: a schema that the operator lists, by an account of its own."""

import os
import stat
from pathlib import Path

import sqlalchemy as sa

from sluice.ground.dialects import DIALECTS, IN_FILES, MYSQL, PUBLISHABLE, refuse_absent
from sluice.ground.errors import DocumentError, did_you_mean
from sluice.ground.readable_tables import DEFAULT_SCHEMA
from sluice.settings import settings
from sluice.sources.connections import Connections, Secret, connections_file, load_connections
from sluice.sources.tabular_source import missing_file

_HERE = ("", "localhost", "127.0.0.1", "::1")


def permitted_schema(connection: str, into: str, secret: Secret = os.environ.get) -> str:
    """The URL, with its secrets, of the database that a definition's `publish_to` names.

    Whoever writes where the sources are could change what is released; so the account that reads a database of sources
    publishes into none.

    raises : DocumentError: who may allow the connection or the schema; for an account that reads; for a kind of
             database that was not tried; for a file that others may write. DataError for a missing driver or file
    """
    listed = load_connections()
    public = listed.public(connection)
    if into not in public.schemas:
        raise DocumentError(
            f"nothing may be published into '{into}' of '{connection}'; it lists "
            f"{', '.join(public.schemas)}.{did_you_mean(into, public.schemas)} Whoever runs Sluice can list another in "
            f"{connections_file()}",
            field="publish_to.into",
        )
    url = public.address(connection, secret)
    backend = url.get_backend_name()
    if backend not in PUBLISHABLE:
        raise DocumentError(
            f"'{connection}' must be a database of {', '.join(PUBLISHABLE)}, of which it was "
            f"tried that they keep what is written; got {backend}",
            field="publish_to.connection",
        )
    refuse_absent(url, f"connection '{connection}'")
    if backend in IN_FILES:
        url = url.set(database=str(_own_file(connection, url)))
    _refuse_account_that_reads(connection, url, listed, secret)
    if backend not in IN_FILES and into in schemas_of_sources(url, secret):
        raise DocumentError(
            f"releases are read from '{into}' of the same server, so whoever publishes there could "
            "change what is released; publish into another schema",
            field="publish_to.into",
        )
    return url.render_as_string(hide_password=False)


def schemas_of_sources(url: sa.URL, secret: Secret = os.environ.get) -> tuple[str, ...]:
    """The schemas that sources are read from in the same database: an account that publishes must not see them."""
    found = set()
    for name, reading in load_connections().connections.items():
        try:
            other = reading.address(name, secret)
        except DocumentError:  # a secret is not set: nothing is read by it now
            continue
        if _server(other) == _server(url):
            schemas = (*reading.schemas, *(table.rpartition(".")[0] for table in reading.tables))
            found |= {schema or DEFAULT_SCHEMA.get(url.get_backend_name(), "") for schema in schemas}
    return tuple(sorted(found - {""}))


def _own_file(connection: str, url: sa.URL) -> Path:
    """The file of a database, links followed; as on the shelf, only this account may change it."""
    path = Path(os.path.realpath(str(url.database)))
    if not url.database or not path.is_file():
        raise missing_file(path)
    if path.is_relative_to(settings().home):
        raise DocumentError(
            f"the file of '{connection}' must lie apart from the workspace", field="publish_to.connection"
        )
    if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) or path.stat().st_uid not in (0, os.geteuid()):
        raise DocumentError(
            f"the file of '{connection}' must belong to the account that runs Sluice, and "
            f"nobody else may write to it: chmod go-w {path}",
            field="publish_to.connection",
        )
    return path


def _refuse_account_that_reads(connection: str, url: sa.URL, listed: Connections, secret: Secret) -> None:
    for name, reading in listed.connections.items():
        try:
            other = reading.address(name, secret)
        except DocumentError:  # a secret is not set: nothing is read by it now
            continue
        if _account(other) == _account(url):
            raise DocumentError(
                f"'{connection}' is the account that '{name}' reads sources by; publish by "
                "another one, which may not read them",
                field="publish_to.connection",
            )


def _account(url: sa.URL) -> tuple[object, ...]:
    """What tells the account of one address from that of another: of a file the file itself."""
    if url.get_backend_name() in IN_FILES:
        return (os.path.realpath(str(url.database)),)
    return (*_host(url), url.username, *((url.database,) if url.username is None else ()))


def _server(url: sa.URL) -> tuple[object, ...]:
    """What tells the schemas of one address from those of another of the same names."""
    database = url.database if url.get_backend_name() == "postgresql" else None
    return (*_host(url), database)


def _host(url: sa.URL) -> tuple[object, ...]:
    """Kind of database, host and port; this machine has several names, and each server its usual port."""
    backend = url.get_backend_name()
    host = str(url.host or url.query.get("host") or "").lower().rstrip(".")
    usual = DIALECTS[backend].ports[:1] if backend in DIALECTS else ()
    here = host in _HERE or host.startswith("/")
    return ("mysql" if backend in MYSQL else backend, "" if here else host, url.port or next(iter(usual), None))
