"""The address of a database as the operator writes it: its secrets are named, and filled in when it is used."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Self

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sluice.ground.database_url import database_url, holds_password
from sluice.ground.dialects import IN_FILES
from sluice.ground.errors import DocumentError

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
