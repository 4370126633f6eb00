"""Who acts: the account that logged in, or where nobody did, that of the process."""

import os
import pwd
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tasks.release.decisions import signing_in

NOBODY_LOGGED_IN = str(2**32 - 1)  # what the kernel says of a service


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(signing_in, "_LOGIN", tmp_path / "loginuid")
    return tmp_path / "loginuid"


def test_it_is_the_account_that_logged_in(login: Path) -> None:
    other = next(entry for entry in pwd.getpwall() if entry.pw_uid != os.geteuid())
    login.write_text(str(other.pw_uid))
    assert signing_in.account() == other.pw_name


@pytest.mark.parametrize(
    "says", [NOBODY_LOGGED_IN, "", None, "3999999999"], ids=["service", "empty", "no file", "unknown"]
)
def test_without_a_login_it_is_the_account_of_the_process(login: Path, says: str | None) -> None:
    if says is not None:
        login.write_text(says)
    assert signing_in.account() == pwd.getpwuid(os.geteuid()).pw_name


def test_the_environment_has_no_say(login: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "SUDO_USER", "SUDO_UID", "USERNAME"):
        monkeypatch.setenv(name, "amara")
    assert signing_in.account() == pwd.getpwuid(os.geteuid()).pw_name


MINE, OTHER = os.geteuid(), os.geteuid() + 1


@pytest.fixture
def from_processes(login: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets of which accounts the processes are from which this one comes, the nearest first."""
    for name in ("SUDO_UID", "DOAS_USER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(signing_in, "_PROCESSES", tmp_path)

    def write(*accounts: int) -> None:
        numbers = [os.getppid(), *range(10**7, 10**7 + len(accounts) - 1), 0]
        for (number, parent), account in zip(pairwise(numbers), accounts, strict=True):
            (tmp_path / str(number)).mkdir()
            status = f"Name:\tsh: a\nPPid:\t{parent}\nUid:\t{account}\t0\t0\t0\n"
            (tmp_path / str(number) / "status").write_text(status)

    return write


@pytest.mark.parametrize(
    ("accounts", "another"),
    [([MINE, 0], False), ([0, 0], False), ([], False), ([MINE, OTHER, OTHER, 0], True), ([OTHER, 0], True)],
    ids=["own shell", "a service", "hidden", "su", "setuid"],
)
def test_whoever_called_su_acts_for_another(
    from_processes: Callable[..., None], accounts: list[int], another: bool
) -> None:
    if accounts:
        from_processes(*accounts)
    assert signing_in.acts_for_another() == another


def test_what_sudo_and_doas_say_is_believed_where_it_takes_rights_away(
    from_processes: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from_processes(MINE, 0)
    other = next(entry for entry in pwd.getpwall() if entry.pw_uid != MINE)
    for name, theirs, mine in (
        ("SUDO_UID", str(other.pw_uid), str(MINE)),
        ("DOAS_USER", other.pw_name, pwd.getpwuid(MINE).pw_name),
    ):
        monkeypatch.setenv(name, mine)
        assert not signing_in.acts_for_another()
        monkeypatch.setenv(name, theirs)
        assert signing_in.acts_for_another()
        monkeypatch.delenv(name)
