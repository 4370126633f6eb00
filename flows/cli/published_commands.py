"""The commands on what is public: verify and convert a folder, bring shelves in line with the ledger, judge again."""

import logging
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from flows.cli.terminal import BLOCKED, DONE, ERROR, UNCHECKED, AsJson, note, print_json, say
from sluice.ground.verdict import Verdict

if TYPE_CHECKING:  # it loads the ledger's database library, which other commands do not need
    from sluice.custody.workspace import Workspace

catalogue_app = typer.Typer()

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
    """Verify a published folder by its signatures; needs no workspace and no network."""
    from sluice.custody.signing.allowed_signers import read_allowed_signers
    from sluice.publication.attestation import read_certificates
    from sluice.publication.folder_verification import verify_folder

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

    Both are done with a copy, which nobody can change in between.
    """
    from sluice.custody.signing.allowed_signers import read_allowed_signers
    from sluice.ground.errors import DataError
    from sluice.publication.conversion import convert as converted
    from sluice.publication.conversion import refuse_within
    from sluice.publication.folder_verification import verify_folder

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


@catalogue_app.command()
def catalogue(
    lost: Annotated[
        str,
        typer.Option(
            "--lost",
            metavar="CONNECTION/SCHEMA",
            help="a schema of a public database that is gone for good",
        ),
    ] = "",
    reason: Annotated[str, typer.Option("--reason", help="with --lost: what became of it")] = "",
    as_json: AsJson = False,
) -> None:
    """Rewrite pointers, catalogues and notices on the shelves, and views and missing tables of public databases.

    They follow from the ledger, as after every run.
    """
    from sluice.custody.edition_order import ON_SHELF, current, lines_of_editions
    from sluice.custody.workspace import open_workspace
    from tasks.release.editions.current_edition import settle_editions
    from tasks.release.editions.schema_views import write_views
    from tasks.release.editions.shelf_catalogue import write_catalogues

    workspace = open_workspace()
    if lost:
        _lose(workspace, lost, reason)
    settle_editions(workspace)
    failed = {f"the catalogue of {shelf}": why for shelf, why in write_catalogues(workspace).items()}
    failed |= {str(place): why for place, why in write_views(workspace, everything=True).items()}
    rows: list[dict[str, Any]] = []
    for line in lines_of_editions(workspace.ledger.histories()):
        public, latest = [edition.release for edition in line if edition.state in ON_SHELF], current(line)
        if any(edition.entries[-1].event == "withdrawn" for edition in line) or public:
            now = {"current": latest.release if latest else None, "period": latest.period if latest else None}
            rows.append({"name": line[0].name, "shelf": str(line[0].shelf), **now, "on_shelf": public})
    if as_json:
        print_json({"editions": rows, "not_written": failed})
    else:
        for row in rows:
            period = f" ({row['period']})" if row["period"] else ""
            which = f"{row['current']}{period} is current" if row["current"] else "no edition is current"
            say(f"{row['name']}: {which}; {len(row['on_shelf'])} on the shelf {row['shelf']}")
        if not rows:
            say("Nothing was published yet.")
    for what, why in failed.items():
        note(f"error: {what} cannot be written: {why}", "red", logging.ERROR)
    raise typer.Exit(ERROR if failed else DONE)


def _lose(workspace: "Workspace", lost: str, reason: str) -> None:
    from tasks.release.editions.schema_views import declare_lost

    connection, _, into = lost.rpartition("/")
    for release in declare_lost(workspace, connection, into, reason):
        note(f"{release}: its tables in '{into}' of '{connection}' are gone with the database, as the ledger now says")


@catalogue_app.command()
def reassess(
    releases: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="these releases; if none, all that are public")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", help="what would be if this policy were adopted: a file, or the name of a shipped one"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge what is public by the policies in force and all known attacks.

    Only the ledger records it. Exit code 0: all would pass; 2: some would not; 4: some cannot be judged, as their
    data or seed are gone.
    """
    from flows.reassessment import reassess as judge_again
    from policies.policy import load_policy
    from sluice.custody.workspace import open_workspace

    trial = load_policy(policy) if policy else None
    rows: list[dict[str, Any]] = []
    verdicts = []
    for each in judge_again(open_workspace(), releases or (), trial):
        verdicts.append(each.verdict)
        rows.append(
            {
                "release": each.release,
                "state": each.state,
                "policy": each.policy,
                "verdict": each.verdict.name,
                "reasons": each.reasons,
                "news": each.news,
                "published_since": each.since,
            }
        )
        if not as_json:
            say(f"{each.release} ({each.state}), by the policy {each.policy}: {_WORDS[each.verdict]}", style="bold")
            for reason in each.reasons:
                say(f"  {reason}")
    if as_json:
        print_json(rows)
    elif not rows:
        say("Nothing is public that this policy was for." if trial else "Nothing is public.")
    raise typer.Exit(_code(verdicts))


_WORDS = {
    Verdict.PASS: "would pass",
    Verdict.REVIEW: "would need a decision",
    Verdict.FAIL: "would not pass",
    Verdict.UNKNOWN: "nobody can tell",
}


def _code(verdicts: list[Verdict]) -> int:
    if {Verdict.FAIL, Verdict.REVIEW} & {*verdicts}:
        return BLOCKED
    return UNCHECKED if Verdict.UNKNOWN in verdicts else DONE
