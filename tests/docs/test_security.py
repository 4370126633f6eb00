"""docs/security.md, and tests/promises.md: each promise names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PROMISES = (ROOT / "tests" / "promises.md").read_text(encoding="utf-8")


def test_each_promise_has_a_test() -> None:
    rows = [line.strip("|").split("|") for line in PROMISES.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for promise, tests in rows:
        assert re.findall(r"`(tests/[\w/.]+)`", tests), promise


def test_every_path_and_link_leads_somewhere() -> None:
    paths = re.findall(r"`(tests/[\w/.]+)`", PROMISES)
    paths += [f"docs/{link.partition('#')[0]}" for link in re.findall(r"\]\(([\w./#-]+)\)", PAGE)]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_promised_shares_are_those_of_the_shipped_policy() -> None:
    policy = (ROOT / "policies" / "public-use-file.yaml").read_text(encoding="utf-8")
    assert "learned: {found: 0.09, claims: 0.02}" in policy
    assert re.search(r"at\s+most 9 people in 100 beyond chance, and be rightly sure of it for at most 2 in 100", PAGE)
