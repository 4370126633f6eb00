"""The ledger and the source lie on servers, whose connections are lost in the middle and whose disk is full: what was
recorded stands once, what is published is recorded, and it finishes by itself or by one command."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa

from sluice import transport
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_database import LedgerDatabase
from sluice.custody.workspace import Workspace
from sluice.ground.databases import database_url
from tests.custody.ledgers import attack
from tests.cutting_proxy import COMMIT, CuttingProxy, cutting_proxy
from tests.faults.test_chain_faults import disk, used
from tests.flows.house import DONE, ERROR, WAITING, House
from tests.golden import golden

pytestmark = pytest.mark.servers

JUDGED = ["received", "validated", "masked", "evaluated", "pending_review"]
LIFE = [*JUDGED, "decision", "decision", "approved", "publishing", "published"]


class RemoteHouse(House):
    """A house whose ledger and people lie on a PostgreSQL server, each reached through a proxy that can cut."""

    ledger_url: str

    def __init__(self, root: Path, server: Any) -> None:
        self.server, self.url = server, database_url(server.get_uri(database="postgres"))
        for statement in ("CREATE ROLE clerk LOGIN", "CREATE DATABASE lost", "CREATE DATABASE house"):
            server.psql(f"{statement};")
        super().__init__(root)
        engine = sa.create_engine(self.url.set(database="house"))
        self.data.to_sql("people", engine, index=False)
        engine.dispose()
        self.definition["source"] = {"connection": "house", "table": "people"}
        self.write()
        self.ledger_url = self.address("lost", "clerk")
        LedgerDatabase(self.address("lost")).create("clerk")

    def address(self, database: str, role: str = "postgres") -> str:
        return self.url.set(database=database, username=role).render_as_string(hide_password=False)

    def workspace(self) -> Workspace:
        return Workspace.open(self.home, self.ledger_url)

    def save(self, name: str) -> Path:
        self.server.psql(f"CREATE DATABASE {name} TEMPLATE lost;")
        return super().save(name)

    def go_back(self, saved: Path) -> None:
        self.server.psql("DROP DATABASE lost WITH (FORCE);")
        self.server.psql(f"CREATE DATABASE lost TEMPLATE {saved.suffix[1:]};")
        super().go_back(saved)

    def is_published_once(self) -> None:
        [release] = self.shelf
        assert self.workspace().ledger.verify() == []
        assert [event for event in self.events(release) if event != "failed"] == LIFE


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory, postgresql_server: Any) -> Iterator[RemoteHouse]:
    folder = tmp_path_factory.mktemp("remote")
    warehouse = {"url": "${SLUICE_TEST_HOUSE}", "secrets": ["SLUICE_TEST_HOUSE"], "tables": ["people"]}
    connections = folder / "connections.yaml"
    connections.write_text(json.dumps({"connections": {"house": warehouse}}))
    connections.chmod(0o600)
    house = RemoteHouse(folder / "house", postgresql_server)
    there = {
        "SLUICE_LEDGER_URL": house.ledger_url,
        "SLUICE_TEST_HOUSE": house.address("house"),
        "SLUICE_CONNECTIONS": str(connections),
    }
    with patch.dict(os.environ, there):
        house.save("founded")
        yield house
    for made in ("DATABASE IF EXISTS lost", "DATABASE founded", "DATABASE IF EXISTS almost", "DATABASE house"):
        postgresql_server.psql(f"DROP {made} WITH (FORCE);")
    postgresql_server.psql("DROP ROLE clerk;")


@contextmanager
def cuts(house: RemoteHouse, taken_in: bool, event: str = "") -> Iterator[CuttingProxy]:
    """Each row that is recorded, or each of one event, loses its connection once, before or after the server has it."""
    append = Ledger.append
    with cutting_proxy(house.ledger_url) as proxy:
        if taken_in:
            proxy.cut_after = COMMIT
        else:
            proxy.cut_before = COMMIT

        def cut(self: Ledger, release: str, happened: str, *args: Any, **kwargs: Any) -> Any:
            proxy.cuts = int(event in ("", happened))
            return append(self, release, happened, *args, **kwargs)

        with patch.object(Ledger, "append", cut), patch.dict(os.environ, SLUICE_LEDGER_URL=proxy.url):
            yield proxy


@pytest.mark.reads_apart
@pytest.mark.parametrize("taken_in", [False, True], ids=["before the commit", "after the commit"])
def test_each_row_and_the_source_lose_their_connection_and_nobody_has_to_do_anything(
    remote: RemoteHouse, monkeypatch: pytest.MonkeyPatch, taken_in: bool
) -> None:
    remote.go_back(remote.root.with_name("house.founded"))
    monkeypatch.setattr(transport, "_FIRST_PAUSE", 0.01)
    monkeypatch.setenv("SLUICE_PATIENCE", "30")
    with cuts(remote, taken_in), cutting_proxy(remote.address("house")) as reading:
        monkeypatch.setenv("SLUICE_TEST_HOUSE", reading.url)
        reading.cut_at, reading.cuts = 30_000, 1
        told = remote.release()
        assert told.code == WAITING, told.words
        assert reading.cuts == 0, "the source was read without a fault"
        assert remote.events(remote.id) == JUDGED
        remote.approve_as_both()
    remote.is_published_once()


@pytest.fixture(scope="module")
def almost(remote: RemoteHouse) -> Path:
    """The house when its release lacks one approval."""
    remote.go_back(remote.root.with_name("house.founded"))
    assert remote.release().code == WAITING
    assert remote.approve("amara").code == WAITING
    return remote.save("almost")


@pytest.mark.parametrize("taken_in", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("event", ["decision", "approved", "publishing", "published"])
def test_a_ledger_that_is_lost_for_good_while_published_and_comes_back(
    remote: RemoteHouse, almost: Path, event: str, taken_in: bool
) -> None:
    """Nobody waits for it here; what was begun is finished by the command that the person knows, or by the doctor."""
    remote.go_back(almost)
    with cuts(remote, taken_in, event):
        told = remote.approve("jonas")
        assert told.code == ERROR
        golden.words(told.words)
    recorded = LIFE[: LIFE.index(event) + taken_in + (event == "decision")]
    assert [each for each in remote.events(remote.id) if each != "failed"] == recorded
    assert remote.workspace().ledger.verify() == []
    if event == "decision" and not taken_in:
        assert remote.approve("jonas").code == DONE
    else:
        remote.sluice("doctor", "--repair", "--after", "0")
    remote.is_published_once()
    assert remote.sluice("ledger", "verify").code == DONE


@pytest.mark.parametrize("free", [0, 16, 32], ids=lambda free: f"{free} kB left")
def test_the_disk_of_the_ledger_is_full(remote: RemoteHouse, almost: Path, free: int) -> None:
    """It runs full at another row each time; with room again, it finishes."""
    remote.go_back(almost)
    place = Path(tempfile.mkdtemp(prefix="sluice-ledger-"))
    try:
        with disk(place, "size=20m") as remount:
            os.chown(place, os.stat(remote.server.pgdata).st_uid, -1)
            remote.server.psql(f"CREATE TABLESPACE small LOCATION '{place}';")
            remote.server.psql("ALTER DATABASE lost SET TABLESPACE small;")
            attack(remote.address("lost"), "ALTER TABLE sluice_ledger SET (fillfactor = 10)")  # each row asks for room
            remote.server.psql("CHECKPOINT;")
            remount(f"size={used(place) + free}k")
            told = remote.approve("jonas")
            assert told.code == ERROR, told.words
            golden.words(told.words)
            remount("size=20m")
            assert remote.workspace().ledger.verify() == []
            if remote.events(remote.id) == LIFE[:6]:
                assert remote.approve("jonas").code == DONE
            else:
                remote.sluice("doctor", "--repair", "--after", "0")
            remote.is_published_once()
            remote.server.psql("DROP DATABASE lost WITH (FORCE);")
            remote.server.psql("DROP TABLESPACE small;")
            remote.server.psql("CREATE DATABASE lost TEMPLATE almost;")
    finally:
        place.rmdir()
