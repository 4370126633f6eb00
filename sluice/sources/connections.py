"""connections.yaml: which databases, and which folders of files, releases may be read from; the operator's alone.

An address names the secrets that it needs; they are filled in when it is used.
"""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Self

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sluice.documents.document_reading import parse_document, read_yaml
from sluice.ground.databases import IN_FILES, database_url, holds_password
from sluice.ground.errors import DocumentError, did_you_mean
from sluice.ground.readable_tables import ReadableTables
from sluice.settings import settings

BLOCK = "block:"
_PLACEHOLDER = re.compile(rf"\$\{{((?:{BLOCK})?[A-Za-z_][A-Za-z0-9_-]*)\}}")

Secret = Callable[[str], str | None]
"""The secret of a name, None where there is none: of a variable of the environment, or `block:NAME` of Prefect."""


class DatabaseAddress(BaseModel):
    """A SQLAlchemy URL without its secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str = Field(
        description="SQLAlchemy URL; ${NAME} stands for the secret of that name: a password as it is, or the whole URL"
    )
    secrets: tuple[str, ...] = Field(
        default=(), description="variables of the environment, or block:NAME of Prefect: what may stand in the URL"
    )

    @model_validator(mode="after")
    def _names_its_secrets(self) -> Self:
        unlisted = sorted({*_PLACEHOLDER.findall(self.url)} - {*self.secrets})
        if unlisted:
            raise ValueError(f"url: names {', '.join(unlisted)}; list it under 'secrets'")
        if not _PLACEHOLDER.fullmatch(self.url) and holds_password(database_url(self.url), but=_PLACEHOLDER):
            raise ValueError("url: holds a password. Put it into an environment variable, write ${NAME}, list NAME")
        return self

    def at(self, base: Path) -> Self:
        """The same connection; the file of DuckDB or SQLite, where it is relative, lies in `base`."""
        if _PLACEHOLDER.fullmatch(self.url):
            return self
        url = database_url(self.url)
        relative = url.database and url.database[0] not in "/:$"
        if url.get_backend_name() not in IN_FILES or not relative:
            return self
        absolute = url.set(database=str((base / str(url.database)).absolute()))
        return self.model_copy(update={"url": absolute.render_as_string(hide_password=False)})

    def address(self, name: str, secret: Secret) -> sa.URL:
        """The URL with its secrets. Raises DocumentError for one that is not set, or when it is no URL then."""

        def value(variable: str) -> str:
            if not (found := secret(variable)):
                block = variable.removeprefix(BLOCK)
                what = (
                    f"the environment variable {variable}" if block == variable else f"Prefect's secret block {block}"
                )
                raise DocumentError(f"connection '{name}' needs {what}, which is not set")
            return found

        def filled(part: str | None) -> str | None:
            return part and _PLACEHOLDER.sub(lambda each: value(each[1]), part)

        whole = _PLACEHOLDER.fullmatch(self.url)
        try:
            url = database_url(value(whole[1]) if whole else self.url)
        except ValueError as error:
            raise DocumentError(f"connection '{name}': url: {error}") from None
        if whole:
            return url
        options = {option: filled(given) if isinstance(given, str) else given for option, given in url.query.items()}
        return url.set(
            username=filled(url.username),
            password=filled(str(url.password)) if url.password else None,
            host=filled(url.host),
            database=filled(url.database),
            query={option: given for option, given in options.items() if given is not None},
        )


class Connection(DatabaseAddress, ReadableTables):
    """A database that definitions may name, and what of it they may read."""

    queries: bool = Field(default=False, description="whether a definition may write a query over these tables")

    @model_validator(mode="after")
    def _lists_something(self) -> Self:
        if not self.schemas and not self.tables:
            raise ValueError("list the 'schemas' or the 'tables' that may be read")
        return self


class ReadingLimits(BaseModel):
    """How far a release or a command may read one source, of whatever kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int | None = Field(default=None, ge=1, description="most records")
    seconds: float | None = Field(
        default=None, gt=0, description="longest time, from the start of the reading to its last record"
    )


class PublicConnection(DatabaseAddress):
    """A database that releases may be published into, by an account that writes there and reads nothing else."""

    schemas: tuple[str, ...] = Field(min_length=1, description="schemas that releases may be published into")

    @model_validator(mode="after")
    def _asks_no_server_for_secrets(self) -> Self:
        if blocks := [name for name in self.secrets if name.startswith(BLOCK)]:
            raise ValueError(
                f"secrets: must be variables of the environment, as a withdrawal needs them; got {blocks[0]}"
            )
        return self


class Connections(BaseModel):
    """What the operator lets releases read: databases by name, and files below folders."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connections: dict[str, Connection] = Field(default={}, description="each by the name that definitions use")
    publication: dict[str, PublicConnection] = Field(
        default={}, description="databases that releases may be published into, by the name that definitions use"
    )
    files: tuple[Path, ...] | None = Field(
        default=None,
        description="folders below which files may be read; if not given, the definition's own and the current one",
    )

    limits: ReadingLimits = Field(
        default=ReadingLimits(), description="how far a source is read, by releases and commands"
    )

    def at(self, base: Path) -> Self:
        """The same with every path made absolute from `base`."""
        named = {name: connection.at(base) for name, connection in self.connections.items()}
        public = {name: connection.at(base) for name, connection in self.publication.items()}
        folders = None if self.files is None else tuple((base / folder.expanduser()).resolve() for folder in self.files)
        return self.model_copy(update={"connections": named, "publication": public, "files": folders})

    def named(self, name: str) -> Connection:
        """The connection of this name. Raises DocumentError: who can make one, and where."""
        if name not in self.connections:
            known = f" Known: {', '.join(self.connections)}." if self.connections else ""
            raise DocumentError(
                f"there is no connection '{name}'.{did_you_mean(name, self.connections)}{known} "
                f"Whoever runs Sluice names it in {connections_file()}.",
                field="source.connection",
            )
        return self.connections[name]

    def public(self, name: str) -> PublicConnection:
        """The connection of this name that releases are published into. Raises DocumentError: who can make one."""
        if name not in self.publication:
            known = f" Known: {', '.join(self.publication)}." if self.publication else ""
            raise DocumentError(
                f"there is no connection '{name}' to publish into."
                f"{did_you_mean(name, self.publication)}{known} Whoever runs Sluice names it under 'publication' in "
                f"{connections_file()}.",
                field="publish_to.connection",
            )
        return self.publication[name]


def connections_file() -> Path:
    """`SLUICE_CONNECTIONS`, or connections.yaml in the workspace."""
    chosen = settings()
    return chosen.connections or chosen.home / "connections.yaml"


def load_connections() -> Connections:
    """What the operator wrote; nothing but the defaults where there is no such file and none was asked for.

    raises : DocumentError for a wrong file, or one that somebody else owns or may write to
    """
    path = connections_file()
    if not path.exists() and settings().connections is None:
        return Connections()
    written = read_yaml(path)
    found = path.stat()
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DocumentError(
            f"{path}: must belong to the account that runs Sluice, or to root, and nobody else may write to it: "
            f"chmod go-w {path}"
        )
    return parse_document(Connections, written, str(path)).at(path.resolve().parent)
