"""Golden files: the sentences that people read, each beside the tests that it is compared in.

A test asserts what a program reads of a finding or an error: verdict, figures, limit, names, class. The sentence that a
person reads goes to `golden(...)`, or `golden.raises(...)` for that of an error, which compares it with the entry of
the test in `tests/golden/`, a file for each module of tests. `make golden` rewrites these files: a change of wording is
one diff, which a person reads. An entry is its tests, each with the number of the call where there are several, and
under them, indented, the text: once for all tests of the module that it is the same in.
"""

import getpass
import os
import pwd
import re
import socket
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tests.reference_data import REFERENCE_DATA

TESTS = Path(__file__).parent
FOLDER = TESTS / "golden"

_TEMPORARY = "|".join(re.escape(folder) for folder in sorted({tempfile.gettempdir(), "/tmp", "/dev/shm"}, reverse=True))
_USER = f"(?:{'|'.join(re.escape(name) for name in {getpass.getuser(), pwd.getpwuid(os.geteuid()).pw_name})})"
# What differs from run to run, and what stands for it: nothing else may.
_VARIES = [
    (re.compile(re.escape(str(REFERENCE_DATA))), "<data>"),
    (re.compile(re.escape(f"{TESTS.parent}/")), ""),
    (re.compile(rf"{re.escape(str(TESTS.parent))}(?![\w.-])"), "<project>"),
    (re.compile(rf"(?:{_TEMPORARY})/pytest-of-[^/\s]+/pytest-\d+/(?:popen-gw\d+/)?[\w.-]+"), "<tmp>"),
    (re.compile(rf"(?:{_TEMPORARY})/[\w.-]+"), "<tmp>"),
    (re.compile(r"(?<![0-9A-Za-z.])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9A-Za-z])"), "<id>"),
    (re.compile(r"(?<![0-9A-Za-z.])[0-9a-f]{12,}(?![0-9A-Za-z])|(?<=[-_])[0-9a-f]{8}(?![0-9A-Za-z])"), "<id>"),
    (re.compile(r"\b\d+\.\d s(?=\s|$)"), "<time>"),
    (re.compile(rf"(?<=['\[]){_USER}(?=['\]])|(?:(?<=\baccount )|(?<=\baccount, )){_USER}\b"), "<user>"),
    (re.compile(rf"\b{re.escape(socket.gethostname())}\b"), "<host>"),
    (re.compile(r"(?<=\bSHA256:)[A-Za-z0-9+/]{43}"), "<key>"),
    (re.compile(r"(?<=localhost:)\d+|(?<=127\.0\.0\.1:)\d+"), "<port>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|\+00:00| UTC)?)?\b"), "<date>"),
]  # fmt: skip
_FIGURE = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")


