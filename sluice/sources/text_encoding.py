"""The encoding of a text file that nobody described: found in all of its bytes, or asked for where it is not certain.

UTF-8 and UTF-16 prove themselves. Anything else is taken for Western European (cp1252) only where each letter beyond
ASCII stands where such a letter can stand. Statistical detectors need more text than a file of codes and names has:
they take French names for Central European ones.
"""

import codecs
import re
from contextlib import suppress
from pathlib import Path

from sluice.ground.errors import DataError
from sluice.sources.packed_file import unpacked

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_BLOCK = 1 << 20
_START = 1 << 16
_KANA = 20  # of so many letters of a Japanese text one is no Chinese sign, at least

# What cp1252 makes of texts that it did not write: signs within words, capitals within words, foreign letters in a row.
_NO_TEXT = re.compile(
    r"(?<=[^\W\d_])[^\w\s\x00-\x7f’·\xad–](?=[^\W\d_])"
    r"|(?<=[a-zß-öø-ÿ])[ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŠŒŽŸ]"
    r"|[^\W\d_][ŠŽŸ](?=[a-z])"
    r"|[À-ÖØ-öø-ÿ]{4}"
    r"|(?<![^\W])[¹²³¼½¾¿¡ªº£¥¢¤¦¨¯¸](?=[^\W\d_])|(?<=[a-z])[¹¼½¾¿£¥¢¤¦¨¯¸]|(?<=[a-z])(?<!\bm)(?<![cdkm]m)³"
    r"|[^\W\d_ºª][ºª](?=[^\W\d_])|([¡-¿×÷])(?!\1)[¡-¿×÷]{2}"
    r"|\bð|[ãÃ](?![oeiOEI]|[sS]\b)(?=[^\W\d_])"  # of the West only Portuguese has ã: in ão, ãe, ãi, and at the end
)
_MIXTURES = (  # letters that no language of the West has together: Czech, Croatian, Hungarian, Romanian, Turkish, ...
    ("ø", "èìòùïšž"), ("ì", "šžýø"), ("šž", "èìòùïæð"), ("õ", "áű"), ("û", "öüá"), ("ý", "çğş"),
    ("þð", "ãçşğäõâìîïòûë"), ("ã", "îþ"), ("ø", "ëû"),
)  # fmt: skip
_ONLY_IN_CP1252 = set("ŠšŽžŸœŒƒ")


def likely_encoding(path: Path) -> str:
    """`encoding_of`; utf-8 where the bytes do not tell it, which is said when they are read."""
    with suppress(DataError, OSError):
        return encoding_of(path)
    return "utf-8"


def encoding_of(path: Path) -> str:
    """utf-8, utf-16, utf-16-le, utf-16-be or cp1252.

    raises : DataError where it is none of these for certain; says how to name it
    cost   : one pass over the file, O(1) memory
    """
    with unpacked(path, lines=True) as file:
        start = file.read(_START)
        for mark, encoding in _MARKS:
            # Western texts may begin with the bytes of a mark, ÿþ or þÿ; in UTF-16 each line ends with a zero byte
            if start.startswith(mark) and (encoding == "utf-8" or b"\0" in start or start == mark):
                return encoding
        if (wide := _utf_16_without_mark(start)) is not None:
            return wide
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_utf_8, foreign = True, bytearray()
        block = start
        while block:
            if b"\0" in block:
                raise DataError(f"{path}: contains bytes that no text contains: it is not a text, or it is damaged.")
            if is_utf_8:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    is_utf_8 = False
            if not is_utf_8 or not block.isascii():
                foreign += _around(block, _BLOCK - len(foreign))
            block = file.read(_BLOCK)
    if is_utf_8:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise DataError(f"{path}: ends inside a UTF-8 character: is the file truncated?") from None
        return "utf-8"
    return _western(path, bytes(foreign))


def japanese(content: bytes) -> str | None:
    """The text where these bytes are Shift-JIS, with kana and none of half width, as Chinese becomes; else None."""
    try:
        text = content.decode("cp932")
    except UnicodeDecodeError:
        return None
    kana = sum("\u3040" <= sign <= "\u30ff" for sign in text)
    foreign = sum(not sign.isascii() for sign in text)
    narrow = any("\uff61" <= sign <= "\uff9f" for sign in text)
    return text if not narrow and _KANA * kana > foreign else None


def _utf_16_without_mark(start: bytes) -> str | None:
    """By the zero bytes of ASCII letters, which stand at every other place, and by whole line ends."""
    even, odd = start[0::2].count(0), start[1::2].count(0)
    found = "utf-16-le" if odd > even else "utf-16-be"
    if max(even, odd) <= 0.3 * len(start) / 2 or min(even, odd):
        return None
    text = codecs.getincrementaldecoder(found)("replace").decode(start)
    return found if b"\n" not in start or "\n" in text else None


def _around(block: bytes, most: int) -> bytes:
    """The words with a byte beyond ASCII, a blank after each; at most so many bytes."""
    words = re.findall(rb"[^\s,;|\t\"]*[\x80-\xff][^\s,;|\t\"]*", block) if most > 0 else []
    return b" ".join(dict.fromkeys(words))[: max(most, 0)] + b" "


def _western(path: Path, words: bytes) -> str:
    if any(_is_utf_8(word) for word in words.split()):
        raise DataError(
            f"{path}: some of its letters are utf-8 and others are not, so it was put together from files of different "
            "encodings. Write it anew in utf-8, or name the encoding that most of it has (--encoding)."
        )
    try:
        text = words.decode("cp1252")
    except UnicodeDecodeError:
        raise _unknown(path) from None
    small = text.lower().replace("õe", "")  # of Portuguese, which has á, too
    letters = {sign for sign in small if ord(sign) > 127 and sign.isalpha()}
    mixed = any(letters & set(some) and letters & set(others) for some, others in _MIXTURES)
    lone = letters and letters <= {sign.lower() for sign in _ONLY_IN_CP1252}
    romanian = len(set(re.findall(r"\w+ã\b", small))) > 2 and not re.search("ã[oei]", small)
    if _NO_TEXT.search(text) or mixed or lone or romanian:
        raise _unknown(path)
    return "cp1252"  # and not latin-1, which makes invisible signs of the dash or the euro in the next file


def _is_utf_8(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unknown(path: Path) -> DataError:
    return DataError(
        f"{path}: is not utf-8, and its letters do not tell its encoding for certain. Name it (--encoding): cp1252 "
        "(Windows, Western Europe), cp1250 or iso8859-2 (Central Europe), cp1251 or koi8-r (Cyrillic), cp1253 (Greek), "
        "cp1254 (Turkish), cp850 (DOS), mac_roman, shift_jis, gb18030, ..."
    )
