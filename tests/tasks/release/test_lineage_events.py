"""Events of OpenLineage: valid by the client of that project, told once, and without anything of the data."""

import importlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from openlineage.client import event_v2
from openlineage.client.naming.dataset import MySQL, Postgres

import tasks.release.lineage_events as lineage_events
from sluice.custody.ledger_entry import Entry
from sluice.custody.states import State
from sluice.ground.errors import DocumentError
from sluice.masking.recoding.derived import Derived
from sluice.masking.recoding.rounding import Rounding
from sluice.settings import settings
from sluice.sources.sources import ConnectionSource
from tasks.release.decisions.notices import Delivery, deliver, tell, undelivered
from tasks.release.lineage_events import KINDS, lineage_event
from tests.flows.house import BLOCKED, House
from tests.flows.stages import stages
from tests.flows.tables_house import TablesHouse
from tests.notices.servers import Hook, web_server

_FACETS = {
    "columnLineage": "column_lineage_dataset",
    "dataQualityAssertions": "data_quality_assertions_dataset",
    "jobType": "job_type_job",
    "lifecycleStateChange": "lifecycle_state_change_dataset",
    "processing_engine": "processing_engine_run",
    "schema": "schema_dataset",
    "version": "dataset_version_dataset",
}


def events(house: House, namespace: str = "sluice") -> list[dict[str, Any]]:
    workspace = house.workspace()
    entries = workspace.ledger.entries(house.id)
    made = [lineage_event(workspace, entries, each, namespace) for each in entries if each.event in KINDS]
    for event in made:
        assert_valid(event)
    return made


def assert_valid(event: dict[str, Any]) -> None:
    """The client's classes take it, and know each facet by the address that it bears."""
    kinds = {"inputs": event_v2.InputDataset, "outputs": event_v2.OutputDataset}
    run, job = event["run"], event["job"]
    event_v2.RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        eventType=event_v2.RunState(event["eventType"]),
        run=event_v2.Run(run["runId"], facets=facets(run["facets"])),
        job=event_v2.Job(job["namespace"], job["name"], facets=facets(job["facets"])),
        **{
            side: [
                kind(
                    each["namespace"], each["name"], facets=facets(each["facets"]),
                    **({"inputFacets": facets(each["inputFacets"])} if "inputFacets" in each else {}),
                )
                for each in event[side]
            ]
            for side, kind in kinds.items()
        },
    )  # fmt: skip
    assert event["schemaURL"] == event_v2.RunEvent._get_schema()


