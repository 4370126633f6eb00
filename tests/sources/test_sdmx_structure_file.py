"""What an SDMX structure says of the columns of an SDMX-CSV file, and what is refused as one."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sdmx
from sdmx.message import Header, StructureMessage
from sdmx.model import common, v21

from sluice.ground.errors import SluiceError
from sluice.publication.sdmx import sdmx_structure, to_sdmx_csv
from sluice.sources.sdmx_structure_file import structure_descriptions
from tests.golden import golden
from tests.publication.small_table import small, whole

OWN: dict[str, Any] = {"maintainer": common.Agency(id="XX"), "version": "1.0", "is_final": True}


def structure(*definitions: tuple[str, tuple[str, ...]]) -> StructureMessage:
    """A message with such DSDs, by their names and dimensions; SEX and REGION have code lists."""
    message = StructureMessage(header=Header(id="m"))
    sexes = common.Codelist(id="CL_SEX", name="Sex", **OWN)
    sexes.append(common.Code(id="1", name={"fr": "homme", "en": "male"}))
    sexes.append(common.Code(id="2", name={"fr": "femme", "en": "female"}))
    regions = common.Codelist(id="CL_REGION", name="Region", **OWN)
    for code, name in (("01", "Nord"), ("02", "Süd"), ("03", "")):
        regions.append(common.Code(id=code, name={"de": name} if name else {}))
    concepts = common.ConceptScheme(id="CONCEPTS", name="Concepts", **OWN)
    for name, label in (("PERSON", "Person"), ("SEX", "Sex of the person"), ("REGION", "Region"), ("VALUE", "Income")):
        concepts.append(common.Concept(id=name, name=label))
    # One list is named by the concept, one by the component.
    concepts["SEX"].core_representation = common.Representation(enumerated=sexes)
    for listed in (sexes, regions):
        listed.urn = sdmx.urn.make(listed)
        message.codelist[listed.id] = listed
    message.concept_scheme["CONCEPTS"] = concepts
    for name, dimensions in definitions:
        dsd = v21.DataStructureDefinition(id=name, name=name, **OWN)
        for place, each in enumerate(dimensions):
            dimension = v21.Dimension(id=each, order=place + 1, concept_identity=concepts[each])
            if each == "REGION":
                dimension.local_representation = common.Representation(enumerated=regions)
            dsd.dimensions.append(dimension)
        dsd.measures.append(v21.PrimaryMeasure(id="OBS_VALUE", concept_identity=concepts["VALUE"]))
        message.structure[name] = dsd
    return message


def written(folder: Path, message: StructureMessage) -> Path:
    path = folder / "structure.xml"
    path.write_bytes(sdmx.to_xml(message, pretty_print=True))
    return path


PEOPLE = ("PERSON", "SEX", "REGION")
COLUMNS = ("DATAFLOW", *PEOPLE, "OBS_VALUE")


def test_labels_are_those_of_the_concepts_and_code_lists(tmp_path: Path) -> None:
    found = structure_descriptions(written(tmp_path, structure(("PEOPLE", PEOPLE))), COLUMNS)
    assert {name: each.label for name, each in found.items()} == {
        "PERSON": "Person", "SEX": "Sex of the person", "REGION": "Region", "OBS_VALUE": "Income",
    }  # fmt: skip
    assert found["SEX"].labels == {"1": "male", "2": "female"}
    assert found["REGION"].labels == {"01": "Nord", "02": "Süd", "03": "03"}
    assert not found["PERSON"].labels


def test_of_several_definitions_that_which_fits_is_read(tmp_path: Path) -> None:
    message = structure(("FIRMS", (*PEOPLE, "VALUE")), ("PEOPLE", PEOPLE))
    assert "SEX" in structure_descriptions(written(tmp_path, message), COLUMNS)
    two = written(tmp_path, structure(("ONE", PEOPLE), ("TWO", ("SEX",))))
    golden.refused(SluiceError, structure_descriptions, two, COLUMNS)
    other = written(tmp_path, structure(("FIRMS", (*PEOPLE, "VALUE"))))
    golden.refused(SluiceError, structure_descriptions, other, COLUMNS)


def test_tables_of_sluice_are_described_by_their_own_structure(tmp_path: Path) -> None:
    cells, status = small(0)
    flow, at = "XX.STATS:TURNOVER(2.1)", datetime(2026, 3, 31, 12, tzinfo=UTC)
    path = tmp_path / "structure.xml"
    path.write_bytes(sdmx_structure("turnover-0a1b", at, cells.dimensions, flow, "Turnover", "turnover, in EUR"))
    header = to_sdmx_csv(whole(cells, status), flow).decode().splitlines()[0].split(",")
    found = structure_descriptions(path, tuple(header))
    assert {each.name.upper() for each in cells.dimensions} <= {*found}
    assert all(found[each.name.upper()].labels for each in cells.dimensions)
    assert found["OBS_VALUE"].label


@pytest.mark.parametrize(
    "text", ["PERSON,SEX\n1,2\n", "<html></html>", '<!DOCTYPE m [<!ENTITY x SYSTEM "/etc/passwd">]><m>&x;</m>']
)
def test_what_is_no_structure_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "structure.xml"
    path.write_text(text, encoding="utf-8")
    with golden.raises(SluiceError):
        structure_descriptions(path, COLUMNS)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "utf-7"])
def test_a_definition_of_entities_is_hidden_in_no_other_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "structure.xml"
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE m [<!ENTITY x "y">]><m>&x;</m>'
    path.write_bytes(text.encode(encoding) if encoding != "utf-7" else text.replace("!", "+ACE-").encode())
    assert b"<!DOCTYPE" not in path.read_bytes()
    with golden.raises(SluiceError):
        structure_descriptions(path, COLUMNS)


def test_a_structure_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with golden.raises(SluiceError):
        structure_descriptions(tmp_path / "nowhere.xml", COLUMNS)
