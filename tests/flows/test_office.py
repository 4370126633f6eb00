"""An office is set up by one command, and its people decide by the keys that they have."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from sluice.custody.ledger import Ledger
from sluice.custody.signing.keys_at_hand import make_key_pair
from tests.flows.house import DONE, ERROR, WAITING, House, Told, contract, policy
from tests.golden import golden

needs_agent = pytest.mark.skipif(shutil.which("ssh-agent") is None, reason="ssh-agent is not installed")

ROLES = {"emil": ["head", "owner"], "amara": ["methodologist"], "jonas": ["data_steward"]}


class Desks:
    """A workspace, and people with a home folder each, who run commands in it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self._patch = root, monkeypatch
        (root / "documents").mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(root / "documents")
        monkeypatch.setenv("SLUICE_HOME", str(root / "home"))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)

    def ssh(self, person: str) -> Path:
        return self.root / person / ".ssh"

    def key(self, person: str, name: str = "id_ed25519") -> str:
        """Make a key in a person's `~/.ssh`; its line."""
        return make_key_pair(self.ssh(person) / name, person).line

    def roster(self, identity: str = "key", **changes: dict[str, Any]) -> Path:
        """The office of three, each with a key; written to people.yaml."""
        people: dict[str, Any] = {}
        for name, roles in ROLES.items():
            public = self.ssh(name) / "id_ed25519.pub"
            line = public.read_text() if public.exists() else self.key(name)
            people[name] = {"roles": roles, "account": name, "keys": [line], **changes.get(name, {})}
        return self.document("people.yaml", {"identity": identity, "people": people})

    def document(self, name: str, content: dict[str, Any]) -> Path:
        path = Path(name)
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return path

    def runs(self, person: str, *arguments: str, types: str = "") -> Told:
        """What a person is told who runs a command, typing lines."""
        from flows.cli.main import main

        out, err = StringIO(), StringIO()
        with self._patch.context() as here, redirect_stdout(out), redirect_stderr(err):
            here.setenv("HOME", str(self.root / person))
            here.setenv("COLUMNS", "200")
            here.setattr("sys.stdin", StringIO(types))
            code = main([*arguments])
        return Told(code, out.getvalue(), err.getvalue())

    @property
    def acts(self) -> list[str]:
        from sluice.custody.states import OFFICE
        from sluice.custody.workspace import Workspace

        return [entry.event for entry in Workspace.open(self.root / "home").ledger.entries(OFFICE)]


@pytest.fixture
def desks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desks:
    return Desks(tmp_path, monkeypatch)


@pytest.fixture
def founded(desks: Desks) -> Desks:
    desks.roster()
    assert desks.runs("emil", "office").code == DONE
    return desks


