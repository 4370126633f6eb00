"""The log: what happens to releases, as lines on standard error for a person or a machine.

No value of the data stands in it, no seed and no secret: an event has the facts that `Facts` lists and no others, and
never a traceback. Of an error there is what `tasks.failure.explain` lets out.
"""

import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, TypedDict, Unpack

from sluice.ground.visible_text import json_text, visible

Form = Literal["text", "json"]

_LOGGER = logging.getLogger("sluice")


class Facts(TypedDict, total=False):
    """What may be said of an event."""

    step: str
    seconds: float
    release: str
    recorded: str  # in the ledger: the state that the release is in by it, or another event
    verdict: str
    tells: str  # who is to be told, as the table of states has it
    detail: str  # a sentence of ours, which anyone may read


def log(event: str, level: int = logging.INFO, **facts: Unpack[Facts]) -> None:
    """Write an event to the log, where there is one."""
    _LOGGER.log(level, event, extra={"facts": facts})


def is_written() -> bool:
    """Whether there is a log: then it alone is on standard error."""
    return any(isinstance(handler, _StandardError) for handler in _LOGGER.handlers)


def write_log(form: Form | None) -> None:
    """Write the log of this process to standard error from now on; None: no log."""
    handler = _StandardError() if form else logging.NullHandler()
    handler.setFormatter(_JsonLines() if form == "json" else _TextLines())
    _LOGGER.handlers = [handler]
    _LOGGER.propagate = False  # Prefect keeps what reaches the root's handlers, or its own
    _LOGGER.setLevel(logging.INFO)


class _StandardError(logging.Handler):
    """Standard error as it is when an event is written. Where nobody reads it any more, as when a worker was killed and
    its runs were not, the event is lost, and what it is about goes on."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            print(self.format(record), file=sys.stderr, flush=True)


class _JsonLines(logging.Formatter):
    """An object a line. Nothing else of the record is looked at: an exception's text would stand in it."""

    def format(self, record: logging.LogRecord) -> str:
        return json_text(_line(record))


class _TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time, level, event, *facts = _line(record).items()
        words = [f"{name}={value}" if name != "detail" else str(value) for name, value in facts]
        # A line an event: a name in a document could else end the line and write another one.
        return visible(" ".join([str(time[1]), str(level[1]), str(event[1]), *words]).replace("\n", "\\n"))


def _line(record: logging.LogRecord) -> dict[str, str | float]:
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return {
        "time": at,
        "level": record.levelname.lower(),
        "event": str(record.msg),
        **getattr(record, "facts", {}),
    }