def facets(given: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, content in given.items():
        if name == "sluice_gate":
            continue
        module = importlib.import_module(f"openlineage.client.generated.{_FACETS[name]}")
        kind = getattr(module, content["_schemaURL"].rpartition("/")[2])
        assert content["_schemaURL"] == kind._get_schema()
        parts = {key: value for key, value in content.items() if not key.startswith("_")}
        if name == "columnLineage":
            parts["fields"] = {
                column: module.Fields(
                    inputFields=[
                        module.InputField(
                            each["namespace"], each["name"], each["field"],
                            [module.Transformation(**way) for way in each["transformations"]],
                        )
                        for each in field["inputFields"]
                    ]
                )
                for column, field in parts["fields"].items()
            }  # fmt: skip
        if name == "schema":
            parts["fields"] = [module.SchemaDatasetFacetFields(**field) for field in parts["fields"]]
        if name == "dataQualityAssertions":
            parts["assertions"] = [module.Assertion(**each) for each in parts["assertions"]]
        found[name] = kind(**parts)
    return found


def masking(event: dict[str, Any]) -> dict[str, dict[str, bool]]:
    """Of each published column: the columns that it comes out of, and whether they are said to be masked in it."""
    [output] = event["outputs"]
    fields = output["facets"]["columnLineage"]["fields"]
    return {
        column: {each["field"]: any(way["masking"] for way in each["transformations"]) for each in field["inputFields"]}
        for column, field in fields.items()
    }


def test_a_published_release_tells_what_was_read_judged_and_masked() -> None:
    house = stages(House).at("published")
    received, waiting, published = events(house)
    assert [each["eventType"] for each in (received, waiting, published)] == ["START", "RUNNING", "COMPLETE"]
    assert len({each["run"]["runId"] for each in (received, waiting, published)}) == 1
    assert received["outputs"] == waiting["outputs"] == []  # before it is public nobody is told that it is masked
    assert [each["name"] for each in published["inputs"]] == [str(house.documents / "people.csv")]
    assert masking(published) == {
        "age": {"age": True},
        "sex": {"sex": False},
        "region": {"region": False},
        "income": {"income": True},
    }
    gate = published["run"]["facets"]["sluice_gate"]
    assert (gate["verdict"], gate["policy"]) == ("PASS", "test-policy")
    [source] = waiting["inputs"]
    told = {
        (each["assertion"], each["success"]) for each in source["inputFacets"]["dataQualityAssertions"]["assertions"]
    }
    assert {("k_anonymity", True), ("l_diversity", True), ("contract", True)} <= told


def test_events_hold_no_value_no_figure_and_no_person() -> None:
    house = stages(House).at("published")
    said = json.dumps(events(house))
    people = {"amara", "jonas", "emil", house.definition["title"]}
    values = {"Aldby", "Borgen", "Cresthill", "north", "south", str(len(house.data))}
    assert not {each for each in people | values if each in said}
    names = "eventTime|runId|policyVersion|assertion|_?producer|_?schemaURL|name|namespace"
    without = re.sub(rf'"({names})": "[^"]*"', "", said)
    without = without.replace(house.id, "")
    version = json.dumps(events(house)[0]["run"]["facets"]["processing_engine"]["version"])
    assert not re.search(r"\d", without.replace(version, "")), "a figure"


def test_what_is_computed_from_a_column_is_masked_only_where_that_column_is() -> None:
    derived = Derived(columns=("rent",), of="income", by="linear", factor=0.25)
    rounding = Rounding(columns=("income",), base=1000)
    assert [way.masking for way in lineage_events._ways([derived], "rent")] == [False]
    assert [(way.column, way.masking) for way in lineage_events._ways([rounding, derived], "rent")] == [
        ("income", True)
    ]


def test_a_blocked_release_fails_and_a_withdrawn_one_is_dropped() -> None:
    house = stages(House).at("published")
    house.withdraw(house.id, "an error")
    *_, withdrawn = events(house)
    assert withdrawn["eventType"] == "OTHER"
    assert withdrawn["outputs"][0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "DROP"
    house.policy["rules"][0]["k"] = 400
    house.new_edition()
    assert house.release().code == BLOCKED
    *_, blocked = events(house)
    assert (blocked["eventType"], blocked["outputs"]) == ("FAIL", [])
    assert blocked["run"]["facets"]["sluice_gate"]["verdict"] == "FAIL"
    failed = [each for each in blocked["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
              if each["assertion"] == "k_anonymity"]  # fmt: skip
    assert [(each["success"], each["severity"]) for each in failed] == [(False, "error")]


def test_a_table_comes_out_of_its_dimensions_and_its_measure() -> None:
    house = stages(TablesHouse).at("published")
    *_, published = events(house)
    measure = house.definition["measure"]["variable"]
    dimensions = [each["variable"] for each in house.definition["dimensions"]]
    assert masking(published) == {
        **{name: {name: False} for name in dimensions},
        measure: {measure: True, **dict.fromkeys(dimensions, False)},
    }


@pytest.mark.parametrize(
    ("url", "table", "named"),
    [
        ("postgresql://me:${PG}@db.example/survey", "fair", Postgres("db.example", "5432", "survey", "public", "fair")),
        ("postgresql://me@db.example:6000/survey", "raw.fair", Postgres("db.example", "6000", "survey", "raw", "fair")),
        ("mysql://me@db.example/survey", "fair", MySQL("db.example", "3306", "survey", "fair")),
    ],
)
def test_a_table_has_the_name_that_other_tools_give_it(
    url: str, table: str, named: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"url": url, "schemas": ["public", "raw", "survey"], **({"secrets": ["PG"]} if "PG" in url else {})}
    (tmp_path / "connections.yaml").write_text(yaml.safe_dump({"connections": {"warehouse": connection}}))
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    source = ConnectionSource(connection="warehouse", table=table)
    assert list(lineage_events._of_connection(source.connection, source.table, None)) == [
        (named.get_namespace(), named.get_name())
    ]
    query = f"select * from {table}"
    assert list(lineage_events._of_connection("warehouse", None, query)) == [(named.get_namespace(), named.get_name())]


def test_where_the_address_is_a_secret_the_connection_names_the_table(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"url": "${WHOLE}", "secrets": ["WHOLE"], "tables": ["raw.fair"]}
    (tmp_path / "connections.yaml").write_text(yaml.safe_dump({"connections": {"warehouse": connection}}))
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    assert list(lineage_events._of_connection("warehouse", "raw.fair", None)) == [("sluice://warehouse", "raw.fair")]
    assert list(lineage_events._of_connection("gone", "raw.fair", None)) == [("sluice://gone", "raw.fair")]
    for named in ("fair", None):  # no schema is invented that its kind of database may not have
        query = "select age from fair"
        assert list(lineage_events._of_connection("gone", named, query)) == [("sluice://gone", "fair")]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (["received", "received", "published"], [(0, "START"), (0, "RUNNING"), (0, "COMPLETE")]),
        (["received", "blocked", "received", "rejected"], [(0, "START"), (0, "FAIL"), (1, "START"), (1, "ABORT")]),
        (["received", "published", "withdrawn"], [(0, "START"), (0, "COMPLETE"), (0, "OTHER")]),
        (["received", "masked", "pending_review"], [(0, "START"), (0, "RUNNING")]),
    ],
)
def test_a_run_starts_once_and_ends_once(events: list[str], told: list[tuple[int, str]]) -> None:
    entries = [Entry(number, "", "r", event, "", {}, "", "") for number, event in enumerate(events)]
    assert [lineage_events._attempt(entries, each) for each in entries if each.event in KINDS] == told


@pytest.mark.parametrize(
    "url",
    [
        "mssql+pyodbc://me@h/db;PWD=hunter2",
        "duckdb:///md:x;motherduck_token=hunter2",
        "postgresql:///survey?host=/run/1",
    ],
)
def test_an_address_that_may_hold_a_secret_or_names_no_server_is_not_told(
    url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections = {"connections": {"warehouse": {"url": url, "tables": ["raw.fair"]}}}
    (tmp_path / "connections.yaml").write_text(yaml.safe_dump(connections))
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(tmp_path / "connections.yaml"))
    assert list(lineage_events._of_connection("warehouse", "raw.fair", None)) == [("sluice://warehouse", "raw.fair")]


def test_what_the_submitter_writes_of_a_column_is_not_told() -> None:
    house = stages(House).at("published")
    house.variable("age")["description"] = "Alice Smith earns 91,250"
    house.new_edition()
    house.release()
    assert "Alice" not in json.dumps(events(house))


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    with web_server() as hook:
        monkeypatch.setenv("SLUICE_OPENLINEAGE_URL", hook.url)
        monkeypatch.setenv("SLUICE_OPENLINEAGE_KEY", "a key of the catalogue")
        monkeypatch.setenv("SLUICE_OPENLINEAGE_NAMESPACE", "agency")
        yield hook


def test_each_event_is_posted_once_and_waits_for_a_catalogue_that_is_down(catalogue: Hook) -> None:
    house = stages(House).at("published")
    catalogue.code = 503
    tell(house.workspace())
    assert (undelivered(house.workspace()).waiting, len(catalogue.taken)) == (3, 1)  # then left alone for this time
    catalogue.code, catalogue.taken = 201, []
    assert deliver(house.workspace()) == Delivery(sent=3)
    tell(house.workspace())
    told = [json.loads(body) for _, body in catalogue.taken]
    assert {each["eventType"] for each in told} == {"START", "RUNNING", "COMPLETE"}
    assert len(catalogue.taken) == 3
    assert sorted(told, key=lambda each: str(each["eventTime"])) == events(house, "agency")
    assert {headers["Authorization"] for headers, _ in catalogue.taken} == {"Bearer a key of the catalogue"}


def test_a_lost_document_is_no_event_and_stops_nothing(catalogue: Hook) -> None:
    house = stages(House).at("published")
    received = next(each for each in house.workspace().ledger.entries(house.id) if each.event == State.RECEIVED)
    (house.home / "vault/objects" / f"{received.body['contract']}.json").unlink()
    assert deliver(house.workspace()).refused == 3
    assert catalogue.taken == []


def test_an_error_that_nobody_foresaw_delays_its_channel_alone(
    catalogue: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_WEBHOOK_URL", catalogue.url)
    monkeypatch.setenv("SLUICE_WEBHOOK_SECRET", "a secret of two machines")
    monkeypatch.setattr("sluice.notices.webhook.LineageBackend.send", lambda *_: 1 / 0)
    house = stages(House).at("published")
    tell(house.workspace())
    assert len(catalogue.taken) >= 3
    assert (undelivered(house.workspace()).waiting, undelivered(house.workspace()).refused) == (3, 0)


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_a_key_that_no_header_can_hold_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_OPENLINEAGE_KEY", key)
    with pytest.raises(DocumentError, match="SLUICE_OPENLINEAGE_KEY"):
        settings()
