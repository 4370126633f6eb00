"""The how-to guides: what they show to type runs, what they write into documents loads, what they name is there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from policies.policy import Policy
from sluice.masking import Step
from tasks.project.walkthrough import Command, NewFile, Walk, differs, steps

DOCS = Path(__file__).resolve().parents[2] / "docs"
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ELSEWHERE = ("methods", "rules", "generalisation", "tables", "documents", "hierarchies", "utility", "notebook")
_PLAN: TypeAdapter[list[Any]] = TypeAdapter(list[Step])


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.servers
@pytest.mark.parametrize("name", ["business-tables", "masked-elsewhere"])
def test_what_it_shows_to_type_ends_as_it_says(name: str, tmp_path: Path) -> None:
    walk, run = Walk(tmp_path), 0
    for step in steps(page(name)):
        if isinstance(step, NewFile):
            walk.write(step)
        elif isinstance(step, Command):
            came, code = walk.run(step)
            assert code == step.code, f"{step.typed}\n{came}"
            assert not differs(step, came), f"{step.typed}\n{came}"
            run += 1
    assert run >= 3


@pytest.mark.parametrize(
    "name", ["weights", "households", "series", "sets-of-items", "business-tables", "masked-elsewhere"]
)
def test_its_plans_and_policies_load(name: str) -> None:
    written = [yaml.safe_load(block) for block in _YAML.findall(page(name))]
    loaded = 0
    for each in written:
        if isinstance(each, dict) and "plan" in each:
            assert all(step.describe() for step in _PLAN.validate_python(each["plan"]))
            loaded += 1
        elif isinstance(each, dict) and "rules" in each:
            Policy.model_validate({"name": "shown", "version": 1, "approvals": {"count": 1}, **each})
            loaded += 1
    assert loaded >= 1


def test_what_other_programs_are_told_to_use_is_there() -> None:
    known = "".join(page(each) for each in _ELSEWHERE)
    told = page("other-programs").partition("\n## Published results")[0]
    rows = [re.split(r"(?<!\\)\|", row) for row in re.findall(r"^\|.*\|$", told, re.MULTILINE)]
    named = {word for row in rows for code in re.findall(r"`([^`]+)`", row[2]) for word in re.findall(r"\w+", code)}
    assert len(rows) >= 60
    assert {word for word in named if "_" in word and word not in known} == set()


def keys(schema: Any) -> Iterator[str]:
    """Of a document and all parts of it."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from keys(part)


def test_no_key_of_a_document_is_missing_in_the_docs() -> None:
    words = {word for path in DOCS.glob("*.md") for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    found = {key for path in DOCS.parent.glob("*/*.schema.json") for key in keys(json.loads(path.read_bytes()))}
    assert len(found) > 300
    assert found - words == set()
