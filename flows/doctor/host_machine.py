"""The machine and its software: room, what other accounts may read or change, settings, and packages that are
needed.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from flows.doctor.diagnosis import Diagnosis, fail, ok, warn
from sluice.ground.errors import SluiceError
from sluice.settings import settings
from sluice.sources.connections import connections_file, load_connections

# Top-level names that others may bring as well: in a working tree, of more packages than where Sluice is installed.
ROOMS = ("sluice_sdc",) if __name__.startswith("sluice_sdc.") else ("flows", "tasks", "schemas", "policies")
_OURS = "sluice-sdc"
_STRANGER = "sluice"  # a distribution of this name is another program, whose package has the name of ours

LITTLE, LEAST = 0.10, 0.02  # free share of a disk: below the first there is a warning, below the second it fails
LEAST_BYTES = 256 << 20
_GIB = 1 << 30


def room(home: Path, shelves: Iterable[Path]) -> Iterator[Diagnosis]:
    """Of each disk that is written to, how much is free; a disk is named once, by the first that needs it."""
    seen = set()
    places = [("disk of the workspace", home), ("disk of temporary files", Path(tempfile.gettempdir()))]
    for what, path in [*places, *((f"disk of the shelf {shelf}", shelf) for shelf in sorted(shelves))]:
        existing = next((place for place in (path, *path.parents) if place.exists()), None)
        if existing is None or existing.stat().st_dev in seen:
            continue
        seen.add(existing.stat().st_dev)
        usage = shutil.disk_usage(existing)
        yield _room(what, usage.free, usage.total)


def _room(what: str, free: int, total: int) -> Diagnosis:
    says = f"{free / _GIB:.1f} of {total / _GIB:.1f} GiB are free"
    if free < max(LEAST_BYTES, LEAST * total):
        return fail(what, says, "Make room, or nothing can be staged, judged or published.")
    if free < LITTLE * total:
        return warn(what, says, "Make room before it is full.")
    return ok(what, says)


def modes(home: Path) -> Iterator[Diagnosis]:
    """Whether other accounts are kept out of the workspace; what is open can be closed by `--repair`."""
    closed = [home / "vault", *(home / "vault").rglob("*"), *home.glob("ledger.db*"), home / "runs", home / "reports"]
    found = [path for path in closed if _open_to_others(path, 0o077)]
    found += [home] if _open_to_others(home, 0o022) else []
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield fail(
            "modes",
            f"{found[0]}{more} can be read or changed by other accounts",
            f"chmod -R go-rwx {home}",
            lambda: _close(found),
        )
    else:
        yield ok("modes", f"{home} is closed to other accounts")
    yield connections()


def _open_to_others(path: Path, bits: int) -> bool:
    try:
        found = path.lstat()
    except OSError:  # gone meanwhile, or none of ours
        return False
    return not stat.S_ISLNK(found.st_mode) and bool(found.st_mode & bits)


def _close(paths: Iterable[Path]) -> str:
    closed = 0
    for path in paths:
        if _open_to_others(path, 0o077):
            os.chmod(path, path.stat().st_mode & 0o700)
            closed += 1
    return f"closed {closed} files and folders of the workspace to other accounts"


def connections() -> Diagnosis:
    """Whether the operator's list of what may be read is there, believed and in order."""
    file = connections_file()
    try:
        load_connections()
    except (SluiceError, OSError) as error:
        says = str(error) if isinstance(error, SluiceError) else f"{file} cannot be read ({error.strerror})"
        return fail("connections", says, f"Mend {file}; see docs/deployment.md, What may be read.")
    return ok("connections", f"{file} is in order" if file.exists() else f"there is no {file}; files are read alone")


def settings_in_order() -> Diagnosis:
    """Whether every SLUICE_ variable is one, with an allowed value."""
    try:
        home = settings().home
    except SluiceError as error:
        return fail("settings", str(error), "Mend the variable, in /etc/sluice/environment or where the command runs.")
    return ok("settings", f"the workspace is {home}")


def packages() -> Iterator[Diagnosis]:
    """Whether all that is needed is installed, in the versions that were seen to run together."""
    wrong = unmet(metadata.requires(_OURS) or (), _installed)
    if wrong:
        yield fail("packages", "; ".join(wrong), "Install what the lock pins: make install")
    else:
        yield ok("packages", f"{_OURS} {metadata.version(_OURS)}, and all that it needs")
    yield namesakes(owners((*ROOMS, _STRANGER)), stranger=_installed(_STRANGER))


def unmet(requirements: Sequence[str], installed: Callable[[str], str | None]) -> list[str]:
    """What is missing or of another version, in words; requirements of extras are nobody's here."""
    found = []
    for written in requirements:
        wanted = Requirement(written)
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        version = installed(wanted.name)
        if version is None:
            found.append(f"{wanted.name} is not installed")
        elif not wanted.specifier.contains(version, prereleases=True):
            found.append(f"{wanted.name} is {version}; it must be {wanted.specifier}")
    return found


def owners(names: Sequence[str]) -> dict[str, list[str]]:
    """Top-level name -> the distributions that bring it, by their own lists of names or of files.

    `metadata.packages_distributions` finds the same, and makes a path of each of forty thousand files.
    """
    of_files = re.compile(rf"^({'|'.join(map(re.escape, names))})(?:/.*)?\.py,", re.MULTILINE)
    found: dict[str, list[str]] = {name: [] for name in names}
    for each in metadata.distributions():
        listed = (each.read_text("top_level.txt") or "").split()
        for name in {*(listed or of_files.findall(each.read_text("RECORD") or ""))} & {*names}:
            found[name].append(each.name)
    return found


def namesakes(owners: Mapping[str, Sequence[str]], stranger: str | None = None) -> Diagnosis:
    """Whether another distribution brings a top-level package of the name of one of ours: one hides the other.

    owners   : top-level name -> the distributions that bring it
    stranger : version of an installed distribution called `sluice`, which is not ours
    """
    if stranger:
        return fail(
            "names",
            f"the distribution 'sluice' {stranger} is installed, which is another program; Sluice is '{_OURS}'",
            f"pip uninstall sluice, then pip install --force-reinstall --no-deps {_OURS}: they write the same folder.",
        )
    others = {name: sorted({*owners.get(name, ())} - {_OURS}) for name in (*ROOMS, "sluice")}
    if said := [f"'{name}' comes from {', '.join(found)}, too" for name, found in others.items() if found]:
        return fail("names", "; ".join(said), "Uninstall it here: which of the two is imported is left to chance.")
    return ok("names", f"no other distribution brings {', '.join(ROOMS)}")


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
