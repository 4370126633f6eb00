"""Accounts of the desk: what is kept of a password, and for whom."""

import socket
from pathlib import Path
from typing import Any

import pytest

from flows.desk.accounts import SHORTEST, Accounts, desk_folder
from flows.desk.desk import Desk
from sluice.ground.errors import SluiceError
from tests.flows.desk.visitor import PASSWORD
from tests.flows.house import DONE, ERROR, House
from tests.golden import golden


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    return Accounts(desk_folder(tmp_path))


def test_the_right_password_is_known_and_no_other(accounts: Accounts) -> None:
    accounts.put("amara", PASSWORD)
    assert accounts.verify("amara", PASSWORD)
    for name, password in (("amara", ""), ("amara", PASSWORD + " "), ("jonas", PASSWORD), ("", ""), ("jonas", "")):
        assert not accounts.verify(name, password)


def test_nothing_kept_tells_a_password_or_that_two_are_equal(accounts: Accounts) -> None:
    accounts.put("amara", PASSWORD)
    accounts.put("jonas", PASSWORD)
    kept = accounts.file.read_text()
    assert PASSWORD not in kept
    assert accounts.mark("amara") != accounts.mark("jonas")
    assert accounts.file.stat().st_mode & 0o777 == 0o600
    assert accounts.file.parent.stat().st_mode & 0o777 == 0o700


def test_what_others_can_read_is_refused(accounts: Accounts) -> None:
    accounts.put("amara", PASSWORD)
    accounts.file.chmod(0o640)
    golden.refused(SluiceError, accounts.verify, "amara", PASSWORD)
    accounts.file.parent.chmod(0o755)
    golden.refused(SluiceError, desk_folder, accounts.file.parent.parent)


def test_a_short_password_is_refused(accounts: Accounts) -> None:
    golden.refused(SluiceError, accounts.put, "amara", "a" * (SHORTEST - 1))
    assert accounts.mark("amara") == ""


def test_the_command_gives_accounts_to_people_of_the_roster_and_takes_them_away(
    desk: Desk, pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "another password")
    assert pending.sluice("desk", "account", "amara").code == DONE
    assert desk.accounts.verify("amara", "another password")
    pending.sluice("desk", "account", "mallory").refused()
    assert pending.sluice("desk", "account", "amara", "--remove", "--json").json == {"name": "amara", "account": False}
    assert pending.sluice("desk", "account", "amara", "--remove").code == ERROR


@pytest.mark.parametrize(
    "options",
    [
        ("--host", "0.0.0.0"),
        ("--proxy", "127.0.0.1"),
        ("--address", "desk.example"),
        ("--sign-on-header", "X-Remote-User"),
    ],
)
def test_a_desk_that_would_be_open_is_not_served(pending: House, options: tuple[str, ...]) -> None:
    pending.sluice("desk", *options).refused(figures=True)


def test_the_desk_listens_where_nobody_else_reaches_it_and_believes_no_header(
    desk: Desk, pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, served = list[tuple[str, int]](), list[Any]()
    listen = socket.create_server

    def listen_anywhere(address: tuple[str, int], **options: Any) -> socket.socket:
        asked.append(address)
        return listen(("127.0.0.1", 0), **options)

    monkeypatch.setattr(socket, "create_server", listen_anywhere)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: served.append(self.config))
    assert pending.sluice("desk").code == DONE
    assert (served[-1].proxy_headers, served[-1].app.address) == (False, "http://127.0.0.1:8321")
    assert pending.sluice("desk", "--host", "0.0.0.0", "--address", "https://Desk.Example").code == DONE
    assert served[-1].app.address == "https://desk.example"
    assert asked == [("127.0.0.1", 8321), ("0.0.0.0", 8321)]


def test_a_port_that_another_program_has_is_named(desk: Desk, pending: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = pending.sluice("desk", "--port", port)
    assert told.code == ERROR
    assert port in told.err


def test_without_an_office_there_is_no_desk(house: House) -> None:
    house.sluice("desk").refused()
