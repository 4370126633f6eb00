"""Text that is what it looks like: what is spelled out or refused, and what every script may write."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.visible_text import as_name, as_prose, json_text, one_line, unseen, visible
from tests.golden import golden

TEXTS = st.text(st.characters(), max_size=30)  # halves of characters, too

WRITTEN = (  # in scripts whose joiners and variants carry meaning
    "Straße, naïve café, 12 000 €",
    "العربية فارسی می‌خواهم",
    "नमस्ते, क्‍ष",
    "日本語 한국어",
    "👩‍🔬 ❤️",
    "R&D <5 \"x\" 'y' [red] $HOME {{x}}",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_what_a_script_needs_is_left_alone(text: str) -> None:
    assert as_name(text) == visible(text) == one_line(text) == text
    assert json_text(text) == json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Zl", "Zp"])
def test_no_control_format_or_separator_is_in_a_name(category: str) -> None:
    found = [character for character in map(chr, range(0x110000)) if unicodedata.category(character) == category]
    assert [character for character in found if not unseen(f"a{character}", one_line=True)] == []
    assert [character for character in found if unicodedata.category(visible(f"a{character}")[1]) == category] == [
        character for character in found if character in "\t\n"
    ]


@pytest.mark.parametrize(
    "text", ["a\x1b[31m", "evil \u202etxt.exe", "income\u200b", "income\u200d", "\ud800", "two\nlines"]
)
def test_a_name_with_what_is_not_seen_is_refused(text: str) -> None:
    with golden.raises(ValueError) as refusal:
        as_name(text)
    golden(refusal.value)
    assert str(refusal.value).isprintable()


def test_prose_may_have_lines_and_a_name_the_line_end_of_a_folded_text() -> None:
    assert as_prose("two\n\tlines\n") == "two\n\tlines\n"
    assert as_name("folded\n") == "folded"
    with pytest.raises(ValueError, match=r"U\+000D"):
        as_prose("over\rwritten")


@given(TEXTS)
def test_what_is_shown_can_be_seen_and_nothing_else_changes(text: str) -> None:
    assert not unseen(visible(text))
    assert not unseen(one_line(text), one_line=True)
    assert visible(visible(text)) == visible(text)
    if not unseen(text):
        assert visible(text) == text


@given(TEXTS)
def test_json_loads_back_to_the_same_text(text: str) -> None:
    written = json_text({text: [text]}, indent=2)
    assert json.loads(written) == {text: [text]}
    assert not unseen(written)
    written.encode()  # a terminal takes it
