"""What all commands share: exit codes, the two streams, JSON for machines."""

import json
import logging
from typing import Annotated, Any

import typer
from rich.console import Console

from sluice.log import is_written, log

DONE, ERROR, BLOCKED, WAITING, UNCHECKED, INTERRUPTED = 0, 1, 2, 3, 4, 130

err = Console(stderr=True, highlight=False, markup=False)
out = Console(highlight=False, markup=False)

ReleaseId = Annotated[str, typer.Argument(metavar="ID", help="the release, as `sluice status` lists it")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines on standard output")]


def note(message: str, style: str | None = None, level: int = logging.INFO) -> None:
    """Say something beside the answer on standard error; as an event where there is a log."""
    if is_written():
        log("note" if level < logging.ERROR else "command fails", level, detail=message)
    else:
        err.print(message, style=style, soft_wrap=True)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, default=str, ensure_ascii=False))
