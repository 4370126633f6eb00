"""Plain English: no page has a form that no native statistician would write, nor a sentence of more than 25 words.

Findings and messages are counted, and their number may only fall: `python -m tests.architecture.english` lists them.
"""

from pathlib import Path

import pytest

from tests.architecture.english import LONGEST, findings, found, messages, sentences, words

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"codes.md", "commands.md", "methods.md", "rules.md"}  # from sentences and docstrings of the product
# Of the product's own words: as many sentences as still have such a form, and as many as are longer.
FORMS_OF_PAGES, LONG_OF_PAGES = 0, 10
FORMS_OF_FINDINGS, FORMS_OF_MESSAGES = 0, 0
PAGES = sorted([
    *(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
])  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_written_in_plain_english(page: Path) -> None:
    of_page = list(sentences(page.read_text(encoding="utf-8")))
    assert [f"{form}: {each}" for each in of_page for form in found(each)] == []
    assert [each for each in of_page if words(each) > LONGEST] == []


def test_pages_that_are_generated_have_no_more_of_it() -> None:
    texts = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("methods.md", "rules.md")]
    of_pages = [each for text in texts for each in sentences(text)]
    assert sum(any(found(each)) for each in of_pages) <= FORMS_OF_PAGES
    assert sum(words(each) > LONGEST for each in of_pages) <= LONG_OF_PAGES


@pytest.mark.chain
def test_findings_have_no_more_of_it() -> None:
    assert len(findings()) <= FORMS_OF_FINDINGS


@pytest.mark.chain
def test_messages_have_no_more_of_it() -> None:
    assert len(messages()) <= FORMS_OF_MESSAGES


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("Who runs it reads the log.", "'Who ...' or 'What ...' as the subject"),
        ("It fails. What it found is shown.", "'Who ...' or 'What ...' as the subject"),
        ("age is no quasi-identifier.", "'is no ...'"),
        ("Of fewer people only a bound is said.", "object first"),
        ("There are so many more twins.", "'so many more'"),
        ("It stands in the ledger.", "stand"),
        ("The copy is held against the file.", "hold"),
        ("It gives a person away.", "give away"),
        ("The file tells of nobody.", "tell"),
        ("Keep to the policy.", "keep to"),
        ("The folder is not to be believed.", "a phrase of our own"),
    ],
)
def test_each_form_is_found(written: str, form: str) -> None:
    assert form in [name for each in sentences(written) for name in found(each)]


@pytest.mark.parametrize(
    "written",
    [
        "Who may approve a release?",
        "There is no limit, and it is no longer than a day.",
        "The reviewer who reads it decides what happens.",
        "```\nWho runs it, reads.\n```\n\n    What is code\n",
    ],
)
def test_plain_sentences_and_code_are_left_alone(written: str) -> None:
    assert [form for each in sentences(written) for form in found(each)] == []


def test_words_are_counted_without_code() -> None:
    assert words("The rule `k_anonymity` asks for 5 records, i.e. a group.") == 9
