"""The shelf: the published place. A folder of a release is there whole, or it is not there.

Everything is written into `.NAME.partial-...` first and brought to the disk; one rename then makes it public. A run
that was killed leaves at most such a partial folder, which the next run of that release removes.
"""

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sluice.ground.durable import NO_SPACE, disk_of, locked, make_folder, replace, sha256_of, sync_folder, write_new
from sluice.ground.errors import DataError, SluiceError
from sluice.settings import settings

CHECKSUMS = "checksums.sha256"  # in the form that `sha256sum --check` reads
_DOCUMENTS = (".yaml", ".yml", ".toml", ".env", ".py")  # that somebody wrote, and that no command writes over
LOCK = ".lock"  # on the shelf: who writes there holds it
# Say of a folder that it is no longer current, and were not there when it was published and signed.
SUPERSEDED_NOTICE, WITHDRAWN_NOTICE = NOTICES = ("superseded.json", "withdrawn.json")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_LINE = re.compile(rf"([0-9a-f]{{64}})  ({_NAME.pattern})")


def publish(
    target: Path,
    name: str,
    files: Mapping[str, Path | bytes],
    inspect: Callable[[Path], None] | None = None,
    fault_hook: Callable[[str], None] | None = None,
) -> Path:
    """Put `files` on the shelf as the folder `target/name`; returns the folder.

    files      : file name -> its bytes, or the file to copy; without subfolders
    inspect    : looks at the whole folder before anybody else can see it; what it raises stops the publication
    fault_hook : called with the name of each step when it is done; lets a test stop the run there
    raises     : SluiceError when the folder exists with other content (it stays as it is) or was withdrawn;
                 DataError when the disk is full (nothing is left behind)
    cost       : one pass over the files, two when the folder exists
    """
    for given in (name, *files):
        if not _NAME.fullmatch(given) or given in (CHECKSUMS, *NOTICES):
            raise SluiceError(
                f"name on the shelf must be letters, digits, '.', '_' and '-', and not "
                f"{' or '.join((CHECKSUMS, *NOTICES))}; got {given!r}"
            )
    if not files:
        raise SluiceError(f"there is nothing to publish as '{name}': no files were given.")
    reached = fault_hook or (lambda step: None)
    final = target / name
    with disk_of(f"the disk of {target}"):
        _open_to_us(target)
        with alone_in(target):
            for stale in target.glob(f".{name}.partial-*"):
                shutil.rmtree(stale)
            if tombstone_of(final).exists():
                raise SluiceError(f"'{name}' was withdrawn from {target}; publish under another name.")
            if final.exists() or final.is_symlink():
                _refuse_other_content(final, files)
                sync_folder(target)  # the run that made it may have been killed before this
                return final
            partial = target / f".{name}.partial-{secrets.token_hex(8)}"
            try:
                partial.mkdir(mode=0o700)
                reached("partial made")
                written = {}
                for file in sorted(files):
                    written[file] = write_new(partial / file, files[file], 0o644)
                    reached(f"{file} written")
                write_new(partial / CHECKSUMS, checksums(written), 0o644)
                reached("checksums written")
                partial.chmod(0o755)
                sync_folder(partial)
                reached("partial on disk")
                if inspect is not None:
                    inspect(partial)
                partial.rename(final)
                reached("renamed")
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
            sync_folder(target)
    reached("on disk")
    return final


def checksums(sha256: Mapping[str, str]) -> bytes:
    """The content of `checksums.sha256` for these files: name -> SHA-256."""
    return "".join(f"{sha256[file]}  {file}\n" for file in sorted(sha256)).encode()


def read_checksums(content: bytes) -> dict[str, str]:
    """What `checksums` wrote: name -> SHA-256. Raises DataError for all that two programs could read as two things."""
    *lines, rest = content.decode("ascii", "replace").split("\n")
    matches = [_LINE.fullmatch(line) for line in lines]
    if rest or not all(matches):
        raise DataError(f"{CHECKSUMS} has a line that is not 'SHA-256  name'")
    found = {match[2]: match[1] for match in matches if match}
    if len(found) != len(lines) or CHECKSUMS in found:
        raise DataError(f"{CHECKSUMS} names a file twice, or itself")
    return found