@pytest.fixture
def agent(desks: Desks, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Jonas's key, in his agent alone."""
    socket = desks.root / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    while not socket.exists():
        assert process.poll() is None
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    yield socket
    process.terminate()
    process.wait()


# Setting it up


def test_one_command_asks_who_belongs_to_the_office_and_founds_it(desks: Desks) -> None:
    own = desks.key("emil")
    line, file = desks.key("amara"), desks.key("jonas", "work")
    people = (
        ("Emil Brandt", "", "", ""),  # roles, account and key as they are offered
        ("amara", "methodologist, statistician", "", line),
        ("jonas", "", "", str(desks.ssh("jonas") / "work.pub")),
    )
    typed = "".join(f"{answer}\n" for person in people for answer in person)
    contract_file = desks.document("contract.yaml", contract())
    told = desks.runs("emil", "office", str(contract_file), types=f"{typed}\n\ny\n")
    assert told.code == DONE, told.err
    written = yaml.safe_load(Path("people.yaml").read_text())
    assert written["identity"] == "key"
    assert {name: (entry["roles"], entry["keys"]) for name, entry in written["people"].items()} == {
        "Emil Brandt": (["head", "owner"], [own]),
        "amara": (["methodologist", "statistician"], [line]),
        "jonas": (["data_steward"], [file]),
    }
    assert "sluice adopt people.yaml" in Path("people.yaml").read_text()
    golden.where("by Emil Brandt", told.out)
    assert "public-use-file" in told.out
    assert "contracts: people" in told.out
    golden.where("jonas (data_steward)", told.out)
    shown = desks.runs("amara", "people", "--json").json
    assert [each["name"] for each in shown["adopted"] if each["kind"] == "contract"] == ["people"]
    assert "connections: {}" in (desks.root / "home" / "connections.yaml").read_text()


def test_the_connections_that_are_written_are_read(founded: Desks) -> None:
    from sluice.sources.connections import load_connections

    assert load_connections().connections == {}
    text = (founded.root / "home" / "connections.yaml").read_text()
    lines = [line.replace("#", " ", 1) if line.startswith("#  ") else line for line in text.splitlines()]
    filled = "\n".join("connections:" if line.startswith("connections:") else line for line in lines)
    (founded.root / "home" / "connections.yaml").write_text(filled.replace("# files", "files"))
    assert load_connections().named("warehouse").schemas == ("survey",)


def test_nothing_is_founded_where_nobody_answers(desks: Desks) -> None:
    for typed in ("", "Emil\n", "\n\n"):
        desks.runs("emil", "office", types=typed).refused()
        assert not Path("people.yaml").exists()
    assert desks.acts == []


def test_a_roster_may_be_looked_over_before_it_counts(desks: Desks) -> None:
    desks.key("emil")
    told = desks.runs("emil", "office", types="Emil\n\n\n\n\n\nn\n")
    assert (told.code, desks.acts) == (DONE, [])
    golden.where("ounded", told.out + told.err)
    Path("people.yaml").write_text(Path("people.yaml").read_text().replace("identity: account", "identity: key"))
    before = Path("people.yaml").read_bytes()
    assert desks.runs("emil", "office").code == DONE
    assert Path("people.yaml").read_bytes() == before


def test_who_answers_wrongly_is_asked_again(desks: Desks) -> None:
    desks.key("emil")
    key = desks.key("amara")
    typed = (
        "Emil",
        "",
        "",
        "1",
        " EMIL ",
        "",
        "",
        "",
        "amara",
        "",
        "",
        "ssh-rsa AAAA",
        "gone.pub",
        key,
        "",
        "keys",
        "key",
        "y",
    )
    told = desks.runs("emil", "office", types="".join(f"{each}\n" for each in typed))
    assert told.code == DONE, told.err
    assert [*yaml.safe_load(Path("people.yaml").read_text())["people"]] == ["Emil", "amara"]
    for says in ("names both 'Emil'", "got a key of the kind 'ssh-rsa'", "gone.pub: cannot be read", "identity"):
        assert says in told.words
    golden.where("data_steward, ", told.out + told.err)


def test_an_office_is_founded_once(founded: Desks) -> None:
    told = founded.runs("emil", "office")
    assert (told.code, founded.acts) == (ERROR, ["founded"])
    golden.words(told.words)
    assert "sluice people" in told.words


def test_a_document_that_is_wrong_stops_it_before_anybody_is_asked(desks: Desks) -> None:
    Path("contract.yaml").write_text("dataset: people\nvariables: []\n")
    told = desks.runs("emil", "office", "contract.yaml", types="Emil\n").refused()
    assert "Who belongs" not in told.words


def test_a_policy_of_one_s_own_takes_the_place_of_the_shipped_one(desks: Desks) -> None:
    desks.roster()
    own = desks.document("policy.yaml", policy() | {"name": "public-use-file", "version": 7})
    assert desks.runs("emil", "office", str(own)).code == DONE
    adopted = [each for each in desks.runs("emil", "people", "--json").json["adopted"] if each["kind"] == "policy"]
    assert len(adopted) == len({each["name"] for each in adopted}) > 5
    assert [each["version"] for each in adopted if each["name"] == "public-use-file"] == ["7"]


# Who may found it, and by what they are known


def test_only_the_head_founds_it(desks: Desks) -> None:
    desks.roster()
    told = desks.runs("amara", "office")
    assert (told.code, desks.acts) == (ERROR, [])
    golden.words(told.words)


def test_a_key_that_is_not_on_the_roster_counts_for_nothing(desks: Desks) -> None:
    desks.roster()
    desks.key("mallory")
    told = desks.runs("mallory", "office")
    golden.words(told.words)
    assert "sluice key new" in told.words
    told = desks.runs("mallory", "office", "--key", str(desks.ssh("mallory") / "id_ed25519"))
    golden.words(told.words)
    told = desks.runs("emil", "office", "--as", "emil")
    golden.words(told.words)
    assert desks.acts == []


def test_several_keys_of_one_person_leave_no_doubt_and_those_of_two_do(founded: Desks) -> None:
    people = founded.roster()
    written = yaml.safe_load(people.read_text())
    written["people"]["jonas"]["keys"].append(founded.key("jonas", "second"))
    founded.document("people.yaml", written)
    assert founded.runs("emil", "adopt", "people.yaml").code == WAITING
    shutil.copy(founded.ssh("emil") / "id_ed25519.pub", founded.ssh("jonas") / "emil.pub")  # public: anybody has it
    assert founded.runs("jonas", "adopt", "people.yaml").code == DONE
    own = policy() | {"name": "own"}
    founded.document("policy.yaml", own)
    assert founded.runs("jonas", "adopt", "policy.yaml").code == WAITING  # by either of his keys
    shutil.copy(founded.ssh("emil") / "id_ed25519", founded.ssh("jonas") / "emil")
    told = founded.runs("jonas", "adopt", "policy.yaml").refused()
    assert "emil (emil)" in told.words
    golden.words(told.words)


@pytest.mark.servers
@needs_agent
def test_the_agent_s_key_is_found(founded: Desks, agent: Path) -> None:
    subprocess.run(["ssh-add", "-q", founded.ssh("jonas") / "id_ed25519"], check=True)
    shutil.rmtree(founded.ssh("jonas"))
    founded.document("policy.yaml", policy())
    told = founded.runs("jonas", "adopt", "policy.yaml")
    assert (told.code, founded.acts[-1]) == (WAITING, "adopted"), told.err
    golden(told.words)


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_key_with_a_passphrase_signs_when_it_is_given(founded: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    key = founded.ssh("amara") / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "rain on the lock", "-f", key], check=True)
    asker = founded.root / "asker"
    asker.write_text("#!/bin/sh\necho 'rain on the lock'\n")
    asker.chmod(0o700)
    for name, value in {"SSH_ASKPASS": str(asker), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}.items():
        monkeypatch.setenv(name, value)
    founded.document("policy.yaml", policy())
    assert founded.runs("amara", "adopt", "policy.yaml").code == WAITING
    asker.write_text("#!/bin/sh\necho another\n")
    told = founded.runs("amara", "adopt", "policy.yaml")
    assert (told.code, len(founded.acts)) == (ERROR, 2)
    golden.words(told.words)


