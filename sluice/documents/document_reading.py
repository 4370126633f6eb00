"""Reading the documents people write: YAML into a pydantic model, with errors that a person can act on."""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sluice.ground.document_faults import faults
from sluice.ground.errors import DocumentError, no_such_file
from sluice.ground.visible_text import unseen
from sluice.settings import settings

Document = TypeVar("Document", bound=BaseModel)

KINDS = {
    "people": "roster",
    "approvals": "policy",
    "variables": "contract",
    "target": "release definition",
}
"""A key that only a document of this kind has, and must have."""

LARGEST = 1_000_000  # bytes of one document
_MOST_VALUES = 100_000  # of one document, its aliases spelled out
_TOO_MANY = f"holds more than {_MOST_VALUES:,} values, or an anchor that holds itself"
_LONGEST_NUMBER = 100  # digits: no quantity has more, and some notations take time by their square
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float", "str", "seq", "map", "timestamp")}
_FLOATS = yaml.constructor.SafeConstructor()
_TRUTH = "tag:yaml.org,2002:bool"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class _UniqueKeys(yaml.SafeLoader):
    """A YAML loader that refuses a key given twice, where plain YAML silently keeps the last, and too many values.

    Yes, No and on are words, as in YAML 1.2: categories keep their spelling, and NO is Norway.
    """

    _nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._nodes += 1
        if self._nodes > _MOST_VALUES:  # before they have taken all memory
            raise DocumentError(_TOO_MANY)
        return super().compose_node(parent, index)


