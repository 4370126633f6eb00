"""CONTRIBUTING.md and the glossary: every path that they name is there, and the terms are in order."""

import re
from pathlib import Path

import pytest

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


def test_the_glossary_is_in_order_and_short() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*(.+?)\*\*: (.+?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    terms = [term.lower() for term, _ in entries]
    assert len(terms) >= 40
    assert terms == sorted(terms)
    assert [term for term, says in entries if says.count("\n") > 2] == []
