"""Signing in with an account of the desk, and out again."""

from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from flows.desk.pages import page
from flows.desk.sign_on import BROWSER, SESSION, OwnForm, SignedOn, TheDesk, set_cookie
from sluice.log import log

entrance = APIRouter()


@entrance.get("/sign-in")
def door(request: Request, desk: TheDesk) -> Response:
    if desk.proxy:
        raise HTTPException(404)
    return page(request, desk, "sign_in.html.j2", problem="")


@entrance.post("/sign-in", dependencies=[OwnForm])
def sign_in(
    request: Request, desk: TheDesk, name: Annotated[str, Form()] = "", password: Annotated[str, Form()] = ""
) -> Response:
    """Open a session. What is wrong is not said, nor whether there is such an account."""
    if desk.proxy:
        raise HTTPException(404)
    if not desk.attempts.may_try(name):
        log("sign-in is held back after wrong passwords")
        return page(request, desk, "sign_in.html.j2", status=429, problem="Too many tries. Wait for 15 minutes.")
    known = desk.accounts.mark(name)
    if not desk.accounts.verify(name, password):
        desk.access.record(name if known else "?", "refused", "sign-in")  # else it may be a password that was typed
        return page(request, desk, "sign_in.html.j2", status=403, problem="Name or password is wrong.")
    desk.attempts.forget(name)
    desk.sessions.end(request.cookies.get(SESSION, ""))
    desk.access.record(name, "signed in", "desk")
    answer = RedirectResponse("/", 303)
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
