"""Formula: the equation of a model, in the notation of statistical packages, read by a parser of its own.

    income == '>50K' ~ age + age^2 + sex * education + log(hours_per_week)
    log(wage) ~ C(region) + tenure - 1
    survival(months, status == 'died') ~ stage + age

Names of variables (in back quotes where they hold other marks than letters, digits, '_' and '.'), `+`, `:` for an
interaction, `*` for variables with their interactions, `C(x)` for numbers as categories, `log(x)`, `sqrt(x)`, powers
`x^2` to `x^5`, and `- 1` or `+ 0` for no intercept. Categorical variables enter by their categories. A response may be
a comparison with a number or a 'text'. Nothing of a formula is ever evaluated as code: whoever submits a release writes
it, and it runs beside the confidential data.

Source: Wilkinson and Rogers (1973), sections 2 and 3, of which this is a part.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NoReturn

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variables, as_label

ModelKind = Literal["linear", "logistic", "poisson", "cox"]
Form = Literal["itself", "category", "log", "sqrt", "power"]
_LONGEST = 1000
_MOST_TERMS = 100
_DEEPEST = 3  # variables in an interaction
_HIGHEST = 5
_FUNCTIONS: dict[str, Form] = {"C": "category", "log": "log", "sqrt": "sqrt"}
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
_TOKEN = re.compile(
    r"\s*(?:(?P<name>[^\W\d]\w*(?:\.\w+)*)|`(?P<quoted>[^`\r\n]{1,200})`|(?P<number>\d{1,15}(?:\.\d{1,15})?)"
    r"|(?P<text>'[^'\r\n]*'|\"[^\"\r\n]*\")|(?P<mark>==|!=|<=|>=|\*\*|[~+\-*:^(),<>])|(?P<end>$))"
)
_WANTED = "use names, + : * - 1, C(x), log(x), sqrt(x), x^2, and survival(time, event) on the left"


@dataclass(frozen=True)
class Factor:
    """A variable in one form. As itself it is a number, or its categories."""

    variable: str
    form: Form = "itself"
    power: int = 1

    def __str__(self) -> str:
        if self.form == "power":
            return f"{self.variable}^{self.power}"
        if self.form == "itself":
            return self.variable
        return f"{'C' if self.form == 'category' else self.form}({self.variable})"


@dataclass(frozen=True)
class Condition:
    """What is explained: a variable in one form, or whether it compares with a value as it should."""

    factor: Factor
    comparison: str = ""
    value: str | float = 0.0


@dataclass(frozen=True)
class Formula:
    """A formula that was read. Each term is a set of factors; `event` is that of a survival time."""

    response: Condition
    terms: tuple[tuple[Factor, ...], ...]
    intercept: bool = True
    event: Condition | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it names, each once."""
        left = [self.response.factor] + ([self.event.factor] if self.event else [])
        return tuple(dict.fromkeys(f.variable for f in (*left, *(f for term in self.terms for f in term))))


def read_formula(text: str) -> Formula:
    """The formula. Raises DataError, which says what is allowed and where the reading stopped."""
    if len(text) > _LONGEST:
        raise DataError(f"a formula has at most {_LONGEST:,} characters; got {len(text):,}.")
    return _Parser(text).formula()


def refuse_unfit(formula: Formula, kind: ModelKind, variables: Variables) -> None:
    """Raise DataError where a formula names no variable of the data, or one in a form that its kind has not."""
    for name in formula.variables:
        if name not in variables:
            raise DataError(f"the formula names '{name}', which the data do not have.", came=name, allowed=variables)
        if variables[name].kind in (Kind.TEXT, Kind.ITEMS):
            raise DataError(
                f"the formula names '{name}', which is of kind {variables[name].kind} and no value to model."
            )
    if (kind == "cox") != (formula.event is not None):
        raise DataError("a model of kind cox, and no other, explains survival(time, event).")
    for factor in (factor for term in formula.terms for factor in term):
        if factor.form in ("log", "sqrt", "power") and not _is_number(factor.variable, variables):
            raise DataError(f"'{factor}' is for numbers; '{factor.variable}' is {variables[factor.variable].kind}.")
    of_number = kind in ("linear", "poisson", "cox")
    _refuse_unfit_condition(formula.response, variables, of_number, "the response")
    if formula.event is not None:
        _refuse_unfit_condition(formula.event, variables, False, "the event")
        if formula.response.comparison:
            raise DataError("a survival time is a number, not a comparison.")


def refuse_unknown_categories(formula: Formula, declared: Variables) -> None:
    """Raise DataError where a formula compares a variable with what is none of its declared categories.

    declared : as the documents alone tell them: of categories that only the data hold, no error may tell
    """
    for condition in (formula.response, formula.event):
        if condition is None or not condition.comparison:
            continue
        name, value = condition.factor.variable, str(as_label(condition.value))
        known = declared[name].categories
        if known is not None and value not in known:
            raise DataError(f"'{name}' has no category '{value}'.", came=value, allowed=known)


