"""Text that is what it looks like: no character that a terminal obeys, that nobody sees, or that reorders others.

Names and documents with one are refused (`Name`, `Prose`); where a text from elsewhere is shown, such as the name of a
file or what a library says, these characters are spelled out (`visible`, `one_line`, `json_text`).
Whoever is counted by names that look like others and are not equal to them is counted several times (`unclear_names`).

Sources: Unicode Standard Annex 44 (general categories Cc, Cf, Cs, Zl, Zp; Default_Ignorable_Code_Point), Boucher and
Anderson (2023), "Trojan Source" (docs/references.md), for what reordering can hide.
"""

import json
import re
import string
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator

if TYPE_CHECKING:
    import pyarrow as pa

_IGNORED = r"\x{034F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}"
_OTHER_BLANKS = r"\x{000B}\x{0085}\x{00A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{2800}\x{3000}"
DASH = r"[\x{2010}-\x{2015}\x{2212}\x{FE58}\x{FE63}\x{FF0D}]"
"""Of RE2: dashes and signs that look like a hyphen."""
UNCLEAR = rf"[\p{{Cf}}\p{{Cc}}{_IGNORED}{_OTHER_BLANKS}]|  |{DASH}"
"""Of RE2, anywhere in a name: what nobody sees, other dashes than the hyphen, other blanks than the usual one, and two
of these."""
_LETTERS_OF_A_NAME = 4  # at least: fewer may be a code
_BLANK = rf"[\s{_OTHER_BLANKS}]"
BLANK_RUN = rf"{_BLANK}(?:[\p{{Cf}}\p{{Cc}}{_IGNORED}]*{_BLANK})*"
"""Of RE2: blanks of any kind, one or several, which look like one, also with what nobody sees between them."""
UNSEEN_RUN = rf"[\p{{Cf}}\p{{Cc}}{_IGNORED}]+"
"""Of RE2: characters that nobody sees."""

LOOKALIKE_NAMES = (
    "spelled with characters that nobody sees, with other blanks than single ones, with other dashes than "
    "hyphens, or not in Unicode's composed form "
    "(NFC), so that names which look the same may differ; clean the column"
)

