"""The options by which whoever runs a command lets it be known who acts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.terminal import say
from sluice.ground.errors import SluiceError

if TYPE_CHECKING:
    from tasks.release.decisions.signing_in import Credentials, Request

As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="who you are; only where names that are typed are believed")
]
Key = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="sign by this OpenSSH key, or hsm:ID?label=TOKEN; else by yours in ~/.ssh or the SSH agent",
    ),
]
Signed = Annotated[
    str | None, typer.Option("--envelope", metavar="FILE", help="what you signed elsewhere; - for standard input")
]
ToSign = Annotated[
    str | None,
    typer.Option("--to-sign", metavar="FILE", help="write what is to be signed, and record nothing; - for the screen"),
]


def means(name: str | None, key: Path | None, envelope: str | None, to_sign: str | None) -> "Credentials":
    """How it is known who acts, from the options. Raises SluiceError when they say different things."""
    from tasks.release.decisions.signing_in import Credentials, read_text

    given = [
        option for option, value in (("--as", name), ("--key", key), ("--envelope", envelope)) if value is not None
    ]
    if len(given) > 1:
        raise SluiceError(f"{' and '.join(given)} say in different ways who you are; give one")
    return Credentials(name, key, None if envelope is None else read_text(envelope), to_sign is not None)


def hand_out(request: "Request", place: str | None) -> None:
    """Write what is to be signed: over nothing, as people may run this as the account that owns the vault."""
    from sluice.custody.shelf import refuse_to_overwrite
    from sluice.ground.durable import write_new

    text = request.payload.decode()
    if place in (None, "-"):
        print(text)
        return
    path = Path(str(place))
    refuse_to_overwrite(path, (), option="--to-sign")
    try:
        write_new(path, f"{text}\n".encode(), 0o644)  # for whoever signs it, under another account
    except OSError as error:
        raise SluiceError(f"--to-sign {place}: cannot be written ({error.strerror})") from None
    say(f"{place} is to be signed: sluice sign {place}")
