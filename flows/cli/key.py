"""The command for those who have no key to sign by: `sluice key new`."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import AsJson, print_json, say

key_app = typer.Typer(help="Make a key to sign by.", no_args_is_help=True)


@key_app.command()
def new(
    file: Annotated[
        Path,
        typer.Argument(metavar="[FILE]", help="of the private key; the public key's is FILE.pub", show_default=True),
    ] = Path("~/.ssh/id_sluice"),
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="protect it by a passphrase, for which ssh-keygen asks")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a key pair (Ed25519, OpenSSH). Whoever has the private key signs as you: give away the public key only."""
    import socket

    from sluice.custody.signing.key_pair import make_key_pair
    from tasks.release.account import account

    file = file.expanduser()
    comment = f"{account()}@{socket.gethostname()}"
    key = make_key_pair(file, comment, passphrase)
    line = f"{key.line} {comment}"
    if as_json:
        print_json({"file": str(file), "fingerprint": key.fingerprint, "line": line})
        return
    say(f"{file} is your private key: nobody else should read it. {key.fingerprint}")
    say("The line for the roster, under your `keys`:")
    say(f"  - {line}")
