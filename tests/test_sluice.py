"""`import sluice`: light; and which doors lead to the floors above."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sluice

ROOT = Path(__file__).resolve().parents[1]


def modules_after(code: str) -> set[str]:
    run = f"{code}\nimport sys\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_every_function_is_offered_where_its_file_is() -> None:
    functions = [name for name in sluice.__all__ if name != "__version__"]
    assert dir(sluice) == sluice.__all__
    for name in functions:
        assert getattr(sluice, name).__module__.startswith("tasks.workbench.")
    assert sluice.__version__
    with pytest.raises(AttributeError, match="module 'sluice' has no attribute 'maks'"):
        sluice.maks  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.servers
@pytest.mark.parametrize("code", ["import sluice", "import sluice.ground.errors, sluice.ground.verdict"])
def test_its_import_loads_nothing_heavy(code: str) -> None:
    loaded = {name.split(".")[0] for name in modules_after(code)}
    assert not loaded & {"pandas", "numpy", "matplotlib", "prefect", "policies", "schemas", "tasks", "flows"}


@pytest.mark.servers
def test_methods_and_measures_open_no_door() -> None:
    loaded = modules_after("import sluice.masking, sluice.risk.classes.suda, sluice.tabular.audit.pattern_audit")
    assert not {name.split(".")[0] for name in loaded} & {
        "matplotlib",
        "prefect",
        "policies",
        "schemas",
        "tasks",
        "flows",
    }


@pytest.mark.servers
def test_the_functions_need_neither_prefect_nor_a_plot() -> None:
    """matplotlib is loaded when something is drawn in a notebook; the report of `assess` draws without it."""
    names = [name for name in sluice.__all__ if name != "__version__"]
    loaded = modules_after(f"import sluice\nfor name in {names}: getattr(sluice, name)")
    assert "tasks.workbench.audit" in loaded
    assert not {name.split(".")[0] for name in loaded} & {"prefect", "flows", "matplotlib"}


def test_no_other_door_leads_upwards() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    doors = [each for contract in settings["contracts"] for each in contract.get("ignore_imports", [])]
    assert doors == [
        "sluice -> tasks.workbench.*",
        "sluice -> tasks.workbench",
        "sluice.__main__ -> flows.cli.main",
        "sluice.extending -> policies.reported_shares",
        "sluice.extending -> policies.rules.attack_rule",
        "sluice.__main__ -> flows.cli.main",
    ]
