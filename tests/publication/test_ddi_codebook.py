"""DDI-Codebook 2.5. The order of the elements is that of its schema, which is not on PyPI and so not asked itself."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sluice.publication.ddi_codebook import NAMESPACE, ddi_codebook
from tests.publication.small_codebook import codebook

# Of the schema's types, the elements that are used here, in their order.
ORDER = {
    "codeBook": ["docDscr", "stdyDscr", "fileDscr", "dataDscr", "otherMat"],
    "stdyDscr": ["citation", "stdyInfo", "method"],
    "citation": ["titlStmt", "rspStmt", "prodStmt", "distStmt", "verStmt"],
    "titlStmt": ["titl", "IDNo"],
    "distStmt": ["distrbtr", "distDate"],
    "stdyInfo": ["abstract", "sumDscr"],
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
    for element in read(tmp_path, publisher=publisher, doi="10.1234/a").iter():
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


def test_a_variable_has_its_label_universe_range_categories_and_masking(tmp_path: Path) -> None:
    found = variables(read(tmp_path))
    assert text(found["age"], "labl") == "Age at the interview"
    assert text(found["children"], "universe") == "women aged 15 and over"
    ends = found["age"].find("valrng/range", {"": NAMESPACE})
    assert ends is not None
    assert (ends.attrib["min"], ends.attrib["max"]) == ("16", "90")
    school = [
        (text(each, "catValu"), text(each, "labl"), text(each, "catStat"))
        for each in found["school"].findall("catgry", {"": NAMESPACE})
    ]
    assert school == [("01", "none", "2"), ("02", "some & more", "1")]
    assert text(found["income"], "derivation/drvdesc") == "Noise was added. Large values were replaced."
    assert found["age"].find("derivation", {"": NAMESPACE}) is None


def test_what_was_removed_and_what_is_to_be_corrected_for_are_told(tmp_path: Path) -> None:
    root = read(tmp_path)
    notes = root.findall("stdyDscr/method/notes", {"": NAMESPACE})
    assert [each.text for each in notes] == ["Multiply totals by 4.", "name is not in the file. It was removed."]
    assert text(variables(root)["income"], "notes") == "Divide a variance by 1.1."
    assert text(root, "otherMat/txt") == "method: pram; matrix: work: ((0.9, 0.1), (0.1, 0.9))"


def test_characters_that_xml_forbids_are_made_visible(tmp_path: Path) -> None:
    free = variables(read(tmp_path))["free"]
    values = [text(each, "catValu") for each in free.findall("catgry", {"": NAMESPACE})]
    assert values[0] == "<b>&"
    assert "\x07" not in str(values[1])
    assert str(values[1]).startswith("a")


def test_the_same_codebook_gives_the_same_bytes(tmp_path: Path) -> None:
    assert ddi_codebook(codebook(tmp_path)) == ddi_codebook(codebook(tmp_path))
