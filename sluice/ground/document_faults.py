"""What is wrong with a document, in the words of its writer: the field, what is allowed, what came and one hint.

pydantic finds the faults; its own words ("Input should be a valid tuple") speak to programmers.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from sluice.ground.errors import Fault, did_you_mean

_BOUNDS = {
    "exclusiveMinimum": "greater than {:g}",
    "minimum": "at least {:g}",
    "exclusiveMaximum": "less than {:g}",
    "maximum": "at most {:g}",
}
_WHOLE_NUMBER = ("int_type", "int_parsing", "int_parsing_size", "int_from_float")
_NUMBER = ("float_type", "float_parsing")
_LIST = ("tuple_type", "list_type", "set_type", "frozen_set_type")
_MAPPING = ("dict_type", "model_type", "model_attributes_type", "mapping_type")
_PASSWORD = re.compile(r"(?<=:)[^:@/\s]*(?=@)")  # in an address that stands where none is expected
_FEW = 8  # names that are listed beside the one that was meant
_BEYOND = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


LineOf = Callable[[Sequence[int | str]], int | None]
"""Path of a field -> its line in the file, None where that is not known."""


def faults(details: Sequence[ErrorDetails], model: type[BaseModel], line_of: LineOf | None = None) -> list[Fault]:
    """Each fault, without those that only follow from another: a list is empty as its one entry is wrong."""
    places = [detail["loc"] for detail in details]
    schema = _Schema(model)
    found: list[Fault] = []
    for detail in details:
        if detail["type"] == "too_short" and any(
            len(place) > len(detail["loc"]) and place[: len(detail["loc"])] == detail["loc"] for place in places
        ):
            continue
        fault = _fault(detail, schema, line_of(detail["loc"]) if line_of else None)
        if any(fault.hint and other.allowed == fault.allowed and other.hint == fault.hint for other in found):
            fault = fault._replace(hint="")  # a list of what is allowed is read once
        found.append(fault)
    return found


def _fault(detail: ErrorDetails, schema: "_Schema", line: int | None) -> Fault:
    says, hint, allowed = _says(detail, schema)
    says, hint = (_PASSWORD.sub("***", text) for text in (says, hint))
    return Fault(".".join(map(str, detail["loc"])), line, says, hint, tuple(allowed))


def _meant(came: str, known: Sequence[str], before: str) -> str:
    """The name that was meant, and all that are known, where these are few or none is near."""
    meant = did_you_mean(came, known).strip()
    listed = f"{before}: {', '.join(known)}." if known and not (meant and len(known) > _FEW) else ""
    return f"{meant} {listed}".strip()


def _says(detail: ErrorDetails, schema: "_Schema") -> tuple[str, str, Sequence[str]]:
    """What is wrong, a hint or '', and the names that are allowed."""
    kind, came, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = sorted(schema.keys(detail["loc"][:-1]))
        return "unknown key.", _meant(str(detail["loc"][-1]), known, "Allowed here"), known
    if kind == "union_tag_invalid":
        known = [tag.strip("' ") for tag in str(context["expected_tags"]).split(",")]
        return (
            f"no {context['discriminator']} is named '{context['tag']}'.",
            _meant(str(context["tag"]), known, "Known"),
            known,
        )
    if kind == "union_tag_not_found":
        known = schema.tags(detail["loc"])
        one_of = f", one of {', '.join(known)}" if known else ""
        return f"must have the key {context['discriminator']}{one_of}", "", known
    if kind == "missing":
        meaning = schema.meaning(detail["loc"])
        return "must be given" + (f": {meaning}" if meaning else ""), "", ()
    allowed, hint = _allowed(detail, schema)
    # A validator of a model's own often says itself what came.
    shown = "" if kind == "value_error" and "; got " in allowed else _shown(came)
    return f"{allowed}{shown}", hint, _names(context) if kind in ("literal_error", "enum") else ()


def _allowed(detail: ErrorDetails, schema: "_Schema") -> tuple[str, str]:
    """What is allowed, and a hint or ''."""
    kind, came, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind in _WHOLE_NUMBER:
        return "must be a whole number", ""
    if kind in _NUMBER:
        return "must be a number", _number_meant(came)
    if kind in _BEYOND:
        return _within(schema.bounds(detail["loc"]), detail), _percent_meant(came, kind, context)
    if kind in _LIST:
        return "must be a list", _list_meant(came)
    if kind in _MAPPING:
        keys, needed = schema.keys(detail["loc"]), schema.needed(detail["loc"])
        if len(needed) == 1 and _is_scalar(came):
            return f"must have the key '{needed[0]}'", f"Write {{{needed[0]}: {came}}}."
        return "must be a mapping of keys to values" + (f", with the keys {', '.join(keys)}" if keys else ""), ""
    if kind in ("literal_error", "enum"):
        return f"must be {context.get('expected')}", did_you_mean(str(came), _names(context)).strip()
    if kind in ("too_short", "string_too_short"):
        least, what = context.get("min_length", 1), "characters" if kind == "string_too_short" else "entries"
        return ("must not be empty" if least == 1 else f"must have at least {least} {what}"), ""
    if kind == "string_too_long":
        return f"must have at most {context['max_length']} characters", ""
    if kind == "string_type":
        return "must be text", "Put it into quotes." if _is_scalar(came) else ""
    if kind == "string_pattern_mismatch":
        return f"must be: {schema.meaning(detail['loc']) or context.get('pattern')}", ""
    if kind.startswith("bool_"):
        return "must be true or false", ""
    if kind.startswith("date_"):
        return "must be a date, year first, such as 2026-12-31", ""
    return detail["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, "), ""


def _names(context: dict[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", str(context.get("expected", "")))


def _within(bounds: Sequence[str], detail: ErrorDetails) -> str:
    if bounds:
        return f"must be {' and '.join(bounds)}"
    return detail["msg"].replace("Input should be", "must be")  # a bound that JSON Schema does not know


def _number_meant(came: Any) -> str:
    if not isinstance(came, str):
        return ""
    if percent := re.fullmatch(r"\s*(\d+\.?\d*)\s*%\s*", came):
        return f"Write the share instead: {float(percent[1]) / 100:g}."
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", came):
        return f"Write a point: {came.strip().replace(',', '.')}."
    return ""


def _percent_meant(came: Any, kind: str, context: dict[str, Any]) -> str:
    largest = context.get("lt", context.get("le"))
    if kind.startswith("less") and largest is not None and largest <= 1 < came <= 100:
        return f"Is it a percentage? Use {came / 100:g}."
    return ""


def _list_meant(came: Any) -> str:
    if isinstance(came, dict):
        return "Begin each entry with a dash."
    return f"Write [{came}]." if _is_scalar(came) else ""


def _is_scalar(came: Any) -> bool:
    return isinstance(came, str | int | float)


def _shown(came: Any) -> str:
    """What came, where it is short."""
    if came is None:
        return "; got nothing"
    return f"; got {came!r}" if _is_scalar(came) else ""


class _Schema:
    """What a model allows at a path, found through its JSON Schema (which also knows unions by their tag)."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return self._model.model_json_schema()  # of all methods or rules: made where a fault asks for it

    def keys(self, path: Sequence[int | str]) -> list[str]:
        if not path:
            return [field.alias or name for name, field in self._model.model_fields.items()]
        return [key for node in self._options(path) for key in node.get("properties", {})]

    def needed(self, path: Sequence[int | str]) -> list[str]:
        return [key for node in self._options(path) for key in node.get("required", [])]

    def tags(self, path: Sequence[int | str]) -> list[str]:
        return [tag for node in self._options(path) for tag in node.get("discriminator", {}).get("mapping", {})]

    def bounds(self, path: Sequence[int | str]) -> list[str]:
        return [
            words.format(node[key]) for node in self._options(path) for key, words in _BOUNDS.items() if key in node
        ]

    def meaning(self, path: Sequence[int | str]) -> str:
        """The description of the field itself, not that of the model it holds."""
        return str((self._at(path) or {}).get("description", ""))

    def _options(self, path: Sequence[int | str]) -> list[dict[str, Any]]:
        node = self._at(path)
        if node is None:
            return []
        node = self._resolved(node)
        return [node, *(self._resolved(option) for option in node.get("anyOf", []))]

    def _at(self, path: Sequence[int | str]) -> dict[str, Any] | None:
        node: dict[str, Any] | None = self._schema
        for part in path:
            node = self._step(node, part) if node is not None else None
        return node

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            node = self._schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        return node

    def _step(self, node: dict[str, Any], part: int | str) -> dict[str, Any] | None:
        node = self._resolved(node)
        mapping = node.get("discriminator", {}).get("mapping", {})
        if part in mapping:
            return {"$ref": mapping[part]}
        found: dict[str, Any] | None = None
        if isinstance(part, int):
            found = node.get("items")
        else:
            found = node.get("properties", {}).get(part)
            if found is None and isinstance(node.get("additionalProperties"), dict):
                found = node["additionalProperties"]
        return found or _first(lambda option: self._step(option, part), node.get("anyOf", []))


def _first(find: Callable[[dict[str, Any]], dict[str, Any] | None], nodes: Iterable[dict[str, Any]]) -> Any:
    return next((found for node in nodes if (found := find(node)) is not None), None)
