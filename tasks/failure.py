"""A failure that may be shown: it names the step, the type and the place of an error, and never quotes the data."""

import traceback
from pathlib import Path

from sluice.ground.errors import SluiceError

_HOUSE = Path(__file__).resolve().parents[1]


class StepFailed(Exception):  # noqa: N818 - it reads as what happened
    """A step did not finish. The text is `step:ExceptionType`; `detail` is for the person at the terminal only."""

    def __init__(self, summary: str, detail: str = "") -> None:
        super().__init__(summary)
        self.summary, self.detail = summary, detail

    def __reduce__(self) -> tuple[type["StepFailed"], tuple[str]]:
        return (StepFailed, (self.summary,))


def explain(error: BaseException) -> str:
    """What may be shown of an error: the text of one of ours, and only type and place of any other."""
    if isinstance(error, SluiceError):
        return str(error)
    frames = [Path(frame.filename).resolve() for frame in traceback.extract_tb(error.__traceback__)]
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)]
    ours = [
        f"{path.relative_to(_HOUSE)}:{line}"
        for path, line in zip(frames, lines, strict=True)
        if path.is_relative_to(_HOUSE) and "site-packages" not in path.parts
    ]
    return f"{type(error).__name__} at {ours[-1] if ours else 'a place in a library'}"
