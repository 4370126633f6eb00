"""Views of public databases show the current edition, whatever is approved, withdrawn or interrupted in which order."""

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from sluice.custody.edition_order import current, line_of
from sluice.custody.states import LOADED, LOADING, SHOWN, UNLOADED, State
from sluice.custody.workspace import Workspace
from sluice.ground.databases import database_url
from sluice.ground.errors import DataError
from sluice.publication import schema_change
from tasks.release.editions import schema_edition, schema_views
from tasks.release.editions.current_edition import settle_editions
from tasks.release.editions.schema_edition import load_into_schema, rehearse_in_schema
from tasks.release.editions.schema_views import PublicPlace, view_problems, wanted_views, write_views
from tasks.release.release_definition import PublishTo
from tests.golden import golden

WITHOUT = (State.VALIDATED, State.MASKED, State.EVALUATED, State.PENDING_REVIEW, State.APPROVED)
APART = "tasks.release.editions.schema_views.carry_out_apart"


@dataclass
class Public:
    """A workspace, a public database, and releases of which the ledger alone knows."""

    root: Path
    url: str
    into: str = "main"
    name: str = "people"
    shelf: str = "shelf"
    workspace: Any = field(init=False)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.connections({"open": {"url": self.url, "schemas": [self.into]}})
        self.workspace = Workspace.open(self.home)

    @property
    def home(self) -> Path:
        return self.root / "home"

    def connections(self, publication: dict[str, Any], **others: Any) -> None:
        file = self.home / "connections.yaml"
        file.touch(mode=0o600)
        file.write_text(json.dumps({"publication": publication, **others}))

    def release(self, number: int, connection: str = "open") -> Any:
        """What is asked of a release by whoever loads it."""
        ledger, release = self.workspace.ledger, f"{self.name}-{number:012d}"
        definition = SimpleNamespace(
            name=self.name, publish_to=PublishTo(connection=connection, into=self.into) if connection else None
        )
        return SimpleNamespace(
            id=release,
            shelf=self.root / self.shelf,
            product=SimpleNamespace(workspace=self.workspace, definition=definition),
            entries=lambda: ledger.entries(release),
            record=lambda event, **body: ledger.append(release, event, "sluice", body),
        )

    def approved(self, number: int, period: str = "", connection: str = "open") -> Any:
        """Of the period; its data are its number."""
        made = self.release(number, connection)
        body: dict[str, Any] = {
            "definition": self.name,
            "target": str(self.root / self.shelf),
            "data": {"sha256": made.id},
        }
        if period:
            body["period"] = {"text": period, "last": period}
        for event in (State.RECEIVED, *WITHOUT):
            made.record(event, **(body if event == State.RECEIVED else {}))
        return made

    def files(self, made: Any) -> dict[str, Path]:
        folder = self.root / self.shelf / made.id
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.parquet"
        if not path.exists():
            pq.write_table(pa.table({"number": [int(made.id.rpartition("-")[2])]}), path)
        return {path.name: path}

    def publish(self, made: Any) -> None:
        files = self.files(made)
        folder = str(self.root / self.shelf / made.id)
        if made.entries()[-1].event == State.APPROVED:
            rehearse_in_schema(made, files)
            made.record(State.PUBLISHING, folder=folder)
        load_into_schema(made, files)
        hashed = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
        made.record(State.PUBLISHED, folder=folder, files=hashed, definition=self.name)

    def settle(self) -> dict[str, str]:
        settle_editions(self.workspace)
        return {place.name: why for place, why in write_views(self.workspace).items()}

    def published(self, number: int, period: str = "", connection: str = "open") -> Any:
        made = self.approved(number, period, connection)
        self.publish(made)
        assert self.settle() == {}
        return made

    def withdraw(self, made: Any) -> dict[str, str]:
        made.record(State.WITHDRAWN, reason="wrong codes")
        return self.settle()

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        engine = sa.create_engine(database_url(self.url))
        try:
            with engine.begin() as connection:
                found = connection.exec_driver_sql(statement)
                return [tuple(row) for row in found] if found.returns_rows else []
        finally:
            engine.dispose()

    def shown(self, view: str = "") -> int | None:
        """The edition that the view shows; None: there is no view."""
        where = self.into if self.into != "main" else ""
        try:
            [(number,)] = self.run(f"SELECT * FROM {where}{'.' if where else ''}{view or self.name}")
        except sa.exc.DBAPIError:
            return None
        return int(number)

    def tables(self) -> set[str]:
        if self.url.startswith("sqlite"):
            asked = "SELECT name FROM sqlite_master WHERE type = 'table'"
        else:
            kind = "table_type = 'BASE TABLE'"
            asked = f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{self.into}' AND {kind}"
        return {name for (name,) in self.run(asked)}

    def problems(self) -> tuple[list[str], list[str]]:
        return view_problems(self.workspace)

    @property
    def places(self) -> list[PublicPlace]:
        return [wanted.place for wanted in wanted_views(self.workspace.ledger.histories())]

    def events(self, event: str) -> int:
        return [entry.event for entry in self.workspace.ledger.entries()].count(event)


