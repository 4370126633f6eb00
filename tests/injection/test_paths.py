"""Paths that documents and commands name: none leads into the vault, and none is written through."""

import gzip
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from flows.cli.main import command_line
from sluice.custody.shelf import publish
from sluice.ground.durable import make_folder
from sluice.ground.errors import DataError, DocumentError
from tasks.release.products import load_product
from tests.flows.house import DONE, ERROR, House
from tests.flows.tables_house import TablesHouse
from tests.golden import golden
from tests.tasks.workbench.test_argus import micro, records

ROWS = b"code,parent\nTotal,\n01,Total\n02,Total\nNA,Total\n04,Total\n05,Total\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TablesHouse:
    house = TablesHouse(tmp_path / "house")
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    return house


def ways_in(house: House) -> list[str]:
    """Paths that lead to a file of the vault, whose content a document would publish."""
    vault = house.workspace().vault
    kept = vault.path(vault.keep_bytes(ROWS, ".csv"), ".csv")
    (house.documents / "harmless.csv").symlink_to(kept)
    (house.documents / "folder").symlink_to(kept.parent)
    return [str(kept), f"../home/vault/objects/{kept.name}", "harmless.csv", f"folder/{kept.name}"]


def by_dimension(house: TablesHouse, path: str) -> None:
    house.definition["dimensions"][0]["hierarchy"] = path


def by_grouping(house: TablesHouse, path: str) -> None:
    house.definition["dimensions"][0]["groupings"] = [path]


def by_a_priori(house: TablesHouse, path: str) -> None:
    house.definition["protection"] = {"method": "suppression", "a_priori": path}


def by_p_table(house: TablesHouse, path: str) -> None:
    house.definition["protection"] = {"method": "cell_key", "p_table": path}


def by_contract(house: TablesHouse, path: str) -> None:
    house.variable("size")["hierarchy"] = {"file": path}


def as_contract(house: TablesHouse, path: str) -> None:
    house.definition["contract"] = path


def as_policy(house: TablesHouse, path: str) -> None:
    house.definition |= {"contract": "contract.yaml", "policy": path}


@pytest.mark.parametrize(
    "name", [by_dimension, by_grouping, by_a_priori, by_p_table, by_contract, as_contract, as_policy]
)
def test_no_document_reads_the_vault(tables: TablesHouse, name: Callable[[Any, str], None]) -> None:
    said = set()
    for path in ways_in(tables):
        name(tables, path)
        tables.write()
        with pytest.raises(DocumentError) as refused:
            load_product(tables.file, tables.workspace())
        said.add(str(refused.value).replace(f"'{path}'", "PATH"))
    golden(said)


@pytest.mark.parametrize("name", [by_dimension, by_grouping, by_a_priori, by_p_table, by_contract])
def test_no_release_reads_a_file_that_its_operator_does_not_list(
    tables: TablesHouse, name: Callable[[Any, str], None]
) -> None:
    elsewhere = tables.root / "elsewhere.csv"
    elsewhere.write_bytes(ROWS)
    (tables.documents / "link.csv").symlink_to(elsewhere)
    said = set()
    for path in (str(elsewhere), "../elsewhere.csv", "link.csv"):
        name(tables, path)
        tables.write()
        with pytest.raises(DocumentError) as refused:
            load_product(tables.file, tables.workspace())
        said.add(str(refused.value).replace(f"'{path}'", "PATH"))
    golden(sorted(said))


@pytest.mark.parametrize("name", [by_dimension, by_grouping, by_a_priori, by_p_table, by_contract])
def test_no_file_of_a_document_fills_the_memory(tables: TablesHouse, name: Callable[[Any, str], None]) -> None:
    """These are read where the vault is open, not by the process that reads sources."""
    (tables.documents / "rows.csv").write_bytes(gzip.compress(ROWS + b"06,Total\n" * 1_000_000))
    assert (tables.documents / "rows.csv").stat().st_size < 100_000
    name(tables, "rows.csv")
    tables.write()
    with golden.raises(DataError, DocumentError):
        load_product(tables.file, tables.workspace())


