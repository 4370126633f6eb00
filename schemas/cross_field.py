"""Rules over several values of one record, such as `years_married <= age - 12`.

The language is a small part of Python's expressions, read by Python's own parser and never run by it: names of
variables, numbers, 'text', + - * /, comparisons (chained too), and / or / not, and `is_missing(x)`.

A comparison with a missing value is neither true nor false: it is unknown, and so is what follows from it (Kleene's
three-valued logic, as in SQL). A record whose rule is unknown does not break it. A division by zero counts as missing.
"""

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.errors import did_you_mean
from sluice.ground.values import moment
from sluice.ground.variables import Kind, Variables, as_label

_LONGEST = 1000
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_WANTED = "use names, numbers, 'text', + - * /, comparisons, and / or / not, is_missing(x)"


@dataclass(frozen=True)
class _Term:
    """A part of the expression: what it is, and how its values are had from a typed frame.

    `kind` is 'number', 'condition', 'text', 'date' or 'ordinal'. Values are arrays of shape (n,) or scalars: float64
    with NaN, BooleanArray with NA, object with NaN, datetime64 with NaT; for an ordinal, float64 codes in rising order.
    """

    kind: str
    values: Callable[[pd.DataFrame], Any]
    categories: tuple[str, ...] | None = None
    constant: str | None = None  # as it is written, for a comparison with categories or dates
    variable: str | None = None


