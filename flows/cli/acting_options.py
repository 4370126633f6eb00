"""The options by which whoever runs a command lets it be known who acts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from flows.cli.terminal import DONE, say
from sluice.ground.errors import SluiceError

if TYPE_CHECKING:
    from tasks.release.decisions.signing_in import Credentials, Request

Answer = TypeVar("Answer")
As = Annotated[str | None, typer.Option("--as", metavar="NAME", help="who you are, if typed names are believed")]
Key = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="OpenSSH key to sign by, or hsm:ID?label=TOKEN; else yours in ~/.ssh or the SSH agent",
    ),
]
Signed = Annotated[
    str | None, typer.Option("--envelope", metavar="FILE", help="what you signed elsewhere; - for standard input")
]
ToSign = Annotated[
    str | None,
    typer.Option(
        "--to-sign", metavar="FILE", help="write what is to be signed, and record nothing; - for standard output"
    ),
]


def means(name: str | None, key: Path | None, envelope: str | None, to_sign: str | None) -> "Credentials":
    """How it is known who acts, from the options.

    raises : SluiceError when they say different things, or name a file that would be read or written by the rights of
             the account that owns the vault, for somebody else
    """
    from tasks.release.decisions.signing_in import Credentials, acts_for_another, read_text

    hidden = None if key is None or str(key).startswith("hsm:") else str(key)
    for option, file, instead in (
        ("--to-sign", to_sign, "- , and direct the output into a file of yours"),
        ("--envelope", envelope, "- , and direct your file into the command"),
        ("--key", hidden, "--to-sign - , and sign with your own account: sluice sign"),
    ):
        if file not in (None, "-") and acts_for_another():
            raise SluiceError(
                f"{option} {file}: names a file, and this command has the rights of another account than yours. "
                f"Give {instead}"
            )
    given = [
        option for option, value in (("--as", name), ("--key", key), ("--envelope", envelope)) if value is not None
    ]
    if len(given) > 1:
        raise SluiceError(f"{' and '.join(given)} say in different ways who you are; give one")
    return Credentials(name, key, None if envelope is None else read_text(envelope), to_sign is not None)


def recorded(answer: "Answer | Request", to_sign: str | None) -> "Answer":
    """What came of a decision; one to be signed elsewhere is handed out for that, and ends the command."""
    from tasks.release.decisions.signing_in import Request

    if isinstance(answer, Request):
        _hand_out(answer, to_sign)
        raise typer.Exit(DONE)
    return answer


def _hand_out(request: "Request", place: str | None) -> None:
    """Write what is to be signed; over nothing."""
    from sluice.custody.shelf import refuse_place
    from sluice.ground.durable import write_new

    text = request.payload.decode()
    if place in (None, "-"):
        print(text)
        return
    path = Path(str(place))
    refuse_place(path, option="--to-sign")
    try:
        write_new(path, f"{text}\n".encode(), 0o644)  # for whoever signs it, under another account
    except OSError as error:
        raise SluiceError(f"--to-sign {place}: cannot be written ({error.strerror})") from None
    say(f"{place} is to be signed: sluice sign {place}")
