"""OpenLineage: what a catalogue of data hears of a release: what was read, what was judged, and, once it is public,
which columns of the published data come out of which.

Each event is read off the ledger and the documents that the vault keeps, so that it is the same whenever it is sent.
It names tables, columns, methods and rules; no value, no figure and no person. A column is said to be masked only where
the release is public, which the gate let it be.

Source: the specification of OpenLineage 2-0-2, and of each facet in the version that its address names.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.databases import DIALECTS, IN_FILES, database_url
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.readable_tables import DEFAULT_SCHEMA
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.software_version import versions
from tasks.release.run_notes import definition_of

if TYPE_CHECKING:
    import sqlalchemy as sa

    from sluice.report.dossier import Dossier
    from tasks.release.documented_release import Release
    from tasks.release.tables.definition import TablesDefinition

Json = dict[str, Any]

KINDS = {
    State.RECEIVED: "START",
    State.NEEDS_DECISION: "RUNNING",
    State.PENDING_REVIEW: "RUNNING",
    State.BLOCKED: "FAIL",
    State.REJECTED: "ABORT",
    State.CHANGES_REQUESTED: "ABORT",
    State.OVERTAKEN: "ABORT",
    State.PUBLISHED: "COMPLETE",
    State.WITHDRAWN: "OTHER",
}
"""The events of the ledger that are told, and which type of event of a run each is."""

_SPECIFICATION = "https://openlineage.io/spec"
_OF_RUNS = f"{_SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "dataQualityAssertions": "1-1-0/DataQualityAssertionsDatasetFacet",
    "jobType": "2-0-3/JobTypeJobFacet",
    "lifecycleStateChange": "1-0-1/LifecycleStateChangeDatasetFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
}
_SCHEMES = {"postgresql": "postgres", "mariadb": "mysql"}  # where OpenLineage's name is another than SQLAlchemy's
_PLAIN = re.compile(r"[\w.:/\\ -]*")  # a host or database that holds no option, which may be a secret
_WITHOUT_DATABASE = ("mysql", "mariadb")  # whose schemas are databases


class _Dataset(NamedTuple):
    namespace: str
    name: str


def lineage_event(workspace: Workspace, entries: Sequence[Entry], entry: Entry, namespace: str) -> Json:
    """The RunEvent of one of a release's entries, as JSON.

    entries   : of the release, in their order; of which `entry` is one whose event is in `KINDS`
    namespace : of jobs, by which a backend tells the offices apart that it serves
    raises    : DataError when the vault no longer has the documents
    cost      : a reading of the documents; of judged releases of the dossier
    """
    from tasks.release.products import release_as_judged  # and all rules and methods

    release = release_as_judged(workspace, entries)
    inputs, dossier = list(_inputs(release)), _dossier(workspace, entries, entry)
    judged = {"assertions": list(_assertions(dossier, release.staged_variables))}
    described = {"schema": _facet("schema", {"fields": _fields(release.staged_variables)})}
    facets = {"dataQualityAssertions": _facet("dataQualityAssertions", judged)} if judged["assertions"] else {}
    begun, kind = _attempt(entries, entry)
    return {
        "eventType": kind,
        "eventTime": entry.at,
        "run": {
            "runId": str(uuid5(NAMESPACE_URL, f"sluice:{entry.release}{f':{begun}' if begun else ''}")),
            "facets": {"processing_engine": _engine(), **_verdict(dossier)},
        },
        "job": {
            "namespace": namespace,
            "name": release.product.definition.name,
            "facets": {"jobType": _facet("jobType", _JOB)},
        },
        "inputs": [{**each._asdict(), "facets": described, "inputFacets": facets} for each in inputs],
        "outputs": list(_outputs(release, entry, inputs)),
        "producer": _producer(),
        "schemaURL": _OF_RUNS,
    }


def _attempt(entries: Sequence[Entry], entry: Entry) -> tuple[int, str]:
    """Which run of the release an event is of, counted from 0, and the type of the event.

    A run starts once and ends once: data that are read anew begin another one where the last has ended, and else are
    only told as going on.
    """
    number, started, ended = 0, False, False
    kind = KINDS[State(entry.event)]
    for each in entries:
        if each.seq > entry.seq or each.event not in KINDS:
            continue
        kind = KINDS[State(each.event)]
        if kind == "START":
            number += ended
            kind = "RUNNING" if started and not ended else kind
            started, ended = True, False
        ended = ended or kind in _ENDS
    return number, kind


_ENDS = ("FAIL", "ABORT", "COMPLETE")
_JOB = {"processingType": "BATCH", "integration": "SLUICE", "jobType": "RELEASE"}


def _producer() -> str:
    return f"https://pypi.org/project/sluice-sdc/{versions()['sluice']}"


def _facet(name: str, content: Mapping[str, Any]) -> Json:
    version, _, kind = _FACETS[name].partition("/")
    address = f"{_SPECIFICATION}/facets/{version}/{kind}.json#/$defs/{kind}"
    return {"_producer": _producer(), "_schemaURL": address, **content}


def _engine() -> Json:
    return _facet("processing_engine", {"name": "Sluice", "version": versions()["sluice"]})


def _dossier(workspace: Workspace, entries: Sequence[Entry], entry: Entry) -> "Dossier | None":
    """Of the judgement that stood when this happened; None before the first, or where the vault lost it."""
    from tasks.release.stored_dossier import kept_dossier

    with suppress(SluiceError):
        return kept_dossier(workspace, [each for each in entries if each.seq <= entry.seq])
    return None


def _assertions(dossier: "Dossier | None", variables: Variables) -> Iterator[Json]:
    """One for each check and column, by the worst of what it found that decides; without a figure."""
    worst: dict[tuple[str, str], Finding] = {}
    for each in dossier.findings if dossier else ():
        key = (each.rule, each.scope if each.scope in variables else "")
        if key not in worst or _weight(each) > _weight(worst[key]):
            worst[key] = each
    for (rule, column), found in worst.items():
        yield {
            "assertion": rule,
            "success": found.verdict is Verdict.PASS,
            "severity": "error" if _stops(found) else "warn",
            **({"column": column} if column else {}),
        }


def _weight(found: Finding) -> tuple[bool, bool, Verdict]:
    """What decides is told, before what is only reported, such as that the unmasked file has small classes."""
    return found.binding, _stops(found), found.verdict


def _stops(found: Finding) -> bool:
    return found.binding and found.verdict > Verdict.REVIEW and not found.excused


def _verdict(dossier: "Dossier | None") -> Json:
    """A facet of our own: what the gate says, and by which policy."""
    if dossier is None:
        return {}
    told = {"verdict": dossier.verdict.name, "policy": dossier.policy, "policyVersion": dossier.policy_version}
    return {"sluice_gate": {"_producer": _producer(), "_schemaURL": f"{_producer()}#/gate", **told}}


def _fields(variables: Variables) -> list[Json]:
    """Without descriptions, which are anything that the submitter writes."""
    return [{"name": name, "type": str(each.kind)} for name, each in variables.items()]


def _inputs(release: "Release[Any]") -> Iterator[_Dataset]:
    """What was read, by the names that OpenLineage gives files and the tables of databases."""
    source = release.product.definition.source
    with suppress(SluiceError):  # where the definition lay, from which its paths begin
        source = source.resolve(definition_of(release.product.workspace, release.id).parent)
    if source.type == "connection":
        yield from _of_connection(source.connection, source.table, source.query)
    elif source.type in IN_FILES:
        yield from _tables(source.type, str(source.path), "", source.table, source.query, source.type)
    else:
        yield from (_Dataset("file", os.path.normpath(path)) for path in source.files)


def _of_connection(name: str, table: str | None, query: str | None) -> Iterator[_Dataset]:
    """Tables at their server; where its address is a secret, or is not there any more, at the connection's name."""
    from sluice.sources.connections import load_connections

    try:
        url = database_url(load_connections().named(name).url)
    except (SluiceError, ValueError):
        url = None
    if url is None or not _PLAIN.fullmatch(f"{url.host or ''} {url.database or ''}") or not _has_a_place(url):
        yield from _tables("sluice", name, "", table, query, "" if url is None else url.get_backend_name())
        return
    backend = url.get_backend_name()
    scheme = _SCHEMES.get(backend, backend)
    if backend in IN_FILES:
        yield from _tables(scheme, str(url.database), "", table, query, backend)
    else:
        database = "" if backend in _WITHOUT_DATABASE else str(url.database or "")
        yield from _tables(scheme, _server(url, backend), database, table, query, backend, str(url.database or ""))


