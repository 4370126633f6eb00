"""The locks: what is installed beside the vault is named with its hashes, and nothing else comes with it."""

import re
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deployments.audit import LOCKS as AUDITED
from deployments.locks import LOCKS, ROOT, entries, extras
from tests.deployments.shipped_settings import DEPLOYMENTS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FILES = sorted(LOCKS.glob("*.lock"))
_PIN = r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[^ ]+( ; .+)?"
_DEVELOPERS = {"pytest", "ruff", "mypy", "hypothesis", "playwright", "mkdocs", "ipykernel", "frictionless", "coverage"}


def pinned(*names: str) -> dict[str, list[str]]:
    """The packages of locks, and the versions that each may have on one platform or another."""
    found: dict[str, list[str]] = {}
    for name in names:
        for line in entries((LOCKS / f"{name}.lock").read_text(encoding="utf-8")):
            package, _, version = line.partition(" ; ")[0].partition("==")
            found.setdefault(canonicalize_name(re.sub(r"\[.*", "", package)), []).append(version)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_package_has_one_version_a_platform_and_its_hashes_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    for line, entry in entries(text).items():
        assert re.fullmatch(_PIN, line), line
        rest = entry[len(line) :].split()
        assert set(rest) - {"\\"}, line
        assert all(re.fullmatch(r"\\|--hash=sha256:[0-9a-f]{64}", each) for each in rest), line


def test_those_who_run_releases_get_no_tool_of_developers() -> None:
    run, all_of_it = pinned("run"), pinned("run", "develop")
    assert all_of_it.keys() >= _DEVELOPERS, "they are tools of developers still"
    assert _DEVELOPERS & run.keys() == set()
    warehouses = {canonicalize_name(Requirement(each).name) for extra in extras() for each in PROJECT["optional-dependencies"][extra]}  # noqa: E501  # fmt: skip
    assert warehouses & run.keys() == set(), "an extra is asked for"


@pytest.mark.parametrize("lock", ["run", "develop", *extras()])
def test_a_lock_has_what_the_project_asks_for(lock: str) -> None:
    asked = {"run": PROJECT["dependencies"], "develop": PROJECT["optional-dependencies"]["dev"]}
    known = pinned("run", lock)
    for each in map(Requirement, asked.get(lock) or PROJECT["optional-dependencies"][lock]):
        versions = known[canonicalize_name(each.name)]
        assert all(version in each.specifier for version in versions), f"{each}: make locks"


def test_nothing_is_left_out_that_a_package_of_the_lock_needs_on_this_machine() -> None:
    run = pinned("run")
    for name in run:
        with suppress(PackageNotFoundError):  # it is of another platform
            for needed in map(Requirement, requires(name) or ()):
                if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                    assert canonicalize_name(needed.name) in run, f"{name} needs {needed}"


def test_every_lock_is_audited_but_the_peers_that_nobody_ships() -> None:
    assert set(AUDITED) == {f"locks/{path.name}" for path in FILES} - {"locks/peers.lock"}


def test_whatever_installs_compares_hashes() -> None:
    """Image, Makefile and documents: pip takes what it is given by a lock, or what lies here."""
    texts = [ROOT / name for name in ("Makefile", "Dockerfile", "README.md")]
    documents = [ROOT / "docs" / f"{name}.md" for name in ("index", "installing", "deployment")]
    for path in (*texts, *documents, *sorted(DEPLOYMENTS.rglob("*.md"))):
        joined = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
        joined = joined.replace("$(PIP_INSTALL)", "pip install")
        for line in re.findall(r"^.*\bpip(?: --python \S+)? install\b.*$", joined, re.MULTILINE):
            if line.startswith("PIP_INSTALL"):
                continue
            ours = "--no-deps --no-build-isolation" in line
            assert ours or "--require-hashes" in line, f"{path.name}: {line}"
