"""The command that sets up an office: who belongs to it, by which keys, and which documents count: `sluice office`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.acting_options import As, Key, Signed, ToSign, means, recorded
from flows.cli.terminal import AsJson, note, print_json, say
from sluice.ground.errors import DocumentError, SluiceError

if TYPE_CHECKING:
    from policies.people import Roster
    from sluice.custody.signing.keys_at_hand import KeyAtHand

founding_app = typer.Typer()

_ROLES = ("head, owner", "methodologist", "data_steward")  # of an office of three, in the order in which one is asked


@founding_app.command()
def office(
    documents: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", help="contracts, and policies of your own, to adopt")
    ] = None,
    people: Annotated[
        Path, typer.Option("--people", metavar="FILE", help="the roster; if there is none, you are asked for it")
    ] = Path("people.yaml"),
    comment: Annotated[str, typer.Option("--comment", help="kept in the ledger")] = "",
    name: As = None,
    key: Key = None,
    envelope: Signed = None,
    to_sign: ToSign = None,
    as_json: AsJson = False,
) -> None:
    """Found the office: its people, the shipped policies, and the documents named."""
    from sluice.custody.shelf import refuse_to_overwrite
    from sluice.custody.workspace import open_workspace
    from tasks.release.decisions.founding import founding_documents, write_first_connections, write_roster
    from tasks.release.decisions.office import Terms, adopt, dumped, open_office

    workspace = open_workspace()
    if (there := open_office(workspace)) is not None:
        raise SluiceError(
            f"this workspace has an office, founded by {there.founder.who} on {there.founder.at[:10]}. To see the "
            f"people and documents in force: sluice people. To change that, two people run: sluice adopt FILE"
        )
    chosen = documents or []
    files = founding_documents(people, chosen)
    if not people.exists():
        refuse_to_overwrite(people, chosen, option="--people")
        write_roster(_ask_for_roster(people), people)
        note(f"{people} is written.")
        if not _confirmed("Found the office with these people?"):
            note("Nothing was founded. Change the file as you like; then: sluice office")
            return
    answer = recorded(adopt(workspace, files, Terms(), means(name, key, envelope, to_sign), comment), to_sign)
    founded, adoptions = answer
    connections = write_first_connections()
    if as_json:
        print_json({"office": founded.id, "founder": founded.founder.who, "adoptions": dumped(adoptions)})
    else:
        _tell(founded, adoptions, files, people, connections)


def _tell(founded: Any, adoptions: Any, files: list[Path], people: Path, connections: Path | None) -> None:
    """What was founded, and what comes next."""
    from tasks.release.decisions.founding import vacancies, ways_to_act

    say(f"The office is founded by {founded.founder.who}. Adopted: the roster, and")
    for kind, called in (("policy", "policies"), ("contract", "contracts")):
        if names := [each.name for each in adoptions if each.kind == kind]:
            say(f"  {called}: {', '.join(names)}")
    say("The people:")
    for person, way in ways_to_act(founded.roster):
        say(f"  {person}: {way}")
    for vacancy in vacancies(founded.roster, files):
        say(f"  {vacancy}", style="yellow")
    if connections:
        say(f"{connections} says, once you fill it in, which databases releases may be read from.")
    say(f"Later changes take two people, who both run: sluice adopt {people} (or a policy, or a contract)")
    say("They decide on a release by: sluice review ID; sluice approve ID (or reject, request-changes, conflicted)")


def _ask_for_roster(file: Path) -> "Roster":
    """The roster as somebody types it. Raises SluiceError where nobody is there to ask."""
    from policies.people import Roster
    from sluice.documents.document_reading import parse_document

    note("Who belongs to this office? It takes three, so that two can decide on what the third submits.")
    note("The first is its head, who founds it. Roles: head (answers for the roster), owner (for contracts),")
    note("methodologist (for policies; approves), data_steward (approves), or others that your policies ask for.")
    people: dict[str, Any] = {}
    while name := _ask(f"Name of person {len(people) + 1}" + (", or nothing to end" if people else "")):
        entry = {
            **people,
            name: _ask_for_person(name, len(people), [key for each in people.values() for key in each.get("keys", ())]),
        }
        try:
            parse_document(Roster, {"people": entry}, str(file))
            people = entry
        except DocumentError as error:
            note(str(error), style="red")
    signing = sum("keys" in each for each in people.values())
    while True:
        identity = _ask("They are known by their key, account, or a declared name", "key" if signing > 1 else "account")
        try:
            return parse_document(Roster, {"identity": identity, "people": people}, str(file))
        except DocumentError as error:
            if not people:
                raise SluiceError("an office needs people; nothing was founded") from None
            note(str(error), style="red")


def _ask_for_person(name: str, place: int, given: list[str]) -> dict[str, Any]:
    """One person of the roster.

    place : among those who were asked for, from 0
    given : the keys of these
    """
    from sluice.custody.signing.keys_at_hand import keys_at_hand, keys_of_account
    from tasks.release.decisions.signing_in import account

    roles = _ask(f"Roles of {name}", _ROLES[place] if place < len(_ROLES) else _ROLES[-1])
    login = _ask(f"Account of {name} on this system, or nothing", "" if place else account())
    own = keys_at_hand() if login == account() else keys_of_account(login)
    keys = [each for each in dict.fromkeys([*own, *keys_at_hand()]) if each.key.line not in given]
    for number, each in enumerate(keys, 1):
        note(f"  {number}  {each}  {each.key.fingerprint}")
    first = "1" if own and own[0] in keys else ""
    while True:
        answer = _ask(f"Public key of {name}: a number, a .pub file, its line, or nothing", first)
        try:
            key = _key(answer, keys)
        except SluiceError as error:
            note(str(error), style="red")
            continue
        person: dict[str, Any] = {"roles": [role.strip() for role in roles.split(",") if role.strip()]}
        return person | ({"account": login} if login else {}) | ({"keys": [key]} if key else {})


def _key(answer: str, keys: "list[KeyAtHand]") -> str | None:
    """The line of the key that somebody chose, named or pasted; None for none."""
    from sluice.custody.signing.public_key import PublicKey
    from tasks.release.decisions.signing_in import read_text

    if not answer:
        return None
    if answer.isdecimal() and 1 <= int(answer) <= len(keys):
        return keys[int(answer) - 1].key.line
    text = answer if len(answer.split()) > 1 else read_text(str(Path(answer).expanduser()))
    return PublicKey.parse(text).line


def _ask(question: str, default: str = "") -> str:
    try:
        return str(typer.prompt(question, default=default, show_default=bool(default), err=True)).strip()
    except typer.Abort:
        raise SluiceError(
            "nothing was founded. Where nobody can be asked, write the roster and run: sluice office --people FILE"
        ) from None


def _confirmed(question: str) -> bool:
    try:
        return typer.confirm(question, default=True, err=True)
    except typer.Abort:
        return False
