"""The explorer's page: who may see it, what a form does, and what it never shows."""

import warnings
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flows.explorer.explorer_pages import Session, application
from schemas.reading.overview import overview
from schemas.reading.proposal import propose
from tasks.project.exploration import Explorer, Preview, State
from tasks.project.own_project import own_data
from tests.golden import golden

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have the successor of httpx
    from starlette.testclient import TestClient

ADDRESS, SECRET = "http://127.0.0.1:8322", "secret-of-this-session"
NAME = 'tow"n <script>'


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 400),
            NAME: rng.choice(["a<b>", "c&d", "e"], 400),
            "income": np.round(rng.lognormal(10, 0.5, 400), 2),
        }
    )
    frame.loc[0, "income"] = 98765432.1  # the one whom everybody would know
    frame.to_csv("people.csv", index=False)
    data = own_data("people.csv")
    seen = overview(data.records, data.described)
    return Session(Explorer(data, seen, propose(seen), "people"))


@pytest.fixture
def browser(session: Session) -> TestClient:
    return TestClient(application(session, ADDRESS, SECRET), base_url=ADDRESS, follow_redirects=False)


def send(browser: TestClient, what: str, origin: str = ADDRESS, **fields: str) -> str:
    """The page that a form leads to."""
    named = {name.replace("_", ".", 1) if name[-1].isdigit() else name: value for name, value in fields.items()}
    answer = browser.post(f"/{SECRET}/{what}", data=named, headers={"origin": origin})
    if answer.status_code != 303:
        return str(answer.status_code)
    return unescape(browser.get(answer.headers["location"]).text)


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/style.css", f"/{SECRET}x/", f"/{SECRET}/records"])
def test_nobody_sees_anything_without_the_address(browser: TestClient, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code in (404, 405)
    assert "age" not in answer.text


def test_other_sites_and_names_change_nothing(session: Session, browser: TestClient) -> None:
    assert send(browser, "try", origin="http://evil.example", k="10") == "403"
    assert browser.get(f"/{SECRET}/", headers={"host": "evil.example"}).status_code == 421
    assert browser.post("/wrong/try", data={"k": "10"}, headers={"origin": ADDRESS}).status_code == 404
    assert len(session.states) == 1


def test_a_form_is_tried_and_undone(session: Session, browser: TestClient) -> None:
    first = browser.get(f"/{SECRET}/").text
    page = send(browser, "try", k="10")
    assert (session.states[-1].k, len(session.states)) == (10, 2)
    assert "(before:" in page
    send(browser, "try", k="10")
    assert len(session.states) == 2, "the same again is no other state"
    send(browser, "undo")
    assert browser.get(f"/{SECRET}/").text == first
    send(browser, "undo")
    assert len(session.states) == 1


def test_what_cannot_be_is_said_and_nothing_is_lost(session: Session, browser: TestClient) -> None:
    page = send(browser, "try", role_0="king")
    golden(page.partition('class="problem"')[2].partition(">")[2].partition("<")[0])
    assert len(session.states) == 1
    assert 'class="problem"' not in send(browser, "try", k="3")


def test_the_definition_is_written_once_and_never_over_another(browser: TestClient) -> None:
    assert "people/releases/people.yaml" in send(browser, "write", k="3")
    assert "people/releases/people-2.yaml" in send(browser, "write", k="5")
    written = sorted(path.name for path in Path("people/releases").iterdir())
    assert written == ["people-2.yaml", "people.yaml"]


def test_pages_hold_no_record_and_names_are_text(browser: TestClient) -> None:
    page = browser.get(f"/{SECRET}/").text
    assert "98765432" not in page
    assert "<script" not in page
    assert NAME in unescape(page)
    assert browser.get(f"/{SECRET}/style.css").headers["content-type"].startswith("text/css")


def test_a_file_of_many_columns_sends_a_form_of_many_fields(session: Session, browser: TestClient) -> None:
    fields = {f"role.{at}": "other" for at in range(3, 1503)}
    answer = browser.post(f"/{SECRET}/try", data={"k": "10"} | fields, headers={"origin": ADDRESS})
    assert answer.status_code == 303
    assert session.states[-1].k == 10


def test_a_method_that_breaks_leaves_the_page_and_tells_no_value(
    session: Session, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = session.explorer.preview

    def broken(state: State) -> Preview:
        if state.k == 10:
            raise ZeroDivisionError("98765432.1")
        return shown(state)

    monkeypatch.setattr(session.explorer, "preview", broken)
    page = send(browser, "try", k="10")
    assert "ZeroDivisionError" in page
    assert "98765432" not in page
    assert [state.k for state in session.states] == [5]
