"""What the operator permits a release: which sources it may read, and into which schemas it may be published.

A source as a definition names it is allowed by the operator and ready to be read; a schema is one that the operator
lists, written by an account of its own.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from sluice.documents.document_reading import named_file, parse_document, read_yaml
from sluice.ground.databases import DIALECTS, IN_FILES, MYSQL, PUBLISHABLE, database_url, refuse_absent
from sluice.ground.errors import DocumentError, SluiceError, did_you_mean
from sluice.ground.readable_tables import DEFAULT_SCHEMA, ReadableTables
from sluice.settings import settings
from sluice.sources.connections import Connections, Secret, connections_file, load_connections
from sluice.sources.sources import ConnectionSource, DatabaseFile, Source
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource, missing_file

_HERE = ("", "localhost", "127.0.0.1", "::1")

_OF_THE_SYSTEM = (Path("/proc"), Path("/sys"))  # environments of processes, among others


def permitted_source(source: Source, base: Path, secret: Secret = os.environ.get) -> TabularSource:
    """The source that a definition in the folder `base` names, with absolute paths, links followed, secrets filled in.

    raises : DocumentError for a connection that is not there, or a file that may not be read; DataError for a file that
             is not there. Whether a table may be read is said when it is, see `SqlSource.readable`
    """
    if isinstance(source, ConnectionSource):
        return _of_connection(source, secret)
    if isinstance(source, DatabaseFile):
        path = permitted_file(base, source.path, "source.path")
        return SqlSource(url=file_url(source, path), table=source.table, query=source.query)
    return source.relocated(lambda field, path: str(permitted_file(base, path, f"source.{field}")))


def meaning_of(source: Source) -> str:
    """What the name of a connection stands for, as the operator wrote it and without its secrets; empty for a file."""
    if not isinstance(source, ConnectionSource):
        return ""
    return load_connections().named(source.connection).model_dump_json()


def permitted_file(base: Path, given: str, where: str) -> Path:
    """The file that a definition in the folder `base` names in the field `where`, links followed.

    raises : DocumentError unless it lies below a folder that may be read; says who may allow it. DataError where there
             is no such file
    """
    written, found = base / Path(given).expanduser(), named_file(base, given, where)
    if any(found.is_relative_to(folder) for folder in _OF_THE_SYSTEM):
        raise DocumentError(f"must lie outside of /proc and /sys; got '{given}'", field=where)
    folders = _folders(base)
    if not any(found.is_relative_to(folder) for folder in folders):
        leads = "" if found == Path(os.path.normpath(written.absolute())) else " leads by a link to another place and"
        raise DocumentError(
            f"'{given}'{leads} may not be read. Files are read below "
            f"{' and '.join(map(str, folders)) or 'no folder'}; {_way_out(base, found)}",
            field=where,
        )
    if not found.is_file():
        raise missing_file(found)
    return found


def _way_out(base: Path, found: Path) -> str:
    """How a file comes to be read: by the connections.yaml of the definition's project, where that lists its folder."""
    for place in dict.fromkeys(Path(os.path.realpath(each)) for each in (base, base.parent, settings().project)):
        drafted = place / "connections.yaml"
        with suppress(SluiceError, OSError):
            folders = parse_document(Connections, read_yaml(drafted), str(drafted)).at(place).files or ()
            if drafted != connections_file() and any(found.is_relative_to(folder) for folder in folders):
                return f"{drafted} lists its folder, and is not in force: export SLUICE_CONNECTIONS={drafted}"
    return f"whoever runs Sluice can list another folder under 'files' of {connections_file()}"


def _folders(base: Path) -> list[Path]:
    """Where files may be read; by default in the definition's folder and the project, but never everywhere."""
    listed = load_connections().files
    folders = (base, settings().project) if listed is None else listed
    whole = Path("/")
    resolved = dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders)
    return [folder for folder in resolved if listed is not None or folder != whole]


def _of_connection(source: ConnectionSource, secret: Secret) -> SqlSource:
    connection = load_connections().named(source.connection)
    if source.query is not None and not connection.queries:
        raise DocumentError(
            f"the connection '{source.connection}' takes no queries; name a table. The operator can "
            f"make a view, or set 'queries: true' in {connections_file()}",
            field="source.query",
        )
    url = connection.address(source.connection, secret)
    refuse_absent(url, f"connection '{source.connection}'")
    if url.get_backend_name() in IN_FILES and url.database and url.database[0] not in ":$":
        url = url.set(database=os.path.realpath(url.database))
    return SqlSource(
        url=url.render_as_string(hide_password=False),
        table=source.table,
        query=source.query,
        readable=ReadableTables(schemas=connection.schemas, tables=connection.tables),
    )


def file_url(source: DatabaseFile, path: Path) -> str:
    """The address of a database in a file. Raises DocumentError for a path that no address holds."""
    url = sa.URL.create(source.type, database=str(path)).render_as_string()
    if database_url(url).database != str(path):
        raise DocumentError(
            "the name of a database's file must hold no sign that addresses reserve: ? % #", field="source.path"
        )
    return url


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
