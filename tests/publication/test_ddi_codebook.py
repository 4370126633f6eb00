"""DDI-Codebook 2.5. The order of the elements is that of its schema, which is not on PyPI and so not asked itself."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sluice.publication.ddi_codebook import NAMESPACE, ddi_codebook, ddi_of_tables
from tests.publication.small_codebook import STUDY, codebook
from tests.publication.small_tables import JOBS, tables_codebook

# Of the schema's types, the elements that are used here, in their order.
ORDER = {
    "codeBook": ["docDscr", "stdyDscr", "fileDscr", "dataDscr", "otherMat"],
    "stdyDscr": ["citation", "stdyInfo", "method", "dataAccs"],
    "citation": ["titlStmt", "rspStmt", "prodStmt", "distStmt", "verStmt"],
    "titlStmt": ["titl", "IDNo"],
    "distStmt": ["distrbtr", "contact", "distDate"],
    "stdyInfo": ["subject", "abstract", "sumDscr", "notes"],
    "sumDscr": ["collDate", "geogCover", "dataKind"],
    "method": ["dataColl", "notes"],
    "dataColl": ["sampProc", "collMode", "weight"],
    "useStmt": ["restrctn", "conditions"],
    "fileTxt": ["fileName", "dimensns", "fileType"],
    "dimensns": ["caseQnty", "varQnty"],
    "var": ["labl", "valrng", "universe", "sumStat", "txt", "catgry", "derivation", "varFormat", "notes"],
    "catgry": ["catValu", "labl", "catStat"],
}


def read(folder: Path, **changed: object) -> ET.Element:
    return ET.fromstring(ddi_codebook(codebook(folder, **changed)))


def name_of(element: ET.Element) -> str:
    return element.tag.removeprefix(f"{{{NAMESPACE}}}")


def variables(root: ET.Element) -> dict[str, ET.Element]:
    return {each.attrib["name"]: each for each in root.iter(f"{{{NAMESPACE}}}var")}


def text(element: ET.Element, path: str) -> str | None:
    return element.findtext(path, namespaces={"": NAMESPACE})


@pytest.mark.parametrize("publisher", [None, "Office & Sons"])
def test_elements_stand_in_the_order_of_the_schema(tmp_path: Path, publisher: str | None) -> None:
    looked_at = set()
    for element in read(tmp_path, publisher=publisher, doi="10.1234/a", study=STUDY, license="CC0-1.0").iter():
        if (order := ORDER.get(name_of(element))) is not None:
            places = [order.index(name_of(child)) for child in element]
            assert places == sorted(places), name_of(element)
            looked_at.add(name_of(element))
    assert looked_at == ORDER.keys()


def test_ids_are_unique_and_what_is_referred_to_exists(tmp_path: Path) -> None:
    root = read(tmp_path)
    ids = [element.attrib["ID"] for element in root.iter() if "ID" in element.attrib]
    assert len(ids) == len(set(ids))
    found = variables(root)
    for each in found.values():
        assert set(each.attrib["files"].split()) <= set(ids)
    weight = found.pop("weight")
    assert weight.attrib["wgt"] == "wgt"
    assert {each.attrib["wgt-var"] for each in found.values()} == {weight.attrib["ID"]}


def test_characters_that_xml_forbids_are_made_visible(tmp_path: Path) -> None:
    free = variables(read(tmp_path))["free"]
    values = [text(each, "catValu") for each in free.findall("catgry", {"": NAMESPACE})]
    assert values[0] == "<b>&"
    assert "\x07" not in str(values[1])
    assert str(values[1]).startswith("a")


def test_of_tables_columns_are_variables_with_their_codes_and_labels() -> None:
    shown = replace(JOBS, name="all", status=("published",) * 5, value=(200, 70, 50, 20, 130), is_total=None)
    root = ET.fromstring(ddi_of_tables(tables_codebook(tables=(JOBS, shown), files=("jobs.csv",))))
    for element in root.iter():
        if (order := ORDER.get(name_of(element))) is not None:
            places = [order.index(name_of(child)) for child in element]
            assert places == sorted(places), name_of(element)
    found = variables(root)
    assert found["work"].attrib["files"] == "F1 F2 F3 F4"
    assert found["is_total"].attrib["files"] == "F1 F2"
    labels = {text(each, "catValu"): text(each, "labl") for each in found["work"].iter(f"{{{NAMESPACE}}}catgry")}
    assert labels["1"] == "a | <farm>"
    words = [text(each, "catValu") for each in found["status"].iter(f"{{{NAMESPACE}}}catgry")]
    assert sorted(filter(None, words)) == ["published", "suppressed"]
    notes = [each.text or "" for each in root.iter(f"{{{NAMESPACE}}}notes")]
    assert any("25 % is not published cell by cell" in note for note in notes)
