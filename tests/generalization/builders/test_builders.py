"""What holds for every builder of a hierarchy: its kinds, leaves in their order, levels that nest up to one group."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from sluice.generalization.builders import BUILDERS
from sluice.generalization.builders.builder import HierarchyBuilder
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Variable
from tests.golden import golden

WRITTEN: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("builders.yaml").read_text(encoding="utf-8")
)
every_builder = pytest.mark.parametrize("key", BUILDERS)


def domain_of(key: str) -> Variable:
    return Variable.model_validate({"name": "x"} | WRITTEN[key]["of"])


def builder(key: str) -> HierarchyBuilder:
    return BUILDERS[key].model_validate(WRITTEN[key]["example"])


@every_builder
def test_leaves_stand_in_their_order_and_levels_nest_up_to_one_group(key: str) -> None:
    variable = domain_of(key)
    built = builder(key).build(variable)
    assert list(built.rows)[: len(variable.categories or ())] == list(variable.categories or ())
    assert {len(groups) for groups in built.rows.values()} == {built.depth}
    assert len({groups[-1] for groups in built.rows.values()}) == 1
    for lower, upper in pairwise(range(1, built.depth + 1)):
        holds: dict[str, set[str]] = {}
        for groups in built.rows.values():
            holds.setdefault(groups[lower - 1], set()).add(groups[upper - 1])
        assert all(len(above) == 1 for above in holds.values())


@every_builder
def test_what_is_written_is_read_again_as_the_same_builder(key: str) -> None:
    written = builder(key).model_dump(mode="json")
    again = BUILDERS[key].model_validate(written)
    assert again == builder(key)
    assert again.build(domain_of(key)) == builder(key).build(domain_of(key))


@every_builder
@pytest.mark.parametrize("kind", Kind)
def test_other_kinds_are_refused_by_name(key: str, kind: Kind) -> None:
    assert (kind in BUILDERS[key].kinds) is (kind in WRITTEN[key]["kinds"])
    if kind not in WRITTEN[key]["kinds"]:
        categories = ("a", "b") if kind in (Kind.ORDINAL, Kind.BINARY) else None
        with golden.raises(DocumentError):
            builder(key).build(Variable(name="x", kind=kind, categories=categories))


def all_of(section: str) -> list[tuple[Any, ...]]:
    """Every entry of a section of builders.yaml, after the key of its builder."""
    return [
        (key, *each) if isinstance(each, list) else (key, each)
        for key in BUILDERS
        for each in WRITTEN[key].get(section, [])
    ]


@pytest.mark.parametrize(("key", "written"), all_of("refused"))
def test_what_makes_no_hierarchy_is_refused_as_it_is_read(key: str, written: dict[str, object]) -> None:
    with golden.raises(ValidationError):
        BUILDERS[key].model_validate(written)


@pytest.mark.parametrize(("key", "written", "domain"), all_of("does_not_fit"))
def test_what_does_not_fit_the_values_is_refused(key: str, written: dict[str, object], domain: dict[str, Any]) -> None:
    with golden.raises(DocumentError):
        BUILDERS[key].model_validate(written).build(Variable.model_validate({"name": "x"} | domain))
