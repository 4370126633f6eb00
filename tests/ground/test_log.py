"""The log: lines with the facts of an event and nothing else of what a logging record may carry."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator
from datetime import datetime

import pytest

from sluice.ground.log import Form, is_written, log, write_log

VALUE = "canary4711"


@pytest.fixture(autouse=True)
def no_log_afterwards() -> Iterator[None]:
    yield
    write_log(None)


def test_a_line_of_json_for_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    write_log("json")
    log("step ends", step="mask", seconds=1.25)
    log("step fails", logging.ERROR, step="mask", detail="no column 'größe'")
    ends, fails = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert datetime.fromisoformat(ends.pop("time")).tzinfo is not None
    assert ends == {"level": "info", "event": "step ends", "step": "mask", "seconds": 1.25}
    assert (fails["level"], fails["detail"]) == ("error", "no column 'größe'")


def test_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    write_log("text")
    log("recorded", release="people-1", recorded="blocked", verdict="FAIL")
    assert capsys.readouterr().err.split(" ", 1)[1] == "info recorded release=people-1 recorded=blocked verdict=FAIL\n"


def test_without_a_form_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    write_log("json")
    assert is_written()
    write_log(None)
    log("step begins", logging.CRITICAL, step="mask")
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})  # as Prefect does when it is imported
    log("step begins", logging.CRITICAL, step="mask")
    assert not is_written()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_stays_out(form: Form, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(form)
    try:
        raise ValueError(VALUE)
    except ValueError:
        logging.getLogger("sluice").exception("a library's own", stack_info=True)
        logging.getLogger("sluice").error("with an argument %s", VALUE)
    told = capsys.readouterr().err
    assert told.count("\n") == 2
    assert VALUE not in told


def test_what_is_above_hears_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Prefect's handlers may be there."""
    write_log("json")
    log("step begins", step="mask")
    assert caplog.records == []


def test_a_detail_cannot_write_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """A definition may bear any name for a column, which an error repeats."""
    write_log("text")
    log(
        "step fails", detail="column 'a\n2026-01-01T00:00:00.000+00:00 info recorded release=fair recorded=published\r'"
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert "a\\n2026-01-01" in line


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_nobody_reads_any_more_stops_nothing(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker was killed and its runs were not: what they write goes nowhere, and the release goes on."""

    class Broken(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Broken())
    write_log(form)
    log("step ends", step="mask", seconds=1.25)
