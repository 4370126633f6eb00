"""Hierarchies outside a release: built, drafted from data, checked and drawn.

The picture has the groups as blocks, a column for each level, from the leaves to the widest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import load_contract
from schemas.declared_hierarchy import declared_hierarchy
from sluice.documents.document_reading import named_file, parse_document, yaml_mapping
from sluice.generalization.hierarchy_review import (
    Branch,
    Remark,
    lines_of,
    parts_in_order,
    remarks_for,
    remarks_on,
    remarks_with,
)
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.values import plain_array
from sluice.ground.variables import Kind, Variable
from sluice.reading.typed_column import typed_array
from sluice.sources.hierarchy_file import read_hierarchy
from tasks.workbench.tabular_file import errors_of, table_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 0.2  # inches that a leaf takes
_WIDE = 2.2  # inches of a level
_LETTERS = 32  # that fit into a level
_COLOURS = ("#1b4f86", "#4f7fb0", "#85a9cd", "#b5cbe2", "#d9dfdd")  # from the widest level; the leaves have the last
Format = Literal["svg", "png"]


def declared_variable(contract_file: Path, name: str) -> Variable:
    """A variable of a contract. Raises DocumentError."""
    variables = load_contract(contract_file).by_name
    if name not in variables:
        raise DocumentError(f"{contract_file}: has no variable '{name}'.", came=name, allowed=variables)
    return variables[name]


def hierarchy_in(source: Path, name: str | None = None) -> Hierarchy:
    """The hierarchy of a CSV file, or of a variable of a contract. Raises DataError, DocumentError."""
    if source.suffix not in (".yaml", ".yml"):
        return read_hierarchy(source)
    if name is None:
        raise DocumentError(f"{source}: name the variable whose hierarchy is meant: --variable NAME")
    hierarchy = declared_variable(source, name).hierarchy
    if hierarchy is None:
        raise DocumentError(f"{source}: '{name}' has no hierarchy")
    return hierarchy


def built_hierarchy(written: str, variable: Variable) -> Hierarchy:
    """The hierarchy that a text asks for in the words of a contract, 'intervals: [5, 10]'. Raises DocumentError."""
    text = written.strip()
    return hierarchy_as_written(
        yaml_mapping(text if text.startswith("{") else f"{{{text}}}", "the hierarchy"), variable
    )


def hierarchy_as_written(given: Mapping[str, Any], variable: Variable) -> Hierarchy:
    """The hierarchy in the form that a contract holds after `hierarchy:`. Raises DocumentError."""
    domain: Mapping[str, Any] = variable.model_dump(exclude={"hierarchy"})
    made = declared_hierarchy(given, domain, Path(), "the hierarchy", named_file)
    return made if isinstance(made, Hierarchy) else parse_document(Hierarchy, dict(made or {}), "the hierarchy")


def value_counts(data: Path, column: str, variable: Variable | None = None) -> Counter[str]:
    """How many records of a file have each value, as `counts_of`. Raises DataError for a file that cannot be read."""
    with errors_of(data):
        return counts_of((batch[column] for batch in table_source(data).batches([column])), column, variable)


def counts_of(parts: "Iterable[pd.Series[Any]]", name: str, variable: Variable | None = None) -> Counter[str]:
    """How many records have each value, by its text as a leaf; missing ones and missing codes are left out.

    parts  : of the column, one after the other
    raises : DataError, with a count, for values that the variable's kind does not have
    cost   : O(n)
    """
    of = variable or Variable(name=name, kind=Kind.NOMINAL)
    if of.kind.is_categorical:  # whatever is found, declared or not
        of = of.model_copy(update={"kind": Kind.NOMINAL, "categories": None})
    counts: Counter[str] = Counter()
    wrong = 0
    for part in parts:
        typed, problems = typed_array(plain_array(part), of)
        wrong += sum(problems.values())
        if pa.types.is_dictionary(typed.type):
            typed = typed.dictionary_decode()
        if pa.types.is_timestamp(typed.type):
            typed = pc.strftime(typed, format="%Y-%m-%d")
        found = typed.drop_null().value_counts()
        texts = map(str, found.field("values").to_pylist())
        counts.update(dict(zip(texts, found.field("counts").to_pylist(), strict=True)))
    if wrong:
        raise DataError(f"'{name}': {wrong:,} values cannot be read as {of.kind}")
    return counts


def check_hierarchy(
    source: Path, variable: Variable | None = None, data: Path | None = None, column: str | None = None
) -> tuple[Hierarchy, list[Remark]]:
    """The hierarchy of a CSV file, and what is wrong with it or may be.

    variable : whose declared domain it should cover
    data     : records whose values should be leaves, in `column`, or in one of the variable's name
    raises   : DataError, DocumentError, for a file that holds no hierarchy, too
    """
    hierarchy = read_hierarchy(source)
    remarks = list(remarks_on(hierarchy))
    if variable is not None:
        remarks += remarks_for(hierarchy, variable)
    if data is not None:
        named = column or (variable.name if variable else None)
        if named is None:
            raise DocumentError("name the column of the data that holds the values", field="--column")
        counts = value_counts(data, named, variable)
        remarks += remarks_with(hierarchy, counts, (variable and variable.categories) or ())
    return hierarchy, remarks


def draw(branches: Sequence[Branch], axes: "Axes") -> None:
    """Draw on Axes: each group beside what it holds; what is left out is a line of its own."""
    depth = max(branch.level for branch in branches)
    top = 0
    for branch in branches:
        top += _draw(branch, top, depth, axes)
    axes.set_xlim(0, depth + 1)
    axes.set_ylim(top, 0)
    axes.set_xticks([level + 0.5 for level in range(depth + 1)])
    axes.set_xticklabels(["leaves", *(f"level {level}" for level in range(1, depth + 1))])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)


def picture(branches: Sequence[Branch], title: str, kind: Format) -> bytes:
    """The picture as a file. The same hierarchy gives the same bytes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    depth = max(branch.level for branch in branches)
    lines = sum(map(lines_of, branches))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "hierarchy"}):
        figure = Figure(figsize=(_WIDE * (depth + 1) + 0.4, min(200.0, _LINE * lines + 1.0)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        draw(branches, axes)
        axes.set_title(title, loc="left", parse_math=False)
        file = BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(file, format=kind, dpi=110, metadata=metadata)
    return file.getvalue()


def page(branches: Sequence[Branch], title: str, says: Sequence[str]) -> bytes:
    """A page of its own with the picture and a sentence on each level."""
    svg = picture(branches, title, "svg").decode()
    lines = "".join(f"<li>{escape(line)}</li>" for line in says)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        "<style>body{font:16px/1.5 sans-serif;margin:2em;max-width:70em}svg{max-width:100%;height:auto}</style></head>"
        f"<body><h1>{escape(title)}</h1><ul>{lines}</ul>{svg[svg.index('<svg') :]}</body></html>\n"
    ).encode()


def label(branch: Branch, letters: int | None = None) -> str:
    """The name, and the records where they are told.

    letters : of a longer label the name is cut
    """
    records = "" if branch.records is None else f" ({branch.records:,})"
    room = None if letters is None else letters - len(records)
    name = branch.name if room is None or len(branch.name) <= room else f"{branch.name[: room - 1]}…"
    return name + records


def _draw(branch: Branch, top: int, depth: int, axes: "Axes") -> int:
    """Draw a group from this line on; the lines that it takes."""
    from matplotlib.patches import Rectangle

    lines = lines_of(branch)
    shade = _COLOURS[min(depth - branch.level, len(_COLOURS) - 1)] if branch.level else _COLOURS[-1]
    axes.add_patch(Rectangle((branch.level, top), 0.98, lines, facecolor=shade, edgecolor="white", linewidth=1))
    dark = shade in _COLOURS[:2]
    axes.text(
        branch.level + 0.04,
        top + lines / 2,
        label(branch, _LETTERS),
        va="center",
        fontsize=8,
        color="white" if dark else "black",
        parse_math=False,
        clip_on=True,
    )
    at = top
    for part in parts_in_order(branch):
        if isinstance(part, str):
            axes.text(branch.level - 0.96, at + 0.5, part, va="center", fontsize=8, color="#5d656d", parse_math=False)
            at += 1
        else:
            at += _draw(part, at, depth, axes)
    return lines
