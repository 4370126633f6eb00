"""What a shelf says of its editions: where a reader looks, what a machine reads, and what somebody makes of it."""

import html.parser
import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from flows.installation_verification import verify
from tests.flows.forks import Forks
from tests.flows.house import DONE, ERROR, UNCHECKED, WAITING, House
from tests.golden import golden

TITLE = "<script>alert(1)</script> \"People\" & 'incomes' </title>"


def release(house: House) -> str:
    house.release_approved()
    return house.id


def pointer(house: House, name: str = "people-puf") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((house.target / f"{name}.current.json").read_bytes())
    return found


def listed(house: House) -> dict[str, str]:
    """Release -> its state in the catalogue."""
    graph = json.loads((house.target / "catalogue.jsonld").read_bytes())["dcat:dataset"]
    return {
        each["dcterms:identifier"]: each["adms:status"]["@id"].rpartition("/")[2]
        for each in graph
        if each["@type"] == "dcat:Dataset"
    }


class Page(html.parser.HTMLParser):
    """The elements of a page and its words."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.links: list[str] = []
        self.words = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.links += [str(value) for name, value in attributes if name in ("href", "src")]
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words += data


def page(house: House) -> Page:
    return Page((house.target / "catalogue.html").read_text("utf-8"))


def whole(house: House) -> None:
    told = house.sluice("ledger", "verify")
    assert told.code == DONE, told.words


def test_the_shelf_says_what_is_current_through_the_life_of_editions(house: House) -> None:
    house.definition |= {"title": TITLE, "publisher": "Office of Statistics"}
    house.write()
    first = release(house)
    by = json.loads((house.target / "catalogue.jsonld").read_bytes())["dcterms:publisher"]
    assert by["foaf:name"] == "Office of Statistics"
    assert (pointer(house)["current"], os.readlink(house.target / "people-puf.current")) == (first, first)
    assert listed(house) == {first: "Completed"}
    whole(house)

    house.new_edition()
    second = release(house)
    assert (pointer(house)["current"], os.readlink(house.target / "people-puf.current")) == (second, second)
    assert listed(house) == {first: "Deprecated", second: "Completed"}
    notice = json.loads((house.target / first / "superseded.json").read_bytes())
    assert (notice["release"], notice["state"], notice["by"]) == (first, "superseded", second)
    assert (house.target / first / notice["current"]).resolve() == (house.target / "people-puf.current.json").resolve()
    keys = house.root / "keys"
    keys.write_text(house.sluice("people", "--keys").out)
    told = house.sluice("verify", str(house.target / first), "--keys", str(keys), "--unsigned")
    assert told.code == DONE, told.words
    golden.where(second, told.out + told.err)
    whole(house)
    shown = page(house)
    assert TITLE in shown.words
    assert not {"script", "img", "iframe", "form"} & {*shown.elements}
    assert {f"{first}/", f"{second}/"} <= {*shown.links}

    assert house.withdraw(second, "<b>two towns</b> were mixed up").code == DONE
    assert (pointer(house)["current"], os.readlink(house.target / "people-puf.current")) == (first, first)
    assert listed(house) == {first: "Completed", second: "Withdrawn"}
    assert not (house.target / first / "superseded.json").exists()
    assert (house.target / f".withdrawn-{second}" / "withdrawn.json").exists()
    assert "<b>two towns</b> were mixed up" in page(house).words
    whole(house)

    assert house.withdraw(first, "the same mistake").code == DONE
    assert pointer(house)["current"] is None
    assert not (house.target / "people-puf.current").is_symlink()
    assert not (house.target / "catalogue.json").exists()
    golden.where(" current", page(house).words)
    whole(house)
    shutil.rmtree(house.target / f".withdrawn-{first}")  # its files are disposed of
    whole(house)
    assert house.sluice("catalogue").code == DONE


def test_everybody_can_read_it_and_a_machine_can_follow_it(published: House) -> None:
    for name in ("people-puf.current.json", "catalogue.jsonld", "catalogue.json", "catalogue.html"):
        assert (published.target / name).stat().st_mode & 0o777 == 0o644
    graph = json.loads((published.target / "catalogue.jsonld").read_bytes())["dcat:dataset"]
    [series, edition] = graph
    assert series["dcat:last"] == {"@id": edition["@id"]}
    for distribution in edition["dcat:distribution"]:
        assert (published.target / distribution["dcat:downloadURL"]["@id"]).is_file()
    [package] = json.loads((published.target / "catalogue.json").read_bytes())["resources"]
    assert (published.target / package["path"]).is_file()
    assert "Not signed" in pointer(published)["says"]


def test_a_pointer_does_not_pass_for_what_it_points_to(published: House) -> None:
    """Whoever can write on the shelf leads it to another genuine folder: the name that was asked for must fit."""
    keys = published.root / "keys"
    keys.write_text(published.sluice("people", "--keys").out)
    link = published.target / "people-puf.current"
    told = published.sluice("verify", str(link), "--keys", str(keys), "--unsigned").refused(figures=True)
    assert str(published.id) in told.words
    assert str(link.resolve()) in told.words


FILES = ["people-puf.current.json", "catalogue.jsonld", "catalogue.json", "catalogue.html"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["changed", "gone", "a link"])
def test_what_somebody_made_of_it_is_named_and_mended(published: House, name: str, how: str) -> None:
    place = published.target / name
    before = place.read_bytes()
    if how == "changed":
        place.write_bytes(before.replace(published.id.encode(), b"people-puf-000000000000"))
    elif how == "gone":
        place.unlink()
    else:
        place.symlink_to(place.rename(published.root / "aside"))
    fault = "is missing" if how == "gone" else "is not what the ledger says"
    says = f"{place} {fault}; it is written anew by: sluice catalogue"
    assert verify(published.workspace()).problems == (says,)
    assert published.sluice("catalogue").code == DONE
    assert (place.read_bytes(), place.is_symlink()) == (before, False)
    whole(published)


def test_a_link_that_leads_elsewhere_is_named_and_mended(published: House) -> None:
    link = published.target / "people-puf.current"
    link.unlink()
    link.symlink_to("/etc")
    [problem] = verify(published.workspace()).problems
    golden(problem)
    assert str(link) in problem
    assert str(published.id) in problem
    assert published.sluice("catalogue").code == DONE
    assert os.readlink(link) == published.id
    whole(published)


@pytest.mark.parametrize("how", ["changed", "gone", "made up"])
def test_a_notice_that_does_not_fit_the_ledger_is_named_and_mended(published: House, how: str) -> None:
    """Who takes a notice away, or puts one, lets readers take an old edition for the current one, or the reverse."""
    first = published.id
    notice = published.target / first / "superseded.json"
    if how == "made up":
        notice.write_bytes(b"{}")
    else:
        published.new_edition()
        release(published)
        whole(published)
        notice.write_bytes(notice.read_bytes() + b" ") if how == "changed" else notice.unlink()
    [problem] = verify(published.workspace()).problems
    assert problem.startswith(f"{notice.parent}: superseded.json ")
    assert published.sluice("catalogue").code == DONE
    assert notice.exists() == (how != "made up")
    whole(published)


def test_a_file_system_without_links_has_the_pointer_alone(published: House) -> None:
    published.new_edition()
    with patch.object(Path, "symlink_to", side_effect=PermissionError(1, "Operation not permitted")):
        second = release(published)
    assert pointer(published)["current"] == second
    assert not (published.target / "people-puf.current").is_symlink()  # the old one would lead to the old edition
    whole(published)


def test_what_a_killed_run_left_is_mended(published: House, forks: Forks) -> None:
    """Between the row of the ledger and the catalogue; and in the midst of writing a file."""
    first = published.id
    published.new_edition()
    assert published.release().code == WAITING
    second = published.id
    published.approve("amara")
    fault = {"event": "published", "anchored": False}
    forks.run(published.home, "approve", second, "--as", "jonas", kill_after_event=fault)
    assert pointer(published)["current"] == first
    told = published.sluice("ledger", "verify")
    assert told.code in (ERROR, UNCHECKED)
    golden.where("run: sluice catalogue", told.out + told.err)
    (published.target / ".catalogue.html.0123456789abcdef").write_bytes(b"<p>half")
    answer = published.sluice("catalogue", "--json").json
    [row] = answer["editions"]
    assert (row["current"], row["on_shelf"], answer["not_written"]) == (second, [first, second], {})
    assert published.events(first)[-1] == "superseded"
    whole(published)
    before = {path: path.stat().st_mtime_ns for path in published.target.iterdir()}
    assert published.sluice("catalogue").code == DONE
    assert {path: path.stat().st_mtime_ns for path in published.target.iterdir()} == before


def test_two_definitions_share_a_shelf(published: House) -> None:
    published.definition |= {"name": "people-by-age", "title": "The same people, otherwise"}
    published.definition["plan"][1]["bins"] = [40]
    published.write()
    other = release(published)
    assert pointer(published)["current"] != other
    assert pointer(published, "people-by-age")["current"] == other
    assert {*listed(published).values()} == {"Completed"}
    whole(published)


def test_a_shelf_that_is_not_there_is_named_and_fails_no_other(published: House) -> None:
    published.target.rename(published.root / "unmounted")
    told = published.sluice("catalogue").refused(figures=True)
    assert str(published.target) in told.words
    assert not published.target.exists()
