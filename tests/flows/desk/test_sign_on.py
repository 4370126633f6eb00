"""Who is signed on: by a session that cannot be stolen for long, or by a sign-on that nobody else can play."""

from collections.abc import Callable
from datetime import date, timedelta
from threading import BoundedSemaphore

import pytest

from flows.desk import application
from flows.desk.accounts import ATTEMPTS, IDLE, LONGEST_SESSION, WINDOW, Attempts, Sessions
from flows.desk.desk import PROXY_SECRET, Desk, Proxy
from flows.desk.sign_on import SESSION, known_by
from policies.people import Roster
from sluice.ground.errors import SluiceError
from tests.flows.desk.visitor import ADDRESS, PASSWORD, Visitor, desk_of
from tests.flows.house import House

AtDesk = Callable[[str], Visitor]
HEADER = "X-Remote-User"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def stolen(visitor: Visitor) -> Visitor:
    """A thief, with the cookies of somebody."""
    thief = Visitor(visitor.desk)
    thief.client.cookies = visitor.client.cookies
    return thief


def is_in(visitor: Visitor) -> bool:
    return bool(visitor.get("/").status_code == 200)


@pytest.mark.parametrize("path", ["/", "/editions", "/ledger", "/accesses", "/releases/{}", "/releases/none",
                                  "/releases/{}/report", "/releases/{}/files/people-puf.csv"])  # fmt: skip
def test_nobody_reads_anything(desk: Desk, pending: House, path: str) -> None:
    answer = Visitor(desk).get(path.format(pending.id))
    assert (answer.status_code, answer.text) == (303, "")
    assert answer.headers["location"].startswith("/sign-in")


def test_the_door_leads_to_the_page_that_was_asked_for_and_to_no_other_site(desk: Desk, pending: House) -> None:
    page = f"/releases/{pending.id}"
    nobody = Visitor(desk)
    asked = nobody.get(page).headers["location"]
    assert nobody.send(asked, "/sign-in", name="amara", password=PASSWORD).headers["location"] == page
    for elsewhere in (
        "//evil.example",
        "https://evil.example",
        "/releases/x/../..//evil.example",
        "/sign-out",
        "\\\\evil",
    ):
        answer = Visitor(desk).send("/sign-in", "/sign-in", name="amara", password=PASSWORD, to=elsewhere)
        assert answer.headers["location"] == "/"
        assert "evil" not in Visitor(desk).get(f"/sign-in?to={elsewhere}").text


def test_a_cookie_that_was_made_up_opens_nothing(desk: Desk) -> None:
    thief = Visitor(desk)
    for made_up in ("amara", "0" * 43, ""):
        thief.client.cookies.set(SESSION, made_up)
        assert not is_in(thief)


def test_a_stolen_cookie_ends_with_the_session(at_desk: AtDesk) -> None:
    amara = at_desk("amara")
    thief = stolen(amara)
    assert is_in(thief)
    amara.post("/sign-out", token=amara.token())
    assert not is_in(thief)


def test_a_session_ends_with_another_password_the_account_or_the_desk(pending: House, at_desk: AtDesk) -> None:
    amara = at_desk("amara")
    amara.desk.accounts.put("amara", "another password")
    assert not is_in(amara)
    jonas = at_desk("jonas")
    jonas.desk.accounts.remove("jonas")
    assert not is_in(jonas)
    mina = at_desk("mina")
    later = Visitor(desk_of(pending))
    later.client.cookies = mina.client.cookies
    assert is_in(mina)
    assert not is_in(later)


def test_a_session_ends_when_it_is_idle_and_after_a_day_of_work() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    token = sessions.begin("amara", "m")
    while clock.now < LONGEST_SESSION:
        assert sessions.find(token) is not None
        clock.now += IDLE - 1
    assert sessions.find(token) is None
    token = sessions.begin("amara", "m")
    clock.now += IDLE + 1
    assert sessions.find(token) is None