def database(kind: str, folder: Path) -> str:
    file = folder / "public.db"
    with closing(duckdb.connect(file) if kind == "duckdb" else sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE x (a INTEGER)")
        made.execute("DROP TABLE x")
    file.chmod(0o644)
    return f"{kind}:///{file}"


@pytest.fixture(
    params=["sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.servers),
            pytest.param("mariadb", marks=pytest.mark.servers)]
)  # fmt: skip
def public(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Public:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    into = "main"
    if request.param in ("postgresql", "mariadb"):
        url = str(request.getfixturevalue(request.param))
        into = "public" if request.param == "postgresql" else str(sa.make_url(url).database)
    else:
        url = database(request.param, tmp_path)
    return Public(tmp_path, url, into)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Public:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "home"))
    return Public(tmp_path, database("sqlite", tmp_path))


@pytest.fixture
def changed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers, too, are changed by this process: another for each change takes half a second."""
    for room in (schema_edition, schema_views):
        monkeypatch.setattr(room, "carry_out_apart", schema_change.carry_out)
    monkeypatch.setattr(schema_views, "differences_apart", schema_change.differences)


@pytest.mark.usefixtures("changed_here")
def test_a_view_follows_the_order_of_editions_and_not_that_of_approvals(public: Public) -> None:
    april = public.published(4, "2025-04")
    assert public.shown() == 4
    march = public.published(3, "2025-03")  # late: its table is there, the view stays
    assert public.shown() == 4
    assert len(public.tables()) == 2
    may = public.published(5, "2025-05")
    assert public.shown() == 5
    assert public.problems() == ([], [])
    assert public.withdraw(may) == {}
    assert public.shown() == 4  # reinstated, though March was published after it
    assert public.withdraw(april) == {}
    assert public.shown() == 3
    assert public.withdraw(march) == {}
    assert public.shown() is None
    assert public.tables() == set()
    assert public.problems() == ([], [])
    assert (public.events(LOADING), public.events(LOADED), public.events(UNLOADED)) == (3, 3, 3)


def test_a_view_shows_the_current_edition_or_nothing(small: Public) -> None:
    """One that is published to files alone takes the view with it: in the name of the current one stands no other."""
    first = small.published(1)
    second = small.published(2, connection="")
    assert small.shown() is None
    assert small.withdraw(second) == {}
    assert small.shown() == 1
    assert first.entries()[-1].event == SHOWN


def test_a_run_that_changes_nothing_asks_no_database(small: Public) -> None:
    small.published(1)
    with patch(APART, side_effect=AssertionError):
        assert small.settle() == {}
    assert small.events(SHOWN) == 1


def test_what_broke_off_before_the_view_was_swapped_is_finished_by_any_run(public: Public) -> None:
    public.published(1)
    second = public.approved(2)
    public.publish(second)  # and its run is killed here
    assert public.shown() == 1
    problems, unchecked = public.problems()
    assert problems == []
    golden(unchecked[0])
    assert public.settle() == {}
    assert public.shown() == 2
    second.record(State.WITHDRAWN, reason="wrong codes")
    settle_editions(public.workspace)
    append = type(public.workspace.ledger).append

    def killed(ledger: Any, release: str, event: str, *rest: Any) -> Any:
        if event in (SHOWN, UNLOADED):
            raise KeyboardInterrupt
        return append(ledger, release, event, *rest)

    with patch("sluice.custody.ledger.Ledger.append", killed), pytest.raises(KeyboardInterrupt):
        write_views(public.workspace)  # swapped and dropped, and not recorded
    assert public.settle() == {}
    assert public.shown() == 1
    assert public.problems() == ([], [])


def test_a_database_that_is_away_keeps_no_withdrawal_back(small: Public) -> None:
    first, second = small.published(1), small.published(2)
    with patch(APART, side_effect=DataError("it is away")):
        assert small.withdraw(second) == {"people": "it is away"}
    assert [each.entries()[-1].event for each in (first, second)] == ["reinstated", "withdrawn"]
    problems, unchecked = small.problems()
    assert (len(problems), len(unchecked)) == (0, 1)
    assert small.settle() == {}
    assert (small.shown(), len(small.tables())) == (1, 1)


def test_what_no_database_takes_is_not_begun(small: Public) -> None:
    """Its files would lie on the shelf for good, of a release that can be neither published nor withdrawn."""
    small.run("CREATE TABLE people (theirs INTEGER)")
    made = small.approved(1)
    golden.refused(DataError, small.publish, made)
    assert made.entries()[-1].event == State.APPROVED
    assert small.tables() == {"people"}


@pytest.mark.parametrize("change", ["shelf", "connection"])
def test_two_definitions_of_one_name_do_not_share_a_view(small: Public, change: str) -> None:
    """Whoever submits one for another shelf, or by another name of the database, shows nothing in the name of it."""
    first = small.published(1)
    if change == "shelf":
        other = Public(small.root, small.url, shelf="elsewhere")
        made = other.approved(7)
    else:
        other = Public(small.root, small.url, name="people", shelf="elsewhere")
        url = {"url": small.url, "schemas": ["main"]}
        other.connections({"open": url, "too": url})
        made = other.approved(7, connection="too")
    golden.refused(DataError, other.publish, made)
    assert small.shown() == 1
    assert first.id in {entry.release for entry in small.workspace.ledger.entries() if entry.event == SHOWN}


def test_two_that_begin_at_once_take_nothing_from_each_other(small: Public) -> None:
    """Both find the name free, as neither has made its view yet; the second one then finds the first one's."""
    other = Public(small.root, small.url, shelf="elsewhere")
    one, two = small.approved(1), other.approved(2)
    small.publish(one)
    other.publish(two)
    failed = write_views(small.workspace)
    assert [place.shelf.name for place in failed] == ["elsewhere"]
    assert small.shown() == 1