def read_back(folder: Path) -> list[str]:
    """What is wrong with what was published in a folder, in words; an empty list when it is whole. Cost: one pass."""
    try:
        expected = _read_checksums(folder)
    except DataError as error:
        return [str(error)]
    compared = compare(folder, expected, [CHECKSUMS, *NOTICES])
    return [*([] if expected else [f"{CHECKSUMS} lists no file"]), *compared.problems, *compared.unread]


@dataclass(frozen=True)
class Comparison:
    """What a folder holds beside what it should hold, in words."""

    problems: tuple[str, ...]
    unread: tuple[str, ...]  # what could not be read, so that nothing is known of it


def compare(folder: Path, expected: Mapping[str, str], whatever: Collection[str] = ()) -> Comparison:
    """Hold a folder against the files that it should hold: name -> SHA-256.

    whatever : files that may be there with any content
    cost     : one pass over the files
    """
    try:
        found = {path.name for path in folder.iterdir()} - {*whatever}
    except OSError as error:
        return Comparison((), (f"it cannot be read ({error.strerror})",))
    problems = [f"{file} is missing" for file in sorted(expected.keys() - found)]
    problems += [f"{file} does not belong to the release" for file in sorted(found - expected.keys())]
    unread = []
    for file in sorted(expected.keys() & found):
        path = folder / file
        try:
            if path.is_symlink() or not path.is_file():
                problems.append(f"{file} is not a plain file")
            elif _sha256(path) != expected[file]:
                problems.append(f"{file} was changed: its SHA-256 differs")
        except OSError as error:
            unread.append(f"{file} cannot be read ({error.strerror})")
    return Comparison(tuple(problems), tuple(unread))


def withdraw(folder: Path, reason: str) -> Path:
    """Take a published folder off the shelf; returns where it went: `.withdrawn-NAME`, closed to other accounts.

    A tombstone `NAME.withdrawn.txt` with the reason stays in its place, also in that of a folder that somebody removed
    before. Calling it again finishes what was interrupted, and takes off the shelf what came back.

    raises : SluiceError when the shelf is not there, or no reason is given
    """
    if not reason.strip():
        raise SluiceError(f"reason for withdrawing '{folder.name}' must be given; it is shown in its place.")
    gone = withdrawn_of(folder)
    if not folder.parent.is_dir():
        raise SluiceError(f"the shelf {folder.parent} is not there, so '{folder.name}' cannot be withdrawn from it.")
    with disk_of(f"the disk of {folder.parent}"), alone_in(folder.parent):
        tombstone, says = tombstone_of(folder), epitaph(folder, reason)
        if not tombstone.is_file() or tombstone.is_symlink() or tombstone.read_bytes() != says:
            replace(tombstone, says, 0o644)  # the reasons may have become more since it was interrupted
        if folder.is_dir():
            folder.chmod(0o700)
            folder.rename(gone)
        sync_folder(folder.parent)
    return gone


def _open_to_us(target: Path) -> None:
    try:
        make_folder(target, 0o755)  # else the umask would decide whether anybody reads what is published
    except OSError as error:
        if error.errno in NO_SPACE:
            raise
        raise SluiceError(f"{target} cannot be made a folder to publish in ({error.strerror}).") from None
    if not os.access(target, os.W_OK):
        raise SluiceError(f"{target} cannot be written by this account.")
    for folder in (target, *target.resolve().parents):
        mode = folder.stat().st_mode
        # Where the sticky bit is set, as in /tmp, nobody renames what is another's.
        if mode & stat.S_IWOTH and (folder == target or not mode & stat.S_ISVTX):
            what = "anything there" if folder == target else f"another folder in the place of {target}"
            raise SluiceError(f"{folder} can be written by everybody, who could put {what}. Run: chmod o-w {folder}")


def withdrawn_of(folder: Path) -> Path:
    """Where a folder goes when it is withdrawn."""
    return folder.with_name(f".withdrawn-{folder.name}")


def tombstone_of(folder: Path) -> Path:
    """What then stands in its place."""
    return folder.with_name(f"{folder.name}.withdrawn.txt")


