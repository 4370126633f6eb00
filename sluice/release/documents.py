"""Reading the documents people write: YAML into a pydantic model, with errors that a person can act on."""

import hashlib
import json
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sluice.errors import DocumentError, did_you_mean

Document = TypeVar("Document", bound=BaseModel)


class _UniqueKeys(yaml.SafeLoader):
    """A YAML loader that refuses a key given twice, where plain YAML silently keeps the last."""


def _mapping_without_duplicates(loader: _UniqueKeys, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise DocumentError(f"line {key_node.start_mark.line + 1}: the key '{key}' stands twice")
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_duplicates)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file. Raises DocumentError when it cannot be read or is not a mapping."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)  # a SafeLoader
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DocumentError(f"{path}: is not UTF-8 text") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise DocumentError(f"{path}: is not valid YAML{where}") from None
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise DocumentError(f"{path}: must hold a mapping of keys to values; got {type(content).__name__}")
    return content


def parse_document(model: type[Document], content: dict[str, Any], name: str) -> Document:
    """`content` as a `model`. Raises DocumentError: a line for each wrong field, with what is allowed and what came."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = [_explain(detail, model) for detail in error.errors()]
        raise DocumentError(f"{name} is refused:\n" + "\n".join(f"  - {line}" for line in lines)) from None


def _explain(detail: ErrorDetails, model: type[BaseModel]) -> str:
    path = ".".join(str(part) for part in detail["loc"]) or "(document)"
    if detail["type"] == "extra_forbidden":
        known = _fields_at(model, detail["loc"][:-1])
        allowed = f" Allowed here: {', '.join(sorted(known))}." if known else ""
        return f"{path}: unknown key.{did_you_mean(str(detail['loc'][-1]), known)}{allowed}"
    if detail["type"] == "union_tag_invalid":
        context = detail["ctx"]
        allowed_tags = [tag.strip("' ") for tag in str(context["expected_tags"]).split(",")]
        hint = did_you_mean(str(context["tag"]), allowed_tags)
        known_tags = ", ".join(allowed_tags)
        return f"{path}: no {context['discriminator']} is named '{context['tag']}'.{hint} Known: {known_tags}."
    came = detail["input"]
    shown = f"; got {came!r}" if isinstance(came, str | int | float | bool) and detail["type"] != "missing" else ""
    return f"{path}: {detail['msg'].removeprefix('Value error, ')}{shown}"


def _fields_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Keys that a model allows at a path, found through its JSON Schema (which also knows unions by their tag)."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})

    def resolve(node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            node = definitions[node["$ref"].rsplit("/", 1)[-1]]
        return node

    def step(node: dict[str, Any], part: int | str) -> dict[str, Any] | None:
        node = resolve(node)
        mapping = node.get("discriminator", {}).get("mapping", {})
        if part in mapping:
            return resolve({"$ref": mapping[part]})
        if isinstance(part, int):
            return resolve(node["items"]) if "items" in node else _first(step(n, part) for n in node.get("anyOf", []))
        if part in node.get("properties", {}):
            return resolve(node["properties"][part])
        return _first(step(option, part) for option in node.get("anyOf", []) if option.get("type") != "null")

    def _first(nodes: Any) -> dict[str, Any] | None:
        return next((node for node in nodes if node is not None), None)

    node: dict[str, Any] | None = schema
    for part in location:
        node = step(node, part) if node is not None else None
    if node is None:
        return []
    options = [node, *(resolve(option) for option in node.get("anyOf", []))]
    return [key for option in options for key in option.get("properties", {})]


def document_sha256(document: BaseModel) -> str:
    """SHA-256 of the document's content in canonical JSON: comments and layout do not count, every setting does."""
    canonical = json.dumps(document.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
