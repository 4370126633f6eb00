"""Decisions at the desk: whose they are, on which bytes, and who learns of them when."""

import base64
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from flows.desk.desk import Desk
from policies.approvals import Subject
from sluice.custody.states import State
from tasks.release.decisions.under_review import UnderReview
from tests.flows.desk.signing_office import Keys, adopt_keys, begun, hidden, to_sign
from tests.flows.desk.visitor import Visitor, visitor
from tests.flows.house import House
from tests.golden import golden
from tests.report.pages import Page

AtDesk = Callable[[str], Visitor]
SECRET_WORDS = "the age groups tell of two families"


def decide(who: Visitor, release: str, what: str, comment: str = "", **fields: str) -> Any:
    return who.send(f"/releases/{release}", f"/releases/{release}/act", what=what, comment=comment, **fields)


def problem_on(answer: Any) -> None:
    """Nothing was done, and the page says why."""
    __tracebackhide__ = True
    assert answer.status_code == 409
    golden.words(Page(answer.text).texts("p", role="alert"))


def done_by(who: Visitor, answer: Any) -> None:
    """The page to which the answer leads says what was done."""
    __tracebackhide__ = True
    golden.words(Page(who.get(answer.headers["location"]).text).texts("p", role="status"))


def notices_on(answer: Any) -> list[str]:
    return Page(answer.text).texts("p", class_="notice")


def decisions(house: House) -> list[tuple[str, str]]:
    entries = house.workspace().ledger.entries(house.id)
    return [(entry.actor, entry.body["decision"]) for entry in entries if entry.event == "decision"]


# -- where a typed name is believed


def test_two_approve_and_it_is_published(at_desk: AtDesk, pending: House) -> None:
    amara, jonas = at_desk("amara"), at_desk("jonas")
    assert decide(amara, pending.id, "approve").status_code == 303
    assert decide(jonas, pending.id, "approve", "fine\r\nas it is").status_code == 303
    assert pending.shelf == [pending.id]
    last = pending.workspace().ledger.entries(pending.id)
    assert [entry.body["comment"] for entry in last if entry.event == "decision"] == ["", "fine\nas it is"]
    assert "published" in jonas.get(f"/releases/{pending.id}").text


def test_changes_are_asked_for(at_desk: AtDesk, pending: House) -> None:
    for name in ("amara", "jonas"):
        assert decide(at_desk(name), pending.id, "request_changes", "wider age groups").status_code == 303
    assert pending.events()[-1] == State.CHANGES_REQUESTED
    assert "Changes requested" in at_desk("emil").get("/").text
    assert "wider age groups" in at_desk("emil").get(f"/releases/{pending.id}").text


def test_the_submitter_takes_back_and_cannot_approve(at_desk: AtDesk, pending: House) -> None:
    emil = at_desk("emil")
    page = emil.get(f"/releases/{pending.id}").text
    assert 'value="approve"' not in page
    assert 'value="conflicted"' not in page
    for what in ("approve", "conflicted"):
        assert decide(emil, pending.id, what, "I say so").status_code == 403
    assert decisions(pending) == []
    assert decide(emil, pending.id, "reject", "wrong year").status_code == 303
    assert pending.events()[-1] == State.REJECTED


def test_who_may_not_read_cannot_decide(at_desk: AtDesk, pending: House) -> None:
    noor = at_desk("noor")
    for path in ("act", "signed", "statement"):
        answer = noor.post(f"/releases/{pending.id}/{path}", token=noor.token(), what="approve", payload="e30=")
        assert answer.status_code == 404
    assert decisions(pending) == []


def test_nobody_decides_in_another_name(at_desk: AtDesk, pending: House) -> None:
    """Whatever a form says beside."""
    decide(at_desk("amara"), pending.id, "approve", name="jonas", person="jonas", declared="jonas", signed_on="jonas")
    assert decisions(pending) == [("amara", "approve")]


@pytest.mark.parametrize("what", ["", "published", "APPROVE", "request-changes", "withdraw"])
def test_there_are_four_decisions(at_desk: AtDesk, pending: House, what: str) -> None:
    assert decide(at_desk("amara"), pending.id, what, "a word").status_code == 403
    assert decisions(pending) == []


