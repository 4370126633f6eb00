"""The errors that Sluice raises on purpose. Their texts name fields, bounds and counts, never a value from the data."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, Self

from sluice.ground.visible_text import one_line


class SluiceError(Exception):
    """Anything that a person can mend: a document, a file, a plan. Its text may be shown to anyone.

    says    : what is wrong, in a sentence
    field   : of a document or the arguments, which the text begins with
    came    : the name that is not known, where it is one
    allowed : those that are; they are not in the text, but for the nearest, in a hint
    hint    : what to do, which the text ends with
    """

    def __init__(
        self, says: str = "", *, field: str = "", came: object = "", allowed: Iterable[object] = (), hint: str = ""
    ) -> None:
        self.field, self.came, self.allowed = field, str(came), tuple(map(str, allowed))
        self.hint = (hint or did_you_mean(self.came, self.allowed)).strip()
        super().__init__(f"{f'{field}: ' if field else ''}{says}{f' {self.hint}' if self.hint else ''}")


class Fault(NamedTuple):
    """One thing that is wrong with a document."""

    field: str  # its path, such as rules.0.k
    line: int | None  # of the file, from 1; None where that is not known
    says: str  # what is allowed, and what came
    hint: str = ""
    allowed: tuple[str, ...] = ()  # the names, where it must be one of some

    def __str__(self) -> str:
        where = ", ".join(filter(None, [f"line {self.line}" if self.line else "", self.field]))
        hint = f"{'' if self.says.endswith('.') else '.'} {self.hint}" if self.hint else ""
        return f"{f'{where}: ' if where else ''}{self.says}{hint}"


class DocumentError(SluiceError):
    """A contract, policy or release definition is wrong; says the field's path, what is allowed and what came."""

    faults: tuple[Fault, ...] = ()  # one by one, where the document was read and does not hold what it should


class DataError(SluiceError):
    """The data cannot be read or are not what the contract says."""


class TransportError(SluiceError):
    """The other end of a connection did not answer, or no more; the same call may succeed a little later."""


class SourceUnreachableError(DataError, TransportError):
    """A source's database could not be reached, or the connection was lost while it was read."""


class ReaderKilledError(DataError):
    """The process that read a source was ended by a signal: by the kernel, for want of memory, or by itself."""


class MeasureChoiceError(DataError):
    """Records that another setting of the measure would take: says which, as a document writes it."""

    def __init__(self, says: str, setting: str, choice: str = "") -> None:
        super().__init__(f"{says} ({f'{setting}: {choice}' if choice else setting}).")
        self._says = says
        self.for_command = f"{says} (--set measure.{setting}={choice or '...'})."

    def by_option(self, option: str) -> Self:
        """The same of a command that has an option of its own for it."""
        self.for_command = f"{self._says} ({option})."
        return self


class InfeasibleError(DataError):
    """No transformation of these data meets what is asked; says which requirement fails, and by how much."""


class PlanError(SluiceError):
    """A masking step cannot be applied to these variables or data."""


_READ_AS = {"true": ("yes", "on"), "false": ("no", "off")}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint ' Did you mean ...?' with the nearest known word, or '' when none is near. Of a truth value, the word that
    YAML reads as one."""
    known = list(known)
    if spelled := next((each for each in known if each.casefold() in _READ_AS.get(word, ())), None):
        return f' Without quotes YAML reads {spelled} as {word}: write "{spelled}".'
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" Did you mean '{one_line(near[0])}'?" if near else ""


def no_such_file(path: Path) -> str:
    """What to say of a path that leads to no file, with the nearest name in the same folder."""
    if path.is_dir():
        return f"{path}: is a folder; name a file in it"
    if path.exists():
        return f"{path}: is a pipe or a device, which can be read once only; write it to a file first"
    siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    stems = get_close_matches(path.stem, {Path(name).stem for name in siblings}, cutoff=0.7)  # same ending: no likeness
    alike = [name for name in siblings if Path(name).stem in stems]
    return f"{path}: no such file.{did_you_mean(path.name, alike)}"
