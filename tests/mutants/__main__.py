"""Whether tests find the faults planted by hand: `python -m tests.mutants`.

Each fault of faults.yaml is planted in a copy of the project, alone, and tests are run until one fails: the nearest to
the file first, that of its name, those that import it, and the folder that mirrors it, then all; of each those that
start nothing, then whole releases, and servers' tests where no other finds it.
In the end the tests that failed are run without any fault, where they must pass; one that does not has found nothing,
and the others are asked.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copy2, copytree, rmtree
from tempfile import TemporaryDirectory
from time import perf_counter

from tests.mutants.planted import ROOT, Fault, faults
from tests.tiers import COSTS

TIERS = ("unit", "chain", "smoke", "servers")
QUICK = TIERS[:3]  # what `make test` runs
LEAST = 0.95  # share of the faults that these must find; the rest may be left to the servers' tests

# They read the text of the project, by what Git knows of it; a fault is in what the product does.
_NOT_ASKED = ("tests/architecture", "tests/mutants")
_OUTCOMES = {0: "passed", 5: "no tests"}


@dataclass(frozen=True)
class Finding:
    """What came of one fault."""

    fault: Fault
    tier: str = ""  # of the test that found it; empty: none did
    test: str = ""
    seconds: float = 0.0

    @property
    def quickly(self) -> bool:
        return self.tier in QUICK


def main() -> None:
    """Plant each, print what found it, and end with 1 where too few are found."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this fault; may be repeated")
    parser.add_argument("--nearest", action="store_true", help="run no other tests than those nearest to the file")
    given = parser.parse_args()
    every = faults()
    if unknown := {*given.only} - {fault.name for fault in every}:
        parser.error(f"no fault is named {', '.join(sorted(unknown))}")
    chosen = [fault for fault in every if not given.only or fault.name in given.only]
    try:
        for fault in chosen:
            fault.planted((ROOT / fault.file).read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(str(error))
    with TemporaryDirectory(prefix="mutants-") as folder:
        copy = _copy(Path(folder) / "project")
        found = {fault.name: _show(_hunt(fault, copy, given.nearest)) for fault in chosen}
        flawed: list[str] = []
        while more := _failing_anyway(copy, found.values()):
            flawed += more
            for each in [each for each in found.values() if each.test in more]:
                found[each.fault.name] = _show(_hunt(each.fault, copy, given.nearest, flawed))
    sys.exit(_judge([*found.values()], flawed))


def nearest(file: str, near: str = "") -> list[list[str]]:
    """The tests nearest to a file of the product: of its own name, or `near`; those that import it, the shortest first;
    in folders around it."""
    parts = Path(file).with_suffix("").parts
    parts = parts[1:] if parts[0] == "sluice" else parts
    own = Path(near) if near else Path("tests", *parts[:-1], f"test_{parts[-1]}.py")
    folders = [folder for folder in list(own.parents)[:-2] if (ROOT / folder).is_dir()]  # but for that of all tests
    importing = [path for path in _importing(file) if path != own]
    places = [[own] if (ROOT / own).exists() else [], importing, *([each] for each in folders)]
    return [[str(path) for path in place] for place in places if place]


def _importing(file: str) -> list[Path]:
    """The files of tests that name this module in an import, the shortest first."""
    package, _, name = ".".join(Path(file).with_suffix("").parts).rpartition(".")
    named = re.compile(
        rf"^ *(from {package}\.{name} |import {package}\.{name}\b|from {package} import .*\b{name}\b)", re.M
    )
    found = [path for path in (ROOT / "tests").rglob("test_*.py") if named.search(path.read_text(encoding="utf-8"))]
    return [path.relative_to(ROOT) for path in sorted(found, key=lambda path: (path.stat().st_size, path))]


def _copy(target: Path) -> Path:
    """The project with its compiled files, whose ages are kept, so that only what is edited is compiled anew."""
    target.mkdir()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in sorted({name.partition("/")[0] for name in listed.split("\0") if name}):
        if (ROOT / name).is_dir():
            copytree(ROOT / name, target / name, symlinks=True)
        else:
            copy2(ROOT / name, target / name)
    (target / ".venv").symlink_to(sys.prefix)
    return target


def _hunt(fault: Fault, copy: Path, nearest_only: bool, but: Sequence[str] = ()) -> Finding:
    """Plant the fault in the copy, look for a test that fails, `but` for these, and take it out again."""
    file, begun = copy / fault.file, perf_counter()
    original, age = file.read_bytes(), file.stat()
    file.write_text(fault.planted(original.decode()), encoding="utf-8")
    try:
        for tiers, places in _ways(nearest(fault.file, fault.near), nearest_only):
            if test := _first_failure(copy, tiers, places, but):
                return Finding(fault, _tier(copy, test, tiers), test, perf_counter() - begun)
        return Finding(fault, seconds=perf_counter() - begun)
    finally:
        file.write_bytes(original)
        os.utime(file, ns=(age.st_atime_ns, age.st_mtime_ns))


def _ways(near: Sequence[Sequence[str]], nearest_only: bool) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Which tests are run, of which tiers: what takes seconds before what takes minutes."""
    for tiers in (QUICK, TIERS[3:]):
        yield from ((tiers, place) for place in near)
        if not nearest_only:
            yield tiers, ["tests"]


def _first_failure(copy: Path, tiers: Iterable[str], places: Iterable[str], but: Iterable[str]) -> str | None:
    """The first of these tests that fails. Raises RuntimeError where pytest itself does."""
    left_out = [*(f"--ignore={each}" for each in _NOT_ASKED), *(f"--deselect={each}" for each in but)]
    ended = _pytest(copy, "-x", "-m", " or ".join(tiers), *left_out, *places)
    failed = _failed(ended.stdout)
    if ended.returncode not in _OUTCOMES and not failed:
        raise RuntimeError(f"pytest ended with {ended.returncode}: {(ended.stdout + ended.stderr)[-2000:]}")
    return failed[0] if failed else None


def _tier(copy: Path, test: str, asked: Sequence[str]) -> str:
    """Of a test that was just run; of one that could not be loaded, the first of those that were asked."""
    costs = copy / COSTS
    lines = costs.read_text(encoding="utf-8").splitlines() if costs.exists() else []
    tier = next((tier for _, tier, name in (line.split("\t", 2) for line in lines) if name == test), asked[0])
    return tier if tier in asked else asked[-1]  # a `smoke` is one of `servers`


def _pytest(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    scratch = copy.parent / "scratch"
    environment = os.environ | {
        "PYTHONPATH": str(copy),  # before the project that is installed, for processes that tests start
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "1000",  # or pytest cuts off the names of tests
        "TMPDIR": str(scratch),  # golden files know temporary folders by it
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-q"]
    command += ["-p", "no:cacheprovider", "-p", "tests.mutants.unlimited"]
    scratch.mkdir()
    scratch.chmod(0o755)  # PostgreSQL, as root runs it, is another user
    ended = subprocess.run([*command, *arguments], cwd=copy, env=environment, capture_output=True, text=True)
    rmtree(scratch, ignore_errors=True)
    return ended


def _failed(said: str) -> list[str]:
    """The tests that failed, by pytest's summary; a file where it could not even be loaded."""
    lines = [line.partition(" ")[2] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return [_test_of(line) for line in lines if line.startswith("tests/")]


def _test_of(line: str) -> str:
    """A test's name without the message behind it; parameters may hold what otherwise parts the two."""
    plain = line.partition(" - ")[0]
    return plain if "[" not in plain else line.partition("] - ")[0].removesuffix("]") + "]"


def _failing_anyway(copy: Path, found: Iterable[Finding]) -> list[str]:
    """Those of the tests that failed which fail without a fault, too, and so have found none."""
    tests = sorted({each.test for each in found if each.test})
    return [test for test in _failed(_pytest(copy, *tests).stdout) if test in tests] if tests else []


def _show(finding: Finding) -> Finding:
    by = f"{finding.tier:8} {finding.test}" if finding.tier else "NOT FOUND"
    print(f"{finding.fault.name:36} {finding.seconds:5.0f} s  {by}", flush=True)
    return finding


def _judge(found: Sequence[Finding], flawed: Sequence[str]) -> int:
    """What is said in the end, and the code to end with."""
    quickly = sum(each.quickly for each in found)
    by_tier = {tier: sum(each.tier == tier for each in found) for tier in TIERS}
    counts = ", ".join(f"{count} by {tier}" for tier, count in by_tier.items() if count)
    print(f"\n{len(found)} faults, found: {counts or 'none'}; `make test` finds {quickly}.")
    missed = [each.fault for each in found if not each.tier]
    for fault in missed:
        print(f"{fault.name} is found by no test: {fault.says} ({fault.file}).")
    for test in flawed:
        print(f"{test} fails without any fault, too, and so finds none.")
    return int(bool(missed or flawed) or quickly < LEAST * len(found))


if __name__ == "__main__":
    main()