def test_a_cookie_from_before_is_never_the_one_of_the_session(desk: Desk) -> None:
    """Whoever planted it would be signed in as well."""
    visitor = Visitor(desk)
    visitor.client.cookies.set(SESSION, "planted")
    assert visitor.sign_in("amara").status_code == 303
    assert "planted" not in [cookie.value for cookie in visitor.client.cookies.jar if cookie.domain]
    planter = Visitor(desk)
    planter.client.cookies.set(SESSION, "planted")
    assert not is_in(planter)


def test_a_wrong_password_and_a_name_without_account_are_answered_alike(desk: Desk) -> None:
    wrong, unknown = (
        Visitor(desk).sign_in("amara", "wrong password"),
        Visitor(desk).sign_in("mallory", "wrong password"),
    )
    assert wrong.status_code == unknown.status_code == 403
    assert [line for line in wrong.text.splitlines() if "token" not in line] == [
        line for line in unknown.text.splitlines() if "token" not in line
    ]


def test_passwords_cannot_be_tried_out(desk: Desk) -> None:
    for _ in range(ATTEMPTS):
        assert Visitor(desk).sign_in("amara", "wrong password").status_code == 403
    held = Visitor(desk).sign_in("amara", PASSWORD)
    assert held.status_code == 429
    assert Visitor(desk).sign_in("jonas").status_code == 303  # of whom nobody tried


def test_wrong_passwords_elsewhere_keep_nobody_out_of_a_browser_that_is_known(desk: Desk) -> None:
    """Whoever knows an approver's name could keep them away for ever."""
    own, elsewhere = Visitor(desk), Visitor(desk)
    assert own.sign_in("amara").status_code == 303
    own.send("/", "/sign-out")
    for _ in range(ATTEMPTS):
        assert elsewhere.sign_in("amara", "wrong password").status_code == 403
    assert elsewhere.sign_in("amara").status_code == 429
    assert own.sign_in("amara").status_code == 303
    for _ in range(ATTEMPTS):  # whoever has the browser tries no more than others
        assert own.sign_in("amara", "wrong password").status_code == 403
    assert own.sign_in("amara").status_code == 429


def test_a_browser_is_known_of_one_person_by_a_cookie_of_the_desk_until_the_password_changes(desk: Desk) -> None:
    own = desk.accounts.mark("amara")
    cookie = desk.browsers.cookie("amara", own)
    assert desk.browsers.tries_as(cookie, "amara", own) != "amara"
    forged = [("", "amara", own), ("a.b", "amara", own), (cookie[:-1], "amara", own), (f"x{cookie}", "amara", own)]
    for given, name, mark in (*forged, (cookie, "jonas", own), (cookie, "amara", "another"), (cookie, "amara", "")):
        assert desk.browsers.tries_as(given, name, mark) == name


def test_tries_are_forgotten_after_a_while() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    tried = [attempts.may_try("amara") for _ in range(ATTEMPTS + 1)]
    assert tried == [True] * ATTEMPTS + [False]
    clock.now += WINDOW
    assert attempts.may_try("amara")


def test_what_was_typed_for_a_name_is_not_kept(desk: Desk) -> None:
    Visitor(desk).sign_in("my password in the wrong field", "")
    assert "wrong field" not in desk.access.file.read_text()


def test_whose_days_on_the_roster_have_ended_is_out(desk: Desk, pending: House, at_desk: AtDesk) -> None:
    amara = at_desk("mina")
    pending.people["people"]["mina"]["valid_until"] = date.today() - timedelta(days=2)
    pending.write()
    pending.adopt()
    assert not is_in(amara)


# -- the office's sign-on


@pytest.fixture
def proxied(desk: Desk, pending: House) -> Desk:
    return Desk.of(pending.home, ADDRESS, Proxy.of(pending.home, HEADER, ["127.0.0.1", "10.1.0.0/16"]))


def by_sign_on(desk: Desk, account: str, peer: str = "127.0.0.1", secret: str | None = None) -> Visitor:
    assert desk.proxy is not None
    shown = desk.proxy.secret if secret is None else secret
    return Visitor(desk, {HEADER: account} | ({PROXY_SECRET: shown} if shown else {}), peer)


def test_the_sign_on_says_who_it_is(proxied: Desk) -> None:
    answer = by_sign_on(proxied, "n.lee").get("/")
    assert answer.status_code == 200
    assert "<strong>noor</strong>" in answer.text
    assert is_in(by_sign_on(proxied, "amara", peer="10.1.2.3"))