def _has_a_place(url: "sa.URL") -> bool:
    """Whether the address says where the database is; else two would have one name."""
    return bool(url.database if url.get_backend_name() in IN_FILES else url.host)


def _server(url: "sa.URL", backend: str) -> str:
    ports = DIALECTS[backend].ports if backend in DIALECTS else ()
    port = url.port or (ports[0] if ports else None)
    return f"{url.host}:{port}" if port else str(url.host)


def _tables(
    scheme: str, server: str, database: str, table: str | None, query: str | None, backend: str, schema: str = ""
) -> Iterator[_Dataset]:
    from sluice.ground.select_guard import tables_of

    if table is not None:
        own, _, name = table.rpartition(".")
        named = [(own, name)]
    else:
        try:
            named = sorted(
                set(tables_of(str(query), backend or "postgresql"))
            )  # where nobody knows, by the usual rules
        except DataError:  # it could not be read by what is known of its dialect now
            named = []
    for own, name in named:
        within = own or (schema if backend in _WITHOUT_DATABASE else DEFAULT_SCHEMA.get(backend, ""))
        yield _Dataset(f"{scheme}://{server}", ".".join(filter(None, [database, within, name])))


def _outputs(release: "Release[Any]", entry: Entry, inputs: Sequence[_Dataset]) -> Iterator[Json]:
    """What is public, or was: one dataset of all editions, with the release as its version."""
    if entry.event not in (State.PUBLISHED, State.WITHDRAWN):
        return
    name = f"{last(release.entries(), State.RECEIVED).body['target']}/{release.product.definition.name}"  # type: ignore[union-attr]
    facets = {"version": _facet("version", {"datasetVersion": release.id})}
    if entry.event == State.WITHDRAWN:
        facets["lifecycleStateChange"] = _facet("lifecycleStateChange", {"lifecycleStateChange": "DROP"})
    else:
        columns = _published(release)
        fields = [{"name": column, "type": kind} for column, kind, _ in columns]
        lineage = {column: {"inputFields": _from(inputs, ways)} for column, _, ways in columns}
        facets |= {
            "schema": _facet("schema", {"fields": fields}),
            "columnLineage": _facet("columnLineage", {"fields": lineage}),
        }
    yield {"namespace": "file", "name": name, "facets": facets}


