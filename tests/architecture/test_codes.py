"""Codes: every finding has one, every sentence is given what it tells, and docs/codes.md lists them all."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest

from flows.codes import catalogue, in_full, modules, sentences
from sluice.ground.errors import SluiceError
from sluice.ground.sentence import Sentence

ROOT = Path(__file__).parents[2]
ROOMS = ("sluice", "policies", "schemas", "tasks", "flows")


@lru_cache
def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]


def files_with(text: str) -> Iterator[Path]:
    for room in ROOMS:
        yield from (path for path in sorted((ROOT / room).rglob("*.py")) if text in path.read_text(encoding="utf-8"))


def test_every_finding_has_a_code() -> None:
    """Its sentence comes with code and data, from `as_fields`, and nobody puts another text in its place."""
    made, without = 0, []
    for path in files_with("Finding("):
        for call in calls(path):
            if isinstance(call.func, ast.Name) and call.func.id == "Finding":
                made += 1
                fields = [ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg is None]
                if not any("as_fields(" in field for field in fields):
                    without.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert made > 60
    assert not without


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__)
def test_every_sentence_is_given_what_it_tells(module: ModuleType) -> None:
    for call in calls(Path(str(module.__file__))):
        sentence = _sentence(call.func, module)
        if sentence is not None and all(keyword.arg for keyword in call.keywords):
            assert sentence.told <= {str(keyword.arg) for keyword in call.keywords}, sentence.code


def _sentence(called: ast.expr, module: ModuleType) -> Sentence | None:
    """The sentence that is said, where the call names it."""
    found: object = None
    if isinstance(called, ast.Name):
        found = vars(module).get(called.id)
    elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id.startswith("_"):
        owner = vars(module).get(called.value.id)
        found = getattr(owner, called.attr) if owner is not None else None
    return found if isinstance(found, Sentence) else None


def test_the_codes_in_the_docs_are_those_of_the_product() -> None:
    written = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    of_product = [each for each in sentences() if not each.code.startswith("test.")]
    assert written == catalogue(of_product), "run: sluice docs codes > docs/codes.md"


def test_the_sentences_of_a_family_are_printed_with_the_places_of_their_data() -> None:
    line = next(line for line in in_full(sentences(), "k_anonymity").splitlines() if line.startswith("- `k_anonymity."))
    code, words = re.findall(r"`([^`]+)`", line)
    assert set(re.findall(r"\{(\w+)\}", words)) == next(each.told for each in sentences() if each.code == code)
    assert "`such_groups`" in in_full(sentences(), "general")
    with pytest.raises(SluiceError, match="'k_anonymity'"):
        in_full(sentences(), "k_anonimity")
