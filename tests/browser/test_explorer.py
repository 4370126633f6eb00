"""The explorer in a real Chromium, by keyboard alone: another threshold, another form, undone, and written."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe is not installed")

from flows.explorer.explorer_pages import Session, application
from schemas.reading.overview import overview
from schemas.reading.proposal import propose
from tasks.project.exploration import Explorer
from tasks.project.own_project import own_data
from tests.browser.reviewer import CHROMIUM, Reviewer, serving

pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 2000),
            "sex": rng.choice(["f", "m"], 2000),
            "town": rng.choice(["Aldby", "Borgen", "Cella"], 2000),
            "income": np.round(rng.lognormal(10, 0.5, 2000), -2),
        }
    )
    frame.to_csv("people.csv", index=False)
    data = own_data("people.csv")
    seen = overview(data.records, data.described)
    return Session(Explorer(data, seen, propose(seen), "people"))


def test_a_definition_is_found_and_written_by_keyboard(session: Session, browser: Any) -> None:
    with serving(lambda address: application(session, address, "secret")) as address:
        someone = Reviewer(browser, f"{address}/secret/", "a methodologist")
        someone.is_usable()
        someone.tab_to("Smallest group")
        someone.page.keyboard.press("ArrowDown")  # from 5 to 10
        someone.enter("Try it")
        assert session.states[-1].k == 10
        assert "(before:" in someone.text
        someone.is_usable()
        someone.enter("Undo")
        assert [state.k for state in session.states] == [5]
        someone.enter("Write the definition")
        assert "people/releases/people.yaml" in someone.text
        assert Path("people/releases/people.yaml").is_file()
        assert someone.faults == []
        someone.page.context.close()