class _Way(NamedTuple):
    """How a column of the source comes into a published one."""

    column: str
    type: str
    subtype: str
    description: str = ""
    masking: bool = False


def _from(inputs: Sequence[_Dataset], ways: Sequence[_Way]) -> list[Json]:
    """Where several tables are read, nobody can tell here of which a column is: it is said to be of each."""
    found: dict[str, list[Json]] = {}
    for way in ways:
        found.setdefault(way.column, []).append({key: value for key, value in way._asdict().items() if key != "column"})
    return [
        {**each._asdict(), "field": column, "transformations": told}
        for each in inputs
        for column, told in found.items()
    ]


def _published(release: "Release[Any]") -> list[tuple[str, str, list[_Way]]]:
    """Name and type of each published column, and what it is made of."""
    if release.product.definition.product == "tables":
        return list(_of_tables(release.product.definition))
    from tasks.release.records.record_variables import released_variables

    plan = release.product.definition.plan
    return [(name, str(each.kind), _ways(plan, name)) for name, each in released_variables(release).items()]


def _ways(plan: Sequence[Any], name: str) -> list[_Way]:
    steps = [step for step in plan if step.columns and step.concerns(name)]
    computed = next((step for step in reversed(steps) if step.method == "derived"), None)
    of = name if computed is None else str(computed.of)
    methods = [step.method for step in steps]
    if computed is not None:  # it has what was done to the column that it is computed from
        methods = [*(step.method for step in plan if step.columns and step.concerns(of)), "derived"]
    direct = (
        _Way(of, "DIRECT", "TRANSFORMATION", ", ".join(methods), masking={*methods} != {"derived"})
        if methods
        else _Way(of, "DIRECT", "IDENTITY")
    )
    others = dict.fromkeys(
        other for step in steps for other in (*step.strata, *(getattr(step, "given", None) or ())) if other != of
    )
    return [direct, *(_Way(other, "INDIRECT", "CONDITIONAL") for other in others)]


def _of_tables(definition: "TablesDefinition") -> Iterator[tuple[str, str, list[_Way]]]:
    dimensions = [each.variable for each in definition.dimensions]
    for name in dimensions:
        yield name, "nominal", [_Way(name, "DIRECT", "TRANSFORMATION", "codes of a classification")]
    measures = definition.measures or (definition.measure.variable,)
    groups = [_Way(name, "INDIRECT", "GROUP_BY") for name in dimensions]
    for measure in measures:
        added = [_Way(measure, "DIRECT", "AGGREGATION", definition.protection.method, True)] if measure else []
        yield measure or "records", "continuous", [*added, *groups]