@pytest.mark.parametrize("name", [by_dimension, by_grouping, by_a_priori, by_p_table, by_contract])
def test_no_library_that_is_not_python_s_parses_what_a_document_names(
    tables: TablesHouse, name: Callable[[Any, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is read the vault is open; what parses records is compiled, and reads them apart."""

    def parse(*_: Any, **__: Any) -> None:
        raise AssertionError("Arrow parses it")

    rows = b"size,status\nTotal,\n" if name is by_a_priori else ROWS
    (tables.documents / "rows.csv").write_bytes(rows)
    name(tables, "rows.csv")
    tables.write()
    monkeypatch.setattr(pyarrow.csv, "open_csv", parse)
    with suppress(DocumentError, DataError):  # of codes that are not those of the records
        load_product(tables.file, tables.workspace())


@pytest.mark.parametrize("target", ["../home/vault", "../home", "..", "link"])
def test_nothing_is_published_in_the_workspace(tables: TablesHouse, target: str) -> None:
    (tables.documents / "link").symlink_to(tables.workspace().reports)
    tables.definition["target"] = target
    tables.write()
    with golden.raises(DocumentError):
        load_product(tables.file, tables.workspace())


def masked(house: House, output: Path) -> Any:
    plan = house.root / "plan.yaml"
    plan.write_text("- {method: removal, columns: [name]}\n")
    return house.sluice("mask", str(house.documents / "people.csv"), "--plan", str(plan), "-o", str(output))


def test_an_output_is_not_written_through_a_link(house: House) -> None:
    others, link = house.root / "others.csv", house.root / "masked.csv"
    others.write_text("not mine")
    link.symlink_to(others)
    assert masked(house, link).code == DONE
    assert others.read_text() == "not mine"
    assert not link.is_symlink()


def test_an_output_in_the_vault_is_refused(house: House) -> None:
    secret = house.workspace().vault.root / "secret"
    before = secret.read_bytes()
    (house.root / "masked.csv").symlink_to(secret)
    for output in (house.root / "masked.csv", house.home / "vault" / "masked.csv"):
        told = masked(house, output)
        assert told.code == ERROR
        golden(told.words)
    assert secret.read_bytes() == before
    assert not (house.home / "vault" / "masked.csv").exists()


def test_what_is_to_be_signed_is_written_over_nothing(house: House) -> None:
    """Approvers run these commands by sudo, as the account that owns the vault and the shelf."""
    secret = house.workspace().vault.root / "secret"
    before, kept, link = secret.read_bytes(), house.root / "ledger.db", house.root / "link"
    kept.write_text("not theirs")
    link.symlink_to(house.root / "elsewhere")
    for place, says in ((secret, "lies in the workspace"), (kept, "File exists"), (link, "File exists")):
        told = house.sluice("adopt", str(house.documents / "people.yaml"), "--to-sign", str(place))
        assert (told.code, says in told.words) == (ERROR, True), told.words
    assert (secret.read_bytes(), kept.read_text()) == (before, "not theirs")
    assert not (house.root / "elsewhere").exists()
    statement = house.root / "statement.json"
    assert house.sluice("adopt", str(house.documents / "people.yaml"), "--to-sign", str(statement)).code == DONE
    assert "urn:sluice:adoption:1" in statement.read_text()


# Each way to name a file that a command writes: what else the command is given. `house` stands for its documents.
WRITES = {
    "mask --output": "mask house/people.csv --plan house/plan.yaml",
    "mask --seed-file": "mask house/people.csv --plan house/plan.yaml --output house/masked.csv",
    "assess --report": "assess house/people.csv house/people.csv --contract house/contract.yaml",
    "compare --output": "compare house/people.csv --original house/people.csv --contract house/contract.yaml",
    "compare --svg": "compare house/people.csv --original house/people.csv --output house/map.html",
    "table protect --output": "table protect house/people.csv --hierarchy region --rule minimum_frequency=3",
    "table protect --seed-file": "table protect house/people.csv --hierarchy region --rule minimum_frequency=3 "
    "--method small_count_rounding=3 --output house/cells.csv",
    "table audit --repair": "table audit house/cells.csv --hierarchy region --microdata house/people.csv "
    "--rule minimum_frequency=3",
    "argus --seed-file": "argus house/batch.arb",
    "camouflage --output": "camouflage house/people.csv --column age --width 5000 --seed-file house/seed",
    "camouflage --seed-file": "camouflage house/people.csv --column age --width 5000 --output house/answers.csv",
    "hierarchy build --output": "hierarchy build widths:5,10 --minimum 0 --maximum 99",
    "hierarchy show --svg": "hierarchy show house/codes.csv",
    "hierarchy show --png": "hierarchy show house/codes.csv",
    "hierarchy show --html": "hierarchy show house/codes.csv",
    "sign --output": "sign house/statement",
    "adopt --to-sign": "adopt house/people.yaml",
    "init --output": "init house/people.csv",
    "deployments --output": "deployments house",
    "schemas folder": "schemas",
    "key new file": "key new",
    "new project": "new",
}


OTHERWISE = {
    "--to-sign",  # of any command written by one function, which `adopt` tries
    "init project", "init --keys", "new --keys", "tutorial folder",  # made where nothing is
    "tune --output",  # beside the definition that is read
    "convert --output",  # into a folder: tests/flows/test_convert.py
    "found --people",  # only where no office is: by the same function
    "people --keys", "verify --keys", "convert --keys", "tune --people", "verify --people",  # read, or no file
    "doctor --repair", "deployments folder", "verify folder", "convert folder",
}  # fmt: skip


def test_what_is_tried_is_every_way_to_name_a_file_that_is_written() -> None:
    """An option that is new here writes nowhere that it should not, or this says that nobody tried."""
    given_as = "output folder project report svg png html repair to_sign seed_file keys people"
    tried = {way.replace("table protect", "protect-table").replace("table audit", "audit-table") for way in WRITES}
    known = {" ".join(way.split()[-2:]) for way in (*WRITES, *tried)} | OTHERWISE
    commands = [("", command_line())]
    for path, command in commands:
        commands += [(name, each) for name, each in getattr(command, "commands", {}).items()]
        for given in getattr(command, "params", ()):
            name = given.opts[0]
            if given.name in given_as.split() and (path, name) != ("review", "--html"):  # which prints
                assert {f"{path} {name}", name} & known


def forbidden(house: House, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, str]]:
    """Where no command writes, and what is said of it."""
    shelf = publish(house.root / "shelf", "fair-1", {"a.csv": b"x"}).parent
    monkeypatch.setenv("PREFECT_HOME", str(house.root / "prefect"))
    (house.root / "prefect").mkdir()
    make_folder(house.home / "vault", 0o700)
    return [
        (house.home / "vault" / "x", "workspace"),
        (shelf / "fair-2", "where releases are published"),
        (shelf / "fair-1" / "x", "published release"),
        (house.root / "prefect" / "profiles", "holds settings"),
    ]


@pytest.mark.parametrize("word", ["WRITETABLE", "LOGBOOK", "VERSIONINFO"])
def test_no_batch_writes_where_only_releases_do_or_over_settings(
    house: House, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records(house.documents)
    for place, says in forbidden(house, monkeypatch):
        file = place.with_suffix(".csv")
        first = "" if word == "WRITETABLE" else f'<{word}> "{file}"\n'
        table = file if word == "WRITETABLE" else "t.csv"
        batch = f'{first}{micro(more="<SUPPRESS> MOD(1)" + chr(10))}<WRITETABLE> (1,2,,"{table}")\n'
        (house.documents / "batch.arb").write_text(batch)
        told = house.sluice("argus", str(house.documents / "batch.arb"))
        assert (told.code, says in told.words) == (ERROR, True), told.words
        assert not file.exists()
        assert not (house.documents / "t.csv").exists()


@pytest.mark.parametrize("way", WRITES)
def test_no_command_writes_where_only_releases_do_or_over_settings(
    house: House, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (house.documents / "plan.yaml").write_text("- {method: removal, columns: [name]}\n")
    (house.documents / "codes.csv").write_bytes(ROWS)
    (house.documents / "cells.csv").write_text("region,status,value\nTotal,safe,9\n1,safe,4\n2,safe,5\n")
    records(house.documents)
    (house.documents / "batch.arb").write_text(micro(more='<SUPPRESS> CTA(1)\n<WRITETABLE> (1,2,,"t.csv")\n'))
    option = way.split()[-1]
    given = [each.replace("house/", f"{house.documents}/") for each in WRITES[way].split()]
    page = option in ("--html", "--report") or way == "compare --output"
    for place, says in forbidden(house, monkeypatch):
        file = place.with_suffix(".html" if page else ".csv")
        told = house.sluice(*given, *([option] if option.startswith("--") else []), str(file))
        assert (told.code, says in told.words) == (ERROR, True), told.words
        assert not file.exists()


def test_for_another_account_files_are_neither_read_nor_written(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """By sudo an approver has the rights of the account that owns the vault: settings of Prefect among them."""
    people, place = str(house.documents / "people.yaml"), house.root / "profiles.toml"
    monkeypatch.setenv("SUDO_UID", str(os.geteuid() + 1))
    for option in ("--to-sign", "--envelope", "--key"):
        told = house.sluice("adopt", people, option, str(place))
        golden.words(told.words.replace(str(place), "FILE"))
        assert told.code == ERROR
        assert not place.exists()
    told = house.sluice("adopt", people, "--to-sign", "-")
    assert told.code == DONE


def test_a_draft_is_not_written_through_a_link_that_leads_nowhere(house: House) -> None:
    draft, elsewhere = house.root / "contract.yaml", house.root / "elsewhere.yaml"
    draft.symlink_to(elsewhere)
    told = house.sluice("init", str(house.documents / "people.csv"), "-o", str(draft))
    assert told.code == ERROR
    golden(told.words)
    assert not elsewhere.exists()


@pytest.mark.parametrize("field", ["contract", "policy", "target", "source"])
def test_a_path_cannot_write_a_line_of_its_own(house: House, field: str) -> None:
    path = "x.yaml\npeople-puf is published.\n\x1b[2K"
    house.definition[field] = {"type": "csv", "path": path} if field == "source" else path
    house.write()
    told = house.sluice("check", str(house.file))
    assert told.code == ERROR
    assert "people-puf is published." not in told.err.splitlines()
    house.definition[field] = {"type": "csv", "path": path[:-4]} if field == "source" else path[:-4]
    house.write()
    told = house.sluice("check", str(house.file))
    assert told.code == ERROR
    golden(told.err)
    assert "people-puf is published." not in told.err.splitlines()
