from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.utility.analyses.formula import Condition, Factor, read_formula, refuse_unfit, refuse_unknown_categories
from tests.golden import golden

VARIABLES = {
    "y": Variable(name="y", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "town": Variable(name="town", kind=Kind.NOMINAL, categories=("north", "south")),
    "born": Variable(name="born", kind=Kind.DATE),
    "note": Variable(name="note", kind=Kind.TEXT),
}


def terms(formula: str) -> list[str]:
    return [":".join(map(str, term)) for term in read_formula(formula).terms]


def test_terms_are_those_of_wilkinson_and_rogers() -> None:
    """Section 2: A*B is A + B + A:B, a repeated factor counts once, and main effects come first."""
    assert terms("y ~ a*b") == ["a", "b", "a:b"]
    assert terms("y ~ a:b + c") == ["c", "a:b"]
    assert terms("y ~ a*b*c") == ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]
    assert terms("y ~ a + a + a*a") == ["a"]
    assert terms("y ~ C(a) + log(b) + sqrt(b) + b^2") == ["C(a)", "log(b)", "sqrt(b)", "b^2"]
    assert terms("y ~ 1") == []


@pytest.mark.parametrize(
    ("formula", "kept"), [("y ~ a", True), ("y ~ a + 1", True), ("y ~ a - 1", False), ("y ~ 0 + a", False)]
)
def test_the_intercept_is_there_unless_it_is_taken_out(formula: str, kept: bool) -> None:
    assert read_formula(formula).intercept is kept


def test_responses_are_numbers_conditions_and_survival_times() -> None:
    assert read_formula("log(y) ~ a").response == Condition(Factor("y", "log"))
    assert read_formula("income == '>50K' ~ a").response == Condition(Factor("income"), "==", ">50K")
    assert read_formula("y >= -2.5 ~ a").response.value == -2.5
    survival = read_formula("survival(months, status != 'lives') ~ `hours-per-week`")
    assert survival.response == Condition(Factor("months"))
    assert survival.event == Condition(Factor("status"), "!=", "lives")
    assert survival.variables == ("months", "status", "hours-per-week")


@pytest.mark.parametrize(
    "attack",
    [
        "y ~ __import__('os').system('id')",
        "y ~ I(a)",
        "y ~ np.log(a)",
        "y ~ eval('1')",
        "y ~ open('/etc/passwd')",
        "y ~ a.__class__.__mro__[1]",
        "y ~ (lambda: 1)()",
        "y ~ [x for x in a]",
        "y ~ a if b else c",
        "y ~ a; import os",
        "y ~ a\nimport os",
        "y ~ {a}",
        "y ~ f'{a}'",
        "y ~ log(log(a))",
        "y ~ log(a + b)",
        "y ~ Q('a')",
        "y ~ C(a, Treatment)",
        "y ~ a**2",
        "y ~ a^99999999999999",
        "y ~ a^2.5",
        "y ~ @a",
        "y ~ a # b",
        "y ~ a \\ b",
        "y ~ \x00",
        "y == 'x'.format(y) ~ a",
        "y == exec('1') ~ a",
        "survival(y, exec('1')) ~ a",
    ],
)
def test_nothing_but_the_grammar_is_read(attack: str) -> None:
    with pytest.raises(DataError, match="formula"):
        read_formula(attack)


@pytest.mark.parametrize(
    "formula",
    [
        "y",
        "~ a",
        "y ~",
        "y ~ a b",
        "y ~ a +",
        "y ~ 2",
        "y ~ a - b",
        "y ~ a^7",
        "y ~ a*b*c*d",
        "y ~ a:b:c:d",
        "y ~ a:b * c:d",
        "y ~ " + " + ".join(f"a{n}" for n in range(150)),
        "y ~ " + "a" * 1000,
        "y ~ 'a'",
    ],
)
def test_what_cannot_be_read_is_refused_with_what_is_allowed(formula: str) -> None:
    golden.refused(DataError, read_formula, formula)


@given(st.text(alphabet="ya~+-*:^() '`\".=<>123\n\\%C", max_size=60))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        formula = read_formula(text)
    except DataError:
        return
    assert all(len(term) <= 3 for term in formula.terms)


def test_long_texts_are_not_searched_again_and_again() -> None:
    for text in ("a." * 499, "y ~ " + "a*" * 490, "`" * 999, "'" * 999, "y ~ " + "(" * 990, " " * 1000):
        with pytest.raises(DataError):
            read_formula(text)


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("y ~ agee", "linear"),
        ("y ~ note", "linear"),
        ("town ~ age", "linear"),
        ("town ~ age", "logistic"),
        ("y ~ log(town)", "linear"),
        ("y ~ town^2", "linear"),
        ("log(town) ~ age", "linear"),
        ("C(y) ~ age", "linear"),
        ("y == 'x' ~ age", "logistic"),
        ("town > 'north' ~ age", "logistic"),
        ("born == '2020-01-01' ~ age", "logistic"),
        ("y ~ age", "cox"),
        ("survival(y, sex == 'm') ~ age", "linear"),
        ("survival(y, town) ~ age", "cox"),
    ],
)
def test_a_formula_that_does_not_fit_the_variables_is_refused(formula: str, kind: Any) -> None:
    golden.refused(DataError, refuse_unfit, read_formula(formula), kind, VARIABLES)


def test_formulas_that_fit() -> None:
    for formula, kind in [
        ("y ~ age*town + born", "linear"),
        ("sex ~ y", "logistic"),
        ("town == 'north' ~ y", "logistic"),
        ("age ~ town", "poisson"),
        ("survival(y, sex) ~ age", "cox"),
    ]:
        refuse_unfit(read_formula(formula), kind, VARIABLES)  # type: ignore[arg-type]


def test_a_category_that_is_not_declared_is_refused() -> None:
    golden.refused(DataError, refuse_unknown_categories, read_formula("town == 'nort' ~ y"), VARIABLES)
    undeclared = {**VARIABLES, "town": Variable(name="town", kind=Kind.NOMINAL)}
    refuse_unknown_categories(read_formula("town == 'nort' ~ y"), undeclared)
