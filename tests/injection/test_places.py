"""The places where texts of people are shown, each by itself, under any text at all."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from markdown_it import MarkdownIt

from flows.cli import terminal
from flows.cli.listing import show_dossier, show_history, show_releases
from flows.deployments import prefect_yaml
from flows.history import History
from schemas.checks.data_docs import write_index
from schemas.contract import Contract
from sluice.custody.ledger_entry import Entry
from sluice.ground.errors import SluiceError
from sluice.ground.log import log, write_log
from sluice.ground.verdict import Finding, Verdict
from sluice.ground.visible_text import in_markdown, one_line, unseen, visible
from sluice.report.first_screen import first_screen
from sluice.report.report_page import render
from sluice.report.table_summary import summarise
from sluice.tabular.audit.pattern_audit import Audit, Breach
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from tasks.release.decisions.decisions_of_people import decide, withdraw
from tasks.release.decisions.signing_in import Credentials
from tests.flows.house import House
from tests.golden import golden
from tests.injection.corpus import UNSEEN, WRITABLE, Page, texts
from tests.report.pages import dossier, on_tables, variable

SCREEN = terminal._Terminal(file=io.StringIO(), force_terminal=True, width=80, highlight=False, markup=False)
STYLES = re.compile(r"\x1b\[[\d;]*m")  # those of ours


def on_screen(show: Any, *given: Any) -> str:
    """What a terminal gets, without the styles that we set."""
    with SCREEN.capture() as captured:
        show(SCREEN, *given)
    return STYLES.sub("", captured.get())


@pytest.mark.parametrize("text", [*WRITABLE, *UNSEEN])
def test_a_line_is_one_line_and_shows_what_was_written(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say(text)
    shown = capsys.readouterr().out
    assert shown == f"{one_line(text)}\n"
    assert not unseen(shown)


@given(texts)
def test_no_text_reaches_a_terminal_that_obeys_it(text: str) -> None:
    found = History(
        release="people-1",
        state=None,
        entries=[Entry(1, "2026-01-01T00:00:00Z", "people-1", "approval", text, {"comment": text}, "", "")],
        dossier=dossier(finding_of(text), title=text, plan=[text]),
        subject=None,
        files={text: Path(text)},
        title=text,
    )
    rows = [{"release": "people-1", "state": text, "last_event": text, "at": "", "says": text}]
    reviewed = on_screen(show_dossier, first_screen(found.dossier), {"title": text}, found.dossier)
    for shown in (on_screen(show_history, found), reviewed, on_screen(show_releases, rows)):
        assert not unseen(shown)
    assert sum(line.startswith("zz") for line in reviewed.splitlines()) == 0


def finding_of(text: str) -> Finding:
    return Finding(
        rule="k_anonymity", verdict=Verdict.REVIEW, says=text, scope=text, waiver=text, advice=text, where=(text,)
    )


@given(texts)
def test_a_finding_is_one_line_that_can_be_seen(text: str) -> None:
    found = finding_of(text)
    for field in (found.says, found.scope, found.waiver, found.advice, *found.where):
        assert not unseen(field or "", one_line=True)


def test_no_text_becomes_a_part_of_the_report_on_records() -> None:
    corpus = (*WRITABLE, *UNSEEN)
    counts = tuple(range(100, 100 + len(corpus)))
    told = {"unit": corpus[1], "description": corpus[2]}
    found = dossier(
        *map(finding_of, corpus),
        title=" ".join(corpus),
        plan=corpus,
        submitter=corpus[3],
        records_original=sum(counts),
        records_released=sum(counts),
        variables=(
            variable(corpus[0], bins=corpus, counts_before=counts, counts_after=counts, missing_after=0.0, **told),
            variable(corpus[3], kind_after=None, bins=(), counts_before=(), counts_after=(), **told),
        ),
    )
    page = Page(render(found))
    assert page.injected == []
    assert not unseen(page.text)
    for text in corpus:
        assert visible(text).strip() in page.text
    assert all((value or "").startswith("#") for name, value in page.attributes if name == "href")


def test_no_text_becomes_a_part_of_the_report_on_tables() -> None:
    leaves = np.arange(1, len(WRITABLE) + 1, dtype=np.int32)[:, None]
    rows = [Dimension.flat(WRITABLE[1], WRITABLE, f"all {WRITABLE[3]}")]
    cells = aggregate(rows, leaves, np.arange(len(WRITABLE)), np.arange(1001, len(WRITABLE) + 1001))
    audit = Audit(False, (Breach(1, "outsider", WRITABLE[0]),), *[np.zeros(len(cells))] * 2, 2, 2, ((1, 1.25),))
    status = np.array([0, *[1] * len(WRITABLE)], dtype=np.uint8)
    required = requirements_of([MinimumFrequency(n=2)], cells.contributions)
    table = summarise(cells, status, required, "t", [WRITABLE[1]], 3, audit, None, list(WRITABLE), [WRITABLE[0]])
    page = Page(render(on_tables(table, title=" ".join(WRITABLE))))
    assert page.injected == []
    for text in WRITABLE:
        assert text in page.text


@given(texts)
def test_no_text_becomes_a_part_of_the_stewards_index(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "docs"
    write_index(Contract.model_construct(dataset=text, version=text), [finding_of(text)], [], {}, folder)
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert page.injected == []
    assert not unseen(page.text)


@given(texts)
@example("zz ")
@example("\u2003 zz")
@example(" ")
def test_markdown_shows_it_as_text(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"**{in_markdown(text)}** (people-1)\n\nsays")
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "text_special", "strong_open", "strong_close"}
    assert "".join(child.content for child in inline) == f"{one_line(text)} (people-1)says"


@given(texts)
def test_the_log_has_a_line_for_each_event_whatever_it_says(text: str) -> None:
    for form in ("json", "text"):
        with pytest.MonkeyPatch.context() as patch:
            stream = io.StringIO()
            patch.setattr("sys.stderr", stream)
            write_log(form)  # type: ignore[arg-type]
            log("note", detail=text)
            write_log(None)
        [line] = stream.getvalue().splitlines()
        assert not unseen(line)
        if form == "json":
            assert json.loads(line)["detail"] == text


def test_a_folder_cannot_write_into_the_deployments(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "releases\nname: zz\ndeployments: []\n#"
    folder.mkdir()
    (folder / "a.yaml").write_bytes(house.file.read_bytes())
    content = yaml.safe_load(prefect_yaml(folder, tmp_path))
    assert content["name"] == "sluice"
    assert content["deployments"][0]["parameters"]["definition"] == f"{folder.name}/a.yaml"


@pytest.mark.parametrize("text", [text for text in UNSEEN if unseen(text)])
def test_words_for_the_ledger_can_be_seen(house: House, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    with golden.raises(SluiceError):
        withdraw("people-1", Credentials(), text)
    with golden.raises(SluiceError):
        decide(house.workspace(), "people-1", "reject", Credentials(), text)


@pytest.mark.parametrize("text", UNSEEN)
def test_no_document_holds_a_name_that_is_not_what_it_looks_like(house: House, text: str) -> None:
    for document, field in ((house.definition, "title"), (house.definition, "owner"), (house.contract, "dataset")):
        before = document[field]
        document[field] = text
        house.write()
        told = house.sluice("check", str(house.file))
        assert told.code == 1
        assert re.search(r"holds U\+|is not valid YAML", told.words)
        assert not unseen(told.err)
        document[field] = before
