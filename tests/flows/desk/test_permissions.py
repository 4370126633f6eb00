"""Who may read which page and file; for who may not, it is as if there were none."""

from collections.abc import Callable

import pytest

from flows.desk import permissions
from flows.desk.desk import Desk
from tasks.release.decisions.under_review import report_place
from tests.flows.desk.visitor import Visitor, visitor
from tests.flows.house import House

AtDesk = Callable[[str], Visitor]
PARTS = ("", "/report", "/documents", "/history", "/map")
FILES = ("/files/people-puf.csv", "/files/people-puf.parquet")


def statuses(who: Visitor, release: str) -> dict[str, int]:
    return {part: who.get(f"/releases/{release}{part}").status_code for part in PARTS + FILES}


def without_token(text: str) -> list[str]:
    return [line for line in text.splitlines() if "token" not in line]


@pytest.mark.parametrize(
    ("who", "reads", "downloads"),
    [("amara", 200, 200), ("jonas", 200, 200), ("mina", 200, 200), ("emil", 200, 404), ("noor", 404, 404)],
)
def test_before_it_is_public(at_desk: AtDesk, pending: House, who: str, reads: int, downloads: int) -> None:
    """The submitter reads what was found, and gets no file; whom nobody asks reads nothing."""
    wanted = dict.fromkeys(PARTS, reads) | dict.fromkeys(FILES, downloads)
    assert statuses(at_desk(who), pending.id) == wanted


def test_what_may_not_be_read_is_as_what_is_not_there(at_desk: AtDesk, pending: House) -> None:
    noor = at_desk("noor")
    for part in PARTS + FILES:
        real, absent = (noor.get(f"/releases/{release}{part}") for release in (pending.id, "people-puf-000000000000"))
        assert without_token(real.text) == without_token(absent.text)
    for page in ("/", "/ledger", "/editions", f"/ledger?release={pending.id[:5]}"):
        shown = noor.get(page).text.replace(f'value="{pending.id[:5]}"', "")
        assert pending.id not in shown, page


def test_once_it_is_public_everybody_of_the_office_reads_it(desk_after: Desk, published: House) -> None:
    assert set(statuses(visitor(desk_after, "noor"), published.id).values()) == {200}
    assert published.id in visitor(desk_after, "noor").get("/ledger").text


def test_what_was_withdrawn_is_read_by_those_alone_who_judged_it(desk_after: Desk, published: House) -> None:
    published.withdraw(published.id, "wrong codes")
    assert set(statuses(visitor(desk_after, "noor"), published.id).values()) == {404}
    assert set(statuses(visitor(desk_after, "amara"), published.id).values()) == {200}
    shown = visitor(desk_after, "noor").get("/editions").text
    assert "wrong codes" in shown
    assert f'href="/releases/{published.id}"' not in shown


def test_where_a_release_waits_for_anybody_anybody_may_read(
    at_desk: AtDesk, pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a policy has it that asks for more people than roles."""
    monkeypatch.setattr(permissions, "may_decide", lambda *_: ("noor",))
    assert set(statuses(at_desk("noor"), pending.id).values()) == {200}
    assert statuses(at_desk("emil"), pending.id)["/files/people-puf.csv"] == 404


def test_who_read_what_is_for_the_head_alone(at_desk: AtDesk, pending: House) -> None:
    jonas = at_desk("jonas")
    jonas.get(f"/releases/{pending.id}/files/people-puf.csv")
    at_desk("noor").get(f"/releases/{pending.id}/report")
    assert jonas.get("/accesses").status_code == 404
    assert "/accesses" not in jonas.get("/").text
    shown = at_desk("amara").get("/accesses").text
    for word in ("people-puf.csv", "downloaded", "refused", f"/releases/{pending.id}/report"):
        assert word in shown


def test_each_view_is_recorded_before_it_is_shown(desk: Desk, at_desk: AtDesk, pending: House) -> None:
    amara = at_desk("amara")
    for path, what in (("", "release"), *((part, part[1:]) for part in PARTS[1:]), (FILES[0], "people-puf.csv")):
        amara.get(f"/releases/{pending.id}{path}")
        last = next(desk.access.newest())
        assert (last.who, last.what, last.release) == ("amara", what, pending.id)
    assert desk.access.file.stat().st_mode & 0o777 == 0o600
    desk.access.file.unlink()
    desk.access.file.mkdir()  # where it cannot be recorded, it is not shown
    answer = amara.get(f"/releases/{pending.id}/report")
    assert answer.status_code == 500
    assert "income" not in answer.text


@pytest.mark.parametrize("name", [
    "../../vault/secret", "..%2f..%2fvault%2fsecret", "%2e%2e/%2e%2e/vault/secret", "/etc/passwd", "%2fetc%2fpasswd",
    "secret", ".", "people-puf.csv%00", "people-puf.CSV", "variables.json", "..\\secret",
])  # fmt: skip
def test_the_name_of_a_file_is_no_path(at_desk: AtDesk, pending: House, name: str) -> None:
    assert at_desk("amara").get(f"/releases/{pending.id}/files/{name}").status_code == 404


@pytest.mark.parametrize("release", ["@office", "@searches", "@vault", "%2e%2e", "people-puf", "%00", "{7*7}"])
def test_the_id_of_a_release_is_one_of_a_release(at_desk: AtDesk, release: str) -> None:
    assert at_desk("amara").get(f"/releases/{release}").status_code == 404


def test_where_notices_say_that_a_report_is_there_is_the_release(at_desk: AtDesk, pending: House) -> None:
    """With SLUICE_REPORTS_URL=https://desk.office.example/reports."""
    place = report_place(pending.workspace(), pending.id).rpartition("/")[2]
    answer = at_desk("amara").get(f"/reports/{place}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/releases/{pending.id}")
    assert at_desk("noor").get(f"/reports/{place}").status_code == 404


def test_a_file_that_was_changed_in_the_vault_is_not_handed_out(at_desk: AtDesk, pending: House) -> None:
    amara = at_desk("amara")
    for kept in (pending.home / "vault" / "objects").glob("*.csv"):
        kept.chmod(0o600)
        kept.write_text("another file")
    answer = amara.get(f"/releases/{pending.id}/files/people-puf.csv")
    assert answer.status_code == 409
    assert "another file" not in answer.text
