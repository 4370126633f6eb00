"""A measure that crashed or found nothing is UNKNOWN, which blocks; never the small risk that it failed to find."""

from collections.abc import Sequence

import pytest

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict, decide
from tasks.release.crashed_measures import findings_of
from tests.golden import golden

VALUE = "canary4711"
FOUND = Finding(rule="k_anonymity", verdict=Verdict.PASS, says="All is well.")


def test_what_was_found_is_passed_on() -> None:
    assert findings_of("k_anonymity", "masked", lambda: [FOUND]) == [FOUND]


def test_nothing_found_is_unknown() -> None:
    (finding,) = findings_of("k_anonymity", "masked", list)
    assert (finding.verdict, finding.rule, finding.stage) == (Verdict.UNKNOWN, "k_anonymity", "masked")


@pytest.mark.parametrize("error", [ValueError(VALUE), MemoryError(VALUE), RecursionError(VALUE)], ids=type)
def test_a_crash_is_unknown_and_quotes_nothing(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def crash() -> Sequence[Finding]:
        raise error

    (finding,) = findings_of("k_anonymity", "masked", crash)
    assert decide([FOUND, finding]) is Verdict.UNKNOWN
    assert type(error).__name__ in finding.says
    streams = capsys.readouterr()
    assert VALUE not in finding.says + streams.out + streams.err
    golden.words(streams.err)


def test_an_error_of_ours_says_what_to_mend() -> None:
    def refuse() -> Sequence[Finding]:
        raise DataError("the file has no column 'age'.")

    (finding,) = findings_of("k_anonymity", "masked", refuse)
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)


def test_a_crash_half_way_keeps_nothing_of_what_was_found_before() -> None:
    def half() -> Sequence[Finding]:
        return [FOUND, 1 / 0]  # type: ignore[list-item]

    (finding,) = findings_of("k_anonymity", "masked", half)
    assert finding.verdict is Verdict.UNKNOWN
