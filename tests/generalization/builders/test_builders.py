"""What holds for every builder of a hierarchy: its kinds, leaves in their order, levels that nest up to one group."""

from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

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


def variable(kind: Kind = Kind.NOMINAL, **declared: Any) -> Variable:
    return Variable(name="x", kind=kind, **declared)


AGES = variable(Kind.INTEGER, minimum=0, maximum=99)
COUNTRIES = variable(categories=("Cuba", "India", "Mexico", "Peru"))
FIVE = variable(Kind.ORDINAL, categories=("a", "b", "c", "d", "e"))
STARRED = variable(categories=("1*3", "12"))
A1_B2 = variable(categories=("a1", "b2"))

REFUSED: dict[str, list[dict[str, object]]] = {
    "intervals": [
        {"intervals": (5, 12)}, {"intervals": (5, 5)}, {"intervals": (0,)}, {"intervals": ()},
        {"intervals": (5,), "lowest": 20, "highest": 20},
    ],
    "cuts": [{"cuts": ((20, 20),)}, {"cuts": ((20, 40), (30,))}, {"cuts": ((),)}],
    "groups": [{"groups": (2, 2), "names": (("a",),)}],
    "periods": [
        {"periods": ("year", "month")}, {"periods": ("week", "month")}, {"periods": ("week", "year")},
        {"periods": ("month", "month")}, {"periods": ("quarter", "week_year")},
    ],
    "times": [{"times": times} for times in ((50,), (15, 40), (60, 15), (0,), (1440, 2880))],
    "priority": [{"priority": [["a"], ["b"]]}, {"priority": [["a", "a"]]}, {"priority": [[]]}],
    "redaction": [
        {"redaction": "middle"}, {"redaction": "right", "levels": (2, 1)}, {"redaction": "right", "character": "**"},
    ],
    "prefixes": [{"prefixes": prefixes} for prefixes in ((2, 2), (2, 3), (0,), (3, 0))],
}  # fmt: skip
DOES_NOT_FIT: dict[str, list[tuple[dict[str, object], Variable]]] = {
    "intervals": [
        ({"intervals": (5,)}, variable(Kind.INTEGER, minimum=1)),
        ({"intervals": (5,)}, variable(Kind.INTEGER, minimum=0, maximum=100_000)),
        ({"intervals": (5,)}, variable(categories=("1", "01", "a"))),
        ({"intervals": (5,)}, variable()),
    ],
    "cuts": [({"cuts": ((2,),)}, variable(Kind.ORDINAL, categories=("1", "two")))],
    "groups": [
        ({"groups": ((2, 2),)}, FIVE),
        ({"groups": (2, (1, 1)), "names": (("a", "b", "c"), ("x", "y"))}, FIVE),
        ({"groups": (2,), "names": (("a", "a", "b"),)}, FIVE),
    ],
    "ranges": [
        ({"ranges": ({"a": "0 to 50", "b": "50 to 99"},), "others": "rest"}, AGES),
        ({"ranges": ({"a": "50 to 0"},), "others": "rest"}, AGES),
        ({"ranges": ({"a": "x to y"},), "others": "rest"}, AGES),
        ({"ranges": ({"a": "1,,2"},), "others": "rest"}, AGES),
        ({"ranges": ({"young": "up to 17"},)}, AGES),
        ({"ranges": ({"g": "a1 to b"},), "others": "rest"}, A1_B2),
        ({"ranges": ({"g": "b2 to a1"},), "others": "rest"}, A1_B2),
        ({"ranges": ({"g": "a1, b2"}, {"h": "a1", "i": "b2"})}, A1_B2),
    ],
    "periods": [
        ({"periods": ("year",)}, variable(Kind.DATE, minimum="2020-01-01")),
        ({"periods": ("year",)}, variable(Kind.DATE, minimum="1000-01-01", maximum="2000-01-01")),
    ],
    "times": [({"times": (60,)}, variable(categories=("08:00", "8:00", "24:00")))],
    "priority": [
        ({"priority": [["Mexiko"]]}, COUNTRIES),
        ({"priority": [["Mexico"]], "others": "Peru"}, COUNTRIES),
    ],
    "redaction": [
        ({"redaction": "right"}, STARRED),
        ({"redaction": "right", "character": "x", "levels": (4,)}, STARRED),
    ],
    "parents": [
        ({"parents": parents}, variable())
        for parents in ({"a": "a"}, {"a": "b", "b": "a"}, {"x": "a", "a": "b", "b": "a"})
    ],
}


@pytest.mark.parametrize(("key", "written"), [(key, each) for key, some in REFUSED.items() for each in some])
def test_what_makes_no_hierarchy_is_refused_as_it_is_read(key: str, written: dict[str, object]) -> None:
    with golden.raises(ValidationError):
        BUILDERS[key].model_validate(written)


@pytest.mark.parametrize(
    ("key", "written", "domain"), [(key, *each) for key, some in DOES_NOT_FIT.items() for each in some]
)
def test_what_does_not_fit_the_values_is_refused(key: str, written: dict[str, object], domain: Variable) -> None:
    with golden.raises(DocumentError):
        BUILDERS[key].model_validate(written).build(domain)
