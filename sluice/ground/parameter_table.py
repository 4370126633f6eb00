"""A model's parameters as a table in Markdown: name, default, meaning with bounds."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

_BOUNDS = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}


def parameter_table(fields: Mapping[str, FieldInfo]) -> list[str]:
    """The lines of the table, its head first."""
    rows = [f"| `{name}` | {_default(field)} | {_meaning(field)} |" for name, field in fields.items()]
    return ["| parameter | default | meaning |", "|---|---|---|", *rows]


def source_of(model: type[BaseModel]) -> str:
    """Where the method or measure comes from: its `source`, or that paragraph of its module's docstring."""
    if isinstance(own := getattr(model, "source", None), str) and own:
        return own
    module = inspect.getmodule(model)
    paragraphs = (inspect.getdoc(module) or "").split("\n\n")
    return next((" ".join(p.split()) for p in paragraphs if p.startswith("Source")), "")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    return "none" if default in (None, (), {}) else f"`{default}`"


def _meaning(field: FieldInfo) -> str:
    bounds = [
        f"{words} {getattr(bound, name):g}"
        for bound in field.metadata
        for name, words in _BOUNDS.items()
        if isinstance(getattr(bound, name, None), int | float)
    ]
    parts = [*([field.description] if field.description else []), *bounds]
    choices = list(_literals(field.annotation))
    if choices and not any(choice in (field.description or "") for choice in choices):
        parts.append(f"one of {', '.join(choices)}")
    return "; ".join(parts).replace("|", "\\|")


def _literals(annotation: object) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (str(value) for value in get_args(annotation))
    else:
        for part in get_args(annotation):
            yield from _literals(part)
