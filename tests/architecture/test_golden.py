"""Golden files hold each sentence once, beside its tests, and nothing that no test reads; no test holds one itself."""

import ast
import builtins
import re
from collections.abc import Iterator
from textwrap import dedent

import pytest

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from tests.golden import TESTS, golden, left_behind, merged, parsed, rendered, says, written

FOUND = Finding(rule="k_anonymity", verdict=Verdict.FAIL, says="5 records of '/tmp/x1' stand alone.")


_ON_AN_ERROR = re.compile(r"^ *(?:with\b.*\bpytest\.raises\(|assert\b.*\bstr\(\w+\.value\)).*\n", re.MULTILINE)
_THREE_WORDS = re.compile(r"[A-Za-z]+(?:[\s,:;'()]+[A-Za-z]+){2}")


def statements_on_errors(text: str) -> Iterator[ast.stmt]:
    """The `with pytest.raises(...):` and `assert ... str(error.value)` of a module, which is not parsed as a whole."""
    for begun in _ON_AN_ERROR.finditer(text):
        lines = begun[0]
        for line in [*text[begun.end() :].split("\n", 9)[:9], ""]:
            try:
                yield from ast.parse(f"{dedent(lines)}{' pass' if lines.rstrip().endswith(':') else ''}".strip()).body
                break
            except SyntaxError:
                lines += f"{line}\n"


def is_another_s(error: ast.expr) -> bool:
    """Whether a class, or one of several, is Python's or a library's."""
    if isinstance(error, ast.Tuple):
        return any(map(is_another_s, error.elts))
    return not isinstance(error, ast.Name) or hasattr(builtins, error.id)


def compared(statement: ast.stmt) -> list[ast.expr]:
    """What is compared with the text of an error of Sluice's own."""
    found: list[ast.expr] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.raises" and not is_another_s(node.args[0]):
            found += [each.value for each in node.keywords if each.arg == "match"]
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.Eq) and "str(" in ast.unparse(node):
            found += [each for each in (node.left, *node.comparators) if isinstance(each, ast.Constant | ast.JoinedStr)]
    return found


def is_a_sentence(text: ast.expr) -> bool:
    """Three words or more, or a text that stands elsewhere."""
    parts = [node.value for node in ast.walk(text) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    is_elsewhere = isinstance(text, ast.Name | ast.Attribute) or (
        isinstance(text, ast.Call) and ast.unparse(text.func) != "re.escape"
    )
    return is_elsewhere or any(_THREE_WORDS.search(re.sub(r"\\\w", "#", part)) for part in parts)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("with pytest.raises(DataError, match=\"column 'x' holds\"):", [True]),
        ('with pytest.raises(\n    (DataError, PlanError), match=f"^{name} is no number"\n):', [True]),
        ("with pytest.raises(DataError, match=says):", [True]),
        ('with pytest.raises(DataError, match=says.replace("?", ".")):', [True]),
        ('with pytest.raises(DataError, match=re.escape("sheet (1)")):', [False]),
        ('assert "k is too large" in str(error.value)', [True]),
        ('assert "k is too large" not in str(error.value)', []),
        ('with pytest.raises(PlanError, match=rf"\\bk\\b.*\\b{n}\\b"):', [False]),
        ('with pytest.raises(OSError, match="no space left"):', []),
        ('with pytest.raises(sa.exc.DatabaseError, match="must be owner"):', []),
    ],
)
def test_a_sentence_is_told_from_a_name_and_another_s_text(line: str, found: list[bool]) -> None:
    (statement,) = statements_on_errors(f"{line}\n    pass\n")
    assert [is_a_sentence(each) for each in compared(statement)] == found


def test_sentences_of_errors_stand_in_golden_files_alone() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    asked = [
        (path.relative_to(TESTS).as_posix(), each)
        for path, text in texts.items()
        if "match=" in text or ".value)" in text
        for statement in statements_on_errors(text)
        for each in compared(statement)
    ]
    assert len(asked) > 30
    sentences = [(path, ast.unparse(each)) for path, each in asked if is_a_sentence(each)]
    assert sentences == [], "compare class, field and names, or hand the error to golden.raises"


def test_every_entry_belongs_to_a_test() -> None:
    assert left_behind() == []


def test_texts_stand_once_and_in_the_order_of_their_first_tests() -> None:
    texts = {"test_b": "Same.", "test_a #10": "Ten.", "test_a #2": "Two\nlines.", "test_c[x #2]": "Same."}
    content = "test_a #2\n    Two\n    lines.\n\ntest_a #10\n    Ten.\n\ntest_b\ntest_c[x #2]\n    Same.\n"
    assert rendered(texts) == content
    assert parsed(content) == texts


def test_tests_that_did_not_run_keep_their_entries() -> None:
    old = {"test_ran": "Old.", "test_ran #2": "Said no more.", "test_other[1]": "Kept.", "test_gone #3": "Gone."}
    new = merged(old, {"test_ran": "New."}, {"test_ran"}, {"test_gone"})
    assert new == {"test_ran": "New.", "test_other[1]": "Kept."}


def test_what_differs_from_run_to_run_has_a_name() -> None:
    assert written("a/dev/shm/pytest-of-me/pytest-12/popen-gw1/test_x0/data.csv: no such file") == (
        "a<tmp>/data.csv: no such file"
    )
    assert written("run 0c4de5f26a9b1 at 127.0.0.1:5432") == "run <id> at 127.0.0.1:<port>"
    assert written("approved on 2026-11-28 10:20 UTC, until 2027-01-01.") == "approved on <date>, until <date>."
    assert written("'empty_0c4de5f26a9b1c4d.people_1' of 'puf-b51d974a'") == "'empty_<id>.people_1' of 'puf-<id>'"
    assert written(f"{TESTS.parent}/docs below {TESTS.parent}; not {TESTS.parent}-2") == (
        f"docs below <project>; not {written(f'{TESTS.parent}-2')}"
    )
    assert written("mask 0.1 s publish 12.5 s") == "mask <time> publish <time>"
    assert written("one \n\n  two\t\u202e ") == r"one" + "\n" + r"two\t\u202e"


def test_findings_errors_and_texts_are_compared(tmp_path: object) -> None:
    golden(FOUND)
    golden([FOUND, "5 records"])
    golden.words(FOUND)
    golden(DataError(f"{tmp_path} is empty"))
    with golden.raises(DataError, ValueError) as error:
        raise DataError("no such column")
    assert error.type is DataError


def test_what_no_person_reads_is_refused() -> None:
    with pytest.raises(TypeError):
        says(5)
    with pytest.raises(AssertionError):
        golden(" ")


def test_another_sentence_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "rewriting", False)
    with pytest.raises(AssertionError):
        golden("without an entry")
    assert golden.test is not None
    golden.test.said.clear()
