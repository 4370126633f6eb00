"""The pages that show something: the queue, a release with its report, documents, files and history, and the editions.

Each view is recorded before it is shown.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

import yaml
from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from flows.desk.pages import page, style
from flows.desk.permissions import may_read, readable, rights
from flows.desk.release_page import KeptFile, beside_others, facts, masked_files
from flows.desk.sign_on import Reader, SignedOn, TheDesk
from flows.history import blind, history
from sluice.custody.edition_order import ON_SHELF, Edition, lines_of_editions
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import EVENTS, OFFICE, OFFICE_EVENTS, State, Who
from sluice.ground.durable import CHUNK
from sluice.ground.errors import SluiceError
from sluice.report.comparison_page import render_comparison
from tasks.release.decisions.board import board
from tasks.release.editions.current_edition import doubt_of
from tasks.release.editions.resubmission import kept_documents
from tasks.release.stored_dossier import kept_dossier

reading = APIRouter()

_MOST_ROWS = 50  # of the ledger, or of the record of accesses, on a page


@dataclass(frozen=True)
class Listed:
    """A release in the queue."""

    release: str
    title: str
    says: str
    since: str
    until: str | None = None


@reading.get("/")
def queue(request: Request, desk: TheDesk, reader: SignedOn) -> Response:
    """What waits for the reader; what of theirs stands where; and what else they may read."""
    found, histories = board(reader.workspace), reader.workspace.ledger.histories()
    about = {each.about for each in found.waiting} | {each.release for each in found.stopped}
    may = {release: rights(reader, release, histories[release]) for release in about & histories.keys()}

    def listed(release: str, says: str, since: str, until: str | None = None) -> Listed:
        return Listed(release, _title(reader, histories[release]), says, since, until)

    mine: list[Listed] = []
    others: list[Listed] = []
    documents: list[Listed] = []
    for each in found.waiting:
        if each.about in may and may[each.about].read:
            row = listed(each.about, each.needs, each.since, each.until)
            (mine if reader.name in each.people else others).append(row)
        elif each.about not in may and reader.name in each.people:
            documents.append(Listed("", each.about, f"needs {each.needs}", each.since, each.until))
    stopped = [
        listed(each.release, each.what, each.since)
        for each in found.stopped
        if each.release in may and may[each.release].read
    ]
    submitted = {release for release, each in may.items() if each.relation is Who.SUBMITTER}
    desk.access.record(reader.name, "read", "queue")
    return page(
        request, desk, "queue.html.j2", reader, mine=mine, others=others, stopped=stopped, documents=documents,
        submitted=submitted,
    )  # fmt: skip


@reading.get("/releases/{release}")
def release_page(request: Request, desk: TheDesk, reader: SignedOn, release: str, done: str = "") -> Response:
    found, entries = readable(reader, release)
    shown = facts(reader, found, entries)
    desk.access.record(reader.name, "read", "release", release)
    return page(request, desk, "release.html.j2", reader, problem="", comment="", finding="", done=done, **shown)


@reading.get("/reports/{release}.html")
def reported(reader: SignedOn, release: str) -> Response:
    """Where notices say that the report is, with SLUICE_REPORTS_URL at the desk."""
    readable(reader, release)
    return RedirectResponse(f"/releases/{release}", 303)


@reading.get("/releases/{release}/report")
def report(desk: TheDesk, reader: SignedOn, release: str) -> Response:
    """The report as approvals are bound to it, under a policy that lets nothing but its own style count."""
    readable(reader, release)
    kept = history(reader.workspace, release).files.get("report")
    if kept is None:
        raise HTTPException(404)
    text = reader.workspace.vault.verify(kept.stem, ".html").read_text("utf-8")
    desk.access.record(reader.name, "read", "report", release, kept.stem)
    return HTMLResponse(text, headers={"content-security-policy": report_policy(text)})


def report_policy(page: str) -> str:
    """The policy for a page that we made: the styles that stand in it, by their hashes, and nothing else.

    Of the desk's own origin, or a browser would send no cookie where a link of it is followed; it runs no script.
    """
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    hashes = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in styles)
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
    nothing = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    return f"{nothing}; style-src {allowed}; sandbox allow-same-origin"


@reading.get("/releases/{release}/map")
def risk_and_utility(desk: TheDesk, reader: SignedOn, release: str) -> Response:
    """The release on a risk-utility map, beside others of its name."""
    _, entries = readable(reader, release)
    drawn = beside_others(reader, entries)
    if drawn is None:
        raise HTTPException(404)
    desk.access.record(reader.name, "read", "map", release)
    text = render_comparison(drawn)
    return HTMLResponse(text, headers={"content-security-policy": report_policy(text)})


@reading.get("/releases/{release}/documents")
def documents(request: Request, desk: TheDesk, reader: SignedOn, release: str) -> Response:
    """Contract, policy and definition as the release was judged by them."""
    _, entries = readable(reader, release)
    received = last(entries, State.RECEIVED)
    if received is None:
        raise HTTPException(404)
    texts = {
        name: yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=88)
        for name, content in kept_documents(reader.workspace.vault, received).items()
    }
    desk.access.record(reader.name, "read", "documents", release)
    return page(request, desk, "documents.html.j2", reader, release=release, texts=texts)


@reading.get("/releases/{release}/files/{name}")
def download(desk: TheDesk, reader: SignedOn, release: str, name: str) -> Response:
    """A masked file, after its bytes were hashed again. The name is looked up, and is no path."""
    found, entries = readable(reader, release)
    kept = masked_files(reader, found, entries).get(name)
    if kept is None:
        raise HTTPException(404)
    reader.workspace.vault.verify(kept.sha256, kept.path.suffix)
    desk.access.record(reader.name, "downloaded", name, release, kept.sha256)
    named = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return StreamingResponse(
        _chunks(kept),
        media_type="application/octet-stream",
        headers={"content-disposition": f'attachment; filename="{named}"', "content-length": str(kept.size)},
    )


def _chunks(kept: KeptFile) -> Iterator[bytes]:
    with kept.path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


@reading.get("/releases/{release}/history")
def release_history(request: Request, desk: TheDesk, reader: SignedOn, release: str) -> Response:
    """All that was recorded of a release; while people decide, not what they decided."""
    readable(reader, release)
    found = history(reader.workspace, release)
    desk.access.record(reader.name, "read", "history", release)
    return page(
        request, desk, "history.html.j2", reader, release=release, state=found.state, rows=rows(found.entries)
    )  # fmt: skip


@reading.get("/editions")
def editions(request: Request, desk: TheDesk, reader: SignedOn, after: Annotated[int, Query(ge=0)] = 0) -> Response:
    """What is on the shelves, and what was withdrawn from them, the latest of each name first.

    after : so many editions are left out
    """
    public = [
        edition
        for line in lines_of_editions(reader.workspace.ledger.histories())
        for edition in line[::-1]
        if edition.state in (*ON_SHELF, State.WITHDRAWN)
    ]
    lines: dict[str, list[dict[str, Any]]] = {}
    for each in public[after : after + _MOST_ROWS]:
        lines.setdefault(each.name, []).append(_edition(reader, each))
    desk.access.record(reader.name, "read", "editions")
    more = after + _MOST_ROWS if len(public) > after + _MOST_ROWS else 0
    return page(request, desk, "editions.html.j2", reader, lines=lines, more=more)


def _edition(reader: Reader, edition: Edition) -> dict[str, Any]:
    published, withdrawn = last(edition.entries, State.PUBLISHED), last(edition.entries, State.WITHDRAWN)
    return {
        "release": edition.release,
        "state": {State.PUBLISHED: "current", State.SUPERSEDED: "superseded"}.get(edition.state, "withdrawn"),  # type: ignore[arg-type]
        "period": edition.period or "",
        "published": published.at if published else "",
        "doubt": doubt_of(edition.entries),
        "reason": withdrawn.body["reason"] if withdrawn else "",
        "read": may_read(reader, edition.release, edition.entries),
    }


@reading.get("/ledger")
def ledger(
    request: Request, desk: TheDesk, reader: SignedOn, release: str = "", event: str = "", person: str = "",
    since: str = "", before: int = 0,
) -> Response:  # fmt: skip
    """The rows of the releases that the reader may read, and of the office; the latest first."""

    def fits(entry: Entry) -> bool:
        return (
            release in entry.release
            and event in ("", entry.event)
            and person.casefold() in entry.actor.casefold()
            and entry.at >= since
            and (before < 1 or entry.seq < before)
        )

    wanted = rows([*islice(_readable_rows(reader, fits), _MOST_ROWS + 1)])
    desk.access.record(reader.name, "read", "ledger")
    return page(
        request, desk, "ledger.html.j2", reader, rows=wanted[:_MOST_ROWS], events=sorted({*EVENTS, *OFFICE_EVENTS}),
        more=wanted[_MOST_ROWS - 1]["seq"] if len(wanted) > _MOST_ROWS else 0,
        asked={"release": release, "event": event, "person": person, "since": since},
    )  # fmt: skip


def _readable_rows(reader: Reader, fits: Callable[[Entry], bool]) -> Iterator[Entry]:
    """Those that fit, the latest first. Cost: of each release of which one is asked for, as of `may_read`."""
    histories = reader.workspace.ledger.histories()
    shown: dict[str, Mapping[int, Entry]] = {}
    for entry in reversed(reader.workspace.ledger.entries()):
        if not fits(entry):
            continue
        if entry.release == OFFICE:
            yield entry
        elif entry.release in histories:
            if entry.release not in shown:
                shown[entry.release] = _shown(reader, entry.release, histories[entry.release])
            if entry.seq in shown[entry.release]:
                yield shown[entry.release][entry.seq]


def _shown(reader: Reader, release: str, entries: Sequence[Entry]) -> Mapping[int, Entry]:
    """What the reader may see of a release's rows, by their numbers."""
    if not may_read(reader, release, entries):
        return {}
    try:
        return {entry.seq: entry for entry in blind(reader.workspace, release, entries)}
    except SluiceError:  # who decided what cannot be told apart any more
        return {entry.seq: entry for entry in entries if entry.event != "decision"}


def rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries as a page shows them: who, what, when, and the words that were given."""
    return [
        {
            "seq": entry.seq,
            "at": entry.at,
            "release": entry.release,
            "event": entry.event,
            "actor": entry.actor,
            "identity": entry.body.get("identity") or "",
            "words": _words(entry.body),
        }
        for entry in entries
    ]


def _words(body: Mapping[str, Any]) -> str:
    if "error" in body:
        return f"{body.get('step')} failed with {body['error']}"
    told = [str(body["decision"]).replace("_", " ")] if "decision" in body else []
    told += [f"verdict {body['verdict']}"] if "verdict" in body else []
    told += [str(body[name]) for name in ("comment", "reason", "says") if body.get(name)]
    return ": ".join(told)


@reading.get("/accesses")
def accesses(request: Request, desk: TheDesk, reader: SignedOn, person: str = "", release: str = "") -> Response:
    """Who read, downloaded and did what, for the head of the office alone."""
    if not reader.is_head:
        raise HTTPException(404)
    desk.access.record(reader.name, "read", "accesses")
    found = (each for each in desk.access.newest() if person in each.who and release in each.release)
    return page(
        request,
        desk,
        "accesses.html.j2",
        reader,
        rows=[*islice(found, _MOST_ROWS)],
        asked={"person": person, "release": release},
    )


@reading.get("/desk.css")
def css() -> Response:
    return Response(style(), media_type="text/css")


def _title(reader: Reader, entries: Sequence[Entry]) -> str:
    """What the release is called; its definition's name where it was not judged, or that was lost."""
    with suppress(SluiceError):
        if dossier := kept_dossier(reader.workspace, entries):
            return dossier.title
    received = last(entries, State.RECEIVED)
    return str(received.body["definition"]) if received else entries[0].release
