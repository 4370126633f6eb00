"""The picture of a hierarchy: its groups as blocks, a column for each level, from the leaves to the widest."""

from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from sluice.generalization.hierarchy_review import Branch, lines_of, parts_in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 0.2  # inches that a leaf takes
_WIDE = 2.2  # inches of a level
_LETTERS = 32  # that fit into a level
_COLOURS = ("#1b4f86", "#4f7fb0", "#85a9cd", "#b5cbe2", "#d9dfdd")  # from the widest level; the leaves have the last
Format = Literal["svg", "png"]


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
