"""prefect.yaml: what the release definitions of a folder give, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.events import AutomationCore, EventTrigger

from flows.deployments import prefect_yaml
from flows.worker import installed_flow
from sluice.custody.states import State
from sluice.ground.errors import DocumentError
from tasks.release.outcome import Outcome
from tasks.runs_on_server import WAITS
from tests.flows.house import DONE, ERROR, House, definition
from tests.golden import golden

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, file: str, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(yaml.safe_dump(definition() | changes), encoding="utf-8")
    return folder


def deployments(folder: Path, project: Path) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = yaml.safe_load(prefect_yaml(folder, project))["deployments"]
    return made


def test_the_shipped_file_is_what_the_shipped_definitions_give() -> None:
    shipped = (ROOT / "deployments" / "prefect.yaml").read_text(encoding="utf-8")
    remedy = "run: sluice deployments deployments/releases --output deployments/prefect.yaml"
    assert shipped == prefect_yaml(ROOT / "deployments" / "releases", ROOT), remedy


def test_a_deployment_says_when_the_release_runs(tmp_path: Path) -> None:
    write(
        tmp_path / "releases", "survey.yaml", name="survey",
        schedule={"cron": "0 5 1 * *", "timezone": "Europe/Vienna"},
        trigger={"resource": "warehouse.people"},
    )  # fmt: skip
    assert deployments(tmp_path / "releases", tmp_path) == [
        {
            "name": "survey",
            "entrypoint": "flows.release.release_flow",
            "parameters": {"definition": "releases/survey.yaml"},
            "description": "**People and their incomes** (records): submitted by emil, judged by the policy policy "
            "under the contract contract, put on the shelf *published* once people approve",
            "tags": ["sluice", "survey"],
            "work_pool": {"name": "sluice"},
            "pull": [],
            "concurrency_limit": {"limit": 1, "collision_strategy": "ENQUEUE"},
            "schedules": [{"cron": "0 5 1 * *", "timezone": "Europe/Vienna"}],
            "triggers": [
                {
                    "type": "event",
                    "name": "warehouse.table.loaded starts survey",
                    "expect": ["warehouse.table.loaded"],
                    "match": {"prefect.resource.id": "warehouse.people"},
                }
            ],
        }
    ]


def test_without_schedule_or_trigger_it_runs_when_somebody_starts_it(tmp_path: Path) -> None:
    [made] = deployments(write(tmp_path, "one.yaml"), tmp_path)
    assert not {"schedules", "triggers"} & set(made)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    write(tmp_path / "a", "1.yaml", name="beta")
    write(tmp_path / "a", "2.yaml", name="alpha")
    assert [made["name"] for made in deployments(tmp_path / "a", tmp_path)] == ["alpha", "beta"]


def test_a_folder_outside_the_project_is_refused(tmp_path: Path) -> None:
    golden.refused(DocumentError, prefect_yaml, write(tmp_path / "elsewhere", "one.yaml"), tmp_path / "project")


def test_no_secret_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "swordfish-7193")
    folder = write(tmp_path, "one.yaml", source={"connection": "warehouse", "table": "people"})
    text = prefect_yaml(folder, tmp_path)
    assert "swordfish" not in text
    assert "WAREHOUSE_PASSWORD" not in text


@pytest.mark.parametrize(
    "changes",
    [
        {"schedule": {"cron": "61 5 1 * *"}},
        {"schedule": {"cron": "monthly, please"}},
        {"trigger": {"resource": "warehouse.{{ $HOME }}"}},
        {"owner": ""},
    ],
)
def test_a_wrong_definition_is_refused_by_name(tmp_path: Path, changes: dict[str, Any]) -> None:
    write(tmp_path, "wrong.yaml", **changes)
    with pytest.raises(DocumentError) as refused:
        prefect_yaml(tmp_path, tmp_path)
    assert "wrong.yaml" in str(refused.value)
    golden(refused.value)


def test_two_definitions_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "one.yaml")
    write(tmp_path, "two.yaml")
    golden.refused(DocumentError, prefect_yaml, tmp_path, tmp_path)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    golden.refused(DocumentError, prefect_yaml, tmp_path, tmp_path)


def test_the_command_writes_it_and_says_how_to_deploy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(tmp_path / "house")
    folder = write(tmp_path / "releases", "one.yaml")
    monkeypatch.chdir(tmp_path)
    told = house.sluice("deployments", "releases", "--output", "prefect.yaml")
    assert told.code == DONE
    golden.words(told.words)
    assert (tmp_path / "prefect.yaml").read_text() == prefect_yaml(folder, tmp_path)
    assert house.sluice("deployments", "releases").out == prefect_yaml(folder, tmp_path)
    monkeypatch.setenv("SLUICE_PROJECT", str(tmp_path))  # from another folder, the names are still those of the project
    monkeypatch.chdir(folder)
    assert house.sluice("deployments", ".").out == prefect_yaml(folder, tmp_path)
    assert house.sluice("deployments", "nowhere").code == ERROR


def test_the_automation_for_crashed_runs_spares_those_that_wait() -> None:
    """That Prefect takes the file; a run whose heartbeats stop as it waits must not be marked as crashed."""
    content = yaml.safe_load((ROOT / "deployments" / "crashed-runs.yaml").read_text(encoding="utf-8"))
    trigger = AutomationCore.model_validate(content).trigger
    assert isinstance(trigger, EventTrigger)
    assert {WAITS, "prefect.flow-run.heartbeat", "prefect.flow-run.Completed"} <= trigger.expect
    ends = {Outcome.model_construct(state=state).end for state in State}
    assert {f"prefect.flow-run.{end}" for end in ends} <= trigger.expect  # Prefect names the event as the state


def test_the_deployment_of_notices_is_started_by_runs_that_break_and_not_by_its_own() -> None:
    content = yaml.safe_load((ROOT / "deployments" / "notices.yaml").read_text(encoding="utf-8"))
    [deployment] = content["deployments"]
    assert installed_flow(deployment["entrypoint"]).name == "remind"
    assert deployment["pull"] == [], "it is run from what is installed"
    [trigger] = [
        EventTrigger.model_validate(each | {"posture": "Reactive"})
        for each in [
            {name: part for name, part in given.items() if name not in ("type", "name")}
            for given in deployment["triggers"]
        ]
    ]
    assert trigger.expect == {"prefect.flow-run.Crashed", "prefect.flow-run.Failed"}
    assert "release" in str(trigger.match_related), "its own failure would start it again and again"
