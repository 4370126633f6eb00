"""The commands on keys to sign by: make one for who has none, show the one in a token, change the publisher's."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.acting_options import As, Key, Signed, ToSign, hand_out, means
from flows.cli.terminal import DONE, WAITING, AsJson, print_json, say

key_app = typer.Typer(help="Keys to sign by.", no_args_is_help=True)


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

    from sluice.custody.signing.keys_at_hand import make_key_pair
    from tasks.release.decisions.signing_in import account

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


@key_app.command()
def show(
    uri: Annotated[str, typer.Argument(metavar="hsm:ID?label=TOKEN", help="a key in a smart card or HSM")],
    as_json: AsJson = False,
) -> None:
    """Show the public part of a key in a token, for the roster; needs the extra 'hsm'."""
    from sluice.custody.signing.ssh_signature import token_key

    key = token_key(uri)
    if as_json:
        print_json({"fingerprint": key.fingerprint, "line": key.line})
        return
    say(f"{key.fingerprint}. The line for the roster, under your `keys`:")
    say(f"  - {key.line}")


@key_app.command()
def rotate_publisher(
    comment: Annotated[str, typer.Option("--comment", help="why; kept in the ledger")] = "",
    name: As = None,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Say that the installation shall sign by a new key. Two people must, by the same command, one of them the head."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.office import publisher_keys, rotate
    from tasks.release.decisions.signing_in import Request

    workspace = open_workspace()
    answer = rotate(workspace, means(name, key, envelope, to_sign), comment)
    if isinstance(answer, Request):
        hand_out(answer, to_sign)
        return
    office, adoption = answer
    acts = office.proposed.get(adoption)
    missing = office.missing(adoption, acts) if acts else None
    fingerprint = publisher_keys(workspace, office)[-1].key.fingerprint
    if as_json:
        print_json({"number": adoption.version, "missing": missing, "fingerprint": fingerprint})
    elif missing:
        say(f"{adoption.called} is proposed; needed: {missing}.")
    else:
        say(f"{adoption.called} is adopted: {fingerprint}.")
        say("Give out the keys anew, and say which one ended: sluice people --keys")
    raise typer.Exit(WAITING if missing else DONE)
