"""Commands of an office that has run for years: seconds of the processor and memory at 1, 100, 1,000, 10,000 releases.

One release goes the whole way, by two people, to a shelf. Its rows are then recorded again under other names, each with
the time of its day, and chained by the key of the vault: the ledger verifies, and each name is a definition with daily
editions of which the last is current. Documents, reports and data in the vault are those of the first release.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from sluice.custody.ledger_chain import Anchor, Chain
from sluice.custody.ledger_database import ROWS, LedgerDatabase
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import WITHOUT_STATES, State
from tests.flows.house import House
from tests.flows.installation import BIN
from tests.flows.stages import stages

SIZES = (1, 100, 1_000, 10_000)
_SERIES = 40  # definitions
_COMMANDS = (
    ("status", "--json"), ("board", "--json"), ("vault", "ls", "--json"), ("vault", "prune", "--dry-run", "--json"),
    ("ledger", "verify", "--json"), ("catalogue", "--json"), ("remind", "--json"), ("doctor", "--json"),
)  # fmt: skip


def main(quick: bool = False) -> None:
    """Print a table of the commands at each size; with `quick` only of the first two."""
    sizes = SIZES[:2] if quick else SIZES
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'seconds of the processor':<28}" + "".join(f"{size:>10,}" for size in sizes))
        houses = [standing(Path(folder) / str(size), size) for size in sizes]
        for command in _COMMANDS:
            taken = [_seconds(house, *command) for house in houses]
            print(f"{' '.join(command):<28}" + "".join(f"{seconds:>10.1f}" for seconds in taken), flush=True)


def standing(folder: Path, releases: int) -> House:
    """A house at `folder` with so many published releases, of which only the first has its files on the shelf.

    Cost: some seconds, and 15 kB on the disk for each release.
    """
    first = stages(House).at("published")
    shutil.copytree(first.root, folder, symlinks=True)
    house = House(folder)
    workspace = house.workspace()
    old = workspace.ledger.entries()
    key, anchor = workspace.vault.ledger_key(), workspace.vault.anchor
    rows = list(_chained(Chain(key), _retold(old, str(first.root), folder, releases)))
    database = LedgerDatabase(f"sqlite:///{house.home}/ledger.db")
    (house.home / "ledger.db").unlink()
    (house.home / "ledger.db").touch(0o600)
    anchor.unlink()
    if releases > 1:  # its own data and files, which now bear other names
        named = "".join(row["body"] for row in rows if row["event"] != State.EVALUATED)
        for file in (folder / "home/vault/objects").iterdir():
            if file.stat().st_size and file.stem not in named:
                file.unlink()
    database.open()
    with database.writing() as connection:
        connection.execute(sa.insert(ROWS), rows)
    Anchor(anchor, key).move(rows[-1]["seq"], rows[-1]["hash"])
    return house


def _retold(old: list[Entry], before: str, folder: Path, releases: int) -> Iterator[dict[str, Any]]:
    """The rows without their chain: those of the office once, those of the release under as many names."""
    office = [entry for entry in old if entry.release in WITHOUT_STATES]
    [name] = {entry.release for entry in old} - set(WITHOUT_STATES)
    template = [entry for entry in old if entry.release == name]
    definition, store = template[0].body["definition"], folder / "home/vault/objects"
    for entry in office:
        yield _row(entry, entry.release, entry.body, timedelta(days=releases // _SERIES + 1))
    for number in range(releases):
        series, day = number % _SERIES, number // _SERIES
        called = f"{definition}-{series}" if releases > 1 else definition
        other = f"{called}-{sha256(str(number).encode()).hexdigest()[:12]}" if releases > 1 else name
        names = {name: other, f'"{definition}"': f'"{called}"', before: str(folder)}
        ago = timedelta(days=releases // _SERIES - day)
        for entry in template:
            body = json.loads(_renamed(json.dumps(entry.body), names))
            if entry.event in (State.RECEIVED, State.MASKED) and releases > 1:
                _own_objects(body, number, store)
            yield _row(entry, other, body, ago)
        if number + _SERIES < releases:
            following = sha256(str(number + _SERIES).encode()).hexdigest()[:12]
            yield _row(template[-1], other, {"by": f"{called}-{following}"}, ago, State.SUPERSEDED)


def _own_objects(body: dict[str, Any], number: int, store: Path) -> None:
    """Give a release data and masked files of its own names, and let something lie there."""
    for field, ending in (("data", "parquet"), ("original", "parquet"), ("csv", "csv")):
        if field in body:
            name = sha256(f"{field} {'rows' in body} {number}".encode()).hexdigest()
            (store / f"{name}.{ending}").write_bytes(b"")
            if isinstance(body[field], dict):
                body[field]["sha256"] = name
            else:
                body[field] = name


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for before, now in names.items():
        text = text.replace(before, now)
    return text


def _row(entry: Entry, release: str, body: Any, ago: timedelta, event: str = "") -> dict[str, Any]:
    def earlier(at: str) -> str:
        return (datetime.fromisoformat(at) - ago).isoformat(timespec="microseconds")

    at = earlier(entry.at)
    if "said_at" in body:
        body = {**body, "said_at": earlier(body["said_at"])}
    written = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return {"at": at, "release": release, "event": event or entry.event, "actor": entry.actor, "body": written}


def _chained(chain: Chain, told: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    previous = "0" * 64
    for seq, fields in enumerate(sorted(told, key=lambda row: row["at"]), 1):
        row = {"seq": seq, **fields, "previous": previous}
        previous = chain.hash(row)
        yield {**row, "hash": previous}


def _seconds(house: House, *command: str) -> float:
    """What one command takes in a process of its own, of its user's and the system's time."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLUICE_", "PREFECT_"))}
    before = os.times()
    subprocess.run(
        [BIN / "sluice", *command],
        env=environment | {"SLUICE_HOME": str(house.home), "SLUICE_PROJECT": str(house.documents)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
