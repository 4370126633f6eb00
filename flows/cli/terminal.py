"""What all commands share: exit codes, the two streams, JSON for machines, and how far a long computation is.

Progress is shown on standard error, for people alone. On a screen it is one line that changes, gone when the command
ends; elsewhere a line at long intervals. Machines (--json) and houses that write a log get none.
"""

import glob
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from sluice.ground.log import is_written, log
from sluice.ground.visible_text import json_text, one_line, visible

if TYPE_CHECKING:
    from sluice.ground.remarks import Remark

_LINES = 30.0  # seconds between two lines where there is no screen
_SCREEN = 0.1  # between two changes of the screen
_SOON = 2.0  # seconds, after which the pace of the first parts says something of the others
_ENOUGH = 0.25  # of all parts done before that: the first are often the slowest
_ALIKE = 1.5  # times as fast, or as slow, the last parts may be, to say anything of the rest
_APART = 1.1  # times as late as the last pace that is kept the next one is

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
    typer.Argument(metavar="ID", help="the release, as `sluice ledger status` lists it", autocompletion=release_ids),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines on standard output")]


def note(message: str, style: str | None = None, level: int = logging.INFO) -> None:
    """Say something beside the answer on standard error; as an event where there is a log."""
    if is_written():
        log("note" if level < logging.ERROR else "command fails", level, detail=message)
    else:
        err.print(message, style=style, soft_wrap=True)


def show_remarks(remarks: Iterable["Remark"]) -> None:
    """Say on standard error what of the data was not read as it stands."""
    for remark in remarks:
        note(f"{remark.says}.", "yellow", logging.WARNING)


def say(text: object, style: str | None = None) -> None:
    """Print one line to standard output, whatever the text holds: no name can add a line of its own."""
    out.print(one_line(str(text)), style=style, soft_wrap=True)


def print_json(value: Any) -> None:
    print(json_text(value, indent=2))


class Waiting:
    """What is being done: a step, a stage of it, and the part of that which is counted."""

    def __init__(self, show: Callable[[str], None], every: float, clock: Callable[[], float] = monotonic) -> None:
        """show: gets a text, at most once in `every` seconds by the clock."""
        self._show, self._every, self._clock = show, every, clock
        self._shown = clock()
        self._step = self._stage = self._part = ""
        self._begun, self._done, self._of = clock(), 0, 0
        self._paces: list[tuple[float, int]] = []  # seconds, and how much was done then

    def step(self, name: str) -> None:
        """A step of the chain begins; '' when one ends."""
        self._step, self._stage, self._part = name, "", ""
        if name:
            self._tell()

    def heard(self, what: str, done: int, of: int) -> None:
        """As a listener of `sluice.ground.progress`."""
        if not of:
            self._stage, self._part = what, ""
        elif what != self._part or of != self._of or done < self._done:
            self._part, self._begun, self._paces = what, self._clock(), []
        self._done, self._of = done, of
        if of and self._clock() - self._begun > _APART * (self._paces[-1][0] if self._paces else 0.0):
            self._paces.append((self._clock() - self._begun, done))
        self._tell()

    def text(self) -> str:
        """One line: 'evaluate: unique values, nearest records 34 %, about 20 s left of that'."""
        part = f"{self._part} {100 * min(self._done, self._of) // self._of} %{self._left()}" if self._part else ""
        return ": ".join(filter(None, (self._step, ", ".join(filter(None, (self._stage, part)))))) or "working"

    def _left(self) -> str:
        """By the pace of the last quarter, where it is near that of the one before; else nobody knows it."""
        spent = self._clock() - self._begun
        if spent < _SOON or not _ENOUGH * self._of <= self._done < self._of:
            return ""
        (first, begun), (then, before) = (
            next((pace for pace in reversed(self._paces) if pace[0] <= share * spent), (0.0, 0))
            for share in (0.5, 0.75)
        )
        pace = (self._done - before) / (spent - then)
        earlier = (before - begun) / (then - first) if then > first else pace
        if not earlier / _ALIKE <= pace <= earlier * _ALIKE or not pace:
            return ""
        return f", about {duration((self._of - self._done) / pace)} left of that"

    def _tell(self) -> None:
        now = self._clock()
        if now - self._shown >= self._every:
            self._shown = now
            self._show(self.text())


def duration(seconds: float) -> str:
    """'20 s', '3 min', '2.5 h': as exactly as an estimate is."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def note_first_use() -> None:
    """Say why nothing moves for minutes, where kernels were never compiled."""
    from flows.environment import compiled_before

    if not compiled_before():
        note("the first run on this installation compiles its numerical code: two to four minutes, once ...")


@contextmanager
def waiting(quiet: bool) -> Iterator[Waiting | None]:
    """Show how far what runs meanwhile is; None where nobody watches."""
    from sluice.ground.progress import reported_to

    if quiet or is_written():
        yield None
    elif err.is_terminal:
        with err.status("starting ...") as spinner:
            shown = Waiting(lambda text: spinner.update(f"{text} ..."), _SCREEN)
            with reported_to(shown.heard):
                yield shown
    else:
        shown = Waiting(lambda text: err.print(f"  {text} ...", style="dim", soft_wrap=True), _LINES)
        with reported_to(shown.heard):
            yield shown


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """The same of the chain of a release, and what each of its steps took."""
    from tasks.release.running_step import listening

    with waiting(quiet) as shown:
        if shown is None:
            yield
            return
        note_first_use()

        def show(step: str, seconds: float | None) -> None:
            name = step.replace("_", " ")
            shown.step(name if seconds is None else "")
            if seconds is not None:
                err.print(f"  {name:<13} {seconds:6.1f} s", style="dim")

        with listening(show, lambda says: note(f"note: {says}", "yellow", logging.WARNING)):
            yield
