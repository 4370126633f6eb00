"""A public database that is gone for good ends what was due in it, and only then; should it come back, it is found."""

from pathlib import Path

import pytest

from sluice.ground.errors import SluiceError
from tasks.release.editions.schema_views import declare_lost
from tests.flows.house import DONE, ERROR, House
from tests.golden import golden
from tests.tasks.release.editions.test_schema_views import Public, database


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Public:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SLUICE_PATIENCE", "0")
    return Public(tmp_path, database("sqlite", tmp_path))


def test_what_is_due_in_a_database_that_is_gone_ends_by_a_word_that_is_recorded(public: Public) -> None:
    one, other = public.published(1), public.published(2)
    file = public.root / "public.db"
    kept = file.rename(file.with_suffix(".kept"))
    assert public.withdraw(other) != {}, "due, as the database cannot be asked"
    assert public.settle() != {}
    assert public.problems()[1] != []

    assert declare_lost(public.workspace, "open", "main", "the server was shut down") == [one.id, other.id]
    assert public.settle() == {}
    assert public.problems() == ([], [])
    for release in (one, other):
        entry = next(each for each in reversed(release.entries()) if each.event == "unloaded")
        assert entry.body == {"connection": "open", "into": "main", "database_gone": "the server was shut down"}
    golden.refused(SluiceError, declare_lost, public.workspace, "open", "main", "once more")

    kept.rename(file)  # it was not gone
    problems, _ = public.problems()
    assert any("people_000000000002" in problem for problem in problems), "the withdrawn edition is public again"


def test_a_later_edition_is_published_into_a_new_database_of_that_name(public: Public) -> None:
    public.published(1)
    (public.root / "public.db").unlink()
    declare_lost(public.workspace, "open", "main", "the disk broke")
    public.url = database("sqlite", public.root)
    public.published(2)
    assert public.shown() == 2
    assert public.problems() == ([], [])


def test_a_database_that_answers_is_not_gone(public: Public) -> None:
    """Else a withdrawn edition would stay public there, and nobody would be told."""
    public.published(1)
    golden.refused(SluiceError, declare_lost, public.workspace, "open", "main", "it is a nuisance")
    assert public.events("unloaded") == 0


@pytest.mark.parametrize(("connection", "reason"), [("opne", "gone"), ("open", " "), ("open", "a\u202eb")])
def test_what_is_not_said_well_is_refused(public: Public, connection: str, reason: str) -> None:
    public.published(1)
    (public.root / "public.db").unlink()
    golden.refused(SluiceError, declare_lost, public.workspace, connection, "main", reason)
    assert public.events("unloaded") == 0


def test_the_command(public: Public, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tasks.release.editions.shelf_catalogue.write_catalogues", lambda workspace: {}
    )  # of no interest here
    public.published(1)
    (public.root / "public.db").unlink()
    house = House.__new__(House)
    house.root = public.root  # whose workspace is at hand
    assert house.sluice("catalogue").code == ERROR
    golden.words(house.sluice("catalogue", "--lost", "open/main").words)
    told = house.sluice("catalogue", "--lost", "open/main", "--reason", "the server was shut down")
    assert told.code == DONE, told.words
    golden(told.words)
    assert "000000000001" in told.words
    assert house.sluice("catalogue").code == DONE
