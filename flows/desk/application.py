"""The desk as one application: its pages, signing in and out, and what it says where something is refused."""

import logging
import re
from threading import BoundedSemaphore
from typing import Annotated

from fastapi import APIRouter, FastAPI, Form, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from flows.desk.deciding import deciding
from flows.desk.desk import WRONG_PASSWORD, Desk
from flows.desk.metrics import Counted, metrics
from flows.desk.pages import page
from flows.desk.reading import reading
from flows.desk.security_middleware import SecurityMiddleware
from flows.desk.sign_on import (
    BROWSER,
    KNOWN,
    SESSION,
    NotSignedOn,
    OwnForm,
    SignedOn,
    TheDesk,
    desk_of,
    set_cookie,
    signed_on,
)
from sluice.ground.errors import SluiceError
from sluice.ground.log import log

entrance = APIRouter()

_TARGET = re.compile(r"/(?:releases|reports)/[\w.-]+", re.ASCII)  # a page of the desk, and of no other site

_WAIT, _WRONG = "Too many tries. Wait for 15 minutes.", "Name or password is wrong."
_CROWDED = "Many are signing in at this moment. Try again."

_door = BoundedSemaphore(4)  # a hash takes its time: whoever sends many names must not keep the others from their pages

_SAYS = {
    403: "That is not possible here.",
    404: "There is no such page, or it is not one for you to read.",
    405: "There is no such page, or it is not one for you to read.",
}


def application(desk: Desk) -> SecurityMiddleware:
    """The pages of a desk. Nothing describes itself: no schema, no documentation of an interface."""
    app = FastAPI(title="sluice desk", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.state.desk, app.state.counted = desk, Counted()
    for router in (reading, deciding, entrance, metrics):
        app.include_router(router)
    app.add_exception_handler(NotSignedOn, _to_the_door)
    app.add_exception_handler(StarletteHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(SluiceError, _in_words)
    app.add_exception_handler(Exception, _broken)
    return SecurityMiddleware(app, desk.address)  # around all of it, pages that say what broke, too


def _to_the_door(request: Request, error: Exception) -> Response:
    desk = desk_of(request)
    if desk.proxy is None and request.method == "GET":
        return RedirectResponse(login_url(request.url.path), 303)
    says = "Sign in again; nothing was recorded." if desk.proxy is None else (
        "The office's sign-on did not say who you are, or named nobody who is on the roster of this office today. "
        "Whoever runs Sluice can tell."
    )  # fmt: skip
    return page(request, desk, "refused.html.j2", status=401, title="You are not signed on", says=says)


def _refused(request: Request, error: Exception) -> Response:
    """The same page for what is not there and for what somebody may not read."""
    assert isinstance(error, StarletteHTTPException)
    desk = desk_of(request)
    try:
        reader = signed_on(request, desk)
    except (NotSignedOn, SluiceError):
        reader = None
    if reader and error.status_code in (403, 404):
        desk.access.record(reader.name, "refused", request.url.path[:200])
    own = isinstance(error, HTTPException) and error.status_code == 403
    says = error.detail if own else _SAYS.get(error.status_code, "That is not possible.")
    title = "Not found" if error.status_code in (404, 405) else "Refused"
    return page(request, desk, "refused.html.j2", reader, error.status_code, title=title, says=says)


def _malformed(request: Request, error: Exception) -> Response:
    says = "Something in the address or the form is not what the desk expects."
    return page(request, desk_of(request), "refused.html.j2", status=400, title="Refused", says=says)


def _in_words(request: Request, error: Exception) -> Response:
    return page(request, desk_of(request), "refused.html.j2", status=409, title="That did not work", says=str(error))


def _broken(request: Request, error: Exception) -> Response:
    """Of a fault of ours there is its kind in the log, and nothing on the page."""
    log("a page of the desk fails", logging.ERROR, detail=type(error).__name__)
    says = "The desk could not do this. Nothing was decided by it; whoever runs Sluice finds more in the log."
    return page(request, desk_of(request), "refused.html.j2", status=500, title="Something broke", says=says)


def login_url(path: str) -> str:
    """Where whoever asks for this page signs in."""
    return f"/sign-in?to={path}" if _TARGET.fullmatch(path) else "/sign-in"


def _target(to: str) -> str:
    return to if _TARGET.fullmatch(to) else "/"


@entrance.get("/sign-in")
def door(request: Request, desk: TheDesk, to: str = "") -> Response:
    if desk.proxy:
        raise HTTPException(404)
    return page(request, desk, "sign_in.html.j2", problem="", to=_target(to))


@entrance.post("/sign-in", dependencies=[OwnForm])
def sign_in(
    request: Request,
    desk: TheDesk,
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    to: Annotated[str, Form()] = "",
) -> Response:
    """Open a session. What is wrong is not said, nor whether there is such an account."""
    if desk.proxy:
        raise HTTPException(404)
    if not _door.acquire(blocking=False):
        return page(request, desk, "sign_in.html.j2", status=503, to=_target(to), problem=_CROWDED)
    try:
        return _signed_in(request, desk, name, password, to)
    finally:
        _door.release()


def _signed_in(request: Request, desk: Desk, name: str, password: str, to: str) -> Response:
    known = desk.accounts.mark(name)
    tries = desk.browsers.tries_as(request.cookies.get(KNOWN, ""), name, known)
    if not desk.attempts.may_try(tries):
        log("sign-in is held back after wrong passwords")
        return page(request, desk, "sign_in.html.j2", status=429, to=_target(to), problem=_WAIT)
    if not desk.accounts.verify(name, password):
        desk.access.record(name if known else "?", *WRONG_PASSWORD)  # else it may be a password that was typed
        return page(request, desk, "sign_in.html.j2", status=403, to=_target(to), problem=_WRONG)
    desk.attempts.forget(tries)
    desk.sessions.end(request.cookies.get(SESSION, ""))
    desk.access.record(name, "signed in", "desk")
    answer = RedirectResponse(_target(to), 303)
    set_cookie(answer, desk, SESSION, desk.sessions.begin(name, known))  # never one that was there before
    set_cookie(answer, desk, KNOWN, desk.browsers.cookie(name, known))
    answer.delete_cookie(BROWSER, path="/")  # forms from before are none of this session
    return answer


@entrance.post("/sign-out", dependencies=[OwnForm])
def sign_out(request: Request, desk: TheDesk, reader: SignedOn) -> Response:
    desk.sessions.end(request.cookies.get(SESSION, ""))
    desk.access.record(reader.name, "signed out", "desk")
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(SESSION, path="/")
    return answer