def _refuse_unfit_condition(condition: Condition, variables: Variables, of_number: bool, what: str) -> None:
    factor, kind = condition.factor, variables[condition.factor.variable].kind
    number = _is_number(factor.variable, variables)
    if factor.form == "category":
        raise DataError(f"{what} is a number or a comparison, not '{factor}'.")
    if factor.form != "itself" and not number:
        raise DataError(f"'{factor}' is for numbers; '{factor.variable}' is {kind}.")
    if not condition.comparison:
        if of_number and not number:
            raise DataError(
                f"{what}, '{factor.variable}', is {kind}: write a comparison such as {factor.variable} == 'x'."
            )
        if not of_number and not number and kind is not Kind.BINARY:
            raise DataError(
                f"{what}, '{factor.variable}', is {kind}: say which category counts, {factor.variable} == 'x'."
            )
        return
    if kind is Kind.DATE:
        raise DataError(f"{what} compares '{factor.variable}', which is a date.")
    if number and isinstance(condition.value, str):
        raise DataError(f"{what} compares '{factor.variable}', which is {kind}, with a text.")
    if not number and condition.comparison not in ("==", "!="):
        raise DataError(f"{what} compares '{factor.variable}', which is {kind}: use == or !=.")


def _is_number(name: str, variables: Variables) -> bool:
    kind = variables[name].kind
    return kind.is_numeric or kind is Kind.DATE


class _Parser:
    """One formula, read from left to right; every branch consumes a token, so it ends."""

    def __init__(self, text: str) -> None:
        self._tokens = list(self._split(text))
        self._at = 0

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        place = 0
        while True:
            found = _TOKEN.match(text, place)
            if found is None:
                raise DataError(f"the formula cannot be read from character {place + 1} on; {_WANTED}.")
            kind = str(found.lastgroup)
            yield ("name" if kind == "quoted" else kind), found.group(kind)
            if kind == "end":
                return
            place = found.end()

    @property
    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at]

    def _take(self, mark: str) -> bool:
        if self._next == ("mark", mark):
            self._at += 1
            return True
        return False

    def _need(self, kind: str, mark: str = "") -> str:
        found, text = self._next
        if found != kind or (mark and text != mark):
            self._refuse(f"wanted {repr(mark) if mark else f'a {kind}'}")
        self._at += 1
        return text

    def _refuse(self, why: str) -> NoReturn:
        kind, text = self._next
        came = "the end" if kind == "end" else f"'{text}'"
        raise DataError(f"the formula cannot be read: {why}, got {came}; {_WANTED}.")

    def formula(self) -> Formula:
        event = None
        if self._next == ("name", "survival") and self._tokens[self._at + 1] == ("mark", "("):
            self._at += 2
            response = Condition(Factor(self._need("name")))
            self._need("mark", ",")
            event = self._condition()
            self._need("mark", ")")
        else:
            response = self._condition()
        self._need("mark", "~")
        intercept, terms = True, list[tuple[Factor, ...]]()
        minus = self._take("-")
        while True:
            if self._next[0] == "number":
                kept = self._constant() != minus
                intercept = kept
            elif minus:
                self._refuse("after '-' comes 1")
            else:
                terms += self._crossed()
            if self._next[0] == "end":
                break
            minus = self._take("-")
            if not minus:
                self._need("mark", "+")
        distinct = list(dict.fromkeys(tuple(sorted(set(term), key=str)) for term in terms))
        if len(distinct) > _MOST_TERMS:
            raise DataError(f"a formula has at most {_MOST_TERMS} terms; got {len(distinct)}.")
        # As in statistical packages, an interaction comes after what it is made of.
        return Formula(response, tuple(sorted(distinct, key=len)), intercept, event)

    def _constant(self) -> bool:
        """1 or 0."""
        number = self._need("number")
        if number not in ("0", "1"):
            raise DataError(f"the formula cannot be read: a number among the terms is 1 or 0, got {number}; {_WANTED}.")
        return number == "1"

    def _condition(self) -> Condition:
        factor = self._factor()
        kind, mark = self._next
        if kind != "mark" or mark not in _COMPARISONS:
            return Condition(factor)
        self._at += 1
        negative = self._take("-")
        kind, text = self._next
        if kind == "number":
            self._at += 1
            return Condition(factor, mark, -float(text) if negative else float(text))
        if negative:
            self._refuse("after '-' comes a number")
        return Condition(factor, mark, self._need("text")[1:-1])

    def _crossed(self) -> list[tuple[Factor, ...]]:
        """Parts joined by `*`: each, and every interaction of them."""
        parts = [self._interaction()]
        while self._take("*"):
            parts.append(self._interaction())
            if len(parts) > _DEEPEST:
                self._too_deep()
        sets = (several for size in range(1, len(parts) + 1) for several in combinations(parts, size))
        crossed = [tuple(factor for part in several for factor in part) for several in sets]
        if max(len(set(term)) for term in crossed) > _DEEPEST:
            self._too_deep()
        return crossed

    def _interaction(self) -> tuple[Factor, ...]:
        factors = [self._factor()]
        while self._take(":"):
            factors.append(self._factor())
            if len(factors) > _DEEPEST:
                self._too_deep()
        return tuple(factors)

    def _too_deep(self) -> NoReturn:
        raise DataError(f"a formula has interactions of at most {_DEEPEST} variables.")

    def _factor(self) -> Factor:
        quoted = self._tokens[self._at]
        name = self._need("name")
        if self._next == ("mark", "("):
            if name not in _FUNCTIONS:
                raise DataError(f"the formula calls '{quoted[1]}', which is not allowed; {_WANTED}.")
            self._at += 1
            inner = self._need("name")
            self._need("mark", ")")
            return Factor(inner, _FUNCTIONS[name])
        if self._take("^"):
            power = self._need("number")
            if not power.isdigit() or not 2 <= int(power) <= _HIGHEST:
                raise DataError(f"a power in a formula is a whole number from 2 to {_HIGHEST}; got {power}.")
            return Factor(name, "power", int(power))
        return Factor(name)
