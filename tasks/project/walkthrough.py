"""A page of Markdown that can be walked through: it says what to type, and what comes.

A block `console` holds commands, each after `$ `, and below them what they answer, where `...` stands for anything; the
last line may be `exit code N`, which is 0 if not said. A block with a title, such as `yaml title="survey.yaml"`, is a
file to be written. All else is read. `ID` is the release that waited last, and `survey-ID` the last that was checked or
released by the definition `survey`.

The tutorial: the page that docs show, `sluice tutorial` plays and a test runs.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from sluice.ground.errors import SluiceError

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"title=\"([\w./-]+)\"")
_RELEASE = re.compile(r"^([a-z0-9][a-z0-9-]*)-([0-9a-f]{12}) (is pending|was checked)", re.MULTILINE)
_EXIT = re.compile(r"\nexit code (\d+)\n\Z")
# The commands of this installation, whatever else is found on the path.
_PRELUDE = """
sluice() { "$PYTHON" -m sluice "$@"; }
python() { "$PYTHON" "$@"; }
"""


@dataclass(frozen=True)
class Text:
    markdown: str


@dataclass(frozen=True)
class NewFile:
    place: str
    content: str
    markdown: str


@dataclass(frozen=True)
class Command:
    typed: str
    answers: str  # what comes, as the page shows it; of the last command of a block
    code: int


def steps(page: str) -> Iterator[Text | NewFile | Command]:
    """What the page says, in order."""
    read = 0
    for block in _BLOCK.finditer(page):
        language, about, content = block[1], block[2], block[3]
        title = _TITLE.search(about)
        if language != "console" and not title:
            continue
        if before := page[read : block.start()].strip():
            yield Text(before)
        read = block.end()
        if title:
            yield NewFile(title[1], content, f"```{language}\n{content}```")
        else:
            yield from _commands(content)
    if rest := page[read:].strip():
        yield Text(rest)


def _commands(content: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        last = next(number for number, line in enumerate(lines) if not line.endswith("\\\n"))
        answers = "".join(["\n", *lines[last + 1 :]])
        code = _EXIT.search(answers)
        shown = answers[: code.start() + 1] if code else answers
        yield Command("".join(lines[: last + 1]).strip(), shown.lstrip("\n"), int(code[1]) if code else 0)


@dataclass
class Walk:
    """A folder in which the steps of a page are taken, one after the other, by this installation of Sluice."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    releases: dict[str, str] = field(default_factory=dict)  # definition, or "" for the last that waited: its ID

    def write(self, file: NewFile) -> None:
        place = self.folder / file.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.named(file.content), encoding="utf-8")

    def named(self, text: str) -> str:
        """The text with the releases' own names in place of ID."""

        def own(found: re.Match[str]) -> str:
            return self.releases.get(found[1] or "", found[0])

        return re.sub(r"\b(?:([a-z0-9][a-z0-9-]*)-)?ID\b", own, text)

    def as_named(self, command: Command) -> Command:
        return replace(command, answers=self.named(command.answers))

    def run(self, command: Command) -> tuple[str, int]:
        """What the command answers, and its exit code; what it notes on standard error goes to this process'."""
        typed = self.named(command.typed)
        if typed.startswith("cd "):
            self.folder = (self.folder / shlex.split(typed)[1]).resolve()
            return "", 0
        if typed.startswith("export "):
            self.environment |= dict(each.split("=", 1) for each in shlex.split(typed)[1:])
            return "", 0
        done = subprocess.run(
            ["/bin/sh", "-c", _PRELUDE + typed],
            cwd=self.folder,
            env={**_environment(), **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        for name, digest, state in _RELEASE.findall(done.stdout):
            self.releases |= {name: f"{name}-{digest}"} | ({"": f"{name}-{digest}"} if "pending" in state else {})
        return done.stdout, done.returncode


def differs(command: Command, came: str) -> bool:
    """Whether what came is not what the page shows, blanks and ends of lines apart; it may show nothing of it."""
    parts = (re.escape(" ".join(part.split())) for part in command.answers.split("..."))
    return bool(command.answers.strip()) and not re.fullmatch(".*".join(parts), " ".join(came.split()))


def without_pictures(markdown: str) -> str:
    """The text for a terminal: a picture is its caption, a link its words."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)


def _environment() -> dict[str, str]:
    """This process' environment, without settings of Sluice or Prefect: the walk is in nobody's workspace."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLUICE_", "PREFECT_"))}
    imported = os.pathsep.join(each for each in sys.path if each)
    return {**kept, "PYTHON": sys.executable, "PYTHONPATH": imported, "NO_COLOR": "1", "COLUMNS": "120"}


def tutorial_page() -> str:
    """The page, in Markdown.

    raises : SluiceError where statsmodels, which carries the survey, is not installed
    """
    if find_spec("statsmodels") is None:
        raise SluiceError(
            "the tutorial's survey comes with statsmodels, not installed here: pip install 'sluice-sdc[demo]'"
        )
    return (files(__package__) / "files" / "tutorial.md").read_text(encoding="utf-8")
