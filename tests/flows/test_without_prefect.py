"""Commands that run no flow import no Prefect, which takes a second and more."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.house import BLOCKED, DONE, ERROR, WAITING, House

pytestmark = pytest.mark.servers

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"SLUICE_PROJECT": "/", "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}  # threads wait for cores, busily
FORBID = """
import sys
class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "prefect":
            raise ImportError("Prefect is imported")
sys.meta_path.insert(0, Forbidden())
"""
RUN = """
from flows.cli.main import main
for line in sys.stdin:
    code = main(line.rstrip("\\n").split("\\t"))
    print(f"exit code {code}", flush=True)
"""


def run(house: House, *commands: tuple[str, ...]) -> dict[str, int]:
    """The exit code of each command, all in one process in which Prefect cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-c", FORBID + RUN],
        input="\n".join("\t".join(command) for command in commands),
        env=ENVIRONMENT | {"SLUICE_HOME": str(house.home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Prefect is imported" not in done.stdout + done.stderr, done.stderr
    codes = [int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("exit code")]
    return {" ".join(command[:2]): code for command, code in zip(commands, codes, strict=True)}


def test_commands_that_run_no_flow_import_no_prefect(pending: House, tmp_path: Path) -> None:
    plan, masked, hierarchy = tmp_path / "plan.yaml", tmp_path / "masked.csv", tmp_path / "region.csv"
    plan.write_text("- {method: removal, columns: [household, town]}\n", encoding="utf-8")
    hierarchy.write_text("code,parent\nTotal,\nnorth,Total\nsouth,Total\n", encoding="utf-8")
    source, contract = str(pending.documents / "people.csv"), str(pending.documents / "contract.yaml")
    cells = str(tmp_path / "cells.csv")
    releases = tmp_path / "releases"
    releases.mkdir()
    shutil.copy(pending.file, releases)
    codes = run(
        pending,
        ("status",),
        ("review", pending.id),
        ("ledger", "show", pending.id),
        ("ledger", "verify"),
        ("init", source, "-o", "-"),
        ("methods",),
        ("rules",),
        ("schemas", str(tmp_path)),
        ("deployments", str(releases)),
        ("mask", source, "--plan", str(plan), "--contract", contract, "--output", str(masked)),
        ("assess", source, str(masked), "--contract", contract),
        (
            "protect-table",
            source,
            "--hierarchy",
            f"region={hierarchy}",
            "--rule",
            "minimum_frequency=3",
            "--output",
            cells,
        ),
        ("audit-table", cells, "--hierarchy", f"region={hierarchy}"),
        ("redesign-table", source, "--hierarchy", f"region={hierarchy}", "--rule", "minimum_frequency=3"),
        ("camouflage", source, "--column=income", "--width=9000", f"-o{cells}", f"--seed-file={tmp_path / 'seed'}"),
        ("approve", pending.id, "--as", "amara"),
        ("request-changes", pending.id, "--as", "jonas", "--comment", "a test"),
    )
    others = {f"approve {pending.id}": WAITING, f"request-changes {pending.id}": WAITING, f"assess {source}": BLOCKED}
    assert codes == dict.fromkeys(codes, DONE) | others


ARRAYS = {"numpy", "pyarrow", "pandas"}
LOADED = """
import sys
from flows.cli.main import main
code = main(sys.argv[1:])
heavy = {
    "numpy", "pyarrow", "pandas", "scipy", "numba", "great_expectations", "pandera", "sklearn", "prefect", "matplotlib",
    "duckdb", "sqlalchemy", "policies.rules", "sluice.masking", "sluice.tabular",
    "tasks.release.records.record_findings",
}
print("loaded", code, *sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def loaded(house: House, *command: str) -> tuple[int, set[str]]:
    """The exit code of a command in a process of its own, and what it has loaded of all that measures and runs."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command],
        env=ENVIRONMENT | {"SLUICE_HOME": str(house.home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    _, code, *modules = done.stderr.splitlines()[-1].split()
    return int(code), set(modules)


@pytest.mark.parametrize("command", ["status", "board", "ledger show"])
def test_who_asks_the_ledger_waits_for_nothing_that_measures(pending: House, command: str) -> None:
    of_release = (pending.id,) if command == "ledger show" else ()
    assert loaded(pending, *command.split(), *of_release) == (DONE, {"sqlalchemy"})


def test_help_is_there_at_once(house: House) -> None:
    assert loaded(house, "--help") == (DONE, set())


@pytest.mark.parametrize(
    ("document", "needed"),
    [
        ("release.yaml", {*ARRAYS, "sluice.masking"}),
        ("contract.yaml", {*ARRAYS, "sluice.masking", "sqlalchemy", "sluice.tabular"}),
        ("policy.yaml", {*ARRAYS, "sluice.masking", "sqlalchemy", "policies.rules", "sluice.tabular"}),
    ],
)
def test_a_wrong_document_is_refused_before_what_judges_data_is_loaded(
    house: House, document: str, needed: set[str]
) -> None:
    """pandas is there: the models of methods and rules say of what they are functions. A definition is read before a
    contract, and a contract before a policy."""
    wrong = house.documents / document
    wrong.write_text(f"{wrong.read_text(encoding='utf-8')}\nunknown: 1\n", encoding="utf-8")
    assert loaded(house, "check", str(house.file)) == (ERROR, needed)


def test_a_decision_waits_for_nothing_that_measures(pending: House) -> None:
    """Whoever approves has the documents read again; whoever refuses need not."""
    refused = loaded(pending, "reject", pending.id, "--as", "jonas", "--comment", "a test")
    assert refused == (WAITING, {"sqlalchemy"})
    documents = {*ARRAYS, "sluice.masking", "sqlalchemy", "policies.rules", "sluice.tabular"}
    assert loaded(pending, "approve", pending.id, "--as", "amara") == (WAITING, documents)


def test_the_chain_is_imported_without_what_single_steps_need() -> None:
    """Not every release is validated again, added up, learned from or published into a database."""
    heavy = {"sqlglot", "duckdb", "great_expectations", "sklearn", "numba", "matplotlib", "prefect", "scipy.stats"}
    program = "import sys, flows.chain\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_the_search_finds_prefect_where_it_is() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{FORBID}\nimport flows.release"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "Prefect is imported" in done.stderr


def test_what_works_outside_a_release_imports_no_prefect() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "tasks" / "workbench").rglob("*.py")
    ]
    assert "tasks.workbench.assess" in modules
    program = f"{FORBID}\nimport importlib\nfor name in {modules}: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
