"""What a release may read: a source as a definition names it, allowed by the operator and ready to be read."""

import os
from pathlib import Path

import sqlalchemy as sa

from sluice.documents.documents import named_file
from sluice.ground.database_url import database_url
from sluice.ground.dialects import IN_FILES, refuse_absent
from sluice.ground.errors import DocumentError
from sluice.ground.readable_tables import ReadableTables
from sluice.settings import settings
from sluice.sources.connections import Secret, connections_file, load_connections
from sluice.sources.sources import ConnectionSource, DatabaseFile, Source
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource, missing_file

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
            f"{' and '.join(map(str, folders)) or 'no folder'}; whoever runs Sluice can list another folder under "
            f"'files' of {connections_file()}",
            field=where,
        )
    if not found.is_file():
        raise missing_file(found)
    return found


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
