"""The commands of an office: adopt documents, sign elsewhere, see who and what counts, and the keys to sign by."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.acting_options import As, Key, Signed, ToSign, means, recorded
from flows.cli.terminal import DONE, WAITING, AsJson, note, print_json, say
from sluice.ground.errors import SluiceError

key_app = typer.Typer(help="Keys to sign by.", no_args_is_help=True)

office_app = typer.Typer()


@office_app.command()
def adopt(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="rosters, policies and contracts (YAML)")],
    valid_until: Annotated[str | None, typer.Option("--valid-until", metavar="DATE", help="the last day")] = None,
    datasets: Annotated[list[str] | None, typer.Option("--dataset", help="for this data set only; repeatable")] = None,
    submitters: Annotated[
        list[str] | None, typer.Option("--submitter", help="for releases of this person only; repeatable")
    ] = None,
    comment: Annotated[str, typer.Option("--comment", help="kept in the ledger")] = "",
    name: As = None,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Put documents into force. Two people must, by the same command; the first founds the office alone."""
    from datetime import date

    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.notices import tell
    from tasks.release.decisions.office import Terms, adopt, dumped

    try:
        until = date.fromisoformat(valid_until) if valid_until else None
    except ValueError:
        raise SluiceError(f"--valid-until must be a date such as 2027-12-31; got '{valid_until}'") from None
    terms = Terms(until, tuple(datasets or ()), tuple(submitters or ()))
    workspace = open_workspace()
    answer = recorded(adopt(workspace, files, terms, means(name, key, envelope, to_sign), comment), to_sign)
    tell(workspace)
    office, adoptions = answer
    missing = {each: office.missing(each, office.proposed[each]) for each in adoptions if each in office.proposed}
    if as_json:
        print_json({"office": office.id, "adoptions": dumped(adoptions), "missing": [*missing.values()]})
    else:
        for each in adoptions:
            held = office.in_force.get((each.kind, each.name))
            says = (
                f"is adopted, by {held.says}."
                if held and held.adoption == each
                else f"is proposed; needed: {missing.get(each)}."
            )
            say(f"{_limited(each)} {says}")
    raise typer.Exit(WAITING if missing else DONE)


@office_app.command()
def sign(
    statement: Annotated[str, typer.Argument(metavar="FILE", help="what --to-sign wrote; - for standard input")],
    key: Key = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here instead of to the screen")] = None,
) -> None:
    """Sign a statement that another command wrote, and show what it says, on any machine."""
    from sluice.custody.shelf import refuse_place
    from sluice.custody.signing.envelope import parse_statement
    from sluice.ground.durable import write_new
    from tasks.release.decisions.signing_in import read_text, sign

    if output is not None:
        refuse_place(output)
    payload = read_text(statement).removesuffix("\n").encode()
    said = parse_statement(payload)
    for name, value in said.predicate.items():
        for line in _in_lines(value):
            note(f"{name}: {line}")
    for file, sha256 in said.files.items():
        note(f"of {file}: {sha256}")
    text = json.dumps(sign(payload, key).as_json())
    if output is None:
        print(text)
        return
    try:
        write_new(output, f"{text}\n".encode(), 0o644)
    except OSError as error:
        raise SluiceError(f"--output {output}: cannot be written ({error.strerror})") from None


def _in_lines(value: Any) -> list[str]:
    """A value of a statement for the person who signs it; of documents that are adopted, a line each."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return [", ".join(f"{name} {_in_lines(each[name])[0]}" for name in each if each[name]) for each in value]
    return [json.dumps(value)]


@office_app.command()
def people(
    keys: Annotated[
        bool, typer.Option("--keys", help="print every key that ever counted, and when, for `sluice verify`")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show who counts in this office, by which roles and keys, and which documents count."""
    from policies.key_history import key_history
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.office import dumped, open_office, publisher_keys

    workspace = open_workspace()
    office = open_office(workspace)
    if office is None:
        raise SluiceError("this office has no people yet. Set it up with: sluice office")
    if keys:
        for signer in (*publisher_keys(workspace, office), *key_history(office.rosters)):
            print(signer.line)
        return
    if as_json:
        facts: dict[str, Any] = {"office": office.id, "roster": office.roster.model_dump(mode="json")}
        print_json(
            facts
            | {"adopted": dumped([each.adoption for each in office.in_force.values()]), "void": [*office.void.values()]}
        )
        return
    say(f"office {office.id}", style="bold")
    for person, entry in office.roster.people.items():
        until = f", until {entry.valid_until}" if entry.valid_until else ""
        say(f"  {person}: {', '.join(entry.roles)}{until}")
        for public in entry.public_keys:
            say(f"    {public.fingerprint} ({public.kind})")
    say("Adopted", style="bold")
    for held in office.in_force.values():
        say(f"  {_limited(held.adoption)}, by {held.says}")
    for adoption, acts in office.proposed.items():
        by = " and ".join(f"{act.who} ({act.at[:10]})" for act in acts)
        say(f"  proposed by {by}: {_limited(adoption)}; needed: {office.missing(adoption, acts)}")
    for each in office.void.values():
        say(f"  {each}", style="red")


def _limited(adoption: Any) -> str:
    """A document with the limits under which it is adopted."""
    return f"{adoption.called} ({adoption.terms})" if adoption.terms else str(adoption.called)


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
    """Make a key pair (Ed25519, OpenSSH). The private key signs as you: share the public key only."""
    import socket

    from sluice.custody.shelf import refuse_place
    from sluice.custody.signing.keys_at_hand import make_key_pair
    from tasks.release.decisions.signing_in import account

    file = file.expanduser()
    refuse_place(file, option="FILE")
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
    """Let the installation sign by a new key. Two people must, by the same command, one of them the head."""
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.office import publisher_keys, rotate

    workspace = open_workspace()
    answer = recorded(rotate(workspace, means(name, key, envelope, to_sign), comment), to_sign)
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