# Signing elsewhere


def elsewhere(desks: Desks, person: str, *command: str) -> Told:
    """What the vault's account is told, when a person has signed on another machine what it asked for."""
    asked = desks.runs("vault", *command, "--to-sign", "-")
    assert asked.code == DONE, asked.err
    signed = desks.runs(person, "sign", "-", types=asked.out)
    assert signed.code == DONE, signed.err
    return desks.runs("vault", *command, "--envelope", "-", types=signed.out)


def test_an_office_is_founded_and_changed_where_nobody_has_a_key(desks: Desks) -> None:
    desks.roster()
    assert elsewhere(desks, "emil", "office").code == DONE
    desks.document("policy.yaml", policy())
    assert elsewhere(desks, "amara", "adopt", "policy.yaml").code == WAITING
    assert elsewhere(desks, "jonas", "adopt", "policy.yaml").code == DONE
    assert desks.acts == ["founded", "adopted", "adopted"]


def test_nobody_has_the_key_of_the_installation(founded: Desks) -> None:
    """The account that owns the vault could approve in that person's name."""
    from sluice.custody.signing.public_key import PublicKey
    from sluice.custody.workspace import Workspace

    key = PublicKey.of(Workspace.open(founded.root / "home").vault.signing_key().public_key()).line
    founded.roster(jonas={"roles": ["owner"], "keys": [key]})
    golden.words(founded.runs("emil", "adopt", "people.yaml").words)
    assert founded.acts == ["founded"]


