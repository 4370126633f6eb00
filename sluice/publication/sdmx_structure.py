"""The structure of a release's SDMX-CSV files: what a registry, or a client that reads them, has to know.

Source: SDMX 2.1, Section 3A (SDMX-ML structure message): a data structure definition with its concepts and code lists,
and the dataflow that the files name. Version 2.1 is what most readers know, and enough for SDMX-CSV 2.0.
What beside the value is published of a cell (bounds, drawn values) is an attribute of the observation there.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sluice.publication.sdmx_csv import CONF_STATUS, FURTHER, MISSING_SUPPRESSED, NORMAL, TIME, axes_of_sdmx
from sluice.tabular.model.dimension import Dimension

if TYPE_CHECKING:
    from sdmx.model import common

_STATUS = {NORMAL: "Normal value", MISSING_SUPPRESSED: "Missing value; suppressed"}
_CONFIDENTIALITY = {
    "F": "Free (free for publication)",
    "C": "Confidential statistical information",
    "D": "Secondary confidentiality set by the sender, not for publication",
    "N": "Not for publication, restricted for internal use only",
}


def sdmx_structure(
    release: str,
    prepared: datetime,
    dimensions: Sequence[Dimension],
    dataflow: str,
    title: str,
    measure: str,
    *,
    time: bool = False,
    further: Sequence[str] = (),
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> bytes:
    """The structure message, SDMX-ML 2.1. The same arguments give the same bytes.

    prepared : with a time zone; of the message's header
    dataflow : 'AGENCY:ID(VERSION)', as in the files
    measure  : what the values are, in words
    time     : whether the files have a TIME_PERIOD
    further  : which of `FURTHER` the files have, by the names of the published table's columns
    labels   : dimension -> code -> what it means
    raises   : DataError where a dimension cannot be a component of SDMX
    """
    import sdmx  # slow to load, and needed by few releases
    from sdmx.message import Header, StructureMessage
    from sdmx.model import common, v21

    agency_id, identifier, version = _parts(dataflow)
    agency = common.Agency(id=agency_id)
    own: dict[str, Any] = {"maintainer": agency, "version": version, "is_final": True, "is_external_reference": False}

    def code_list(name: str, says: str, codes: Mapping[str, str], parents: Mapping[str, str]) -> common.Codelist:
        listed: common.Codelist = common.Codelist(id=f"CL_{identifier}_{name}", name=says, **own)
        for code, label in codes.items():
            listed.append(common.Code(id=code, name=label))
        for code, parent in parents.items():
            listed[code].parent = listed[parent]
        return listed

    concepts = common.ConceptScheme(id=f"CS_{identifier}", name=f"Concepts of {title}", **own)

    def concept(name: str, says: str) -> common.Concept:
        made = common.Concept(id=name, name=says)
        concepts.append(made)
        return made

    def of_codes(codes: common.Codelist) -> common.Representation:
        return common.Representation(enumerated=codes)

    def of_type(kind: common.FacetValueType) -> common.Representation:
        return common.Representation(non_enumerated=[common.Facet(value_type=kind)])

    definition = v21.DataStructureDefinition(id=identifier, name=title, **own)
    definition.dimensions.id, definition.measures.id = "DimensionDescriptor", "MeasureDescriptor"
    definition.attributes.id = "AttributeDescriptor"
    lists = []
    for place, (axis, dimension) in enumerate(zip(axes_of_sdmx(dimensions), dimensions, strict=True), start=1):
        known = (labels or {}).get(dimension.name, {})
        codes = {code: known.get(code, code) for code in dimension.codes}
        lists.append(code_list(axis, dimension.name, codes, _first_grouping(dimension)))
        definition.dimensions.append(
            common.Dimension(
                id=axis,
                order=place,
                concept_identity=concept(axis, dimension.name),
                local_representation=of_codes(lists[-1]),
            )
        )
    if time:
        definition.dimensions.append(
            v21.TimeDimension(
                id=TIME,
                order=len(dimensions) + 1,
                concept_identity=concept(TIME, "Reference period"),
                local_representation=of_type(common.FacetValueType.observationalTimePeriod),
            )
        )
    value = v21.PrimaryMeasure(id="OBS_VALUE", concept_identity=concept("OBS_VALUE", measure))
    value.local_representation = of_type(common.FacetValueType.double)
    definition.measures.append(value)
    for name, says in FURTHER.items():
        if name.lower() in further:
            definition.attributes.append(
                _attribute(name, concept(name, says), of_type(common.FacetValueType.double), mandatory=False)
            )
    for name, says, codes in (
        ("OBS_STATUS", "Observation status", _STATUS),
        ("CONF_STATUS", "Confidentiality status", {code: _CONFIDENTIALITY[code] for code in CONF_STATUS.values()}),
    ):
        lists.append(code_list(name, says, codes, {}))
        definition.attributes.append(_attribute(name, concept(name, says), of_codes(lists[-1]), mandatory=True))
    flow = v21.DataflowDefinition(id=identifier, name=title, structure=definition, **own)
    header = Header(
        id=re.sub(r"[^A-Za-z0-9_@$-]", "_", release),
        prepared=prepared,
        sender=common.Agency(id=agency_id.replace(".", "_")),
    )
    message = StructureMessage(header=header)
    for each in (*lists, concepts, definition, flow):
        message.add(each)
    return bytes(sdmx.to_xml(message, pretty_print=True))


def _attribute(
    name: str, concept: "common.Concept", values: "common.Representation", *, mandatory: bool
) -> "common.DataAttribute":
    from sdmx.model import common, v21

    return common.DataAttribute(
        id=name,
        concept_identity=concept,
        local_representation=values,
        usage_status=common.UsageStatus.mandatory if mandatory else common.UsageStatus.conditional,
        related_to=v21.PrimaryMeasureRelationship(),
    )


def _parts(dataflow: str) -> tuple[str, str, str]:
    """Agency, id and version of 'AGENCY:ID(VERSION)'; without a version SDMX takes 1.0."""
    agency, _, rest = dataflow.partition(":")
    identifier, _, version = rest.removesuffix(")").partition("(")
    return agency, identifier, version or "1.0"


def _first_grouping(dimension: Dimension) -> dict[str, str]:
    """Code -> the code that it is a part of; a code list is one tree, so that further groupings are not in it."""
    parents: dict[str, str] = {}
    for group, parts in dimension.sums:
        for part in parts:
            parents.setdefault(dimension.codes[part], dimension.codes[group])
    return parents
