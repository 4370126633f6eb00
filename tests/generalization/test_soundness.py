"""sluice.generalization.hierarchy_review."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import Intervals
from sluice.generalization.hierarchy_review import Remark, remarks_for, remarks_on, remarks_with
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from tests.golden import golden

AGE = Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=99)


def faults(remarks: object) -> list[str]:
    return [remark.says for remark in remarks if remark.fault]  # type: ignore[attr-defined]


def of(*leaves: str) -> Hierarchy:
    return Hierarchy(rows=dict.fromkeys(leaves, ("*",)))


@pytest.mark.parametrize(
    ("hierarchy", "fault"),
    [
        (of("New York", "new  york", "x"), True),
        (of("Zu\u0308rich", "Z\u00fcrich"), True),
        (of("01", "1", "x"), False),
        (of("1", "1.0"), False),
        (Hierarchy(rows={"a": ("b", "*"), "b": ("c", "*"), "d": ("c", "*")}), True),
        (Hierarchy(rows={"a": ("A", "*"), "b": ("B", "*")}), False),
        (Hierarchy(rows={"a": ("x",), "b": ("x",), "c": ("y",)}), False),
    ],
)
def test_what_shows_in_the_hierarchy_alone(hierarchy: Hierarchy, fault: bool) -> None:
    (remark,) = remarks_on(hierarchy)
    assert remark.fault is fault
    golden(remark.says)


def test_sound_hierarchies_have_no_remark() -> None:
    built = Intervals(intervals=(5, 10, 20)).build(AGE)
    assert [*remarks_on(built), *remarks_for(built, AGE), *remarks_with(built, {"5": 3})] == []
    # a code that stays whole beside its own group is no stranger there: K20 lies in K20
    assert list(remarks_on(Hierarchy(rows={"K20": ("K20", "*"), "K201": ("K20", "*"), "A": ("A", "*")}))) == []


@pytest.mark.parametrize(
    ("hierarchy", "variable", "faults"),
    [
        (of("1", "2"), {"kind": "nominal", "categories": ("01", "2", "3")}, [True, False]),
        (of("Male", "f"), {"kind": "binary", "categories": ("male", "f")}, [True, False]),
        (of(*map(str, range(50))), {"kind": "integer", "minimum": 0, "maximum": 99}, [True]),
        (of("a", "b", "c"), {"kind": "nominal", "categories": ("a", "b")}, [False]),
        (
            Hierarchy(rows={"a": ("x", "*"), "b": ("y", "*"), "c": ("x", "*")}),
            {"kind": "ordinal", "categories": ("a", "b", "c")},
            [False],
        ),
        (of("1"), {"kind": "integer"}, [True]),
        (of("1"), {"kind": "nominal"}, [False]),
    ],
)
def test_what_shows_beside_the_contract(hierarchy: Hierarchy, variable: dict[str, object], faults: list[bool]) -> None:
    found = list(remarks_for(hierarchy, Variable.model_validate({"name": "x"} | variable)))
    assert [remark.fault for remark in found] == faults
    golden([remark.says for remark in found])


def test_values_of_the_data_are_counted_and_never_named_unless_declared() -> None:
    (remark,) = remarks_with(of("a", "b"), {"a": 5, "secret": 2, "c": 1}, declared=("a", "b", "c"))
    assert remark == Remark(True, "3 of 8 records lie outside the hierarchy, with 2 different values, among them 'c'")
    (remark,) = remarks_with(of("1", "2"), {"01": 4, "2": 1})
    golden(remark.says)
    (remark,) = remarks_with(of("north"), {"NORTH": 4})
    assert "NORTH" not in remark.says


@given(st.sets(st.text("abc0 ", min_size=1, max_size=3).map(str.strip).filter(bool), min_size=1), st.data())
def test_records_outside_are_those_whose_value_has_no_row(leaves: set[str], data: st.DataObject) -> None:
    counts = data.draw(st.dictionaries(st.text("abcd0", min_size=1, max_size=3), st.integers(1, 9)))
    outside = sum(count for value, count in counts.items() if value not in leaves)
    remarks = list(remarks_with(of(*leaves), counts))
    assert len(remarks) == (outside > 0)
    assert all(remark.says.startswith(f"{outside:,} of {sum(counts.values()):,} records") for remark in remarks)
