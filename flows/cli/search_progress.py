"""How far a long search is, on the terminal: a bar on standard error, gone when the search ends."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.cli.terminal import err
from sluice.log import is_written
from sluice.tabular.suppression.effort import Progress


@contextmanager
def search_progress(as_json: bool) -> Iterator[Progress | None]:
    """What a search calls as it goes on; None where nobody watches: machines, files, and where there is a log."""
    if as_json or is_written() or not err.is_terminal:
        yield None
        return
    from rich import progress

    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.TimeElapsedColumn())
    with progress.Progress(*columns, console=err, transient=True) as bars:
        bar = bars.add_task("", total=None)

        def goes_on(stage: str, done: int, of: int) -> None:
            bars.update(bar, description=stage, completed=done, total=max(of, 1))

        yield goes_on
