"""Findings that need a decision at the desk: who sees the buttons, what they do, and what comes of a crafted form."""

from collections.abc import Callable
from typing import Any

import pytest

from flows.desk.desk import Desk
from sluice.custody.states import State
from tests.flows.desk.conftest import opened
from tests.flows.desk.signing_office import adopt_keys, hidden
from tests.flows.desk.visitor import Visitor, visitor
from tests.flows.house import House
from tests.flows.overlooking_house import WHY, overlooking_house
from tests.golden import golden
from tests.report.pages import Page

AtDesk = Callable[[str], Visitor]


@pytest.fixture
def held() -> House:
    return overlooking_house()


@pytest.fixture
def desk(held: House, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return opened(held, monkeypatch)


@pytest.fixture
def seen_by(desk: Desk) -> AtDesk:
    return lambda name: visitor(desk, name)


def act(who: Visitor, release: str, what: str, comment: str = WHY, **fields: str) -> Any:
    return who.send(f"/releases/{release}", f"/releases/{release}/act", what=what, comment=comment, **fields)


def test_it_is_shown_to_all_who_read_it_and_the_buttons_to_those_who_decide(seen_by: AtDesk, held: House) -> None:
    place = f"/releases/{held.id}"
    for name, decides in {"amara": True, "mina": True, "jonas": False, "emil": False}.items():
        page = seen_by(name).get(place).text
        assert Page(page).all("h2", id="findings")
        assert Page(page).all("section", class_="finding")
        for what in ("accept_finding", "refuse_finding"):
            assert bool(Page(page).all("button", value=what)) is decides
        assert 'value="approve"' not in page
    assert seen_by("noor").get(place).status_code == 404
    for name in ("amara", "mina"):
        waits = seen_by(name).get("/").text.partition("Waiting for others")[0]
        assert "A decision on overlooked_keys.overlooked" in waits
    golden.where("waits", "\n".join(Page(seen_by("jonas").get("/").text).lines))


def test_accepted_at_the_desk_then_approved(seen_by: AtDesk, held: House) -> None:
    mina = seen_by("mina")
    crafted = f"{WHY} <script>alert(1)</script>"
    assert act(mina, held.id, "accept_finding", crafted).status_code == 303
    assert held.workspace().ledger.state(held.id) is State.PENDING_REVIEW
    page = mina.get(f"/releases/{held.id}").text
    assert "<script" not in page
    golden.words([each for each in Page(page).texts("span", class_="soft") if "mina" in each])
    for name in ("amara", "jonas"):
        assert act(seen_by(name), held.id, "approve", "").status_code == 303
    assert held.shelf == [held.id]


def test_refused_at_the_desk(seen_by: AtDesk, held: House) -> None:
    assert act(seen_by("amara"), held.id, "refuse_finding").status_code == 303
    assert held.workspace().ledger.state(held.id) is State.CHANGES_REQUESTED
    assert WHY in seen_by("emil").get(f"/releases/{held.id}/history").text


@pytest.mark.parametrize("who", ["jonas", "emil"])
@pytest.mark.parametrize("what", ["accept_finding", "refuse_finding", "approve"])
def test_a_form_sent_by_hand_is_refused(seen_by: AtDesk, held: House, who: str, what: str) -> None:
    before = held.events(held.id)
    mina = hidden(seen_by("mina").get(f"/releases/{held.id}").text)
    visitor = seen_by(who)
    answer = visitor.post(
        f"/releases/{held.id}/act", **{**mina, "token": visitor.token(f"/releases/{held.id}")}, what=what, comment=WHY
    )
    assert answer.status_code == 403
    assert held.events(held.id) == before


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"comment": "fine"}, "at least 20 characters"),
        ({"until": "2199-01-01"}, "until must be a day from today"),
        ({"until": "soon"}, "until must be a day, such as"),
        ({"seen": "b" * 64}, "judged again since you read it"),
        ({"finding": "b" * 64}, "no open finding"),
    ],
)
def test_what_cannot_count_is_said_and_not_recorded(
    seen_by: AtDesk, held: House, fields: dict[str, str], says: str
) -> None:
    answer = act(seen_by("mina"), held.id, "accept_finding", **{"comment": WHY, **fields})
    assert answer.status_code == 409
    assert says in answer.text
    assert "finding_decided" not in held.events(held.id)


def test_where_people_sign_the_word_is_theirs_alone(desk: Desk, seen_by: AtDesk, held: House, tmp_path: Any) -> None:
    keys = adopt_keys(held, tmp_path / "keys")
    mina, place = seen_by("mina"), f"/releases/{held.id}"
    page = act(mina, held.id, "accept_finding")
    assert page.status_code == 200
    payload = mina.post(f"{place}/statement", **hidden(page.text)).content
    assert held.events(held.id)[-1] == "needs_decision"  # nothing is recorded before it is signed
    forged = mina.post(f"{place}/signed", **hidden(page.text), signature=keys.sign("jonas", payload))
    assert forged.status_code == 409
    other = {**hidden(page.text), "comment": f"{WHY} And another one."}
    assert mina.post(f"{place}/signed", **other, signature=keys.sign("mina", payload)).status_code == 409
    assert mina.post(f"{place}/signed", **hidden(page.text), signature=keys.sign("mina", payload)).status_code == 303
    assert held.workspace().ledger.state(held.id) is State.PENDING_REVIEW
    (row,) = [each for each in held.workspace().ledger.entries(held.id) if each.event == "finding_decided"]
    assert row.body["identity"] == "key"
