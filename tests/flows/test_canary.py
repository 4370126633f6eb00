"""Planted values and the seed must be nowhere outside the vault, after a run that publishes and after runs that fail in
every step: not in Prefect, the logs, the streams, the reports, the Data Docs, the ledger or the published folder."""

import base64
import json
import re
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from prefect import flow

from tests.flows.forks import PLACES, Run
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House
from tests.flows.prefect_server import PrefectServer
from tests.notices.servers import web_server

NAME = "Zebulon Quixwick"  # in an identifier
TOWN = "Llanfairpwll"  # in a sensitive category that the contract does not list; the plan removes the variable
JOB = "Falconer-Royal"  # in a category that the contract does not list, of a variable that is published; suppressed
INCOME = 98765432.125  # top-coded; so long that no microsecond of a timestamp has its digits by chance
EXCEPTION = "Ermintrude-4711"  # in the text of an exception
CONTROL = "Ozymandias-0815"  # where it must be found

PUBLICATION = ("approve", "publish", "publish_inspection", "publish_profile")
MEASURES = ("validate", "validate_source", "check_rule", "evaluate_standard")  # one that crashes is a finding, UNKNOWN
UNRECORDED = ("open_documents", "approve")  # before a document was read; and of the command, which said so to its user
# Every place, and a few where something worse than an exception happens, as libraries in other languages know it.
BROKEN = [(place, False) for place in PLACES] + [(place, True) for place in ("ingest", "validate", "mask", "publish")]

Needles = Mapping[str, list[bytes]]