def test_by_files_as_by_pipes(founded: Desks) -> None:
    founded.document("policy.yaml", policy())
    told = founded.runs("vault", "adopt", "policy.yaml", "--to-sign", "statement")
    golden.words(told.words)
    key = str(founded.ssh("amara") / "id_ed25519")
    told = founded.runs("nobody", "sign", "statement", "--key", key, "--output", "signed")
    assert told.code == DONE
    golden.where("test-policy", told.out + told.err)
    assert founded.runs("vault", "adopt", "policy.yaml", "--envelope", "signed").code == WAITING
    told = founded.runs("vault", "adopt", "policy.yaml", "--envelope", "signed", "--key", key)
    golden.words(told.words)


def test_what_was_signed_is_recorded_as_it_was_signed_or_not_at_all(founded: Desks) -> None:
    founded.document("policy.yaml", policy())
    founded.document("milder.yaml", policy() | {"rules": [{"rule": "k_anonymity", "k": 2}]})
    asked = founded.runs("vault", "adopt", "policy.yaml", "--to-sign", "-").out
    signed = founded.runs("amara", "sign", "-", types=asked).out
    told = founded.runs("vault", "adopt", "milder.yaml", "--envelope", "-", types=signed)
    golden.words(told.words)
    told = founded.runs("vault", "adopt", "policy.yaml", "--valid-until", "2999-01-01", "--envelope", "-", types=signed)
    golden.words(told.words)
    statement = json.loads(asked)
    statement["predicate"]["at"] = "2026-01-01T00:00:00+00:00"
    old = founded.runs("amara", "sign", "-", types=json.dumps(statement)).out
    told = founded.runs("vault", "adopt", "policy.yaml", "--envelope", "-", types=old)
    golden(told.words)
    told = founded.runs("amara", "sign", "-", types="Dear Amara, please sign")
    golden.words(told.words)
    assert founded.acts == ["founded"]


# Known by their accounts, or by what they type


