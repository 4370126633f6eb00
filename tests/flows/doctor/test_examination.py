"""The doctor's examination on the command line: a line each, an exit code for scripts, and repairs that are safe."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from sluice.custody import shelf
from sluice.custody.states import State
from tests.flows.clocks import in_days
from tests.flows.house import DONE, ERROR, WAITING, House
from tests.flows.stages import stages
from tests.golden import golden

CHECKS = ["settings", "packages", "names", "modes", "connections", "ledger", "history", "clock", "office"]


@pytest.fixture
def published() -> House:
    """A house whose release is on the shelf."""
    return stages(House).at("published")


@pytest.fixture
def almost() -> House:
    """A house whose release lacks its last approval."""
    return stages(House).at("almost")


def lines(house: House, *options: str) -> dict[str, dict[str, object]]:
    return {found["looked_at"]: found for found in house.sluice("doctor", "--json", *options).json}


def approved_but_killed(house: House, after: str) -> None:
    """The last approval, whose process dies when the ledger has `after`."""
    from sluice.custody.ledger import Ledger

    append = Ledger.append

    def dying(self: Ledger, release: str, event: str, *args: object, **kwargs: object) -> object:
        entry = append(self, release, event, *args, **kwargs)  # type: ignore[arg-type]
        if event == after:
            raise KeyboardInterrupt
        return entry

    with patch.object(Ledger, "append", dying):
        house.approve("jonas")
    assert house.shelf == []


def test_a_house_in_order_is_ok_line_by_line(pending: House) -> None:
    told = pending.sluice("doctor")
    assert told.code == DONE, told.words
    found = lines(pending)
    assert [name for name in found if not name.startswith("disk")] == [*CHECKS, "Prefect", "releases", "shelves"]
    assert {each["condition"] for name, each in found.items() if not name.startswith("disk")} == {"ok"}
    for name in CHECKS:
        assert f"ok    {name}: " in told.out


def test_nothing_is_made_by_looking(house: House) -> None:
    assert house.sluice("doctor").code == DONE
    assert not house.home.exists()


def test_before_the_first_command_it_says_what_is_missing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither ledger nor server is there yet, all is not well only because there is no workspace either."""
    found = lines(house)
    assert found["office"]["condition"] == "warn"
    assert {found[name]["condition"] for name in ("workspace", "connections", "ledger", "Prefect")} == {"ok"}

    monkeypatch.setenv("SLUICE_LEDGER_URL", "postgresql://sluice@127.0.0.1:1/ledger")
    monkeypatch.setenv("SLUICE_PATIENCE", "0")
    assert lines(house)["ledger"]["condition"] == "fail"
    assert not house.home.exists()


def test_an_office_that_nobody_founded_is_named(house: House) -> None:
    house.workspace()
    golden(lines(house)["office"]["says"])


@pytest.mark.parametrize("after", ["decision", "approved", "publishing"])
def test_what_was_decided_and_not_carried_out_is_named_and_finished(almost: House, after: str) -> None:
    release = almost.id
    approved_but_killed(almost, after)
    assert lines(almost)["releases"]["condition"] == "ok", (
        "it may be under way: nothing happened for 10 minutes is wanted"
    )
    told = almost.sluice("doctor", "--after", "0")
    assert told.code == ERROR
    assert release in told.out
    assert almost.shelf == [], "to look repairs nothing"
    repaired = lines(almost, "--after", "0", "--repair")[release]
    assert repaired["repaired"] == f"{release} is published now"
    assert almost.shelf == [release]
    assert almost.events(release).count("published") == 1
    assert almost.workspace().ledger.verify() == []
    assert almost.sluice("doctor", "--after", "0", "--repair").code == DONE


@pytest.mark.parametrize("dies", ["before the folder is moved", "before it is recorded", "before what follows is"])
def test_a_withdrawal_that_was_interrupted_is_named_and_finished(published: House, dies: str) -> None:
    release, place = published.id, "tasks.release.decisions.decisions_of_people"
    take_off = shelf.withdraw

    def then_die(folder: Path, reason: str) -> None:
        take_off(folder, reason)
        raise KeyboardInterrupt

    at, dying = {
        "before the folder is moved": (f"{place}.shelf.withdraw", KeyboardInterrupt),
        "before it is recorded": (f"{place}.shelf.withdraw", then_die),
        "before what follows is": ("tasks.release.editions.current_edition.settle_editions", KeyboardInterrupt),
    }[dies]
    with patch(at, side_effect=dying):
        published.withdraw(release, "wrong codes")
    if dies != "before what follows is":  # which every run does, too
        assert lines(published, "--after", "0")[release]["condition"] == "fail"
        golden.words(published.sluice("board").words)
        repaired = lines(published, "--after", "0", "--repair")[release]
        assert f"{release} is withdrawn" in str(repaired["repaired"])
    assert published.sluice("catalogue").code == DONE
    assert published.shelf == [f"{release}.withdrawn.txt"]
    assert published.events(release)[-3:] == ["withdrawal", "withdrawal", "withdrawn"]
    assert published.sluice("ledger", "verify").code == DONE


