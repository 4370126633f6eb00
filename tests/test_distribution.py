"""What is installed: under a name of our own, and beside a project whose packages have the names of ours."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.extension.installed import install

ROOT = Path(__file__).parents[1]
ROOMS = ("flows", "tasks", "schemas", "policies")
NAME = re.compile(rf"({'|'.join(ROOMS)})\.\w+(\.\w+)*\.?")
PROJECT = {
    "flows/__init__.py": "OURS = 1\n",
    "tasks/__init__.py": "",
    "tasks/load.py": "OURS = 2\n",
    "schemas.py": "",
    "policies.py": "",
}
USED = """
import flows, tasks.load
import sluice, pandas
assert (flows.OURS, tasks.load.OURS) == (1, 2)
people = pandas.DataFrame({"age": [30, 30, 41, 41, 41], "sex": ["f", "f", "m", "m", "m"]})
print(sluice.k_anonymity(people, ["age", "sex"]).k, sluice.__file__)
"""


def test_no_hint_installs_a_distribution_that_is_not_ours() -> None:
    """`sluice` on the package index is another program."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    assert named == "sluice-sdc"
    places = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    places += [path for room in (*ROOMS, "sluice") for path in (ROOT / room).rglob("*.py")]
    wrong = re.compile(r"\bsluice\[|pip install [^\n]*\bsluice(?![-\w])")
    found = {path.name: wrong.findall(path.read_text(encoding="utf-8")) for path in places}
    assert not {name: hints for name, hints in found.items() if hints and name != "software.py"}


@pytest.mark.chain
def test_no_text_names_a_module_that_a_wheel_has_elsewhere() -> None:
    for path in (path for room in (*ROOMS, "sluice") for path in (ROOT / room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert not list(filter(NAME.fullmatch, texts)), f"{path}: name it by __package__ or the module's __name__"


@pytest.mark.servers
def test_it_works_beside_a_project_with_packages_of_the_same_names(tmp_path: Path) -> None:
    tree, installed, project = tmp_path / "tree", tmp_path / "installed", tmp_path / "project"
    for room in (*ROOMS, "sluice"):
        shutil.copytree(ROOT / room, tree / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "setup.py", tree)
    ours = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    data = ours[ours.index("[project.scripts]") : ours.index("[tool.ruff]")]  # the rest asks for setuptools of 2025
    (tree / "pyproject.toml").write_text(f'[project]\nname = "sluice-sdc"\nversion = "7.0"\n{data}')
    setup = [sys.executable, "setup.py", "-q"]
    subprocess.run([*setup, "build_py", "--build-lib", str(installed)], cwd=tree, check=True, capture_output=True)
    subprocess.run([*setup, "egg_info", "--egg-base", str(installed)], cwd=tree, check=True, capture_output=True)
    assert {path.name for path in installed.iterdir()} == {"sluice", "sluice_sdc", "sluice_sdc.egg-info"}
    assert (installed / "sluice_sdc.egg-info" / "top_level.txt").read_text().split() == ["sluice", "sluice_sdc"]
    assert (installed / "sluice_sdc" / "flows" / "desk" / "desk.css").is_file()
    install(installed)
    for name, content in PROJECT.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content)

    def run(*arguments: str) -> str:
        places = os.pathsep.join(map(str, (project, installed)))  # the project's packages come first
        environment = os.environ | {"PYTHONPATH": places, "SLUICE_HOME": str(tmp_path / "home")}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("-m", "sluice", "--version").startswith("sluice 7.0")
    rules = run("-m", "sluice", "rules")
    assert "`k_anonymity`" in rules
    assert "`acme_top`" in rules  # a check of another distribution finds what it derives from
    assert run("-c", USED).split() == ["2", str(installed / "sluice" / "__init__.py")]
    worker = "from sluice_sdc.flows.worker import *; print(COMMAND, installed_flow(ENTRYPOINT).name)"
    assert run("-c", worker).endswith("-m sluice_sdc.flows.engine release\n")
