"""What short names are short for: yngkid, lhrwage, gdhlth, marr, hormon (`abbreviations` of `usual_names.yaml`).

A name is spelled out only where all its letters are accounted for: known parts one after the other (hr, wage), the
consonants of one word (hlth), or most of its beginning (hormon). Nothing is guessed from a part of it.
"""

from functools import cache, lru_cache

from schemas.reading.usual_names import known_words, listed, words_of
from sluice.ground.variables import Role

_LETTER = 4  # letters behind a single one that stands for whose it is: fincome, and not page or sage
_BEGUN = 5  # letters of a word that is cut short, which are
_OF_IT = 0.6  # of it at least
_CONSONANTS = 4
_VOWELS = frozenset("aeiou")


def spelled_out(name: str) -> tuple[str, ...]:
    """The words of a name with abbreviations in full; empty where none of them is one. Cost: O(letters)."""
    words = words_of(name)
    last = len(words) - 1
    told = [() if 0 < at == last and word in listed("indicators") else _in_full(word) for at, word in enumerate(words)]
    if not any(told):
        return ()
    return tuple(part for word, full in zip(words, told, strict=True) for part in full or (word,))


@lru_cache(maxsize=20_000)
def _in_full(word: str) -> tuple[str, ...]:
    if not word.isalpha() or word in listed("whole_words"):
        return ()
    if (short := _short().get(word)) is not None:
        return short
    if found := _in_parts(word):
        return found
    consonants = "".join(sign for at, sign in enumerate(word) if at == 0 or sign not in _VOWELS)
    if len(word) >= _CONSONANTS and consonants == word and (full := _by_consonants().get(word)):
        return (full,)
    if len(word) >= _BEGUN and (full := _by_beginning().get(word)):
        return (full,)
    return ()


def _in_parts(word: str) -> tuple[str, ...]:
    """The last known part, where what stands before it is nothing but parts and modifiers."""
    for at in range(1, len(word) - 2):  # the longest last part first; two letters end many words
        last = word[at:]
        full = _short().get(last) or ((last,) if last in known_words() and len(last) >= _LETTER else None)
        if full is not None and _is_before(word[:at], len(last)):
            return full
    return ()


def _is_before(part: str, behind: int) -> bool:
    letters, more = listed("possessors"), listed("modifiers")
    if part in more or part in _short() or (part in letters and behind >= _LETTER):
        return True
    return any(
        (first in more or first in _short() or first in letters) and _is_before(part[at:], behind)
        for at in range(1, len(part))
        for first in (part[:at],)
    )


@cache
def _short() -> dict[str, tuple[str, ...]]:
    return {short: words_of(full) for short, full in listed("abbreviations").items()}


@cache
def _by_consonants() -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for word in known_words():
        if len(word) > _CONSONANTS:
            short = word[0] + "".join(sign for sign in word[1:] if sign not in _VOWELS)
            found.setdefault(short, set()).add(word)
    return _of_one_role(found)


@cache
def _by_beginning() -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for word in known_words():
        for end in range(_BEGUN, len(word)):
            if end >= _OF_IT * len(word):
                found.setdefault(word[:end], set()).add(word)
    return _of_one_role(found)


def _of_one_role(found: dict[str, set[str]]) -> dict[str, str]:
    roles: dict[str, Role] = known_words()
    return {short: min(words) for short, words in found.items() if len({roles[word] for word in words}) == 1}
