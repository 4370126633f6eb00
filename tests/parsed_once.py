"""Documents of the same text are parsed once in the tests' process: a release reads each of its own eight times."""

from copy import deepcopy
from functools import lru_cache
from typing import Any

import yaml

from sluice.documents import documents

_parsed = lru_cache(maxsize=500)(documents._load)


def _load(text: str) -> tuple[Any, yaml.Node | None]:
    content, root = _parsed(text)
    return deepcopy(content), root


documents._load = _load
