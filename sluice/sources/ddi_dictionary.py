"""What a document of DDI says of variables: DDI Codebook, or DDI Lifecycle, where a variable refers to its code list
and each code to its category.

Sources: DDI Codebook 2.5, elements var, labl, catgry, catValu, universe; DDI Lifecycle 3.1 to 3.3 (DDI Alliance 2009 to
2020), `logicalproduct.xsd`.
"""

from collections.abc import Iterator
from xml.etree import ElementTree

from sluice.ground.errors import DataError

Said = Iterator[tuple[str, ...]]


def of_ddi(text: str) -> Said:
    """Each a variable, and what is said, as `dictionary_file` takes it.

    raises : DataError for a document that declares a type of document, or is no XML
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise DataError("declares a document type, which no dictionary needs")
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError:
        raise DataError("is not valid XML") from None
    yield from _of_codebook(root)
    yield from _of_lifecycle(root)


def _of_codebook(root: ElementTree.Element) -> Said:
    for variable in root.iter():
        if _tag(variable) != "var":
            continue
        name = variable.get("name", "")
        for part in variable:
            if _tag(part) in ("labl", "universe"):
                yield name, "label" if _tag(part) == "labl" else "universe", _text(part)
            elif _tag(part) == "catgry":
                told = {_tag(each): _text(each) for each in part}
                if "catValu" in told and told.get("labl"):
                    yield name, "code", told["catValu"], told["labl"]
                if "catValu" in told and part.get("missing") == "Y":
                    yield name, "missing", told["catValu"]
        if variable.get("nature") in ("nominal", "ordinal"):
            yield name, "measure", variable.get("nature", "")


def _of_lifecycle(root: ElementTree.Element) -> Said:
    parts = list(root.iter())
    by_id: dict[str, ElementTree.Element] = {}
    for each in parts:
        if not _tag(each).endswith("Reference") and (own := each.get("id") or _own_id(each)):
            by_id.setdefault(own, each)
    for variable in parts:
        if _tag(variable) != "Variable":
            continue
        name = _child(variable, "VariableName", "Name")
        if not name:
            continue
        if label := _child(variable, "Label"):
            yield name, "label", label
        for universe in _referred(variable, "UniverseReference", by_id):
            if words := _child(universe, "HumanReadable", "Label", "Description"):
                yield name, "universe", words
        for each in [variable, *_referred(variable, "VariableRepresentationReference", by_id)]:
            for attribute in (part.get("missingValue") for part in each.iter()):
                yield from ((name, "missing", code) for code in (attribute or "").split())
            for codes in _referred(each, "CodeListReference", by_id, "CodeSchemeReference"):
                yield from _of_list(name, codes, by_id)
        for missing in _referred(variable, "MissingValuesReference", by_id):
            for codes in _referred(missing, "CodeListReference", by_id):
                for what, *said in (each[1:] for each in _of_list(name, codes, by_id)):
                    yield name, what, *said
                    if what == "code":
                        yield name, "missing", said[0]


def _of_list(name: str, codes: ElementTree.Element, by_id: dict[str, ElementTree.Element]) -> Said:
    """The codes of a list, each with the label of its category."""
    for code in codes.iter():
        if _tag(code) != "Code" or not (value := _child(code, "Value")):
            continue
        for category in _referred(code, "CategoryReference", by_id):
            if label := _child(category, "Label", "CategoryName"):
                yield name, "code", value, label
            if {category.get("missing"), category.get("isMissing")} & {"true", "1"}:
                yield name, "missing", value


def _referred(
    element: ElementTree.Element, reference: str, by_id: dict[str, ElementTree.Element], other: str = ""
) -> list[ElementTree.Element]:
    """What the references of this name below an element refer to, by their ID or by the last part of their URN."""
    found = []
    for each in element.iter():
        if _tag(each) in (reference, other):
            found += [by_id[own]] if (own := _own_id(each)) in by_id else []
    return found


def _own_id(element: ElementTree.Element) -> str:
    """The ID of an element, or the one in its URN: urn:ddi:agency:ID:version."""
    return _child(element, "ID") or _child(element, "URN").rpartition(":")[0].rpartition(":")[2]


def _child(element: ElementTree.Element, *names: str) -> str:
    """The text of the first child of one of these names that has one; of several in other languages the first."""
    for name in names:
        for child in element:
            if _tag(child) == name and (text := _text(child)):
                return text
    return ""


def _text(element: ElementTree.Element) -> str:
    """Its words; of parts in several languages those of the first."""
    contents = [part for part in element if _tag(part) in ("Content", "String")]
    return " ".join("".join((contents[0] if contents else element).itertext()).split())


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