# Controls, soft hyphens, fillers, directions of writing, breaks of lines and paragraphs, tags, halves of characters.
# Joiners and variants of a letter belong to scripts and pictographs that need them: not to ASCII.
_NEVER = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NOT_AFTER_ASCII = r"(?<![^\x00-\x7f])[\u200c\u200d\ufe00-\ufe0f]"
_UNSEEN = re.compile(rf"[{_NEVER}]|{_NOT_AFTER_ASCII}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # what there is of these in ASCII
_DASHES = re.compile(r" ?[-\u2010-\u2015\u2212] ?")
_UNSEEN_IN_A_NAME = re.compile(rf"[\t\n{_NEVER}]|{_NOT_AFTER_ASCII}")


def unseen(text: str, *, one_line: bool = False) -> str:
    """What the first such character is, 'U+202E RIGHT-TO-LEFT OVERRIDE'; '' when there is none.

    one_line : line ends and tabs count, too
    """
    if _is_plain(text) and not (one_line and ("\t" in text or "\n" in text)):
        return ""
    found = (_UNSEEN_IN_A_NAME if one_line else _UNSEEN).search(text)
    return f"U+{ord(found[0]):04X} {unicodedata.name(found[0], '')}".rstrip() if found else ""


def visible(text: str) -> str:
    r"""The text with each such character spelled out, as \x1b or \u202e; lines stay lines."""
    return text if _is_plain(text) else _UNSEEN.sub(_spelled, text)


def _is_plain(text: str) -> bool:
    """Whether there is nothing to spell out, by what is twenty times as quick to find, of text without accents."""
    return text.isascii() and _CONTROLS.search(text) is None


def one_line(text: str) -> str:
    """The same on one line: line ends and tabs become blanks."""
    return visible(re.sub(r"[\n\t]+", " ", text.strip("\n\t")))


def in_markdown(text: str) -> str:
    """A text that a reader of Markdown shows as it is: no markup, no link and no picture is read in it, and the markup
    around it is markup still.

    Source: CommonMark 0.31.2, sections 2.4 and 2.5: a backslash takes its meaning from any punctuation of ASCII, and a
    character by its number is no white space to what stands beside it, such as the stars that end what is bold. Commas,
    and hyphens between letters or digits, have no meaning that could be taken.
    """
    escaped = re.sub(f"(?<=[^\\W_])[-](?=[^\\W_])|,|([{re.escape(string.punctuation)}])", _unmarked, one_line(text))
    return re.sub(r"^\s+|\s+$", lambda blanks: "".join(f"&#{ord(blank)};" for blank in blanks[0]), escaped)


def _unmarked(sign: re.Match[str]) -> str:
    return f"\\{sign[0]}" if sign[1] else sign[0]


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that shows letters of all scripts as they are and spells out what is not seen; loads back to the same."""
    text = json.dumps(value, indent=indent, default=str, ensure_ascii=False)
    return text if _is_plain(text) else _UNSEEN.sub(_as_json, text)


def _spelled(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _as_json(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def as_name(text: str) -> str:
    """The text, without the line end of YAML's folded texts. Raises ValueError unless all of one line can be seen."""
    text = text.removesuffix("\n")
    if character := unseen(text, one_line=True):
        raise ValueError(f"must be one line of characters that can be seen; it holds {character}")
    return text


def as_prose(text: str) -> str:
    """The text. Raises ValueError unless all of it can be seen; lines and tabs may be there."""
    if character := unseen(text):
        raise ValueError(f"must be of characters that can be seen; it holds {character}")
    return text


Name = Annotated[str, AfterValidator(as_name)]
"""What names something: a line of characters that can be seen."""

PathName = Annotated[Path, BeforeValidator(lambda path: as_name(path) if isinstance(path, str) else path)]
"""A path as somebody wrote it: such a line."""

Prose = Annotated[str, AfterValidator(as_prose)]
"""What a person says, on one line or several."""


def spelled_alike(codes: Iterable[str]) -> int:
    """How many codes are those of others but for capital letters, blanks or dashes, as F and f are."""
    given = [*codes]
    return len(given) - len({_DASHES.sub("-", " ".join(code.casefold().split())) for code in given})


def same_but_for_capitals(names: Iterable[str]) -> dict[str, int]:
    """In small letters, the names that stand in several spellings and are certainly one, and how many spellings more.

    Certainly: of four letters or more, not a single word with digits, as codes are, and one spelling is in small
    letters, in capitals, or with a capital at the beginning of each word. Others may be codes, of which case tells.
    """
    spelled: dict[str, list[str]] = {}
    for name in names:
        spelled.setdefault(name.lower(), []).append(name)
    return {
        lower: len(several) - 1
        for lower, several in spelled.items()
        if len(several) > 1
        and sum(map(str.isalpha, lower)) >= _LETTERS_OF_A_NAME
        and (" " in lower or not any(map(str.isdigit, lower)))
        and any(name == lower or name.isupper() or name.istitle() for name in several)
    }


def unclear_names(names: "pa.Array") -> "pa.Array":
    """Which trimmed texts are not spelled in the one way that they look; case counts. Null where the text is."""
    import pyarrow.compute as pc  # every command checks names, and few look at columns

    composed = pc.utf8_normalize(names, form="NFC")
    return pc.or_(pc.match_substring_regex(names, UNCLEAR), pc.not_equal(composed, names))


def as_they_look(names: "pa.Array") -> "pa.Array":
    """Trimmed texts spelled in the one way that they look: single blanks, hyphens for dashes, nothing that nobody
    sees, composed (NFC)."""
    import pyarrow.compute as pc

    seen = pc.replace_substring_regex(pc.replace_substring_regex(names, BLANK_RUN, " "), UNSEEN_RUN, "")
    seen = pc.replace_substring_regex(seen, DASH, "-")
    return pc.utf8_normalize(pc.utf8_trim_whitespace(seen), form="NFC")
