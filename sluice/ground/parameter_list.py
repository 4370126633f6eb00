"""A model's parameters as a list in Markdown: name, default, meaning with bounds."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


_SENTENCE = re.compile(r"(.+?[.?!])(?= [A-Z`'\"(]|$)", re.DOTALL)


def parameter_list(fields: Mapping[str, FieldInfo], shorten: Callable[[str], str] = str) -> list[str]:
    """A line for each parameter.

    shorten : what is to become of each description
    """
    return [_item(*each, shorten) for each in fields.items()]


def told_once(
    models: Mapping[str, Mapping[str, FieldInfo]], shared: Mapping[str, FieldInfo]
) -> Iterator[tuple[str, dict[str, FieldInfo], str]]:
    """For a page of many models: each one's name, the parameters that its list shows, and the others in words.

    The others are in the list of the `shared` parameters, or mean the same in a model before, which is named.
    """
    shown = {_item(*each): "" for each in shared.items()}
    for name, fields in models.items():
        own, others = dict[str, FieldInfo](), dict[str, list[str]]()
        for key, field in fields.items():
            first = shown.setdefault(_item(key, field), name)
            if first == name:
                own[key] = field
            else:
                others.setdefault(f" (as for [`{first}`](#{first}))" if first else "", []).append(f"`{key}`")
        yield name, own, "; ".join(", ".join(keys) + where for where, keys in sorted(others.items()))


def first_sentence(text: str) -> str:
    """The first sentence of a text; all of it where it has but one."""
    found = _SENTENCE.match(text)
    return found[1] if found else text


def source_of(model: type[BaseModel]) -> str:
    """Where the method or measure comes from: its `source`, or that paragraph of its module's docstring."""
    if isinstance(own := getattr(model, "source", None), str) and own:
        return own
    module = inspect.getmodule(model)
    paragraphs = (inspect.getdoc(module) or "").split("\n\n")
    return next((" ".join(p.split()) for p in paragraphs if p.startswith("Source")), "")


def _item(name: str, field: FieldInfo, shorten: Callable[[str], str] = str) -> str:
    default, meaning = _default(field), _meaning(field, shorten)
    return f"- `{name}`{f' ({default})' if default else ''}{f': {meaning}' if meaning else ''}"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return "" if default in (None, (), {}) else f"`{default}`"


def _meaning(field: FieldInfo, shorten: Callable[[str], str]) -> str:
    parts = [shorten(field.description)] if field.description else []
    if bounds := [each for each in _bounds(field) if each not in "".join(parts)]:
        parts = [part.rstrip(".") for part in parts] + bounds
    choices = list(_literals(field.annotation))
    if choices and not any(choice in (field.description or "") for choice in choices):
        parts.append(f"one of {', '.join(choices)}")
    return "; ".join(parts)


def _bounds(field: FieldInfo) -> list[str]:
    """What the description leaves to say of them: `0 to 1` where both ends are allowed."""
    found = {
        name: f"{getattr(bound, name):g}"
        for bound in field.metadata
        for name in _BOUNDS
        if isinstance(getattr(bound, name, None), int | float)
    }
    if "ge" in found and "le" in found:
        return [f"{found['ge']} to {found['le']}"]
    return [f"{words} {found[name]}" for name, words in _BOUNDS.items() if name in found]


def _literals(annotation: object) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (str(value) for value in get_args(annotation))
    else:
        for part in get_args(annotation):
            yield from _literals(part)
