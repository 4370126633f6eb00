"""What all commands share: exit codes, the two streams, JSON for machines."""

import glob
import logging
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from sluice.ground.log import is_written, log
from sluice.ground.visible_text import json_text, one_line, visible

DONE, ERROR, BLOCKED, WAITING, UNCHECKED, INTERRUPTED = 0, 1, 2, 3, 4, 130


class _Terminal(Console):
    """Shows texts as they are: no markup is read in them, and what a terminal would obey is spelled out."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


err = _Terminal(stderr=True, highlight=False, markup=False, emoji=False)
out = _Terminal(highlight=False, markup=False, emoji=False)


def release_ids(incomplete: str) -> list[str]:
    """What a shell offers for a release's id: those of which the workspace has a report. Opens nothing else."""
    from sluice.settings import settings

    return sorted(path.stem for path in (settings().home / "reports").glob(f"{glob.escape(incomplete)}*.html"))


ReleaseId = Annotated[
    str,
    typer.Argument(metavar="ID", help="the release, as `sluice status` lists it", autocompletion=release_ids),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines on standard output")]


def note(message: str, style: str | None = None, level: int = logging.INFO) -> None:
    """Say something beside the answer on standard error; as an event where there is a log."""
    if is_written():
        log("note" if level < logging.ERROR else "command fails", level, detail=message)
    else:
        err.print(message, style=style, soft_wrap=True)


def say(text: object, style: str | None = None) -> None:
    """Print one line to standard output, whatever the text holds: no name can add a line of its own."""
    out.print(one_line(str(text)), style=style, soft_wrap=True)


def print_json(value: Any) -> None:
    print(json_text(value, indent=2))
