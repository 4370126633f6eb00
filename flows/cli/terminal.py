"""What all commands share: exit codes, the two streams, JSON for machines."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console

DONE, ERROR, BLOCKED, WAITING, INTERRUPTED = 0, 1, 2, 3, 130

err = Console(stderr=True, highlight=False, markup=False)
out = Console(highlight=False, markup=False)

ReleaseId = Annotated[str, typer.Argument(metavar="ID", help="the release, as `sluice status` lists it")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines on standard output")]


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, default=str, ensure_ascii=False))
