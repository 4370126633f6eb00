"""Cross-field rules: three-valued logic against SQLite's, kinds, and the refusal of everything that is no rule."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.cross_field import read_expression
from sluice.ground.variables import Kind, Variable
from tests.golden import golden

LEVELS = ("low", "middle", "high")
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="a", kind=Kind.CONTINUOUS, nullable=True),
        Variable(name="b", kind=Kind.INTEGER, nullable=True),
        Variable(name="level", kind=Kind.ORDINAL, categories=LEVELS, nullable=True),
        Variable(name="wish", kind=Kind.ORDINAL, categories=LEVELS, nullable=True),
        Variable(name="code", kind=Kind.ORDINAL, categories=(1, 2, 10), nullable=True),
        Variable(name="region", kind=Kind.NOMINAL, categories=("north", "south"), nullable=True),
        Variable(name="town", kind=Kind.NOMINAL, nullable=True),
        Variable(name="born", kind=Kind.DATE, nullable=True),
        Variable(name="died", kind=Kind.DATE, nullable=True),
    )
}


def frame(**columns: list[object]) -> pd.DataFrame:
    """A typed frame with these columns, and an index that must not matter."""
    typed = {}
    for name, values in columns.items():
        variable = VARIABLES[name]
        if variable.kind is Kind.DATE:
            typed[name] = pd.to_datetime(pd.Series(values)).astype("datetime64[us]")
        elif variable.kind.is_categorical:
            categories = pd.Index(variable.categories or sorted({v for v in values if v}), dtype="str")
            typed[name] = pd.Series(pd.Categorical(values, categories=categories))
        else:
            typed[name] = pd.Series(values, dtype="Int64" if variable.kind is Kind.INTEGER else float)
    result = pd.DataFrame(typed)
    return result.set_axis([7] * len(result))


def holds(expression: str, **columns: list[object]) -> list[bool]:
    return read_expression(expression, VARIABLES).holds(frame(**columns)).tolist()


numbers = st.sampled_from(["a", "b", "1.0", "2.0", "-3.0"]).flatmap(
    lambda left: (
        st.tuples(st.sampled_from("+-*/"), st.sampled_from(["a", "b", "2.0", "0.0"])).map(
            lambda rest: f"({left} {rest[0]} {rest[1]})"
        )
        | st.just(left)
    )
)
conditions = st.recursive(
    st.tuples(numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers).map(" ".join)
    | st.sampled_from(["is_missing(a)", "is_missing(b)"]),
    lambda inner: (
        inner.map(lambda one: f"not ({one})")
        | st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map(lambda three: f"({''.join(three)})")
    ),
    max_leaves=6,
)
values = st.none() | st.integers(-3, 3)


@given(expression=conditions, records=st.lists(st.tuples(values, values), min_size=1, max_size=12))
def test_agrees_with_the_three_valued_logic_of_sqlite(
    expression: str, records: list[tuple[int | None, int | None]]
) -> None:
    """SQLite evaluates the same text on the same records; NULL (unknown) does not break a rule."""
    sql = expression.replace("is_missing(a)", "a IS NULL").replace("is_missing(b)", "b IS NULL")
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (a REAL, b REAL)")
    database.executemany("INSERT INTO t VALUES (?, ?)", records)
    expected = [found is None or bool(found) for (found,) in database.execute(f"SELECT ({sql}) FROM t ORDER BY rowid")]
    database.close()

    a, b = ([record[i] for record in records] for i in (0, 1))
    assert holds(expression, a=a, b=b) == expected


def test_a_missing_value_breaks_no_rule_even_under_not() -> None:
    assert holds("a <= b", a=[1, 3, None, 3], b=[2, 2, 2, None]) == [True, False, True, True]
    assert holds("not (a <= b)", a=[1, 3, None], b=[2, 2, 2]) == [False, True, True]
    # unknown and false is false: the second condition breaks the rule whatever the first would be
    assert holds("a <= 5 and b == 1", a=[None, None], b=[1, 2]) == [True, False]


def test_chained_comparison_is_both() -> None:
    assert holds("0 <= a < b <= 10", a=[0, -1, 5, 5], b=[1, 5, 5, 11]) == [True, False, False, False]


def test_an_ordinal_is_compared_by_its_order_not_by_its_letters() -> None:
    levels = ["low", "middle", "high", None]
    assert holds("level >= 'middle'", level=levels) == [False, True, True, True]
    assert holds("'middle' < level", level=levels) == [False, False, True, True]
    assert holds("level <= wish", level=["low", "high"], wish=["high", "middle"]) == [True, False]
    assert holds("code < 10", code=["2", "10"]) == [True, False]  # by the letters '2' would come after '10'


def test_texts_and_dates() -> None:
    assert holds("region == 'south' or a > 1", region=["north", "south", "north"], a=[1, 1, 2]) == [False, True, True]
    assert holds("town != 'Ulm'", town=["Ulm", "Bonn", None]) == [False, True, True]
    dates = {"born": ["2000-01-01", "2001-05-05", None], "died": ["2000-01-01", "2001-05-04", "1999-01-01"]}
    assert holds("born <= died", **dates) == [True, False, True]
    assert holds("born < '2001-01-01'", **dates) == [True, False, True]


def test_a_division_by_zero_is_unknown() -> None:
    assert holds("a / b < 1", a=[1, 1], b=[0, 1]) == [True, False]


def test_no_record_and_one_record() -> None:
    assert holds("a < b and level == 'low'", a=[], b=[], level=[]) == []
    assert holds("1 > 2", a=[0]) == [False]


def test_names_are_those_of_the_variables_used() -> None:
    assert read_expression("a < 3 and not is_missing(level)", VARIABLES).names == ("a", "level")


@pytest.mark.parametrize(
    "expression",
    [
        "leve == 'low'",
        "level == 'hgih'",
        "a + b",
        "a < 'x'",
        "level < code",
        "region < 'south'",
        "born < 'soon'",
        "level + 1 > 2",
        "not a",
        "a and b > 1",
        "a <",
        "",
        "a > 1" + " " * 1000,
        "-" * 995 + "a>1",
        # every other Python
        "__import__('os').system('true') == 0",
        "a.real > 1",
        "level.cat == 1",
        "(lambda: 1)() > 0",
        "[a][0] > 1",
        "a[0] > 1",
        "f'{a}' == 'x'",
        "(a := 1) > 0",
        "a ** 9999 > 1",
        "a if a > 1 else b",
        "a in (1, 2)",
        "a is b",
        "True",
        "a == None",
        "is_missing('a')",
        "is_missing(a, b)",
        "is_missing(x=a)",
        "len(a) > 1",
        "b'x' == level",
        "1j < 2",
        "~a > 1",
        "a // 2 > 1",
        "{a} == {b}",
    ],
)
def test_refuses_what_is_no_rule_and_says_why(expression: str) -> None:
    with golden.raises(ValueError):
        read_expression(expression, VARIABLES)


def test_positions_count_not_labels() -> None:
    shuffled = frame(a=[1, 2, 3], b=[3, 2, 1]).set_axis([2, 0, 2])
    np.testing.assert_array_equal(read_expression("a < b", VARIABLES).holds(shuffled), [True, False, False])
