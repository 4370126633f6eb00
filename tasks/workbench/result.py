"""What every function of the notebook returns: figures with their units, a sentence, a plot and a page for Jupyter.

A page shows aggregates only: a notebook is saved with its output, and mailed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, get_type_hints, overload

import pandas as pd

from sluice.ground.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# As in the reports; on a light page and on a dark one.
COLOURS = {"masked": "#1b4f86", "reference": "#7d858d", "band": "#d9dfdd", "pass": "#1a643a", "fail": "#a01d1a"}
_SIGNS = {Verdict.PASS: "#2e8b57", Verdict.REVIEW: "#b8860b", Verdict.FAIL: "#c0392b", Verdict.UNKNOWN: "#7d5fb2"}
_ROWS = 12  # of a table on the page


@dataclass(frozen=True)
class Figure:
    """What an annotated attribute of a result is: `k: Annotated[int, Figure("records", "...")]`."""

    unit: str
    meaning: str


Value = TypeVar("Value")


class ComputedFigure(property, Generic[Value]):
    """A property that is a figure; see `figure`."""

    def __init__(self, compute: Callable[[Any], Value], figure: Figure) -> None:
        super().__init__(compute)
        self.compute, self.figure = compute, figure

    @overload
    def __get__(self, result: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, result: object, owner: type | None = None, /) -> Value: ...
    def __get__(self, result: object | None, owner: type | None = None, /) -> Self | Value:
        return self if result is None else self.compute(result)


def figure(unit: str, meaning: str) -> Callable[[Callable[[Any], Value]], ComputedFigure[Value]]:
    """Of a result, a method without arguments whose answer is a figure: `@figure("cells", "that are sensitive")`."""
    return lambda compute: ComputedFigure(compute, Figure(unit, meaning))


class Result(ABC):
    """Figures as attributes, and how they are read."""

    verdict: Verdict | None = None
    """Of a result that is held to a policy or a standard."""

    @property
    @abstractmethod
    def says(self) -> str:
        """The result in a sentence or two, for a reader who is no statistician."""

    @abstractmethod
    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the result on `ax`, a matplotlib Axes; on a new one when none is given."""

    @property
    def figures(self) -> pd.DataFrame:
        """Every figure by its name: columns value, unit, meaning."""
        rows = {name: (getattr(self, name), figure.unit, figure.meaning) for name, figure in self._figures()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "unit", "meaning"], dtype=object)

    @property
    def table(self) -> pd.DataFrame | None:
        """A table of aggregates for the page, below the figures; None: there is none."""
        return None

    @classmethod
    def _figures(cls) -> Iterator[tuple[str, Figure]]:
        for name, hint in get_type_hints(cls, include_extras=True).items():
            for figure in getattr(hint, "__metadata__", ()):
                if isinstance(figure, Figure):
                    yield name, figure
        for name, computed in vars(cls).items():
            if isinstance(computed, ComputedFigure):
                yield name, computed.figure

    def __repr__(self) -> str:
        sign = "" if self.verdict is None else f"{self.verdict.name}: "
        return f"{type(self).__name__}: {sign}{self.says}"

    def _repr_html_(self) -> str:
        sign = ""
        if self.verdict is not None:
            sign = f'<strong style="color:{_SIGNS[self.verdict]}">{self.verdict.name}</strong> '
        rows = [(written(getattr(self, name)), figure.unit, figure.meaning, name) for name, figure in self._figures()]
        figures = _html(("", "", "", ""), rows, numbers={0})
        table = self.table
        more = "" if table is None else _page_of(table)
        return f'<div class="sluice" style="max-width:60em"><p>{sign}{escape(self.says)}</p>{figures}{more}</div>'


def written(value: Any) -> str:
    """A figure as a reader takes it in."""
    if value is None:
        return "not measured"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " to ".join(written(each) for each in value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def _page_of(table: pd.DataFrame) -> str:
    """The first rows of a table; missing values are empty."""
    numbers = {at for at, dtype in enumerate(table.dtypes) if pd.api.types.is_numeric_dtype(dtype)}
    rows = [
        ["" if pd.isna(value) else written(value.item() if hasattr(value, "item") else value) for value in row]
        for row in table.head(_ROWS).astype("object").itertuples(index=False)
    ]
    left = len(table) - _ROWS
    return _html(list(table.columns), rows, numbers) + (f"<p>and {left:,} more rows</p>" if left > 0 else "")


def _html(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Container[int]) -> str:
    def line(tag: str, cells: Sequence[str]) -> str:
        sides = ("right" if at in numbers else "left" for at in range(len(cells)))
        made = (
            f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    head = f"<thead>{line('th', heads)}</thead>" if any(heads) else ""
    return f"<table>{head}<tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def axes(ax: "Axes | None") -> "Axes":
    """The Axes to draw on. Raises TypeError for what is none."""
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, as pyplot.subplots() gives them; got {type(ax).__name__}.")
    return ax
