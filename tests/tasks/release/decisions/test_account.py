"""Who acts: the account that logged in, or where nobody did, that of the process."""

import os
import pwd
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