def spellings(text: str) -> list[bytes]:
    """The text as files may hold it: in UTF-8 and UTF-16, and in base64 at each of its three alignments."""
    raw = text.encode()
    # Only groups of three bytes that are all the text's: and all of them, as one alone occurs by chance.
    encoded = [base64.b64encode(b"\0" * shift + raw)[shift and 4 : (shift + len(raw)) // 3 * 4] for shift in range(3)]
    return [raw, text.encode("utf-16-le"), *encoded]


def canaries() -> dict[str, list[bytes]]:
    number = [*spellings("98765432.125"), b"98765432", b"98,765,432", b"9.8765432", struct.pack("<d", INCOME)]
    texts = {"name": NAME, "town": TOWN, "job": JOB}
    return {what: spellings(text) for what, text in texts.items()} | {"income": number}


def seed_spellings(home: Path) -> list[bytes]:
    """The root seeds in the vault: bytes, hexadecimal, base64, and the number that NumPy's SeedSequence shows."""
    found = []
    for file in (home / "vault" / "seeds").iterdir():
        raw = file.read_bytes()
        number = str(int.from_bytes(raw, "big")).encode()
        found += [raw, raw.hex().encode(), raw.hex().upper().encode(), number, base64.b64encode(raw)[:-4]]
    return found


def texts_of(path: Path) -> Iterator[bytes]:
    """The file's bytes; also the rows of a database and of a Parquet file, which pages and compression may cut."""
    content = path.read_bytes()
    yield content
    if content.startswith(b"SQLite format 3"):
        with sqlite3.connect(path) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in database.execute(f'SELECT * FROM "{table}"'):
                    yield repr(row).encode()
    elif content.startswith(b"PAR1"):
        yield pq.read_table(path).to_pandas().to_csv().encode()


def found_in(places: Mapping[str, Path | str], needles: Needles) -> list[str]:
    """'what in where' for each needle that is in a file of a place, in the file's name, or in a text."""
    found = set()
    for place, where in places.items():
        if isinstance(where, str):
            contents = [(place, where.encode())]
        else:
            inside = [path for path in where.rglob("*") if path.is_file() and "vault" not in path.parts]
            files = [where] if where.is_file() else inside
            contents = [
                (f"{place}: {path.name}", text) for path in files for text in (path.name.encode(), *texts_of(path))
            ]
        found |= {
            f"{what} in {told}"
            for told, content in contents
            for what, spelled in needles.items()
            if any(spelling in content for spelling in spelled)
        }
    return sorted(found)


def plant(house: House) -> None:
    """Canaries in the data, and a plan that must keep them in."""
    house.data["job"] = [("baker", "clerk")[row % 2] for row in range(len(house.data))]
    house.contract["variables"].append({"name": "job", "kind": "nominal", "role": "quasi_identifier"})
    house.definition["plan"].insert(
        2, {"method": "local_suppression", "columns": ["age", "sex", "region", "job"], "k": 5}
    )
    house.data.loc[7, ["name", "town", "job", "income"]] = [NAME, TOWN, JOB, INCOME]
    house.write()
    house.adopt()


def places(house: House, server: PrefectServer, output: str) -> dict[str, Path | str]:
    """Wherever something could have leaked to: all but the vault and the source."""
    return {
        "workspace": house.home,
        "shelf": house.target,
        "Prefect": server.home,
        "server log": server.log,
        "output": output,
    }


@pytest.fixture
def planted(house: House) -> House:
    plant(house)
    return house


def test_a_published_release_leaves_nothing_outside_the_vault(
    planted: House, forks_on_prefect: Callable[..., Run], prefect_server: PrefectServer
) -> None:
    with web_server() as hook:
        notices = {"SLUICE_WEBHOOK_URL": hook.url, "SLUICE_WEBHOOK_SECRET": "a secret of two machines"}
        notices["SLUICE_OPENLINEAGE_URL"] = hook.url
        told = partial(forks_on_prefect, planted.home, environment=notices)
        runs = [told("release", str(planted.file), reads_apart=True)]
        assert runs[0].code == WAITING, runs[0].output
        needles = canaries() | {"seed": seed_spellings(planted.home)}
        runs += [told("board"), told("approve", planted.id, "--as", "amara"), told("board", "--json"), told("remind")]
        runs.append(told("approve", planted.id, "--as", "jonas"))
        assert runs[-1].code == DONE, runs[-1].output
        runs += [told("review", planted.id), told("status")]
        for person in ("amara", "jonas"):
            runs.append(told("withdraw", planted.id, "--reason", "it is a test", "--as", person))
        assert runs[-1].code == DONE, runs[-1].output
    output = "".join(run.output for run in runs)
    posted = "".join(f"{headers} {body.decode()}" for headers, body in hook.taken)
    assert found_in(places(planted, prefect_server, output) | {"notices": posted}, needles) == []
    shown = {
        "artifact": [b"rules let it pass"],
        "tag": [b"state:withdrawn"],
        "message": [b"0 of 2, needs methodologist"],
    }
    assert {line.split(" in ")[0] for line in found_in({"Prefect": prefect_server.home}, shown)} == shown.keys()
    sent = {headers.get("Sluice-Notice", "").partition("-")[2] for headers, _ in hook.taken}
    lineage = {json.loads(body)["eventType"] for headers, body in hook.taken if "Sluice-Notice" not in headers}
    assert lineage == {"START", "RUNNING", "COMPLETE", "OTHER"}
    assert {"pending_review", "approved", "published", "withdrawal", "withdrawn"} <= sent
    events = [json.loads(line) for line in output.splitlines() if line.startswith('{"time"')]
    assert {event["event"] for event in events} == {"step begins", "step ends", "recorded"}  # the log was there
    assert "PASS" in {event.get("verdict") for event in events}
    looked_at = {path.name for path in planted.home.rglob("*") if path.is_file()}
    assert {"ledger.db", "index.html", f"{planted.id}.html"} <= looked_at  # the report and the Data Docs were there
    assert any(planted.target.rglob("manifest.json"))


def test_a_blocked_check_says_what_to_change_and_nothing_of_few_people(planted: House) -> None:
    """The attacker reads over the shoulder of whoever checks: the rare job is what breaks the rules."""
    planted.definition["plan"][1]["bins"] = list(range(20, 80, 2))
    del planted.definition["plan"][2]
    planted.write()
    told = [planted.sluice("check", str(planted.file), "--explain", "k_anonymity")]
    assert told[0].code == BLOCKED
    assert re.search(r"^ +age: ", told[0].out, re.MULTILINE), "which column has the most part in it"
    release = told[0].out.split()[0]
    told.append(planted.sluice("check", str(planted.file), "--json"))
    rules = {finding["rule"] for finding in planted.sluice("review", release, "--json").json["findings"]}
    told += [planted.sluice("explain", rule, release) for rule in sorted(rules)]
    told.append(planted.sluice("review", release))
    output = "".join(f"{each.out}{each.err}" for each in told)
    assert found_in({"output": output}, canaries()) == []


def test_the_search_finds_what_is_there(
    planted: House, forks_on_prefect: Callable[..., Run], on_prefect: PrefectServer
) -> None:
    """Negative control: the same needles are found in the vault, and in Prefect after a flow that is careless."""
    forks_on_prefect(planted.home, "release", str(planted.file))
    staged = list((planted.home / "vault" / "objects").glob("*.parquet"))
    needles = canaries() | {"seed": seed_spellings(planted.home)}
    found = {line.split(" in ")[0] for path in staged for line in found_in({"vault": path}, needles)}
    assert found == {"town", "job", "income"}  # an identifier is not even staged
    (seed,) = (planted.home / "vault" / "seeds").iterdir()
    assert found_in({"vault": seed}, needles) == [f"seed in vault: {seed.name}"]

    @flow(name="careless", log_prints=True)
    def careless(name: str) -> None:
        print(f"a printed {CONTROL}")
        raise ValueError(f"an exception's {CONTROL}")

    with pytest.raises(ValueError, match=CONTROL):
        careless(f"a parameter's {CONTROL}")
    ways = {way: spellings(f"{way} {CONTROL}") for way in ("an exception's", "a parameter's")}
    lines = found_in({"Prefect": on_prefect.home}, ways)
    assert {line.split(" in ")[0] for line in lines} == ways.keys()


@dataclass(frozen=True)
class Failure:
    place: str
    run: Run
    shelf: list[str]
    events: list[str]
    leaks: list[str]


@pytest.fixture(scope="module")
def failures(
    tmp_path_factory: pytest.TempPathFactory, forks_on_prefect: Callable[..., Run], prefect_server: PrefectServer
) -> dict[tuple[str, bool], Failure]:
    """A run for each place that can break, from the state before it; each exception quotes a text of its own."""
    house = House(tmp_path_factory.mktemp("canary") / "house")
    plant(house)
    fresh = house.save("fresh")
    assert forks_on_prefect(house.home, "release", str(house.file)).code == WAITING
    assert forks_on_prefect(house.home, "approve", house.id, "--as", "amara").code == WAITING
    pending = house.save("pending")
    failed = {}
    for place, panic in BROKEN:
        late = place in PUBLICATION
        house.go_back(pending if late else fresh)
        arguments = ("approve", house.id, "--as", "jonas") if late else ("release", str(house.file))
        fault = {"place": place, "text": f"{EXCEPTION}-{place}.", "panic": panic}
        run = forks_on_prefect(house.home, *arguments, raise_in=fault)
        here = {"workspace": house.home, "shelf": house.target, "output": run.output}
        needles = canaries() | {"seed": seed_spellings(house.home)}
        failed[place, panic] = Failure(place, run, house.shelf, house.events(), found_in(here, needles))
    everywhere = {"Prefect": prefect_server.home, "server log": prefect_server.log}
    leaks = found_in(everywhere, {place: spellings(f"{EXCEPTION}-{place}.") for place in PLACES} | canaries())
    for failure in failed.values():
        failure.leaks.extend(leak for leak in leaks if leak.split(" in ")[0] not in PLACES.keys() - {failure.place})
    return failed


@pytest.mark.parametrize(("place", "panic"), BROKEN, ids=lambda value: str(value))
def test_a_run_that_fails_leaves_nothing(failures: dict[tuple[str, bool], Failure], place: str, panic: bool) -> None:
    failure = failures[place, panic]
    assert failure.leaks == []
    assert failure.run.code == (BLOCKED if place in MEASURES and not panic else ERROR), failure.run.output
    assert failure.shelf == []
    if failure.run.code == ERROR and place not in UNRECORDED:
        assert failure.events[-1] == "failed"
