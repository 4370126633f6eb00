"""The settings of an installation: environment variables that begin with SLUICE_, the one place that reads them."""

import os
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from sluice.ground.document_faults import faults
from sluice.ground.errors import DocumentError
from sluice.ground.log import Form
from sluice.ground.machine import memory, processors
from sluice.notices.mail import Address, MailServer, is_safe

PREFIX = "SLUICE_"

_NEARLY = 0.8  # of 1: so like the name of a setting that it is a slip; others may use the prefix for their own
_RUN = "PREFECT__FLOW_RUN_ID"
_PATIENCE = (60.0, 5.0)  # seconds: of a worker's run, at which nobody waits, and of a command
_LEAST_SECRET = 16  # characters
_LEAST_MEMORY = 64 << 20  # bytes; DuckDB sorts nothing with less


def _size(written: Any) -> int:
    try:
        size = int(TypeAdapter(ByteSize).validate_python(written))
    except ValidationError:
        size = 0
    if size < _LEAST_MEMORY:
        raise ValueError(f"must be a size of at least {_LEAST_MEMORY >> 20}MiB, such as 2GB")
    return size


def _web_address(written: str) -> str:
    if not written.startswith(("https://", "http://")):
        raise ValueError("must be an address that begins with https:// or http://")
    return written


Place = Annotated[Path, AfterValidator(Path.resolve)]
Count = Annotated[int, Field(ge=1)]
Web = Annotated[str, AfterValidator(_web_address)]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")]


class Settings(BaseSettings):
    """Where an installation keeps what it keeps, and how much of the machine it uses."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    home: Place = Field(default=Path(".sluice"), validate_default=True, description="the workspace, with the vault")
    project: Place = Field(
        default=Path(), validate_default=True, description="the project: where the names in deployments begin"
    )
    ledger_url: str | None = Field(default=None, repr=False, description="the ledger's database; else SQLite in home")
    timestamp_url: Web | None = Field(default=None, description="the time-stamping authority that stamps manifests")
    timestamp_certificates: Place | None = Field(
        default=None, validate_default=True, description="the certificates by which its stamps are verified, in PEM"
    )
    connections: Place | None = Field(
        default=None, description="connections.yaml: what releases may be read from; else connections.yaml in home"
    )
    reports_url: Web | None = Field(default=None, description="where the workspace's folder of reports is served")
    smtp_url: str | None = Field(default=None, description="the mail server that takes notices; else none are mailed")
    smtp_password: SecretStr | None = Field(default=None, description="its password, for the user whom the URL names")
    mail_from: Address | None = Field(default=None, validate_default=True, description="from whom notices are")
    webhook_url: str | None = Field(default=None, description="the address to which notices are posted")
    webhook_secret: SecretStr | None = Field(
        default=None, validate_default=True, description="the secret by which what is posted there is signed"
    )
    openlineage_url: str | None = Field(
        default=None, description="the address of a catalogue of data to which events of OpenLineage are posted"
    )
    openlineage_key: SecretStr | None = Field(default=None, description="the key by which it knows this installation")
    openlineage_namespace: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        default="sluice", description="the namespace of jobs there, by which it tells offices apart"
    )
    remind_days: Annotated[int, Field(ge=1, le=366)] = Field(
        default=3, description="days that a release waits until people are reminded, and between reminders"
    )
    escalate_days: Annotated[int, Field(ge=1, le=366)] = Field(
        default=7, description="days that a release waits until the head is told"
    )
    hsm_pin: SecretStr | None = Field(default=None, description="the PIN of the token to sign by; else it is asked for")
    workers: Count = Field(default_factory=processors, description="processes for what can be split")
    threads: Count = Field(default_factory=processors, description="threads of one process")
    memory: Annotated[int, BeforeValidator(_size)] = Field(
        default_factory=lambda: memory() // 4, description="bytes for DuckDB before it uses the disk"
    )
    patience: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default_factory=lambda: _PATIENCE[_RUN not in os.environ],
        description="seconds in which a connection that fails is tried again; 0: never",
    )
    commit: Commit | None = Field(default=None, description="the commit that was installed, for `sluice --version`")
    log: Form | None = Field(default=None, description="the form of the log on standard error; else none is written")

    @field_validator("timestamp_certificates")
    @classmethod
    def _are_known(cls, given: Path | None, others: ValidationInfo) -> Path | None:
        if given is None and others.data.get("timestamp_url"):
            raise ValueError("must name the certificates of the authority that SLUICE_TIMESTAMP_URL names")
        return given

    @field_validator("smtp_url")
    @classmethod
    def _is_mail_server(cls, given: str | None) -> str | None:
        if given is not None:
            MailServer.parse(given)
        return given

    @field_validator("mail_from")
    @classmethod
    def _has_sender(cls, given: str | None, others: ValidationInfo) -> str | None:
        if given is None and others.data.get("smtp_url"):
            raise ValueError("must be the address that notices are from, as SLUICE_SMTP_URL is set")
        return given

    @field_validator("webhook_secret")
    @classmethod
    def _is_signed(cls, given: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        url = others.data.get("webhook_url")
        if url and (given is None or len(given.get_secret_value()) < _LEAST_SECRET):
            raise ValueError(f"must have at least {_LEAST_SECRET} characters, as SLUICE_WEBHOOK_URL is set")
        return given

    @field_validator("openlineage_key")
    @classmethod
    def _is_ascii(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None and not (given.get_secret_value().isascii() and given.get_secret_value().isprintable()):
            raise ValueError("must be a key of printable ASCII characters")
        return given

    @field_validator("webhook_url", "openlineage_url")
    @classmethod
    def _is_safe(cls, given: str | None) -> str | None:
        if given is not None and not is_safe(given):
            raise ValueError("must be an address that begins with https://")
        return given

    @property
    def mail_server(self) -> MailServer | None:
        """The server that takes notices, if there is one."""
        secret = self.smtp_password.get_secret_value() if self.smtp_password else ""
        return MailServer.parse(self.smtp_url, secret) if self.smtp_url else None

    def duckdb(self, scratch: Path) -> dict[str, Any]:
        """The configuration of a DuckDB engine; what does not fit into memory waits in files in `scratch`."""
        limits = {"memory_limit": f"{self.memory}B", "threads": self.threads}
        return limits | {"temp_directory": str(scratch)}


def settings() -> Settings:
    """The settings as the environment has them now. Raises DocumentError: the variable, what is allowed, what came.

    A misspelt name is refused: whoever sets SLUICE_LEDGERURL believes that the ledger is where it says.
    """
    written = tuple(sorted(item for item in os.environ.items() if item[0].upper().startswith(PREFIX)))
    try:
        return _settings(written, os.getcwd(), _RUN in os.environ)
    except ValidationError as error:
        lines = [str(fault).partition(": ") for fault in faults(error.errors(), Settings)]
    raise DocumentError("\n".join(f"{PREFIX}{name.upper()}: {says}" for name, _, says in lines))


@lru_cache(maxsize=4)
def _settings(environment: tuple[tuple[str, str], ...], folder: str, in_a_run: bool) -> Settings:
    """Read anew only where the environment, or the folder that relative paths begin at, is another; or where a process
    has become that of a run, which was forked."""
    known = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    for name, _ in environment:
        if name.startswith(PREFIX) and name not in known:
            endings = [setting.removeprefix(PREFIX) for setting in known]
            if near := get_close_matches(name.removeprefix(PREFIX), endings, n=1, cutoff=_NEARLY):
                raise DocumentError(f"{name}: there is no such setting. Did you mean '{PREFIX}{near[0]}'?")
    return Settings()
