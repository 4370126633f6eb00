"""docs/notebook.md is run as a notebook would run it: block by block in one namespace, and what it shows is what comes.

A block of `text` or `error` below a block of `python` holds what the block prints, the representation of its last
expression included, or the error that it ends in. '...' stands for anything, and blanks and line ends count as one.
"""

import ast
import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "notebook.md"
_FENCED = re.compile(r"^```(python|text|error)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANYTHING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    line: int
    code: str
    shows: str = ""
    fails: bool = False


def blocks(text: str) -> Iterator[Block]:
    """The blocks of code in order, with what is shown below each."""
    found = [(each[1], each[2], text.count("\n", 0, each.start()) + 2) for each in _FENCED.finditer(text)]
    for at, (kind, code, line) in enumerate(found):
        if kind == "python":
            below, shows, _ = found[at + 1] if at + 1 < len(found) else ("python", "", 0)
            yield Block(line, code, shows if below != "python" else "", below == "error")


def outcome(block: Block, names: dict[str, Any]) -> str:
    """What a notebook would show below the block."""
    tree = ast.parse(block.code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"docs/notebook.md, line {block.line}", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "docs/notebook.md", "eval"), names) if last else None
    return printed.getvalue() + ("" if value is None else f"{value!r}\n")


def differs(block: Block, came: str) -> bool:
    return not doctest.OutputChecker().check_output(block.shows, came, _ANYTHING)


@pytest.mark.exhaustive
def test_the_tutorial_runs_and_shows_what_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    run = list(blocks(TUTORIAL.read_text(encoding="utf-8")))
    assert len(run) >= 20
    assert sum(bool(block.shows) for block in run) >= 15
    for block in run:
        try:
            came = outcome(block, names)
        except Exception as error:
            if not block.fails:
                raise
            came = f"{type(error).__name__}: {error}\n"
        else:
            assert not block.fails, f"line {block.line} does not end in an error"
        if block.shows:
            assert not differs(block, came), f"docs/notebook.md, line {block.line} shows something else:\n{came}"
    assert list(tmp_path.iterdir()) == []  # nothing is written to disk


def test_every_function_is_in_the_tutorial() -> None:
    import sluice

    text = TUTORIAL.read_text(encoding="utf-8")
    assert [name for name in sluice.__all__ if f"sluice.{name}" not in text] == ["__version__"]


def test_a_figure_that_rots_would_be_found() -> None:
    text = "```python\nx = 2\nx + 1\n```\n\n```text\n4\n```\n\n```python\n1 / 0\n```\n```error\nZero...\n```\n"
    first, second = blocks(text)
    assert (first.line, first.shows, second.fails) == (2, "4\n", True)
    assert differs(first, outcome(first, {}))
    assert not differs(Block(1, "", "3 of ... women"), "3 of 6,366\n  women\n")
