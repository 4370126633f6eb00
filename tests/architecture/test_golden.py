"""Golden files hold each sentence once, beside its tests, and nothing that no test reads."""

import pytest

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from tests.golden import TESTS, golden, left_behind, merged, parsed, rendered, says, written

FOUND = Finding(rule="k_anonymity", verdict=Verdict.FAIL, says="5 records of '/tmp/x1' stand alone.")


def test_every_entry_belongs_to_a_test() -> None:
    assert left_behind() == []


def test_texts_stand_once_and_in_the_order_of_their_first_tests() -> None:
    texts = {"test_b": "Same.", "test_a #10": "Ten.", "test_a #2": "Two\nlines.", "test_c[x #2]": "Same."}
    content = "test_a #2\n    Two\n    lines.\n\ntest_a #10\n    Ten.\n\ntest_b\ntest_c[x #2]\n    Same.\n"
    assert rendered(texts) == content
    assert parsed(content) == texts


def test_tests_that_did_not_run_keep_their_entries() -> None:
    old = {"test_ran": "Old.", "test_ran #2": "Said no more.", "test_other[1]": "Kept.", "test_gone #3": "Gone."}
    new = merged(old, {"test_ran": "New."}, {"test_ran"}, {"test_gone"})
    assert new == {"test_ran": "New.", "test_other[1]": "Kept."}


def test_what_differs_from_run_to_run_has_a_name() -> None:
    assert written("a/dev/shm/pytest-of-me/pytest-12/popen-gw1/test_x0/data.csv: no such file") == (
        "a<tmp>/data.csv: no such file"
    )
    assert written("run 0c4de5f26a9b1 at 127.0.0.1:5432") == "run <id> at 127.0.0.1:<port>"
    assert written("approved on 2026-11-28 10:20 UTC, until 2027-01-01.") == "approved on <date>, until <date>."
    assert written("'empty_0c4de5f26a9b1c4d.people_1' of 'puf-b51d974a'") == "'empty_<id>.people_1' of 'puf-<id>'"
    assert written(f"{TESTS.parent}/docs below {TESTS.parent}; not {TESTS.parent}-2") == (
        f"docs below <project>; not {written(f'{TESTS.parent}-2')}"
    )
    assert written("mask 0.1 s publish 12.5 s") == "mask <time> publish <time>"
    assert written("one \n\n  two\t\u202e ") == r"one" + "\n" + r"two\t\u202e"


def test_findings_errors_and_texts_are_compared(tmp_path: object) -> None:
    golden(FOUND)
    golden([FOUND, "5 records"])
    golden.words(FOUND)
    golden(DataError(f"{tmp_path} is empty"))
    with golden.raises(DataError, ValueError) as error:
        raise DataError("no such column")
    assert error.type is DataError


def test_what_no_person_reads_is_refused() -> None:
    with pytest.raises(TypeError):
        says(5)
    with pytest.raises(AssertionError):
        golden(" ")


def test_another_sentence_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "rewriting", False)
    with pytest.raises(AssertionError):
        golden("without an entry")
    assert golden.test is not None
    golden.test.said.clear()
