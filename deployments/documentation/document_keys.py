"""The keys of the documents that people write, as a page, from their JSON Schemas."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flows.json_schemas import DOCUMENTS, json_schema
from policies.rules.rules import catalogue as rules
from sluice.masking.method_catalogue import catalogue as methods

HEAD = """# The keys of the documents

Made from the JSON Schemas, which editors use to check YAML as it is typed; [the three documents](documents.md) explains
them. A key in bold must be there. Steps of a plan are in [methods](methods.md), rules and attacks in [rules](rules.md).
"""
_TITLES = {
    "contract": "Contract",
    "policy": "Policy",
    "release": "Release definition: a file of records",
    "tables": "Release definition: tables",
    "tuning": "Space of plans",
    "connections": "Connections",
}
_ELSEWHERE = set(re.findall(r"^#+ `(\w+)`", methods() + rules(), re.MULTILINE))
_TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "mapping"}
_MANY = 6  # kinds of a step or a rule: each is described elsewhere


def document_keys() -> str:
    pages = (Keys(place, json_schema(model)) for place, model in DOCUMENTS.items())
    return "\n".join([HEAD, *(line for page in pages for line in page.lines())])


@dataclass(frozen=True)
class Keys:
    place: str
    schema: dict[str, Any]

    @property
    def name(self) -> str:
        return self.place.split("/")[-1].removesuffix(".schema.json")

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        return {title: part for title, part in self.schema.get("$defs", {}).items() if not _described_elsewhere(part)}

    def lines(self) -> Iterator[str]:
        yield f"## {_TITLES[self.name]} {{ #{self.name} }}\n"
        yield f"Schema: [{self.place}](schemas/{self.name}.schema.json)\n"
        yield from self.table(self.schema)
        for title, part in self.parts.items():
            if part.get("properties"):
                yield f"### {_words(title)} {{ #{self.name}-{title} }}\n"
                yield from self.table(part)

    def table(self, part: dict[str, Any]) -> Iterator[str]:
        yield "| key | what | meaning |"
        yield "|---|---|---|"
        for key, says in part.get("properties", {}).items():
            name = f"**`{key}`**" if key in part.get("required", ()) else f"`{key}`"
            yield f"| {name} | {self.kind(says)} | {_cell(says.get('description', ''))} |"
        yield ""

    def kind(self, says: dict[str, Any]) -> str:
        """What stands there, in words: `list of text`, `number`, the values allowed, or a link to a part."""
        if "$ref" in says:
            return self._part(says["$ref"].split("/")[-1])
        if "const" in says or "enum" in says:
            return ", ".join(f"`{each}`" for each in says.get("enum", [says.get("const")]))
        choices = says.get("anyOf") or says.get("oneOf") or says.get("allOf")
        if choices:
            kinds = list(dict.fromkeys(self.kind(each) for each in choices if each.get("type") != "null"))
            return "one of several kinds" if len(kinds) > _MANY else " or ".join(kinds)
        kind = says.get("type", "anything")
        return f"list of {self.kind(says.get('items', {}))}" if kind == "array" else _TYPES.get(kind, kind)

    def _part(self, title: str) -> str:
        part = self.parts.get(title, {})
        if part.get("properties"):
            return f"[{_words(title)}](#{self.name}-{title})"
        return self.kind(part) if "enum" in part else _words(title)


def _described_elsewhere(part: dict[str, Any]) -> bool:
    fields = part.get("properties", {})
    return any(fields.get(key, {}).get("const") in _ELSEWHERE for key in ("method", "rule"))


def _words(title: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title).capitalize()


def _cell(text: str) -> str:
    return re.sub(r"([|>*])", r"\\\1", " ".join(text.split()).replace("<", "&lt;"))
