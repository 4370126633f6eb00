"""Documents of the same text are parsed once in the tests' process: a release reads each of its own eight times."""

from copy import deepcopy
from functools import lru_cache
from typing import Any

import yaml

from sluice.documents import document_reading

_parsed = lru_cache(maxsize=500)(document_reading._load)


def _load(text: str) -> tuple[Any, yaml.Node | None]:
    content, root = _parsed(text)
    return deepcopy(content), root


document_reading._load = _load
