"""The desk as one application: its pages, the walls around them, and what it says where something is refused."""

import logging

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from flows.desk.deciding import deciding
from flows.desk.desk import Desk
from flows.desk.entrance import door_to, entrance
from flows.desk.pages import page
from flows.desk.reading import reading
from flows.desk.sign_on import NotSignedOn, desk_of, signed_on
from flows.desk.walls import Walls
from sluice.ground.errors import SluiceError
from sluice.ground.log import log

_SAYS = {
    403: "That is not possible here.",
    404: "There is no such page, or it is not one for you to read.",
    405: "There is no such page, or it is not one for you to read.",
}


def application(desk: Desk) -> Walls:
    """The pages of a desk. Nothing describes itself: no schema, no documentation of an interface."""
    app = FastAPI(title="sluice desk", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.state.desk = desk
    for router in (reading, deciding, entrance):
        app.include_router(router)
    app.add_exception_handler(NotSignedOn, _to_the_door)
    app.add_exception_handler(StarletteHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(SluiceError, _in_words)
    app.add_exception_handler(Exception, _broken)
    return Walls(app, desk.address)  # around all of it, pages that say what broke, too


def _to_the_door(request: Request, error: Exception) -> Response:
    desk = desk_of(request)
    if desk.proxy is None and request.method == "GET":
        return RedirectResponse(door_to(request.url.path), 303)
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