def written(text: str) -> str:
    """A text as it stands in a golden file: no blank line, nothing invisible, nothing that differs from run to run."""
    for pattern, name in _VARIES:
        text = pattern.sub(name, text)
    lines = ("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def says(what: object) -> str:
    """What a person reads of a finding, an error or a text."""
    if isinstance(what, ValidationError):
        places = ((".".join(str(part) for part in error["loc"]), error["msg"]) for error in what.errors())
        return "\n".join(f"{place}: {message}" if place else message for place, message in places)
    if isinstance(what, str | BaseException):
        return str(what)
    if isinstance(what, BaseModel):
        return str(what.says)  # type: ignore[attr-defined]
    if isinstance(what, Iterable):
        return "\n".join(says(each) for each in what)
    raise TypeError(f"no text that a person reads: {what!r}")


@dataclass
class _Test:
    """The test that runs, and what it has said so far."""

    file: str  # its module, as tests/golden/ mirrors it
    name: str
    is_property: bool
    said: list[str] = field(default_factory=list)

    def key(self, number: int) -> str:
        return self.name if number == 1 else f"{self.name} #{number}"


class Golden:
    """`golden(finding)`, `golden(text)`, `golden.words(text)`, `golden.where(name, text)`,
    `with golden.raises(DataError):` and, for one call, `golden.refused(DataError, call, ...)`."""

    def __init__(self) -> None:
        self.test: _Test | None = None
        self.rewriting = False

    def __call__(self, what: object) -> None:
        """The text is what the golden file holds for this call."""
        __tracebackhide__ = True
        test, text = self.test, written(says(what))
        assert test is not None, "golden is called outside a test"
        assert not test.is_property, "a property has no golden sentence: its examples are drawn"
        assert text, "nothing is said, so there is nothing to compare"
        test.said.append(text)
        key = test.key(len(test.said))
        if not self.rewriting:
            expected = entries(test.file).get(key)
            run = f"If the text is right, run: make golden ARGS={_module(test.file).relative_to(TESTS.parent)}"
            assert expected is not None, f"tests/golden/{test.file} has no entry '{key}' yet. {run}"
            assert text == expected, f"tests/golden/{test.file} says otherwise at '{key}'. {run}"

    def words(self, what: object) -> None:
        """The same for a text whose figures the test does not ask for: they stand as # in the golden file."""
        __tracebackhide__ = True
        self(_FIGURE.sub("#", written(says(what))))

    def where(self, names: str, text: str) -> None:
        """The same for the lines of a long text, or the sentences of one without lines, that hold this name or code."""
        __tracebackhide__ = True
        parts = text.splitlines() if "\n" in text.strip() else re.split(r"(?<=[.?!]) ", text)
        self.words([part for part in parts if names in part])

    @contextmanager
    def raises(self, *classes: type[BaseException], figures: bool = True) -> Iterator[pytest.ExceptionInfo[Any]]:
        """The block raises an error of one of the classes, whose text is what the golden file holds for this call.

        Without `figures`, they stand as # there.
        """
        __tracebackhide__ = True
        with pytest.raises(classes) as error:
            yield error
        (self if figures else self.words)(error.value)

    def refused(self, error: type[BaseException], call: Callable[..., object], *given: Any, **named: Any) -> None:
        """The call raises an error of the class: `raises` for what is no more than one call."""
        __tracebackhide__ = True
        with self.raises(error):
            call(*given, **named)


golden = Golden()


@cache
def golden_file(path: str) -> str:
    """`policies/rules/k_anonymity.txt` for `tests/risk/classes/test_k_anonymity.py`."""
    module = Path(path).relative_to("tests")
    return module.with_name(f"{module.stem.removeprefix('test_')}.txt").as_posix()


@cache
def entries(file: str) -> dict[str, str]:
    """The texts of a golden file by their keys; none where there is no file."""
    path = FOLDER / file
    return parsed(path.read_text(encoding="utf-8")) if path.exists() else {}


def parsed(content: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for block in content.split("\n\n"):
        lines = block.splitlines()
        text = "\n".join(line.strip() for line in lines if line.startswith(" "))
        found |= {line: text for line in lines if line and not line.startswith(" ")}
    return found


def rendered(texts: Mapping[str, str]) -> str:
    """The content of a golden file: by the first test of each text, each text once."""
    keys: dict[str, list[str]] = defaultdict(list)
    for key in sorted(texts, key=_place):
        keys[texts[key]].append(key)
    blocks = ("\n".join([*of, *(f"    {line}" for line in text.split("\n"))]) for text, of in keys.items())
    return "\n\n".join(blocks) + "\n"


def name_in(key: str) -> str:
    """The name of the test, with its parameters, that a key belongs to."""
    return re.sub(r" #\d+$", "", key)


def _place(key: str) -> tuple[str, int]:
    name = name_in(key)
    return name, int(key[len(name) + 2 :] or 1)


def merged(old: Mapping[str, str], new: Mapping[str, str], ran: set[str], gone: set[str]) -> dict[str, str]:
    """What a golden file holds after a run: of tests that did not run what it held, unless there is no such test."""
    kept = {key: text for key, text in old.items() if name_in(key) not in ran | gone}
    return kept | dict(new)


_SAID: dict[str, dict[str, str]] = defaultdict(dict)  # by file and key, while files are rewritten
_RAN: dict[str, set[str]] = defaultdict(set)  # by file, the tests that passed
_COLLECTED: dict[str, set[str]] = {}  # by file, all its tests; only of modules that were asked for as a whole


def left_behind() -> list[str]:
    """Entries that no test reads: their module is gone, or of what was collected, the test."""
    found = []
    for path in sorted(FOLDER.rglob("*.txt")):
        file = path.relative_to(FOLDER).as_posix()
        if not _module(file).exists():
            found.append(f"{file}: no such module of tests")
        elif file in _COLLECTED:
            found += [f"{file}: {key}" for key in entries(file) if name_in(key) not in _COLLECTED[file]]
    return found


def _module(file: str) -> Path:
    return (TESTS / file).with_name(f"test_{Path(file).stem}.py")


def _file_and_name(item: pytest.Item) -> tuple[str, str]:
    path, _, name = item.nodeid.partition("::")
    return golden_file(path), name


def pytest_configure(config: pytest.Config) -> None:
    golden.rewriting = os.environ.get("GOLDEN") == "rewrite"
    if golden.rewriting and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Rewriting(), "golden_rewriting")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    single = {argument.partition("::")[0].rpartition("/")[2] for argument in config.args if "::" in argument}
    for item in items:
        if item.path.name not in single:
            file, name = _file_and_name(item)
            _COLLECTED.setdefault(file, set()).add(name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    file, name = _file_and_name(item)
    golden.test = _Test(file, name, hasattr(getattr(item, "obj", None), "hypothesis"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that passes has read all its entries."""
    yield
    test = golden.test
    assert test is not None
    keys = [test.key(number) for number in range(1, len(test.said) + 1)]
    if golden.rewriting:
        _RAN[test.file].add(test.name)
        _SAID[test.file] |= dict(zip(keys, test.said, strict=True))
    else:
        unread = test.key(len(keys) + 1)
        run = f"run: make golden ARGS={_module(test.file).relative_to(TESTS.parent)}"
        assert unread not in entries(test.file), f"tests/golden/{test.file}: nothing reads '{unread}'; {run}"


def pytest_runtest_teardown() -> None:
    golden.test = None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of the session's own hands over what its tests said."""
    output = getattr(session.config, "workeroutput", None)
    if golden.rewriting and output is not None:
        output["golden"] = _handed_over()


def _handed_over() -> list[Any]:
    ran, collected = ({file: sorted(of) for file, of in each.items()} for each in (_RAN, _COLLECTED))
    return [dict(_SAID), ran, collected]


class _Rewriting:
    """Where the tests of all processes arrive, the golden files are written anew."""

    def __init__(self) -> None:
        self.changed: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        said, ran, collected = getattr(node, "workeroutput", {}).get("golden", [{}, {}, {}])
        for file, texts in said.items():
            _SAID[file] |= texts
        for file, names in ran.items():
            _RAN[file] |= set(names)
        for file, names in collected.items():
            _COLLECTED.setdefault(file, set()).update(names)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.txt")}
        for file in sorted(files | set(_SAID)):
            old = entries(file)
            of = _COLLECTED.get(file)
            gone = {name_in(key) for key in old} - (of if of is not None else {name_in(key) for key in old})
            new = merged(old, _SAID[file], _RAN[file], gone) if _module(file).exists() else {}
            self._write(file, new)

    def _write(self, file: str, texts: dict[str, str]) -> None:
        path = FOLDER / file
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        content = rendered(texts) if texts else ""
        if content != old:
            self.changed.append(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8") if content else path.unlink()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"golden: {len(self.changed)} files changed; read them with git diff tests/golden")