def test_a_header_that_anybody_sent_names_nobody(proxied: Desk) -> None:
    for forger in (
        by_sign_on(proxied, "amara", peer="10.2.0.1"),  # from elsewhere
        by_sign_on(proxied, "amara", secret=""),  # by another account of this machine
        by_sign_on(proxied, "amara", secret="guessed"),
        by_sign_on(proxied, "amara", peer="testclient"),
    ):
        answer = forger.get("/")
        assert answer.status_code == 401
        assert "amara" not in answer.text


def test_a_header_that_stands_twice_names_nobody(proxied: Desk) -> None:
    """One may be the browser's and the other the sign-on's."""
    assert proxied.proxy is not None
    twice = [(HEADER, "amara"), (HEADER, "n.lee"), (PROXY_SECRET, proxied.proxy.secret)]
    assert Visitor(proxied).client.get("/", headers=twice).status_code == 401


@pytest.mark.parametrize("account", ["noor", "AMARA", "amara ", "аmara", "mallory", "", "amara\xa0"])
def test_who_looks_like_somebody_is_nobody(proxied: Desk, account: str) -> None:
    visitor = by_sign_on(proxied, "amara")
    visitor.headers[HEADER] = account.encode()  # type: ignore[assignment]
    assert visitor.get("/").status_code == 401


def test_a_name_is_an_account_only_of_who_has_no_other() -> None:
    roster = Roster.model_validate(
        {"people": {"noor": {"roles": ["a"], "account": "n.lee"}, "ida": {"roles": ["a"]}}, "identity": "declared"}
    )
    assert [known_by(roster, each) for each in ("n.lee", "noor", "ida", "Ida")] == ["noor", None, "ida", None]


def test_beside_a_sign_on_there_are_no_accounts_and_beside_accounts_no_header(proxied: Desk, desk: Desk) -> None:
    assert Visitor(proxied).get("/sign-in").status_code == 404
    visitor = by_sign_on(proxied, "amara")
    assert visitor.post("/sign-in", token=visitor.token(), name="jonas", password=PASSWORD).status_code in (403, 404)
    assert "<strong>amara</strong>" in visitor.get("/").text
    assert proxied.proxy is not None
    forger = Visitor(desk, {HEADER: "amara", PROXY_SECRET: proxied.proxy.secret})
    assert forger.get("/").status_code == 303


def test_the_secret_is_closed_to_others_and_stays_the_same(pending: House, proxied: Desk) -> None:
    file = pending.home / "desk" / "proxy_secret"
    assert file.stat().st_mode & 0o777 == 0o600
    again = Proxy.of(pending.home, HEADER, ["127.0.0.1"])
    assert proxied.proxy is not None
    assert again.secret == proxied.proxy.secret == file.read_text()
    assert again.secret not in repr(again)


@pytest.mark.parametrize(
    ("header", "networks", "field"),
    [("X Remote", ["127.0.0.1"], "--sign-on-header"), (HEADER, [], "--proxy"), (HEADER, ["everywhere"], "--proxy")],
)
def test_a_sign_on_that_cannot_be_is_refused(pending: House, header: str, networks: list[str], field: str) -> None:
    with pytest.raises(SluiceError) as refused:
        Proxy.of(pending.home, header, networks)
    assert refused.value.field == field


def test_who_sends_many_names_spends_nobody_s_tries(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reaches the desk sends names without end: few hashes wait at once, and the others hear it at once."""
    door = BoundedSemaphore(1)
    monkeypatch.setattr(application, "_door", door)
    with door:
        assert {Visitor(desk).sign_in("amara").status_code for _ in range(ATTEMPTS + 1)} == {503}
    for _ in range(2):  # each who leaves makes room
        assert Visitor(desk).sign_in("jonas", "wrong password").status_code == 403
    assert Visitor(desk).sign_in("amara").status_code == 303


def test_a_long_name_takes_no_more_memory_than_a_short_one() -> None:
    attempts = Attempts()
    assert attempts.may_try("a" * 200_000)
    assert all(len(kept) < 100 for kept in attempts._failed)