def test_people_may_be_known_by_the_account_of_the_system(desks: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    desks.roster("account")
    monkeypatch.setattr("tasks.release.decisions.signing_in.account", lambda: "mallory")
    told = desks.runs("emil", "office")
    golden.words(told.words)
    golden.words(desks.runs("emil", "office", "--as", "emil").words)
    monkeypatch.setattr("tasks.release.decisions.signing_in.account", lambda: "emil")
    told = desks.runs("emil", "office")
    assert told.code == DONE
    golden.words(told.words)


def test_an_office_whose_people_have_no_account_or_key_yet_says_so(desks: Desks) -> None:
    desks.roster("declared")
    told = desks.runs("emil", "office")
    golden.words(told.words)
    desks.roster(jonas={"keys": []})
    told = desks.runs("emil", "office")
    assert told.code == DONE
    golden.words(told.words)


# Deciding on a release


@pytest.fixture
def waiting(pending: House, desks: Desks, monkeypatch: pytest.MonkeyPatch) -> Desks:
    """A release under review, in an office that has taken up keys since."""
    from tests.flows.house import is_in_force

    there = Desks(pending.root, monkeypatch)
    roles = {"amara": ["methodologist", "head"], "jonas": ["data_steward", "owner"], "emil": ["methodologist"]}
    there.roster(**{name: {"roles": given} for name, given in roles.items()})
    for person in ("amara", "jonas"):
        assert there.runs(person, "adopt", "people.yaml", "--as", person).code in (WAITING, DONE)
    assert is_in_force(pending.workspace(), Path("people.yaml"))
    return there


def test_a_release_is_approved_by_two_signatures(waiting: Desks, pending: House) -> None:
    release = pending.id
    told = waiting.runs("amara", "approve", release, "--as", "amara")
    golden.words(told.words)
    told = waiting.runs("emil", "approve", release)
    assert "'emil' submitted" in told.words
    told = waiting.runs("amara", "approve", release)
    assert (told.code, pending.shelf) == (WAITING, []), told.err
    reject = waiting.runs("vault", "reject", release, "--comment", "no", "--to-sign", "-").out
    signed = waiting.runs("jonas", "sign", "-", types=reject).out
    told = waiting.runs("vault", "approve", release, "--envelope", "-", types=signed)
    golden.words(told.words)
    told = elsewhere(waiting, "jonas", "approve", release, "--comment", "agreed")
    assert (told.code, pending.shelf) == (DONE, [release]), told.err
    golden.words(elsewhere(waiting, "jonas", "withdraw", release, "--reason", "wrong codes").out)
    told = elsewhere(waiting, "amara", "withdraw", release, "--reason", "wrong codes")
    golden(told.words)
    assert str(release) in told.words


def test_a_key_that_is_revoked_before_the_publication_takes_its_decision_with_it(
    waiting: Desks, pending: House
) -> None:
    """The process of the last approval dies; until the doctor looks, Amara's key was stolen and replaced."""
    release = pending.id
    assert waiting.runs("amara", "approve", release).code == WAITING
    with dying_after("decision"):
        waiting.runs("jonas", "approve", release)
    assert pending.events(release)[-2:] == ["decision", "decision"]
    roles = {"amara": ["methodologist", "head"], "jonas": ["data_steward", "owner"], "emil": ["methodologist"]}
    new = {"amara": {"keys": [waiting.key("amara", "id_new")]}}
    waiting.roster(**{name: {"roles": given, **new.get(name, {})} for name, given in roles.items()})
    for person in ("amara", "jonas"):
        assert waiting.runs(person, "adopt", "people.yaml").code in (WAITING, DONE)

    assert waiting.runs("vault", "doctor", "--repair", "--after", "0").code == DONE, "there is nothing to carry out"
    assert pending.shelf == []
    golden(waiting.runs("jonas", "approve", release).words)
    assert pending.shelf == []
    told = waiting.runs("amara", "approve", release, "--key", str(waiting.ssh("amara") / "id_new"))
    assert (told.code, pending.shelf) == (DONE, [release]), told.err
    assert pending.workspace().ledger.verify() == []


@contextmanager
def dying_after(event: str) -> Iterator[None]:
    """Whoever records the event is no more."""
    append = Ledger.append

    def dying(self: Ledger, release: str, happened: str, *args: Any, **kwargs: Any) -> Any:
        entry = append(self, release, happened, *args, **kwargs)
        if happened == event:
            raise KeyboardInterrupt
        return entry

    with patch.object(Ledger, "append", dying):
        yield


# Keys


def test_a_key_is_made_where_it_is_found(desks: Desks) -> None:
    told = desks.runs("amara", "key", "new", "--json")
    private = desks.ssh("amara") / "id_sluice"
    assert (told.code, told.json["file"]) == (DONE, str(private))
    assert told.json["line"] == private.with_suffix(".pub").read_text().strip()
    desks.roster(amara={"roles": ["head"], "keys": [told.json["line"]]})
    (desks.ssh("amara") / "id_ed25519").unlink()
    assert desks.runs("amara", "office").code == DONE
    desks.runs("amara", "key", "new").refused()
