"""Extensions: masking methods and checks of somebody else's distribution, found by its entry points.

What is installed can be written into a definition and a policy; it counts where the adopted policy names its
distribution. The release's manifest names distribution, version and SHA-256 of the list of installed files (RECORD).
"""

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from csv import reader
from dataclasses import dataclass
from functools import cache, reduce
from importlib.metadata import Distribution, EntryPoint, entry_points
from operator import or_
from typing import Any, Literal, get_args

from sluice.ground.errors import SluiceError

Group = Literal["sluice.methods", "sluice.checks"]

_DISTRIBUTIONS: dict[type, Distribution] = {}  # of the classes that were offered


@dataclass(frozen=True)
class Extension:
    """An installed distribution: its name as pip has it, version, and SHA-256 of its RECORD."""

    name: str
    version: str
    sha256: str


def extended(built_in: Any, group: Group, base: type, tag: str) -> Any:
    """The union of `built_in` and of what installed distributions offer of `base`; itself where they offer nothing.

    tag    : the field by which the classes of the union are told apart
    raises : SluiceError for a class whose name is taken, or that is not what the group is for
    """
    found = [offered for offered in _offered(group) if issubclass(offered, base)]
    taken = {model.model_fields[tag].default for model in get_args(built_in)}
    for model in found:
        if (name := model.model_fields[tag].default) in taken:
            raise SluiceError(f"{_DISTRIBUTIONS[model].name}: '{name}' of {group} is the name of another one.")
        taken.add(name)
    return reduce(or_, found, built_in)


@cache
def _offered(group: Group) -> tuple[Any, ...]:
    entries = sorted(entry_points(group=group), key=lambda entry: (_name_of(entry), entry.name))
    return tuple(map(_loaded, entries))


def _name_of(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else ""


def _loaded(entry: EntryPoint) -> Any:
    try:
        model = entry.load()
    except Exception as error:
        raise SluiceError(
            f"{_name_of(entry)}: '{entry.name}' of {entry.group} cannot be loaded ({type(error).__name__}). Correct or "
            "uninstall that distribution."
        ) from error
    if entry.dist is None or not isinstance(model, type) or not hasattr(model, "model_fields"):
        raise SluiceError(
            f"{_name_of(entry)}: '{entry.name}' of {entry.group} must be a class of a masking method or check."
        )
    _DISTRIBUTIONS[model] = entry.dist
    return model


def distribution_of(model: type) -> str | None:
    """The normalised name of the distribution that offers this class; None of what comes with Sluice."""
    found = _DISTRIBUTIONS.get(model)
    return normalised(found.name) if found else None


def normalised(name: str) -> str:
    """A distribution's name in the one spelling that is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def unnamed(models: Iterable[type], named: Iterable[str]) -> list[str]:
    """The distributions that offer any of these classes and are not among those that are named, each once."""
    known = set(map(normalised, named))
    offering = dict.fromkeys(filter(None, map(distribution_of, models)))
    return [name for name in offering if name not in known]


def extensions_of(models: Iterable[type]) -> list[Extension]:
    """The distributions that offer any of these classes, in order. Raises SluiceError as `_record_of` does."""
    found = {normalised(each.name): each for model in models if (each := _DISTRIBUTIONS.get(model))}
    return [
        Extension(name, each.version, hashlib.sha256(_record_of(each).encode()).hexdigest())
        for name, each in sorted(found.items())
    ]


def _record_of(distribution: Distribution) -> str:
    """Its RECORD. Raises SluiceError where there is none, or an installed file is not the one that it lists."""
    record = distribution.read_text("RECORD")
    if not record:
        raise SluiceError(f"{distribution.name} has no RECORD of its files: install it from a wheel.")
    for path, noted, _ in reader(record.splitlines()):
        if not noted:
            continue  # RECORD itself, and what Python compiled
        algorithm, _, digest = noted.partition("=")
        try:
            content = distribution.locate_file(path).read_bytes()  # type: ignore[attr-defined]
        except OSError:
            content = b""
        if urlsafe_b64encode(hashlib.new(algorithm, content).digest()).rstrip(b"=").decode() != digest:
            raise SluiceError(f"{distribution.name}: '{path}' is not the file that was installed; install it anew.")
    return record