def test_a_refusal_says_why_and_what_was_written_stays_in_the_form(at_desk: AtDesk, pending: House) -> None:
    amara = at_desk("amara")
    problem_on(decide(amara, pending.id, "reject", "  "))
    answer = decide(amara, pending.id, "reject", "wrong\u202e codes")
    problem_on(answer)
    assert "wrong\\u202e codes</textarea>" in answer.text
    assert decisions(pending) == []


def test_who_stands_aside_is_told_at_once_and_why_is_not(at_desk: AtDesk, pending: House) -> None:
    """It could be counted: nobody has decided, and somebody has acted."""
    amara, jonas = map(at_desk, ("amara", "jonas"))
    decide(amara, pending.id, "conflicted", SECRET_WORDS)
    for page in (f"/releases/{pending.id}", f"/releases/{pending.id}/history", "/ledger"):
        text = jonas.get(page).text
        assert "stands aside" in text, page
        assert SECRET_WORDS not in text, page
        assert "has decided" not in text, page


def test_what_others_decided_is_told_when_all_have(at_desk: AtDesk, pending: House) -> None:
    amara, jonas, mina, emil = map(at_desk, ("amara", "jonas", "mina", "emil"))
    decide(amara, pending.id, "request_changes", SECRET_WORDS)
    pages = [f"/releases/{pending.id}", f"/releases/{pending.id}/history", "/ledger", "/", "/editions"]
    for reader in (jonas, mina, emil):
        for page in pages:
            text = reader.get(page).text
            assert SECRET_WORDS not in text, page
            assert "request_changes" not in text.replace('value="request_changes"', ""), page
        told = Page(reader.get(pages[0]).text).texts("li")
        golden([each for each in told if each.startswith("amara")])
        assert "stands aside" not in "".join(reader.get(page).text for page in pages)
    assert SECRET_WORDS in amara.get(pages[0]).text  # her own
    accesses = amara.get("/accesses").text
    assert "decided" in accesses
    assert "changes" not in accesses
    assert SECRET_WORDS not in amara.desk.access.file.read_text()
    decide(jonas, pending.id, "request_changes", "the same")
    assert SECRET_WORDS in emil.get(pages[0]).text


def test_the_answer_to_a_second_decision_tells_nothing_of_the_first(at_desk: AtDesk, pending: House) -> None:
    decide(at_desk("amara"), pending.id, "reject", SECRET_WORDS)
    mina = at_desk("mina")
    answer = decide(mina, pending.id, "approve")
    shown = mina.get(answer.headers["location"]).text
    assert SECRET_WORDS not in shown
    assert "differ" not in shown


def test_a_release_that_was_judged_again_meanwhile_is_read_again_first(at_desk: AtDesk, pending: House) -> None:
    amara = at_desk("amara")
    answer = decide(amara, pending.id, "approve", seen="0" * 64)
    problem_on(answer)
    assert decisions(pending) == []


def test_a_report_that_was_altered_is_not_approved(at_desk: AtDesk, pending: House) -> None:
    (pending.home / "reports" / f"{pending.id}.html").write_text("<p>All is well")
    answer = decide(at_desk("amara"), pending.id, "approve")
    problem_on(answer)
    assert decisions(pending) == []


def test_two_decisions_at_once_are_both_there_and_publish_once(desk: Desk, at_desk: AtDesk, pending: House) -> None:
    people, release = [at_desk(name) for name in ("amara", "jonas")], pending.id
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda who: decide(who, release, "approve").status_code, people))
    assert answers == [303, 303]
    assert sorted(decisions(pending)) == [("amara", "approve"), ("jonas", "approve")]
    assert pending.events().count(State.PUBLISHED) == 1
    assert pending.sluice("ledger", "verify", "--json").json["problems"] == []