def test_a_shelf_that_says_other_than_the_ledger_is_named_and_written_anew(published: House) -> None:
    """As when the connection to the ledger breaks after a publication was recorded, and nobody publishes again."""
    (published.target / "people-puf.current.json").unlink()
    (published.target / "catalogue.html").write_text("<p>Another edition is current.</p>")
    assert published.sluice("ledger", "verify").code == ERROR
    found = lines(published)["shelves"]
    assert found["condition"] == "fail"
    golden(str(found["says"]))
    golden(str(lines(published, "--repair")["shelves"]["repaired"]))
    assert published.sluice("ledger", "verify").code == DONE
    assert lines(published)["shelves"]["condition"] == "ok"


def test_one_who_asks_withdraws_nothing_by_the_doctor(published: House) -> None:
    assert published.sluice("withdraw", published.id, "--reason", "wrong codes", "--as", "amara").code == WAITING
    assert published.sluice("doctor", "--after", "0", "--repair").code == DONE
    assert published.shelf == [published.id]


def test_what_people_have_not_decided_is_not_the_doctor_s(almost: House) -> None:
    assert almost.sluice("doctor", "--after", "0", "--repair").code == DONE
    assert almost.shelf == []
    assert almost.workspace().ledger.state(almost.id) is State.PENDING_REVIEW


def test_an_approved_release_whose_documents_changed_is_told_and_left(almost: House) -> None:
    release = almost.id
    approved_but_killed(almost, "decision")
    almost.policy["rules"][0]["k"] = 3
    almost.write()
    found = lines(almost, "--after", "0", "--repair")[release]
    assert (found["condition"], found["repaired"]) == ("fail", None)
    golden(str(found["says"]))
    assert almost.shelf == []


def test_a_clock_that_was_set_back_revives_no_approval(almost: House) -> None:
    """Two months later the approvals have expired; whoever sets the clock back does not publish by them."""
    from sluice.custody import ledger

    approved_but_killed(almost, "approved")
    later = datetime.now(UTC) + timedelta(days=60)
    with patch.object(ledger, "datetime") as clock:
        clock.now = lambda zone: later
        almost.workspace().ledger.append(almost.id, "note", "amara", {})
    almost.approve("jonas").refused()
    assert almost.shelf == []
    assert lines(almost)["clock"]["condition"] == "fail"


def test_a_clock_that_was_set_back_and_right_again_has_lost_nothing(
    almost: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the decision and its publication: while it is wrong nothing is published; once it is right the doctor
    carries out what was decided."""
    from sluice.custody import clock

    release = almost.id
    monkeypatch.setattr(clock, "datetime", in_days(-1 / 24))
    monkeypatch.setattr(
        "tasks.release.decisions.decisions_of_people.refuse_wrong_clock", lambda ledger: None
    )  # it was right then
    almost.approve("jonas").refused()
    assert lines(almost, "--after", "0", "--repair")["clock"]["condition"] == "fail"
    assert almost.shelf == []
    monkeypatch.undo()
    assert lines(almost, "--after", "0", "--repair")[release]["repaired"] == f"{release} is published now"
    assert almost.shelf == [release]
    assert almost.workspace().ledger.verify() == []


def test_a_ledger_of_an_earlier_version_and_one_that_was_changed_are_named(pending: House) -> None:
    with closing(sqlite3.connect(pending.home / "ledger.db")) as database:
        database.execute("DROP TRIGGER sluice_ledger_update")
        database.execute("UPDATE sluice_ledger SET actor = 'x' WHERE seq = 2")
        database.commit()
        told = pending.sluice("doctor")
        assert told.code == ERROR
        assert " row 2 " in told.out
        golden.where("history:", told.out)
        database.execute("DROP TABLE sluice_ledger_schema")
    told = pending.sluice("doctor")
    assert told.code == ERROR
    assert "sluice ledger upgrade" in told.out


def test_a_server_that_does_not_answer_stops_nothing_else(pending: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

    nowhere = "http://127.0.0.1:9/api"
    monkeypatch.setenv("PREFECT_API_URL", nowhere)
    with temporary_settings({PREFECT_API_URL: nowhere, PREFECT_CLIENT_MAX_RETRIES: 0}):
        found = lines(pending)
    assert found["Prefect"]["condition"] == "fail"
    golden(str(found["Prefect"]["says"]))
    assert found["releases"]["condition"] == "ok"


def test_findings_are_in_the_log_for_whoever_watches_it(almost: House, monkeypatch: pytest.MonkeyPatch) -> None:
    approved_but_killed(almost, "approved")
    monkeypatch.setenv("SLUICE_LOG", "json")
    told = almost.sluice("doctor", "--after", "0")
    found = [json.loads(line) for line in told.err.splitlines() if '"doctor finds"' in line]
    assert any(each["level"] == "error" and almost.id in each["detail"] for each in found)
