"""What holds for every builder of a hierarchy: its kinds, leaves in their order, levels that nest up to one group."""

from itertools import pairwise

import pytest

from sluice.errors import DocumentError
from sluice.generalization.builders import BUILDERS
from sluice.generalization.builders.builder import HierarchyBuilder
from sluice.variables import Kind, Variable
from tests.golden import golden

CODES = ("AB1", "AB2", "AC1", "BC1")
EXAMPLES: dict[str, tuple[dict[str, object], Variable]] = {
    "intervals": ({"intervals": (5, 10)}, Variable(name="x", kind=Kind.INTEGER, minimum=0, maximum=30)),
    "cuts": ({"cuts": ((10, 20), (20,))}, Variable(name="x", kind=Kind.INTEGER, minimum=0, maximum=30)),
    "groups": ({"groups": (2,)}, Variable(name="x", kind=Kind.ORDINAL, categories=CODES)),
    "ranges": ({"ranges": ({"low": "0 to 9"},), "others": "high"},
               Variable(name="x", kind=Kind.INTEGER, minimum=0, maximum=30)),
    "periods": ({"periods": ("month", "year")},
                Variable(name="x", kind=Kind.DATE, minimum="2023-11-30", maximum="2024-02-01")),
    "times": ({"times": (60, 360)}, Variable(name="x", kind=Kind.NOMINAL, categories=("08:00", "08:30", "19:15"))),
    "priority": ({"priority": (("AB1", "AC1"), ("AC1",))}, Variable(name="x", kind=Kind.NOMINAL, categories=CODES)),
    "redaction": ({"redaction": "right"}, Variable(name="x", kind=Kind.NOMINAL, categories=CODES)),
    "prefixes": ({"prefixes": (2, 1)}, Variable(name="x", kind=Kind.NOMINAL, categories=CODES)),
    "parents": ({"parents": {"AB1": "A", "AB2": "A", "AC1": "A", "BC1": "B"}},
                Variable(name="x", kind=Kind.NOMINAL, categories=CODES)),
}  # fmt: skip
KINDS = {
    "intervals": {Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL},
    "cuts": {Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL},
    "groups": {Kind.ORDINAL, Kind.INTEGER},
    "ranges": {Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL},
    "periods": {Kind.DATE},
    "times": {Kind.ORDINAL, Kind.NOMINAL},
    "priority": {Kind.ORDINAL, Kind.NOMINAL},
    "redaction": {Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY},
    "prefixes": {Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY},
    "parents": {Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.INTEGER},
}
every_builder = pytest.mark.parametrize("key", BUILDERS)


def builder(key: str) -> HierarchyBuilder:
    return BUILDERS[key].model_validate(EXAMPLES[key][0])


@every_builder
def test_leaves_stand_in_their_order_and_levels_nest_up_to_one_group(key: str) -> None:
    variable = EXAMPLES[key][1]
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
    assert again.build(EXAMPLES[key][1]) == builder(key).build(EXAMPLES[key][1])


@every_builder
@pytest.mark.parametrize("kind", Kind)
def test_other_kinds_are_refused_by_name(key: str, kind: Kind) -> None:
    assert (kind in BUILDERS[key].kinds) is (kind in KINDS[key])
    if kind not in KINDS[key]:
        categories = ("a", "b") if kind in (Kind.ORDINAL, Kind.BINARY) else None
        with golden.raises(DocumentError):
            builder(key).build(Variable(name="x", kind=kind, categories=categories))
