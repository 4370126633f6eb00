"""What a command does that takes long, and how long still: on standard error, for people alone.

On a screen it is one line that changes, gone when the command ends; elsewhere a line at long intervals. Machines
(--json) and houses that write a log get none.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from flows.cli.terminal import err
from sluice.ground.log import is_written

_LINES = 30.0  # seconds between two lines where there is no screen
_SCREEN = 0.1  # between two changes of the screen
_SOON = 2.0  # seconds, after which the pace of the first parts says something of the others


class Waiting:
    """What is being done: a step, a stage of it, and the part of that which is counted."""

    def __init__(self, show: Callable[[str], None], every: float, clock: Callable[[], float] = monotonic) -> None:
        """show: gets a text, at most once in `every` seconds by the clock."""
        self._show, self._every, self._clock = show, every, clock
        self._shown = clock()
        self._step = self._stage = self._part = ""
        self._begun, self._done, self._of = clock(), 0, 0

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
            self._part, self._begun = what, self._clock()
        self._done, self._of = done, of
        self._tell()

    def text(self) -> str:
        """One line: 'evaluate: unique values, nearest records 34 %, about 20 s left of that'."""
        part = f"{self._part} {100 * min(self._done, self._of) // self._of} %{self._left()}" if self._part else ""
        return ": ".join(filter(None, (self._step, ", ".join(filter(None, (self._stage, part)))))) or "working"

    def _left(self) -> str:
        spent = self._clock() - self._begun
        if spent < _SOON or not 0 < self._done < self._of:
            return ""
        return f", about {duration(spent / self._done * (self._of - self._done))} left of that"

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
    from tasks.release.progress import listening

    with waiting(quiet) as shown:
        if shown is None:
            yield
            return

        def show(step: str, seconds: float | None) -> None:
            name = step.replace("_", " ")
            shown.step(name if seconds is None else "")
            if seconds is not None:
                err.print(f"  {name:<13} {seconds:6.1f} s", style="dim")

        with listening(show):
            yield