def test_what_breaks_after_a_decision_leaves_the_decision(
    at_desk: AtDesk, pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("income 48000")

    monkeypatch.setattr("flows.desk.deciding.go_on", broken)
    for name in ("amara", "jonas"):
        assert decide(at_desk(name), pending.id, "approve").status_code == 303
    assert len(decisions(pending)) == 2
    assert pending.shelf == []


# -- withdrawal


def test_two_withdraw(desk_after: Desk, published: House) -> None:
    noor, amara = visitor(desk_after, "noor"), visitor(desk_after, "amara")
    first = decide(noor, published.id, "withdraw", "wrong codes")
    done_by(noor, first)
    assert published.shelf == [published.id]
    assert "<strong>noor</strong> asks for it: wrong codes" in amara.get(f"/releases/{published.id}").text
    second = decide(amara, published.id, "withdraw", "wrong codes")
    done_by(amara, second)
    assert published.shelf == [f"{published.id}.withdrawn.txt"]


def test_that_the_edition_before_was_withdrawn_meanwhile_is_told_to_who_decides(
    desk_after: Desk, published: House
) -> None:
    """The report says what the release takes the place of, as it was when it was judged."""
    first = published.id
    published.new_edition()
    published.release()
    second = published.id
    noor, amara = visitor(desk_after, "noor"), visitor(desk_after, "amara")
    before = notices_on(amara.get(f"/releases/{second}"))
    decide(noor, first, "withdraw", "wrong codes")
    assert notices_on(amara.get(f"/releases/{second}")) == before
    decide(amara, first, "withdraw", "wrong codes")
    [told] = [each for each in notices_on(amara.get(f"/releases/{second}")) if each not in before]
    assert first in told
    golden.words(told)


# -- where people are known by their signature


@pytest.fixture
def keys(desk: Desk, pending: House, tmp_path: Path) -> Keys:
    return adopt_keys(pending, tmp_path / "keys")


def bring(who: Visitor, release: str, page: Any, signature: str, **changed: str) -> Any:
    return who.post(f"/releases/{release}/signed", **hidden(page.text) | {"signature": signature} | changed)


def sign_and_bring(who: Visitor, keys: Keys, signer: str, release: str, what: str, comment: str = "") -> Any:
    page = begun(who, release, what, comment)
    return bring(who, release, page, keys.sign(signer, to_sign(who, release, page)))


def test_a_signature_decides_and_verifies_outside(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    for name in ("amara", "jonas"):
        answer = sign_and_bring(at_desk(name), keys, name, pending.id, "approve", "read\nall of it")
        assert answer.status_code == 303
    assert pending.shelf == [pending.id]
    entries = [entry for entry in pending.workspace().ledger.entries(pending.id) if entry.event == "decision"]
    assert [entry.body["identity"] for entry in entries] == ["key", "key"]


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_the_command_of_the_page_signs_and_the_file_can_be_uploaded(
    at_desk: AtDesk, pending: House, keys: Keys, tmp_path: Path
) -> None:
    amara = at_desk("amara")
    page = begun(amara, pending.id, "request_changes", "wider age groups")
    command = unescape(page.text.partition('aria-label="Command">')[2].partition("<")[0])
    name = command.split()[-1]
    (tmp_path / name).write_bytes(to_sign(amara, pending.id, page))
    run = command.replace("~/.ssh/id_sluice", str(keys.of("amara"))).split()
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    signature = (tmp_path / f"{name}.sig").read_bytes()
    fields = hidden(page.text) | {"signature": ""}
    answer = amara.post(f"/releases/{pending.id}/signed", files={"file": (f"{name}.sig", signature)}, **fields)
    assert answer.status_code == 303
    assert decisions(pending) == [("amara", "request_changes")]


def test_where_people_are_known_by_their_account_the_sign_on_is_not_enough(at_desk: AtDesk, pending: House) -> None:
    """The account of the system is none of the desk: a signature is asked for, and the command is named."""
    pending.people["identity"] = "account"
    pending.write()
    pending.adopt()
    amara = at_desk("amara")
    shown = amara.get(f"/releases/{pending.id}").text
    golden([each for each in Page(shown).texts("p") if "account" in each or "no key" in each])
    assert "ssh-keygen" in decide(amara, pending.id, "approve").text
    assert decisions(pending) == []


def test_without_a_signature_nothing_is_recorded(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    """Nor by one that a form puts in its place."""
    amara = at_desk("amara")
    page = begun(amara, pending.id, "approve")
    golden.where("private", "\n".join(Page(page.text).texts("p")))
    private = keys.of("amara").read_text()
    for given in ("", "yes", private, "{}", '{"payload": "e30="}', "-----BEGIN SSH SIGNATURE-----\nAAAA"):
        answer = bring(amara, pending.id, page, given)
        assert answer.status_code == 409, given
        assert private not in answer.text
    assert decisions(pending) == []


def test_a_signature_of_another_person_is_not_recorded(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    """As where somebody got hold of it, or two people would vote by one sign-on."""
    answer = sign_and_bring(at_desk("amara"), keys, "jonas", pending.id, "approve")
    problem_on(answer)
    assert decisions(pending) == []


def test_a_signature_counts_for_what_was_signed_alone(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    amara = at_desk("amara")
    page = begun(amara, pending.id, "request_changes", "wider age groups")
    signature = keys.sign("amara", to_sign(amara, pending.id, page))
    other = hidden(begun(amara, pending.id, "approve").text)["payload"]
    for changed in (
        {"what": "reject"},
        {"what": "approve", "comment": ""},
        {"comment": "narrower age groups"},
        {"payload": other},
    ):
        assert bring(amara, pending.id, page, signature, **changed).status_code == 409, changed
    assert decisions(pending) == []
    assert bring(amara, pending.id, page, signature).status_code == 303


def test_a_signature_that_is_brought_again_says_nothing_new(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    """Kept back, and brought after its author thought better of it, it does not count."""
    amara, jonas = at_desk("amara"), at_desk("jonas")
    page = begun(amara, pending.id, "approve")
    signature = keys.sign("amara", to_sign(amara, pending.id, page))
    assert bring(amara, pending.id, page, signature).status_code == 303
    assert bring(amara, pending.id, page, signature).status_code == 303
    assert decisions(pending) == [("amara", "approve")]
    assert sign_and_bring(amara, keys, "amara", pending.id, "request_changes", "no").status_code == 303
    replayed = bring(amara, pending.id, page, signature)
    problem_on(replayed)
    assert sign_and_bring(jonas, keys, "jonas", pending.id, "request_changes", "no").status_code == 303
    assert pending.events()[-1] == State.CHANGES_REQUESTED


def test_a_signature_of_other_bytes_is_none_of_these(
    at_desk: AtDesk, pending: House, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the page and the signature the release was judged again."""
    amara = at_desk("amara")
    page = begun(amara, pending.id, "reject", "wrong year")
    signature = keys.sign("amara", to_sign(amara, pending.id, page))
    subject = UnderReview.of(pending.workspace(), pending.id).subject
    another = Subject(**subject.model_dump() | {"data": "0" * 64})
    monkeypatch.setattr(UnderReview, "subject", property(lambda _: another))
    answer = bring(amara, pending.id, page, signature)
    problem_on(answer)
    problem_on(bring(amara, pending.id, page, signature, seen=another.digest()))
    assert decisions(pending) == []


def test_the_envelope_of_sluice_sign_is_taken_too(at_desk: AtDesk, pending: House, keys: Keys, tmp_path: Path) -> None:
    amara = at_desk("amara")
    page = begun(amara, pending.id, "approve")
    statement = tmp_path / "statement.json"
    statement.write_bytes(base64.b64decode(hidden(page.text)["payload"]))
    told = pending.sluice("sign", str(statement), "--key", str(keys.of("amara")))
    assert bring(amara, pending.id, page, told.out).status_code == 303
    assert decisions(pending) == [("amara", "approve")]


@pytest.mark.parametrize("payload", ["", "e30=", "not base64", "eyJhIjogMX0="])
def test_the_desk_hands_out_statements_alone(at_desk: AtDesk, pending: House, payload: str) -> None:
    amara = at_desk("amara")
    answer = amara.post(f"/releases/{pending.id}/statement", token=amara.token(), what="approve", payload=payload)
    assert answer.status_code == 409
    assert "attachment" not in answer.headers.get("content-disposition", "")


def test_what_is_downloaded_has_a_name_that_a_shell_takes_as_it_is(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    amara = at_desk("amara")
    fields = hidden(begun(amara, pending.id, "approve").text) | {"what": 'x"; rm -rf ~ #\r\nX-Evil: 1'}
    answer = amara.post(f"/releases/{pending.id}/statement", **fields)
    assert answer.headers["content-disposition"] == f'attachment; filename="x-rm--rf-x-evil-1-{pending.id}.txt"'


def test_no_private_key_is_in_the_house(at_desk: AtDesk, pending: House, keys: Keys) -> None:
    sign_and_bring(at_desk("amara"), keys, "amara", pending.id, "approve")
    for file in pending.home.rglob("*"):
        assert not file.is_file() or b"PRIVATE KEY" not in file.read_bytes(), file
