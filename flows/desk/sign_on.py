"""Who reads: by the office's sign-on, or by a session of an account. Of the adopted roster, and of its days."""

import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import Depends, Form, HTTPException, Request, Response

from flows.desk.desk import Desk
from policies.adoption import Office
from policies.people import HEAD, Person, Roster
from sluice.custody.workspace import Workspace
from tasks.release.decisions.office import open_office

SESSION, BROWSER, KNOWN = "sluice_session", "sluice_browser", "sluice_known"  # cookies


class NotSignedOn(Exception):  # noqa: N818 - no error: the way to the door
    """Nobody who counts here is signed on."""


@dataclass(frozen=True)
class Reader:
    """Who is signed on, and the workspace and office as they are now."""

    name: str
    person: Person
    workspace: Workspace
    office: Office

    @property
    def is_head(self) -> bool:
        return HEAD in self.person.roles


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


TheDesk = Annotated[Desk, Depends(desk_of)]


def signed_on(request: Request, desk: TheDesk) -> Reader:
    """Raises NotSignedOn."""
    workspace = desk.workspace
    office = open_office(workspace)
    name = _by_sign_on(request, desk, office) if desk.proxy else _by_session(request, desk)
    person = office.roster.people.get(name) if office and name else None
    if office is None or name is None or person is None or not person.counts(datetime.now(UTC)):
        raise NotSignedOn
    return Reader(name, person, workspace, office)


SignedOn = Annotated[Reader, Depends(signed_on)]


def _by_sign_on(request: Request, desk: Desk, office: Office | None) -> str | None:
    assert desk.proxy is not None
    peer = request.client.host if request.client else ""
    named = desk.proxy.named(peer, request.scope["headers"])
    return known_by(office.roster, named) if office and named else None


def known_by(roster: Roster, account: str) -> str | None:
    """The person whose account this is; of who has none on the roster, it is their name. Letter for letter: at the
    sign-on anybody may have an account that looks like another one."""
    found = roster.by_account(account)
    if found is None and account in roster.people and roster.people[account].account is None:
        return account
    return found


def _by_session(request: Request, desk: Desk) -> str | None:
    session = desk.sessions.find(request.cookies.get(SESSION, ""))
    if session is None or not session.mark or desk.accounts.mark(session.person) != session.mark:
        return None
    return session.person


def set_cookie(response: Response, desk: Desk, name: str, value: str) -> None:
    """For this browser, until it is closed but for what it is known by, and for no script and no other site.

    That of the browser opens nothing. It comes along where a link of another site is followed, or the forms in other
    windows would no longer be those of this browser.
    """
    site: Literal["lax", "strict"] = "lax" if name == BROWSER else "strict"
    lasts = 90 * 86_400 if name == KNOWN else None  # seconds
    response.set_cookie(name, value, max_age=lasts, path="/", httponly=True, samesite=site, secure=desk.secure)


def form_token(request: Request, desk: Desk) -> str:
    """The token of this browser's forms in its present session."""
    browser = request.cookies.get(BROWSER) or getattr(request.state, "browser", "")
    if not browser:
        browser = request.state.browser = secrets.token_urlsafe(32)
    return desk.form_token(f"{browser}\n{request.cookies.get(SESSION, '')}\n{_named(request, desk)}")


def _named(request: Request, desk: Desk) -> str:
    """Whom the sign-on names, so that a form of one person is none of the next at the same browser."""
    peer = request.client.host if request.client else ""
    return (desk.proxy.named(peer, request.scope["headers"]) or "") if desk.proxy else ""


def own_form(request: Request, desk: TheDesk, token: Annotated[str, Form()] = "") -> None:
    """Refuse a form that did not come from a page that this browser was given in its present session."""
    given = request.cookies.get(BROWSER, "")
    if not given or not hmac.compare_digest(token.encode(), form_token(request, desk).encode()):
        raise HTTPException(403, "This form is no longer valid: it is from before you signed on, or the desk was "
                            "started anew. Open the page again and send it once more.")  # fmt: skip


OwnForm = Depends(own_form)
