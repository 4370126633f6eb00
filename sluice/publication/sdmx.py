"""A published table as SDMX-CSV, the form in which statistical agencies exchange data, and the structure of its files.

Sources: SDMX-CSV 2.0 field guide (data messages, aligned with SDMX 3.0); the SDMX cross-domain code lists
CL_CONF_STATUS 1.2 (confidentiality status) and CL_OBS_STATUS 2.2 (observation status).

The finer codes of CL_CONF_STATUS (A, small counts; O, T, G, dominance by one or two units; M, other concentration)
would reveal which rule made a cell sensitive, and with it how many contribute to it; a public file does not use them.

The structure is what a registry, or a client that reads the files, has to know. Source: SDMX 2.1, Section 3A (SDMX-ML
structure message): a data structure definition with its concepts and code lists, and the dataflow that the files name.
Version 2.1 is what most readers know, and enough for SDMX-CSV 2.0. What beside the value is published of a cell
(bounds, drawn values) is an attribute of the observation there.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sluice.ground.errors import DataError
from sluice.publication.published_table import PUBLISHED, SUPPRESSED, WORDS, PublishedTable, in_decimals, units_of
from sluice.publication.published_table_files import csv_bytes, csv_rows
from sluice.tabular.model.cells import Status
from sluice.tabular.model.dimension import Dimension

if TYPE_CHECKING:
    from sdmx.model import common

CONF_STATUS = {
    PUBLISHED: "F",  # free (free for publication)
    WORDS[Status.PRIMARY]: "C",  # confidential statistical information
    WORDS[Status.SECONDARY]: "D",  # secondary confidentiality set by the sender, not for publication
    SUPPRESSED: "N",  # not for publication, restricted for internal use only
}
NORMAL, MISSING_SUPPRESSED = "A", "Q"  # OBS_STATUS: normal value; missing value, suppressed

_OPENING = ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
TIME = "TIME_PERIOD"
FURTHER = {
    "LOWER": "The suppressed value is this or more",
    "UPPER": "The suppressed value is this or less",
    "SYNTHETIC": "Not the suppressed value, but one drawn from what is published alone",
}
_INFORMATION = "I"
_NO_VALUE = "NaN"  # an observation whose value is missing; an empty cell would say nothing of it

_DATAFLOW = re.compile(r"[A-Za-z][\w-]*(\.[A-Za-z][\w-]*)*:[\w@$-]+(\(\d+(\.\d+){0,2}(-[A-Za-z0-9.-]+)?\))?", re.ASCII)
_COMPONENT = re.compile(r"[A-Z][A-Z0-9_-]*")
_CODE = re.compile(r"[A-Za-z0-9_@$-]+")
_PERIOD = re.compile(r"\d{4}(-(\d{2}(-\d{2})?|[AQMSTWD]\d{1,3}))?", re.ASCII)


def refuse_unfit_for_sdmx(dimensions: Sequence[Dimension], dataflow: str, time_period: str | None) -> None:
    """Raise DataError when a name, code or period has not the form that SDMX asks for."""
    if not _DATAFLOW.fullmatch(dataflow):
        raise DataError(f"dataflow must have the form AGENCY:ID(VERSION), such as XX:TURNOVER(1.0); got '{dataflow}'")
    if time_period is not None and not _PERIOD.fullmatch(time_period):
        raise DataError(f"time_period must be like 2026, 2026-Q1, 2026-03 or 2026-03-31; got '{time_period}'")
    axes_of_sdmx(dimensions)
    for dimension in dimensions:
        unfit = next((code for code in dimension.codes if not _CODE.fullmatch(code)), None)
        if unfit is not None:
            raise DataError(
                f"a code of '{dimension.name}' must consist of letters, digits, _ @ $ and - to be published as SDMX; "
                f"got '{unfit}'. Rename it in the hierarchy, or leave SDMX out."
            )


def to_sdmx_csv(
    table: PublishedTable, dataflow: str, time_period: str | None = None, dimensions: Sequence[Dimension] = ()
) -> bytes:
    """The table as an SDMX-CSV 2.0 message: a row for each listed cell, all information, for one dataflow.

    dataflow    : 'AGENCY:ID(VERSION)', as the agency's registry knows it
    time_period : in SDMX's form, such as 2026, 2026-Q1 or 2026-03; no column when not given
    dimensions  : of the dataflow, in their order; by default those of the table. In those that the table does not have,
                  its cells are totals
    raises      : DataError when a name, code or period has not the form that SDMX asks for

    Dimensions appear under their names in upper case. Published intervals are LOWER and UPPER, and drawn values of
    suppressed cells SYNTHETIC. The value of a suppressed cell is NaN, which stands for a missing one.
    Numbers of contributors are left out: SDMX has no common concept for them.
    """
    dimensions = dimensions or table.dimensions
    refuse_unfit_for_sdmx(dimensions, dataflow, time_period)
    axes, place = axes_of_sdmx(dimensions), {dimension.name: axis for axis, dimension in enumerate(table.dimensions)}
    further = {name: getattr(table, name.lower()) for name in FURTHER}
    measures = {name: column for name, column in further.items() if column is not None}
    header = [*_OPENING, *axes, *([TIME] if time_period else []), "OBS_VALUE", *measures]
    rows = (
        [
            "dataflow",
            dataflow,
            _INFORMATION,
            *(codes[place[each.name]] if each.name in place else each.codes[0] for each in dimensions),
            *([time_period] if time_period else []),
            in_decimals(table.value[cell], table.decimals) or _NO_VALUE,
            *(in_decimals(column[cell], table.decimals) for column in measures.values()),
            NORMAL if table.status[cell] == PUBLISHED else MISSING_SUPPRESSED,
            CONF_STATUS[table.status[cell]],
        ]
        for cell, codes in enumerate(table.codes)
    )
    return csv_bytes([*header, "OBS_STATUS", "CONF_STATUS"], rows)


def read_sdmx_csv(
    content: bytes,
    name: str,
    dimensions: Sequence[Dimension],
    decimals: int,
    of_dataflow: Sequence[Dimension] = (),
) -> PublishedTable:
    """The table that `to_sdmx_csv` wrote, read back strictly. Raises DataError, naming the line, for anything else.

    dimensions  : of the table
    of_dataflow : by default the same
    """
    header, rows = csv_rows(content, name)
    of_dataflow = of_dataflow or dimensions
    axes, own = axes_of_sdmx(of_dataflow), axes_of_sdmx(dimensions)
    totals = {axis: each.codes[0] for axis, each in zip(axes, of_dataflow, strict=True) if axis not in own}
    lower, upper, drawn = FURTHER
    known = [
        [*_OPENING, *axes, *time, "OBS_VALUE", *bounds, *synthetic, "OBS_STATUS", "CONF_STATUS"]
        for time in ([], [TIME])
        for bounds in ([], [lower, upper])
        for synthetic in ([], [drawn])
    ]
    if header not in known:
        raise DataError(
            f"{name}: the first line must be {','.join(known[0])}, with {TIME}, LOWER, UPPER and SYNTHETIC if any"
        )
    words = {code: word for word, code in CONF_STATUS.items()}
    codes, status = [], []
    numbers: dict[str, list[int | None]] = {c: [] for c in header if c in ("OBS_VALUE", *FURTHER)}
    for line, row in rows:
        cell = dict(zip(header, row, strict=True))
        word = words.get(cell["CONF_STATUS"])
        if word is None or cell["OBS_STATUS"] != (NORMAL if word == PUBLISHED else MISSING_SUPPRESSED):
            raise DataError(f"{name}, line {line}: OBS_STATUS and CONF_STATUS must be A and F, or Q and C, D or N")
        wrong = next((axis for axis, total in totals.items() if cell[axis] != total), None)
        if wrong is not None:
            raise DataError(f"{name}, line {line}: {wrong} must be its total, as the table does not have it")
        if (cell["OBS_VALUE"] == _NO_VALUE) == (word == PUBLISHED):
            raise DataError(
                f"{name}, line {line}: OBS_VALUE must be {_NO_VALUE} where it is suppressed, and only there"
            )
        cell["OBS_VALUE"] = cell["OBS_VALUE"].removesuffix(_NO_VALUE)
        codes.append(tuple(cell[axis] for axis in own))
        status.append(word)
        for column, entries in numbers.items():
            entries.append(units_of(cell[column], decimals, f"{name}, line {line}, {column}"))
    value = tuple(numbers.pop("OBS_VALUE"))
    of: dict[str, Any] = {column.lower(): tuple(entries) for column, entries in numbers.items()}
    return PublishedTable(name, tuple(dimensions), decimals, tuple(codes), tuple(status), value, **of)


def axes_of_sdmx(dimensions: Sequence[Dimension]) -> list[str]:
    """The dimensions' names in SDMX. Raises DataError for one that cannot be a component there."""
    axes = [dimension.name.upper() for dimension in dimensions]
    for dimension, axis in zip(dimensions, axes, strict=True):
        if not _COMPONENT.fullmatch(axis) or axes.count(axis) > 1 or axis in _reserved():
            raise DataError(
                f"dimension '{dimension.name}' cannot be a column of SDMX-CSV: in upper case it must begin with a "
                "letter, consist of letters, digits, _ and -, and be no other column"
            )
    return axes


def _reserved() -> list[str]:
    return [*_OPENING, TIME, "OBS_VALUE", *FURTHER, "OBS_STATUS", "CONF_STATUS"]


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
