"""`make locks`: the versions and hashes of what is installed, one file for each purpose, in the folder `locks`.

`run.lock` has what releases are run with, and nothing else; `develop.lock` what tests, documentation and linters need
beside it; one more for each extra, with what the extra brings. pip compares each package with its hash, so that
nobody who can put a file on the package index, or on the way from it, has it run beside the vault.

Versions that are locked stay; `make locks ARGS=--upgrade` takes the newest that fit.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "locks"
# What is asked for by purpose, where pyproject.toml does not say it. tools.lock brings what checks and makes the locks.
TOOLS = ("pip-audit", "cyclonedx-bom", "uv")
_DEVELOP = "dev"
_OPTIONS = (
    "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate",
)  # fmt: skip
_ENTRY = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==(?P<version>[^ ]+)(?P<marker> ; [^\\\n]+)?", re.M)


def entries(lock: str) -> dict[str, str]:
    """The packages of a lock: what stands before the hashes -> the whole entry, with its hashes."""
    parts = re.split(r"\n(?=[A-Za-z0-9])", lock.strip())
    return {part.split(" \\\n")[0]: part for part in parts if part}


def extras() -> list[str]:
    """The optional dependencies that somebody who runs Sluice may want."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name != "dev"]


def main(uv: str, upgrade: bool = False) -> None:
    """Write all locks anew, by the program uv."""
    kept = [path.stem for path in sorted(LOCKS.glob("*.lock")) if path.stem not in ("tools", "peers")]
    pins = [] if upgrade else sorted({line for name in kept for line in _pins_of(name)})
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    ours = ["pyproject.toml"]
    run = _resolved(uv, ours, build, pins)
    _write("run", run)
    _write("develop", _beside(run, _resolved(uv, ours, build, pins, [_DEVELOP, *extras()])))
    for extra in extras():
        _write(extra, _beside(run, _resolved(uv, ours, build, pins, [extra])))
    _write("tools", _resolved(uv, [], TOOLS, [] if upgrade else _pins_of("tools")))
    # Two of the peers name versions that exclude each other: their list is taken as it is.
    _write("peers", _resolved(uv, [], _pins_of("peers"), [], options=["--no-deps"]))


def _pins_of(name: str) -> list[str]:
    return [*entries((LOCKS / f"{name}.lock").read_text(encoding="utf-8"))]


def _resolved(
    uv: str,
    files: Sequence[str],
    asked: Iterable[str],
    pins: Sequence[str],
    extra: Sequence[str] = (),
    options: Sequence[str] = (),
) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        wanted, constraint, found = (Path(folder) / name for name in ("asked.in", "pins.txt", "found.txt"))
        wanted.write_text("\n".join(asked), encoding="utf-8")
        constraint.write_text("\n".join(pins), encoding="utf-8")
        chosen = [argument for name in extra for argument in ("--extra", name)]
        subprocess.run(
            [uv, "pip", "compile", *_OPTIONS, *options, *chosen, "--constraint", constraint, *files, wanted,
             "-o", found],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return entries(found.read_text(encoding="utf-8"))


def _beside(run: dict[str, str], found: dict[str, str]) -> dict[str, str]:
    """What is not in the lock of those who run releases, or is needed on more platforms than there.

    Raises ValueError where one package would have two versions.
    """
    pins = [_ENTRY.match(line) for line in run]
    versions = {(each["name"], each["version"]) for each in pins if each}
    names, rest = {name for name, _ in versions}, {line: entry for line, entry in found.items() if line not in run}
    for line in rest:
        entry = _ENTRY.match(line)
        if entry and entry["name"] in names and (entry["name"], entry["version"]) not in versions:
            raise ValueError(f"run.lock has another version of what is needed here: {line}")
    return rest


def _write(name: str, found: dict[str, str]) -> None:
    (LOCKS / f"{name}.lock").write_text("\n".join(found.values()) + "\n", encoding="utf-8")
    print(f"locks/{name}.lock: {len(found)} packages")


if __name__ == "__main__":
    main(sys.argv[1], "--upgrade" in sys.argv[2:])
