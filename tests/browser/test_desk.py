"""The desk in a real Chromium, by keyboard alone: two reviews, one that sends the release back and one that publishes.

With DOCS_PICTURES=1 the pictures of docs/desk.md are made anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe is not installed")

from flows.desk import accounts  # noqa: E402
from sluice.custody.states import State  # noqa: E402
from tests.browser.reviewer import CHROMIUM, NARROW, Reviewer, served  # noqa: E402
from tests.flows.desk.signing_office import Keys, adopt_keys  # noqa: E402
from tests.flows.house import WAITING, House  # noqa: E402
from tests.flows.stages import stages  # noqa: E402
from tests.golden import golden  # noqa: E402

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures" if os.environ.get("DOCS_PICTURES") else None

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")]


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    made = stages(House).at("pending")
    monkeypatch.setenv("SLUICE_HOME", str(made.home))
    monkeypatch.setattr(accounts, "_N", 1 << 4)
    return made


@pytest.fixture
def keys(house: House, tmp_path: Path) -> Keys:
    return adopt_keys(house, tmp_path / "keys")


@pytest.fixture
def reviewers(house: House, keys: Keys, browser: sync_api.Browser) -> Iterator[tuple[Reviewer, Reviewer]]:
    with served(house, "amara", "jonas") as desk:
        made = Reviewer(browser, desk.address, "amara"), Reviewer(browser, desk.address, "jonas")
        yield made
        for each in made:
            each.page.context.close()


def decide(who: Reviewer, keys: Keys, what: str, comment: str = "") -> None:
    """From the page of a release to the recorded decision."""
    who.choose(what)
    who.tab_to("Comment")
    who.write(comment)
    who.enter("Next: sign it")
    signature = keys.sign(who.name, who.download("Download"))
    who.tab_to("Or its text")
    who.write(signature)
    who.enter("Record it")
    begin = who.text.index("Your decision")
    golden(who.text[begin : who.text.index(".", begin) + 1])  # after it, whether it is being published: a race


def test_two_reviews_a_return_and_a_publication_by_keyboard(
    house: House, keys: Keys, reviewers: tuple[Reviewer, Reviewer]
) -> None:
    amara, jonas = reviewers
    if PICTURES:
        PICTURES.mkdir(exist_ok=True)
    amara.is_usable()
    for who in reviewers:
        who.sign_in()
        golden.where("then decide", who.text)

    # Both send it back, and neither learns before what the other said.
    amara.is_usable()
    amara.picture(PICTURES, "desk-queue")
    amara.enter("People and their incomes")
    amara.is_usable()
    amara.picture(PICTURES, "desk-release")
    amara.picture(PICTURES, "desk-release-narrow", NARROW)
    amara.enter("The report")
    golden.where("Meets the", amara.page.inner_text("body"))
    amara.page.go_back()
    decide(amara, keys, "Ask for changes", "Age groups of 20 years tell of few people.")
    jonas.enter("People and their incomes")
    golden.where("has decided", jonas.text)
    assert "Age groups" not in jonas.text
    decide(jonas, keys, "Ask for changes", "The same.")
    assert "Age groups of 20 years" in jonas.text
    first = house.id
    assert house.events(first)[-1] == State.CHANGES_REQUESTED

    # It comes again, and says what changed.
    house.definition["plan"][1]["bins"] = [50]
    house.write()
    assert house.release().code == WAITING
    for who in reviewers:
        who.enter("Waiting")
        who.enter("People and their incomes")
        assert first in who.text
        golden.where("round 2", who.text)
        golden.where("amara: Age groups of 20 years", who.text)
    amara.choose("Approve")
    amara.enter("Next: sign it")
    amara.is_usable()
    amara.picture(PICTURES, "desk-sign")
    amara.page.go_back()
    decide(amara, keys, "Approve")
    decide(jonas, keys, "Approve", "Thank you.")
    for _ in range(600):  # it is published behind the answer
        jonas.page.reload()
        if "on the shelf" in jonas.text:
            break
        jonas.page.wait_for_timeout(200)
    assert house.shelf == [house.id]
    jonas.is_usable()

    for page in ("Editions", "Ledger", "Accesses"):
        amara.enter(page)
        assert "people-puf" in amara.text
        amara.is_usable()
        if page == "Ledger":
            amara.picture(PICTURES, "desk-ledger")
    amara.enter("Sign out")
    assert "Sign in" in amara.text
    assert amara.faults + jonas.faults == []
