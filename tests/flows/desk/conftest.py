"""A desk in a house whose first release waits for its two approvals. On its roster is also noor, whom nobody asks."""

import os
from collections.abc import Callable

import pytest

from flows.desk import accounts
from flows.desk.desk import Desk
from tests.flows.desk.visitor import Visitor, desk_of, visitor
from tests.flows.house import House

PEOPLE = ("amara", "jonas", "mina", "emil", "noor")


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords of tests need not be hard to guess."""
    monkeypatch.setattr(accounts, "_N", 1 << 4)
    monkeypatch.setattr(accounts, "_P", 1)


def opened(house: House, monkeypatch: pytest.MonkeyPatch) -> Desk:
    house.people["people"]["noor"] = {"roles": ["librarian"], "account": "n.lee"}
    house.write()
    house.adopt()
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    os.umask(os.umask(0o077))
    return desk_of(house, *PEOPLE)


@pytest.fixture
def desk(pending: House, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return opened(pending, monkeypatch)


@pytest.fixture
def desk_after(published: House, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The desk of a house whose first release is published."""
    return opened(published, monkeypatch)


@pytest.fixture
def at_desk(desk: Desk) -> Callable[[str], Visitor]:
    """Whoever is named, signed in."""
    return lambda name: visitor(desk, name)
