"""CONTRIBUTING.md and the glossary: every path that they name is there, and the terms are in order."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from policies.utility_limits import FAMILIES
from sluice.masking.method_catalogue import methods
from sluice.utility.utility_measures import measures

ROOT = Path(__file__).resolve().parents[2]
_PATH = re.compile(r"`((?:sluice|schemas|policies|tasks|flows|tests|docs)/[\w./-]+)`")


@pytest.mark.parametrize(
    "document", ["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/notebook.md", "CHANGELOG.md"]
)
def test_paths_and_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    absent = [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    absent += [link for link in links if not (ROOT / document).parent.joinpath(link).exists()]
    assert absent == []


def test_contributing_shows_one_of_each_with_its_test() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for head in ("A masking method", "A rule", "A measure", "A source"):
        section = text.split(f"## {head}\n")[1].split("\n## ")[0]
        paths = _PATH.findall(section)
        assert any(path.startswith("tests/") for path in paths)
        assert len(paths) >= 3


@cache
def texts() -> dict[str, bytes]:
    tops = ("sluice", "schemas", "policies", "tasks", "flows", "tests", "benchmarks", "docs", "deployments")
    files = [path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in (".py", ".yaml", ".md", ".txt")]
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files}


def lists_of(names: Iterable[str], in_files: dict[str, bytes]) -> list[str]:
    """The files that name all of these but two at most; for a golden file the test that writes it."""
    wanted = [name.encode() for name in names]
    found = [path for path, text in in_files.items() if sum(name not in text for name in wanted) <= 2]
    return [re.sub(r"tests/golden/(.*/)?(\w+)\.txt", r"tests/\1test_\2.py", path) for path in found]


@pytest.mark.chain
@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("A masking method", methods()),
        ("A rule", rules(PolicyRule)),
        ("A rule", rules(AttackPolicyRule)),
        ("A measure", [each.name for each in measures(FAMILIES)]),
    ],
)
def test_every_list_of_them_all_is_named_to_whoever_adds_one(head: str, names: Iterable[str]) -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split(f"## {head}\n")[1].split("\n## ")[0]
    found = lists_of(names, texts())
    assert len(found) >= 5
    assert [path for path in found if path not in section] == [], f"name these in '{head}' of CONTRIBUTING.md"


def test_a_list_that_nobody_names_would_be_found() -> None:
    files = {"tests/x.py": b"a b c", "tests/golden/y/z.txt": b"a b c d e", "docs/w.md": b"a"}
    assert lists_of("abcde", files) == ["tests/x.py", "tests/y/test_z.py"]


def test_the_glossary_is_in_order_and_short() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*(.+?)\*\*: (.+?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    terms = [term.lower() for term, _ in entries]
    assert len(terms) >= 40
    assert terms == sorted(terms)
    assert [term for term, says in entries if says.count("\n") > 2] == []
