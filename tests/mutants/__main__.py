"""Whether tests find the faults planted by hand: `python -m tests.mutants`.

Each fault of faults.yaml is planted in a copy of the project, alone, and tests are run until one fails: the nearest to
the file first, by the folder that mirrors it, then all; those that start nothing, then whole releases, then the others.
In the end the tests that failed are run without any fault, where they must pass.
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

TIERS = ("unit", "chain", "smoke", "servers")
QUICK = TIERS[:3]  # what `make test` runs
LEAST = 0.95  # share of the faults that these must find; the rest may be left to the servers' tests

# They read the text of the project, by what Git knows of it; a fault is in what the product does.
_NOT_ASKED = ("tests/architecture", "tests/mutants")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", re.MULTILINE)
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
        found = [_show(_hunt(fault, copy, given.nearest)) for fault in chosen]
        flawed = _failing_anyway(copy, found)
    sys.exit(_judge(found, flawed))


def nearest(file: str) -> list[str]:
    """The tests nearest to a file of the product: of its own name, then in the folders that mirror its own."""
    parts = Path(file).with_suffix("").parts
    parts = parts[1:] if parts[0] == "sluice" else parts
    own = Path("tests", *parts[:-1], f"test_{parts[-1]}.py")
    near = [own, *list(own.parents)[:-2]]  # not all the tests
    return [str(place) for place in near if (ROOT / place).exists()]


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


def _hunt(fault: Fault, copy: Path, nearest_only: bool) -> Finding:
    """Plant the fault in the copy, look for a test that fails, and take it out again."""
    file, begun = copy / fault.file, perf_counter()
    original, age = file.read_bytes(), file.stat()
    file.write_text(fault.planted(original.decode()), encoding="utf-8")
    try:
        for tier, places in _ways(nearest(fault.file), nearest_only):
            if test := _first_failure(copy, tier, places):
                return Finding(fault, tier, test, perf_counter() - begun)
        return Finding(fault, seconds=perf_counter() - begun)
    finally:
        file.write_bytes(original)
        os.utime(file, ns=(age.st_atime_ns, age.st_mtime_ns))


def _ways(near: Sequence[str], nearest_only: bool) -> Iterator[tuple[str, Sequence[str]]]:
    """Which tests are run, of which tier: what takes seconds before what takes minutes."""
    for tiers in (QUICK, TIERS[3:]):
        yield from ((tier, [place]) for tier in tiers for place in near)
        if not nearest_only:
            yield from ((tier, ["tests"]) for tier in tiers)


def _first_failure(copy: Path, tier: str, places: Iterable[str]) -> str | None:
    """The first of these tests that fails. Raises RuntimeError where pytest itself does."""
    ended = _pytest(copy, "-m", tier, *(f"--ignore={each}" for each in _NOT_ASKED), *places)
    test = _found_in(ended.stdout)
    if ended.returncode not in _OUTCOMES and test is None:
        raise RuntimeError(f"pytest ended with {ended.returncode}: {(ended.stdout + ended.stderr)[-2000:]}")
    return test


def _pytest(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    scratch = copy.parent / "scratch"
    environment = os.environ | {
        "PYTHONPATH": str(copy),  # before the project that is installed, for processes that tests start
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "1000",  # or pytest cuts off the names of tests
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"--basetemp={scratch}"]
    ended = subprocess.run([*command, *arguments], cwd=copy, env=environment, capture_output=True, text=True)
    rmtree(scratch, ignore_errors=True)
    return ended


def _found_in(said: str) -> str | None:
    """The test that failed first, by pytest's summary; the file where it could not even be loaded."""
    found = _FAILED.findall(said)
    return _whole(said, found[0]) if found else None


def _whole(said: str, test: str) -> str:
    """A test's name to the bracket that ends it: its parameters may hold what otherwise parts it from the message."""
    if "[" not in test or test.endswith("]"):
        return test
    line = next(line for line in said.splitlines() if line.startswith((f"FAILED {test}", f"ERROR {test}")))
    return line.partition(" ")[2].partition("] - ")[0].removesuffix("]") + "]"


def _failing_anyway(copy: Path, found: Sequence[Finding]) -> str | None:
    """The first of the tests that failed which fails without a fault, too, and so has found none."""
    tests = sorted({each.test for each in found if each.test})
    return _found_in(_pytest(copy, *tests).stdout) if tests else None


def _show(finding: Finding) -> Finding:
    by = f"{finding.tier:8} {finding.test}" if finding.tier else "NOT FOUND"
    print(f"{finding.fault.name:36} {finding.seconds:5.0f} s  {by}", flush=True)
    return finding


def _judge(found: Sequence[Finding], flawed: str | None) -> int:
    """What is said in the end, and the code to end with."""
    quickly = sum(each.quickly for each in found)
    by_tier = {tier: sum(each.tier == tier for each in found) for tier in TIERS}
    counts = ", ".join(f"{count} by {tier}" for tier, count in by_tier.items() if count)
    print(f"\n{len(found)} faults, found: {counts or 'none'}; `make test` finds {quickly}.")
    missed = [each.fault for each in found if not each.tier]
    for fault in missed:
        print(f"{fault.name} is found by no test: {fault.says} ({fault.file}).")
    if flawed:
        print(f"{flawed} fails without any fault, too, and so has found none. Mend it, and run this again.")
    return int(bool(missed or flawed) or quickly < LEAST * len(found))


if __name__ == "__main__":
    main()
