"""Forms that no native statistician would write, found by patterns; and sentences that are too long to be read once."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from flows.codes import sentences as of_product
from flows.codes import template

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("sluice", "schemas", "policies", "tasks", "flows")
LONGEST = 25  # words of a sentence

FORMS = {
    "'Who ...' or 'What ...' as the subject": re.compile(r"(?:^|(?<=[.!?:] ))(?:Who|Whoever|What)\b(?![^.]*\?)"),
    "'is no ...'": re.compile(
        r"(?<!\b[Tt]here )\b(?:is|are|was|were) "
        r"(?:no(?! (?:longer|more|less|fewer|matter|sooner|limit)\b)\b|none\b|nobody's\b)"
    ),
    "object first": re.compile(r"(?:^|(?<=[.!?;:] ))Of (?!course\b|these\b)"),
    "'so many more'": re.compile(r"\bso many (?:more|as)\b|\bas many more\b|(?:^|[,;] )of them\b|\d of them\b"),
    "stand": re.compile(r"\bst(?:ands?|ood) (?:there|in|below|beside|above|at|before|on)\b"),
    "hold": re.compile(r"\b(?:hold|holds|held) (?:\w+ )?(?:against|beside|to a)\b"),
    "give away": re.compile(r"\b(?:give|gives|gave|given|giving) (?:\w+ ){0,2}away\b"),
    "tell": re.compile(r"\b(?:tell|tells|told) (?:of|nobody|nothing|everybody|more|that much)\b"),
    "keep to": re.compile(r"\b[Kk]eeps? to\b"),
    "a phrase of our own": re.compile(
        r"not to be believed|must not be learnt|is had by|by heart|and no third|\w unseen\b(?! species)|for ever\b|"
        r"should it live|is it whole|wants? to know|whatever (?:that|it) is|as it stands|nobody knows",
        re.IGNORECASE,
    ),
}


def found(sentence: str) -> Iterator[str]:
    """The names of the forms in a sentence."""
    for name, form in FORMS.items():
        if form.search(sentence):
            yield name


def words(sentence: str) -> int:
    """Words, without code, numbers and signs."""
    return len(re.findall(r"[A-Za-zÀ-ž][\w'’-]*", re.sub(r"`[^`]*`", "", sentence)))


def sentences(page: str) -> Iterator[str]:
    """The sentences of a page in Markdown, without code and headings; each cell of a table, and item, is a text."""
    page = re.sub(r"^```.*?^```$", "\n", page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"^ {4}.*$|^#.*$|^!\[.*$", "\n", page, flags=re.MULTILINE)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)", page):
        for part in re.split(r"(?<!\\)\|", block) if block.startswith("|") else [block]:
            text = re.sub(
                r"^\W*(?:\d+\. )?", "", " ".join(part.replace("**", "").replace("[", "").replace("]", "").split())
            )
            yield from filter(None, re.split(r"(?<=[.!?])\s+(?=[A-ZÀ-Ž`*\"'(])", text))


def findings() -> list[str]:
    """The sentences of findings that have such a form."""
    texts = [template(each) for each in of_product() if not each.code.startswith("test.")]
    return [text for text in texts if _has_form(text)]


def messages() -> list[str]:
    """The texts of errors that have such a form, with their places; a value that is filled in counts as a word."""
    listed = []
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                texts = filter(None, map(_text, node.exc.args))
                listed += [f"{path.relative_to(ROOT)}:{node.lineno}: {text}" for text in texts if _has_form(text)]
    return listed


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "X" for part in node.values)
    return ""


def _has_form(text: str) -> bool:
    return any(form.search(part) for part in re.split(r"(?<=[.!?:;])\s+", text) for form in FORMS.values())


if __name__ == "__main__":
    print(*findings(), *messages(), sep="\n")
