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
from sluice.ground.sentence import SENTENCES, Sentence

_ROOMS = (policies, schemas, tasks, flows)
_ABOUT = """# Codes of findings

Written by `sluice codes` from the sentences; do not edit.

A finding's `says` is for people and may be put in better words at any time. A program reads its `code`, which says what
was found and stays; `data`, the figures and names of that sentence, by the names in braces below; and `notes`, what the
finding says after it, each with a code and data of its own. Shares are numbers from 0 to 1. A figure has no more digits
than the sentence gives it; `observed` and `limit` have them all. Where a figure would tell of a few people, it is a
text such as `fewer than 10`. Findings of releases before codes were introduced have none: `code` is empty. Where a
release stands with those who decide on it (`standing`, `series`), and why a decision counts for nothing
(`void_decision`), have codes and data, too.
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
    """All codes with their sentences, as Markdown. The same sentences give the same text."""
    lines = [_ABOUT]
    for family, said in groupby(sorted(of, key=_place), key=lambda each: _place(each)[0]):
        lines += [f"## {family or 'What several rules say'}", "", *map(_line, said), ""]
    return "\n".join(lines).rstrip() + "\n"


def _place(sentence: Sentence) -> tuple[str, str]:
    family, dot, _ = sentence.code.partition(".")
    return family if dot else "", sentence.code


def _line(sentence: Sentence) -> str:
    words = re.sub(r"\{\w+:verb_(\w+)\}|\{\w+:(is|its)\}", lambda verb: verb[1] or verb[2], sentence.words)
    words = re.sub(r"\{(\w+):count,?_(\w+)\}", r"{\1} \2s", words)
    words = re.sub(r"\{(\w+)[^}]*\}", r"{\1}", words).strip()
    return f"- `{sentence.code}`: `{words}`"
