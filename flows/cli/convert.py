"""The command for those who have a published folder: its data for their statistics package, or with labels."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from flows.cli.terminal import AsJson, print_json, say

convert_app = typer.Typer()


@convert_app.command()
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
