"""The commands for whoever has a published folder: verify it, and convert its data for a statistics package."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from flows.cli.terminal import DONE, ERROR, AsJson, print_json, say

verify_app = typer.Typer()


@verify_app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="a published folder")],
    keys: Annotated[Path, typer.Option("--keys", metavar="FILE", help="whose keys count: OpenSSH's allowed signers")],
    release: Annotated[
        str | None,
        typer.Option("--release", metavar="ID", help="the release it must be; else the folder's name"),
    ] = None,
    people: Annotated[
        int | None, typer.Option("--people", min=1, help="how many must have signed their approval, at least; else one")
    ] = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="believe the publisher about approvals that nobody signed")
    ] = False,
    timestamp_certificates: Annotated[
        Path | None,
        typer.Option("--timestamp-certificates", metavar="PEM", help="there must be a time stamp that leads to these"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify a published folder by its signatures; needs no workspace and no network, so it runs anywhere."""
    from sluice.custody.signing.allowed_signers import read_allowed_signers
    from sluice.publication.timestamp import read_certificates
    from sluice.publication.verification import verify_folder

    found = verify_folder(
        folder,
        read_allowed_signers(keys),
        release=release,
        people=people,
        unsigned=unsigned,
        certificates=None if timestamp_certificates is None else read_certificates(timestamp_certificates),
    )
    good = found.summary is not None and not found.problems
    if as_json:
        print_json(
            {
                "verified": good,
                "problems": found.problems,
                "summary": found.summary.model_dump(mode="json") if found.summary else None,
                "signed_by": found.signed_by,
                "stamped": found.stamped.isoformat() if found.stamped else None,
                "files": found.files,
                "notices": [notice.model_dump() for notice in found.notices],
            }
        )
    elif found.summary is not None and good:
        say(f"{found.summary.release} is as it was published.", style="bold")
        say(f"  {found.summary.says}")
        say(f"  Signed by: {', '.join(found.signed_by) or 'nobody but the publisher'}.")
        if found.stamped:
            say(f"  Stamped on {found.stamped:%Y-%m-%d at %H:%M} UTC.")
        for file, sha256 in found.files.items():
            say(f"  {sha256}  {file}")
        for notice in found.notices:
            by = f" by {notice.by}" if notice.by else ""
            say(f"  A notice beside them, which nobody signed, says that it was {notice.state}{by}.", style="bold")
    else:
        say(f"{folder} failed verification:", style="bold red")
        for problem in found.problems:
            say(f"  {problem}")
        if folder.is_symlink():
            say(f"  It is a link, which proves nothing: ask for the folder by its own name, here {folder.resolve()}")
    raise typer.Exit(DONE if good else ERROR)


@verify_app.command()
def convert(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="a published folder")],
    to: Annotated[
        Literal["stata", "spss", "csv"],
        typer.Option("--to", help="stata or spss, with labels; csv: labels in the place of codes, for a spreadsheet"),
    ],
    keys: Annotated[Path, typer.Option("--keys", metavar="FILE", help="whose keys count: OpenSSH's allowed signers")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="where to write")] = Path(),
    release: Annotated[
        str | None,
        typer.Option("--release", metavar="ID", help="the release it must be; else the folder's name"),
    ] = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="believe the publisher about approvals that nobody signed")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify a published folder and convert its data; needs no workspace and no network.

    Both are done with a copy of one's own: whoever may write to the folder could change it in between.
    """
    from sluice.custody.signing.allowed_signers import read_allowed_signers
    from sluice.ground.errors import DataError
    from sluice.publication.conversion import convert as converted
    from sluice.publication.conversion import refuse_within
    from sluice.publication.verification import verify_folder

    refuse_within(folder, output)
    release = release or Path(os.path.normpath(folder.absolute())).name
    with TemporaryDirectory(prefix="sluice-convert-") as scratch:
        own = Path(scratch) / "folder"
        try:
            shutil.copytree(folder, own, symlinks=True)
        except (OSError, shutil.Error) as error:
            raise DataError(f"{folder} cannot be read as a published folder: {type(error).__name__}") from None
        found = verify_folder(own, read_allowed_signers(keys), release=release, unsigned=unsigned)
        if found.problems:
            raise DataError(f"{folder} failed verification, so it is not converted: {'; '.join(found.problems)}")
        made = converted(own, found.files, to, output)
    if as_json:
        print_json({"files": [{"path": str(each.path), "renamed": dict(each.renamed)} for each in made]})
        return
    for each in made:
        say(str(each.path), style="bold")
        for name, new in each.renamed.items():
            say(f"  {name} is {new} there")
