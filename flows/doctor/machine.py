"""The machine: room on the disks, and what other accounts may read or change."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from flows.doctor.diagnosis import Diagnosis, fail, ok, warn
from sluice.ground.errors import SluiceError
from sluice.sources.connections import connections_file, load_connections

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