@pytest.mark.parametrize("mischief", ["dropped", "replaced", "row", "table"])
def test_what_somebody_does_to_a_view_is_noticed_and_mended_where_nothing_of_theirs_is_lost(
    small: Public, mischief: str
) -> None:
    small.published(1)
    small.published(2)
    match mischief:
        case "dropped":
            small.run("DROP VIEW people")
        case "replaced":
            small.run("DROP VIEW people")
            small.run("CREATE VIEW people AS SELECT 9 AS number")
        case "row":
            small.run("UPDATE people_000000000001 SET number = 9")
        case "table":
            small.run("DROP TABLE people_000000000001")
    problems, unchecked = small.problems()
    assert (len(problems), unchecked) == (1, [])
    failed = write_views(small.workspace, everything=True)
    if mischief in ("dropped", "table"):
        assert failed == {}
        assert small.problems() == ([], [])
    else:
        assert len(failed) == 1
        assert small.problems() == (problems, [])


def test_a_file_that_was_altered_is_no_measure_of_a_table(small: Public) -> None:
    made = small.published(1)
    [path] = small.files(made).values()
    pq.write_table(pa.table({"number": [9]}), path)
    small.run("DROP TABLE people_000000000001")
    problems, unchecked = small.problems()
    golden(unchecked[0])
    assert write_views(small.workspace, everything=True) != {}
    assert small.tables() == set()
    assert problems


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans(), st.booleans()), max_size=8))
def test_whatever_happens_the_view_shows_what_the_ledger_calls_current(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, bool, bool]]
) -> None:
    root = tmp_path_factory.mktemp("public")
    with patch.dict("os.environ", {"SLUICE_HOME": str(root / "home")}):
        public = Public(root, database("sqlite", root))
        made: dict[int, Any] = {}
        for period, withdraws, fails in steps:
            if withdraws and period in made:
                made.pop(period).record(State.WITHDRAWN, reason="x")
            elif not withdraws and period not in made:
                number = len(public.workspace.ledger.histories()) + 1
                made[period] = public.approved(number, f"2025-0{period}")
                public.publish(made[period])
            with patch(APART, side_effect=DataError("away")) if fails else patch("os.sep", "/"):
                public.settle()
        assert public.settle() == {}
        histories = public.workspace.ledger.histories()
        latest = current(line_of(histories, next(iter(histories)))[1]) if histories else None
        assert public.shown() == (int(latest.release.rpartition("-")[2]) if latest else None)
        assert len(public.tables()) == len(made)
        assert public.problems() == ([], [])
