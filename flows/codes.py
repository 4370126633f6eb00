"""The catalogue of codes: what a program that reads findings may rely on, whatever becomes of their words."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import flows
import policies
import schemas
import tasks
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.ground.sentence import SENTENCES, Sentence
from sluice.ground.visible_text import one_line

_ROOMS = (policies, schemas, tasks, flows)
_GENERAL = "general"  # the family of what several rules say, whose codes have no prefix
_ABOUT = f"""# Codes of findings

Written by `sluice docs codes` from the sentences; do not edit. `sluice docs codes k_anonymity` prints the codes of one
family with their sentences, and the names of their data in braces.

A program reads a finding's `code`, which says what was found and is stable; its `data`, the figures and names of the
sentence; and its `notes`, each with a code and data of its own. The words of `says` may be improved at any time.

- A code is the family and the name below with a dot between, such as `k_anonymity.too_few`; those of the family
  `{_GENERAL}` are the name alone.
- A share is a number from 0 to 1.
- A figure has the digits that the sentence shows; `observed` and `limit` are exact.
- A figure that would describe a few people is a text, such as `fewer than 10`.
- The families `standing`, `series` and `void_decision` describe the state of a release and of its decisions.
- `code` is empty in findings recorded before codes were introduced.

"""


def modules() -> Iterator[ModuleType]:
    """Those that declare sentences."""
    for room in _ROOMS:
        for each in walk_packages(room.__path__, f"{room.__name__}."):
            spec = find_spec(each.name)
            if spec and spec.origin and re.search(r"\bSentences?\(", Path(spec.origin).read_text(encoding="utf-8")):
                yield import_module(each.name)


def sentences() -> list[Sentence]:
    """All that the product can say of a finding."""
    for _ in modules():
        pass  # each declares its own as it is loaded
    return list(SENTENCES.values())


def catalogue(of: Iterable[Sentence]) -> str:
    """All codes by their families, as Markdown. The same sentences give the same text."""
    return (
        _ABOUT
        + "".join(
            f"**{family}**: {', '.join(f'`{_name(each)}`' for each in said)}\n\n" for family, said in _families(of)
        ).rstrip()
        + "\n"
    )


def in_full(of: Iterable[Sentence], family: str) -> str:
    """The codes of one family with their sentences.

    raises : SluiceError if there is no such family
    """
    by_family = dict(_families(of))
    if family not in by_family:
        near = did_you_mean(family, by_family) or " `sluice docs codes` lists all."
        raise SluiceError(f"There are no codes of '{one_line(family)}'.{near}")
    return "\n".join(map(_line, by_family[family])) + "\n"


def _families(of: Iterable[Sentence]) -> Iterator[tuple[str, list[Sentence]]]:
    for family, said in groupby(sorted(of, key=_place), key=lambda each: _place(each)[0]):
        yield family, list(said)


def _place(sentence: Sentence) -> tuple[str, str]:
    family, dot, _ = sentence.code.partition(".")
    return family if dot else _GENERAL, sentence.code


def _name(sentence: Sentence) -> str:
    return sentence.code.partition(".")[2] or sentence.code


def _line(sentence: Sentence) -> str:
    return f"- `{sentence.code}`: `{template(sentence)}`"


def template(sentence: Sentence) -> str:
    """Its words, with the names of its data in braces."""
    words = re.sub(r"\{\w+:verb_(\w+)\}|\{\w+:(is|its)\}", lambda verb: verb[1] or verb[2], sentence.words)
    words = re.sub(r"\{(\w+):count,?_(\w+)\}", r"{\1} \2s", words)
    return re.sub(r"\{(\w+)[^}]*\}", r"{\1}", words).strip()