def epitaph(folder: Path, reason: str) -> bytes:
    """What the tombstone says."""
    return f"{folder.name} was withdrawn. {reason.strip()}\n".encode()


def _refuse_other_content(folder: Path, files: Mapping[str, Path | bytes]) -> None:
    plain = folder.is_dir() and not folder.is_symlink()
    problems = read_back(folder) if plain else ["it is not a plain folder"]
    if not problems:
        expected = _read_checksums(folder)
        problems += [f"{file} differs" for file in sorted(files.keys() ^ expected.keys())]
        for file in sorted(files.keys() & expected.keys()):
            content = files[file]
            published = folder / file
            same = (
                published.read_bytes() == content if isinstance(content, bytes) else _sha256(content) == expected[file]
            )
            problems += [] if same else [f"{file} differs"]
    if problems:
        raise SluiceError(
            f"{folder} exists with other content ({'; '.join(problems)}). It was left as it is; "
            "a release that was published is never overwritten."
        )


def _read_checksums(folder: Path) -> dict[str, str]:
    try:
        content = (folder / CHECKSUMS).read_bytes()
    except OSError:
        raise DataError(f"{CHECKSUMS} is missing or cannot be read") from None
    return read_checksums(content)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of(file)


@contextmanager
def alone_in(target: Path) -> Iterator[None]:
    """Keep a second publisher from taking the first one's partial folder for a stale one.

    The lock is on a file that no other account can open: on the folder, which everybody can read, everybody could hold
    it, and keep what is withdrawn on the shelf.

    raises : SluiceError where somebody else's file is in the place of the lock
    """
    if target.is_dir() and not os.access(target, os.W_OK):
        yield  # nothing can be written, as on a disk that is read only
        return
    lock = target / LOCK
    with ExitStack() as held:
        try:
            held.enter_context(locked(lock))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.ELOOP, errno.EISDIR):
                raise SluiceError(
                    f"{lock} cannot be locked ({error.strerror}), so nothing can be published or withdrawn here. "
                    "Another account made it: remove it while nobody publishes."
                ) from None
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP):  # a share that cannot lock
                raise
        yield


def refuse_to_overwrite(output: Path, inputs: Iterable[Path | None], *further: Path, option: str = "--output") -> None:
    """Raise DataError when the output, or a further file that is written, is read, a document, or not a command's."""
    refuse_place(output, *further, option=option)
    written = [path.resolve() for path in (output, *further)]
    for given in inputs:
        if given is not None and given.resolve() in written:
            raise DataError(f"{option} {output} would overwrite {given}, which is read. Name another file.")
    if any(path.suffix in _DOCUMENTS and path.exists() for path in written):
        raise DataError(f"{option} {output} would overwrite a document. Name another file.")


def refuse_place(output: Path, *further: Path, option: str = "--output") -> None:
    """Raise DataError where no command writes: into the workspace, onto a shelf, or over settings.

    The account that owns the vault runs commands for people who may not write there themselves.
    """
    read = settings()
    written = [path.resolve() for path in (output, *further)]
    if any(path.is_relative_to(read.home) for path in written):
        raise DataError(
            f"{option} {output} lies in the workspace {read.home}, where only releases write. Name another file."
        )
    # Some commands make the folders above what they write.
    into = [next(parent for parent in path.parents if parent.exists()) for path in written]
    if any((path / CHECKSUMS).exists() for path in (*written, *into)):
        raise DataError(f"{option} {output} would change a published release. Name another file.")
    if any(map(_is_shelf, into)):
        raise DataError(f"{option} {output} lies where releases are published. Name another file.")
    prefect = Path(os.environ.get("PREFECT_HOME") or "~/.prefect").expanduser().resolve()
    kept = [file.resolve() for file in (read.connections, read.timestamp_certificates) if file is not None]
    if any(path in kept or path.is_relative_to(prefect) for path in written):
        raise DataError(f"{option} {output} holds settings. Name another file.")


def _is_shelf(folder: Path) -> bool:
    """Whether releases are published there, or were; other programs have a file of the lock's name, too."""
    if not (folder / LOCK).exists():
        return False
    return any((each / CHECKSUMS).exists() or each.name.endswith(".withdrawn.txt") for each in folder.iterdir())