def _mapping_without_duplicates(loader: _UniqueKeys, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise DocumentError(f"line {key_node.start_mark.line + 1}: the key '{key}' stands twice")
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_UniqueKeys.yaml_implicit_resolvers = {
    sign: [(tag, pattern) for tag, pattern in found if tag != _TRUTH]
    for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_UniqueKeys.add_implicit_resolver(_TRUTH, re.compile("[Tt]rue|TRUE|[Ff]alse|FALSE"), ["t", "T", "f", "F"])
_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_duplicates)


class Written(dict[str, Any]):
    """The mapping in a YAML file, which remembers on which line each of its fields stands."""

    root: yaml.Node | None = None

    def line_of(self, path: Sequence[int | str]) -> int | None:
        """Line of a field, from 1; of what is absent, the line of what it should be in. None: not known."""
        node, line = self.root, None
        for part in path:
            if isinstance(node, yaml.MappingNode):
                found = next(((key, value) for key, value in node.value if key.value == str(part)), None)
                if found is not None:  # a part that is not in the file is the tag of a union
                    line, node = found[0].start_mark.line + 1, found[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                line = node.start_mark.line + 1
        return line


def read_yaml(path: Path, list_is: str | None = None) -> Written:
    """The mapping in a YAML file. Raises DocumentError when it cannot be read or is not a mapping.

    list_is : the key that a file which holds nothing but a list stands for
    """
    try:
        text = _text_of(path)
    except (FileNotFoundError, IsADirectoryError):
        raise DocumentError(no_such_file(path)) from None
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DocumentError(f"{path}: is not UTF-8 text") from None
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None
    return yaml_mapping(text, str(path), list_is)


def yaml_mapping(text: str, name: str, list_is: str | None = None) -> Written:
    """The mapping in a text, read as a document is; errors begin with `name`. Raises DocumentError."""
    try:
        content, root = _load(text)
    except yaml.YAMLError as error:
        raise DocumentError(f"{name}: is not valid YAML{_where(error)}") from None
    except RecursionError:
        raise DocumentError(f"{name}: is nested too deeply") from None
    except (ValueError, TypeError, OverflowError):
        raise DocumentError(f"{name}: holds a date, number or key that cannot be read, such as 2024-02-30") from None
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from None
    if list_is and isinstance(content, list):
        content = {list_is: content}  # `line_of` finds no such key in the file, and goes on with the list
    if not isinstance(content, dict):
        came = {str: "text", list: "a list", type(None): "nothing"}.get(type(content), type(content).__name__)
        raise DocumentError(f"{name}: must hold a mapping of keys to values, as documents do; got {came}")
    written = Written(content)
    written.root = root
    return written


def _text_of(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DocumentError(f"is larger than {LARGEST // 1_000_000} MB, which no document of this kind is")
    return content.decode("utf-8-sig")


def _load(text: str) -> tuple[Any, yaml.Node | None]:
    """The content, and the nodes it was made from."""
    loader = _UniqueKeys(text)  # a SafeLoader
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        _refuse_unfit(node, {})
        return loader.construct_document(node), node
    finally:
        loader.dispose()


def _refuse_unfit(node: yaml.Node, known: dict[int, int]) -> int:
    """Raise DocumentError for what no person writes into a document, before anything is made of it.

    returns : how many values the node holds when its aliases are spelled out, as whatever walks through it finds them
    """
    line = node.start_mark.line + 1
    if node.tag not in _PLAIN:
        short = node.tag.replace("tag:yaml.org,2002:", "!!")
        if short == "!!merge":
            raise DocumentError(f"line {line}: '<<' is not read; write out the keys that it would bring")
        raise DocumentError(f"line {line}: the tag {short} is not read; write plain texts, numbers, lists and mappings")
    if isinstance(node, yaml.ScalarNode):
        if character := unseen(node.value):
            raise DocumentError(f"line {line}: holds {character}, which is not seen or changes how a text looks")
        if node.tag in _NUMBERS and (
            len(node.value) > _LONGEST_NUMBER
            or (node.tag.endswith("float") and not math.isfinite(_FLOATS.construct_yaml_float(node)))
        ):
            raise DocumentError(f"line {line}: a number must be finite, of at most {_LONGEST_NUMBER} digits")
        return 1
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = _MOST_VALUES + 1  # until it is counted: whoever meets it meanwhile is inside it
    count = 1
    for part in (part for pair in node.value for part in pair) if isinstance(node, yaml.MappingNode) else node.value:
        count += _refuse_unfit(part, known)
        if count > _MOST_VALUES:
            raise DocumentError(_TOO_MANY)
    known[id(node)] = count
    return count


def _where(error: yaml.YAMLError) -> str:
    """The line, and what the parser stumbled over."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or ""
    if mark is None:
        return ""
    if "'\\t'" in problem:
        problem = "a tab; indent with blanks"
    elif problem.startswith("expected <block end>"):
        problem = "is it indented like the lines that it belongs to?"
    elif problem == "could not find expected ':'":
        problem = "is a colon missing there or in the line above?"
    elif problem.startswith("mapping values are not allowed"):
        problem = "is it indented too far, or does a text with a colon need quotes?"
    return f" at line {mark.line + 1}, column {mark.column + 1}" + (f": {problem}" if problem else "")


def named_file(base: Path, given: str, where: str) -> Path:
    """The file that a document in the folder `base` names. Raises DocumentError for one of the workspace.

    What a document names may come to be published, whoever wrote it; what is in the vault is nobody's to name.
    """
    path = (base / Path(given).expanduser()).resolve()
    if path.is_relative_to(settings().home):
        raise DocumentError(f"must lie outside of the workspace, which holds the vault; got '{given}'", field=where)
    return path


def parse_document(model: type[Document], content: dict[str, Any], name: str) -> Document:
    """`content` as a `model`. Raises DocumentError: a line for each wrong field, with what is allowed and what came."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        asked, came = ([key for key in KINDS if key in keys] for keys in (model.model_fields, content))
        if len(asked) == len(came) == 1 and asked != came:
            raise DocumentError(
                f"{name}: is a {KINDS[came[0]]}, by its key '{came[0]}'; a {KINDS[asked[0]]} is asked for"
            ) from None
        line_of = content.line_of if isinstance(content, Written) else None
        found = tuple(faults(error.errors(), model, line_of))
        refused = DocumentError("\n".join([f"{name} is refused:", *(f"  - {fault}" for fault in found)]))
        refused.faults = found
        raise refused from None


def document_bytes(document: BaseModel) -> bytes:
    """The document's content in canonical JSON: without comments and layout, with every setting."""
    return canonical_json(document.model_dump(mode="json"))


def canonical_json(content: Any) -> bytes:
    """JSON in the one spelling that is hashed: keys in order, no blanks, letters as they are."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def document_sha256(document: BaseModel) -> str:
    """SHA-256 of `document_bytes`: comments and layout do not count, every setting does."""
    return hashlib.sha256(document_bytes(document)).hexdigest()
