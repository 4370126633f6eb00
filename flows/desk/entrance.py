"""Signing in with an account of the desk, and out again."""

import re
from threading import BoundedSemaphore
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from flows.desk.desk import Desk
from flows.desk.pages import page
from flows.desk.sign_on import BROWSER, SESSION, OwnForm, SignedOn, TheDesk, set_cookie
from sluice.ground.log import log

entrance = APIRouter()

_TARGET = re.compile(r"/(?:releases|reports)/[\w.-]+", re.ASCII)  # a page of the desk, and of no other site

_WAIT, _WRONG = "Too many tries. Wait for 15 minutes.", "Name or password is wrong."
_CROWDED = "Many are signing in at this moment. Try again."

_door = BoundedSemaphore(4)  # a hash takes its time: whoever sends many names must not keep the others from their pages


def door_to(path: str) -> str:
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
    if not desk.attempts.may_try(name):
        log("sign-in is held back after wrong passwords")
        return page(request, desk, "sign_in.html.j2", status=429, to=_target(to), problem=_WAIT)
    known = desk.accounts.mark(name)
    if not desk.accounts.verify(name, password):
        desk.access.record(name if known else "?", "refused", "sign-in")  # else it may be a password that was typed
        return page(request, desk, "sign_in.html.j2", status=403, to=_target(to), problem=_WRONG)
    desk.attempts.forget(name)
    desk.sessions.end(request.cookies.get(SESSION, ""))
    desk.access.record(name, "signed in", "desk")
    answer = RedirectResponse(_target(to), 303)
    set_cookie(answer, desk, SESSION, desk.sessions.begin(name, known))  # never one that was there before
    answer.delete_cookie(BROWSER, path="/")  # forms from before are none of this session
    return answer


@entrance.post("/sign-out", dependencies=[OwnForm])
def sign_out(request: Request, desk: TheDesk, reader: SignedOn) -> Response:
    desk.sessions.end(request.cookies.get(SESSION, ""))
    desk.access.record(reader.name, "signed out", "desk")
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(SESSION, path="/")
    return answer