@dataclass(frozen=True)
class CrossFieldExpression:
    """An expression that was read against its variables; `names` are those it uses."""

    names: tuple[str, ...]
    _term: _Term

    def holds(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Shape (n,), by position: False where a record breaks the rule; unknown counts as True.

        frame : typed by the variables it was read against (see sluice.ground.variables)
        cost  : O(n) for each operation
        """
        return np.asarray(self._term.values(frame).to_numpy(dtype=bool, na_value=True))


def read_expression(expression: str, variables: Variables) -> CrossFieldExpression:
    """The expression, checked for grammar, names and kinds. Raises ValueError with what is allowed and what came."""
    if len(expression) > _LONGEST:
        raise ValueError(f"an expression has at most {_LONGEST} characters; got {len(expression)}")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # what Python's parser is known to raise
        raise ValueError(f"'{expression}' cannot be read; {_WANTED}") from None
    try:
        term = _read(tree, variables)
    except RecursionError:
        raise ValueError(f"'{expression}' is nested too deeply") from None
    if term.kind != "condition":
        raise ValueError(f"'{expression}' is of kind {term.kind}, not a condition. Compare it with something")
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in variables})
    return CrossFieldExpression(tuple(names), term)


def _read(node: ast.expr, variables: Variables) -> _Term:
    match node:
        case ast.Name(id=name):
            return _variable(name, variables)
        case ast.Constant(value=bool()):
            raise ValueError(f"True and False are not used in a rule; {_WANTED}")
        case ast.Constant(value=int() | float() as number):
            return _Term("number", lambda frame: float(number), constant=as_label(number))
        case ast.Constant(value=str() as text):
            return _Term("text", lambda frame: text, constant=text)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            inner = _of_kind("number", _read(operand, variables), "a sign")
            factor = -1.0 if isinstance(sign, ast.USub) else 1.0
            label = as_label(factor * float(inner.constant)) if inner.constant is not None else None
            return _Term("number", lambda frame: factor * inner.values(frame), constant=label)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _of_kind("condition", _read(operand, variables), "not")
            return _Term("condition", lambda frame: ~inner.values(frame))
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in _ARITHMETIC:
            return _arithmetic(_ARITHMETIC[type(symbol)], _read(left, variables), _read(right, variables))
        case ast.BoolOp(op=symbol, values=parts):
            combine = operator.and_ if isinstance(symbol, ast.And) else operator.or_
            return _joined(combine, [_of_kind("condition", _read(part, variables), "and / or") for part in parts])
        case ast.Compare(left=left, ops=symbols, comparators=others) if all(type(op) in _COMPARISONS for op in symbols):
            terms = [_read(part, variables) for part in (left, *others)]
            pairs = zip(terms, symbols, terms[1:], strict=False)
            return _joined(operator.and_, [_comparison(a, type(op), b) for a, op, b in pairs])
        case ast.Call(func=ast.Name(id="is_missing"), args=[ast.Name(id=name)], keywords=[]):
            _variable(name, variables)
            return _Term("condition", lambda frame: pd.array(frame[name].isna().to_numpy(), dtype="boolean"))
    raise ValueError(f"'{ast.unparse(node)}' is not allowed in a rule; {_WANTED}")


def _variable(name: str, variables: Variables) -> _Term:
    if name not in variables:
        raise ValueError(f"no variable '{name}' in the typed data.{did_you_mean(name, variables)}")
    variable = variables[name]
    match variable.kind:
        case Kind.CONTINUOUS | Kind.INTEGER:
            return _Term("number", lambda frame: frame[name].to_numpy(dtype=float, na_value=np.nan), variable=name)
        case Kind.DATE:
            return _Term("date", lambda frame: frame[name].to_numpy(), variable=name)
        case Kind.ORDINAL:
            return _Term("ordinal", lambda frame: _codes(frame[name]), variable.categories, variable=name)
    return _Term("text", lambda frame: _objects(frame[name]), variable.categories, variable=name)


def _codes(series: "pd.Series[Any]") -> NDArray[np.float64]:
    codes = series.cat.codes.to_numpy().astype(float)
    return np.where(codes < 0, np.nan, codes)


def _objects(series: "pd.Series[Any]") -> NDArray[np.object_]:
    return series.to_numpy(dtype=object)


def _of_kind(kind: str, term: _Term, where: str) -> _Term:
    if term.kind != kind:
        raise ValueError(f"{where} takes a {kind}; {_called(term)} is of kind {term.kind}")
    return term


def _called(term: _Term) -> str:
    return f"'{term.variable or term.constant}'" if term.variable or term.constant else "an expression"


def _arithmetic(operation: Callable[[Any, Any], Any], left: _Term, right: _Term) -> _Term:
    _of_kind("number", left, "arithmetic")
    _of_kind("number", right, "arithmetic")

    def values(frame: pd.DataFrame) -> Any:
        with np.errstate(all="ignore"):
            return operation(np.float64(left.values(frame)), np.float64(right.values(frame)))

    return _Term("number", values)


def _joined(combine: Callable[[Any, Any], Any], parts: list[_Term]) -> _Term:
    def values(frame: pd.DataFrame) -> Any:
        truths: Iterator[Any] = (part.values(frame) for part in parts)
        joined = next(truths)
        for truth in truths:
            joined = combine(joined, truth)
        return joined

    return parts[0] if len(parts) == 1 else _Term("condition", values)


def _comparison(left: _Term, symbol: type[ast.cmpop], right: _Term) -> _Term:
    both = f"{_called(left)} and {_called(right)}"
    left, right = _alike(left, right), _alike(right, left)
    if left.kind != right.kind or left.kind == "condition":
        raise ValueError(f"{both} cannot be compared; their kinds are {left.kind} and {right.kind}")
    if left.kind == "ordinal" and left.categories != right.categories:
        raise ValueError(f"{both} cannot be compared; they have different categories")
    if left.kind == "text" and symbol not in (ast.Eq, ast.NotEq):
        raise ValueError(f"{both} have no order; compare them with == or !=")
    compare = _COMPARISONS[symbol]

    def values(frame: pd.DataFrame) -> Any:
        a, b = (_full(term.values(frame), len(frame)) for term in (left, right))
        unknown = _unknown(a) | _unknown(b)
        known = ~unknown
        truth = np.zeros(len(frame), dtype=bool)
        truth[known] = compare(a[known], b[known])
        return pd.arrays.BooleanArray(truth, unknown)

    return _Term("condition", values)


def _alike(term: _Term, other: _Term) -> _Term:
    """A constant as what it is compared with: a place in an order, a category or a date."""
    if term.constant is None or other.variable is None:
        return term
    if other.kind == "date" and term.kind == "text":
        try:
            date = np.datetime64(moment(term.constant), "us")
        except ValueError:
            raise ValueError(
                f"'{term.constant}' is not a date; '{other.variable}' is compared with YYYY-MM-DD"
            ) from None
        return _Term("date", lambda frame: date)
    if other.categories is None:
        return _Term("text", lambda frame: term.constant) if other.kind == "text" else term
    if term.constant not in other.categories:
        hint = did_you_mean(term.constant, other.categories)
        raise ValueError(f"'{other.variable}' has no category '{term.constant}'.{hint}")
    place = float(other.categories.index(term.constant))
    if other.kind == "ordinal":
        return _Term("ordinal", lambda frame: place, other.categories)
    return _Term("text", lambda frame: term.constant)


def _full(values: Any, n: int) -> Any:
    return values if isinstance(values, np.ndarray) and values.ndim else np.full(n, values)


def _unknown(values: Any) -> NDArray[np.bool_]:
    return np.asarray(~np.isfinite(values) if values.dtype.kind == "f" else pd.isna(values))
