"""The explorer as an application: its page, what was chosen before, and the documents that it writes.

It is for whoever started it. Its address holds a secret of 256 bits, without which nothing is shown; it listens on this
machine alone. Pages show aggregates of the records and no record.
"""

import secrets
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from math import isnan
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from flows.desk.pages import style
from flows.desk.security_middleware import LONGEST_BODY, SecurityMiddleware
from sluice.ground.errors import SluiceError
from sluice.ground.page_templates import page_templates
from sluice.ground.variables import Role
from sluice.report.wording import PLAN_WORDS, VERDICT_WORDS, figure, rule_words
from tasks.project.exploration import THRESHOLDS, Explorer, State
from tasks.tuning.audiences import USES


class Session:
    """The states that were tried, the newest last; one request at a time."""

    def __init__(self, explorer: Explorer, finish: Callable[[Path], None] = lambda folder: None) -> None:
        self.explorer, self._finish, self._lock = explorer, finish, Lock()
        self.states: list[State] = [explorer.first()]
        self.says, self.problem = "", ""

    def act(self, what: str, form: dict[str, str]) -> None:
        """Try what a form asks for, go back by one state, or write the documents. The page says what cannot be."""
        with self._lock:
            self.says = self.problem = ""
            try:
                if what == "undo":
                    self.states = self.states[:-1] or self.states
                    return
                self._take(form)
                if what == "write":
                    written = self.explorer.write(self.states[-1], self._finish)
                    self.says = f"Written: {written}. To judge all records, attacks included: sluice check {written}"
            except SluiceError as error:
                self.problem = f"{error} The page shows what was tried before."
            except Exception as error:  # a method broke: its text may hold a value, and the page before must stay
                self.problem = (
                    f"This could not be tried ({type(error).__name__}). The page shows what was tried before."
                )

    def _take(self, form: dict[str, str]) -> None:
        names, state = self.explorer.names, self.states[-1]
        roles = {name: form[f"role.{at}"] for at, name in enumerate(names) if f"role.{at}" in form}
        forms = {name: form[f"form.{at}"] for at, name in enumerate(names) if f"form.{at}" in form}
        wanted = self.explorer.changed(state, roles, forms, form.get("k", str(state.k)), form.get("use", state.use))
        if wanted != state:
            self.explorer.preview(wanted)  # what cannot be shown is no state to go back from
            self.states.append(wanted)

    def page(self) -> str:
        with self._lock:
            state, explorer = self.states[-1], self.explorer
            before = self.states[-2] if len(self.states) > 1 else None
            preview = explorer.preview(state)
            lost = {each.name: each.lost for each in preview.losses if not isnan(each.lost)}
            return _environment().get_template("page.html.j2").render(
                explorer=explorer, state=state, preview=preview, lost=lost,
                before=explorer.preview(before) if before else None,
                forms=explorer.forms(state), chosen=explorer.chosen(state),
                roles=[*Role], uses=explorer.uses, thresholds=THRESHOLDS, says=self.says, problem=self.problem,
            )  # fmt: skip


def application(session: Session, address: str, secret: str) -> SecurityMiddleware:
    """The page below /SECRET/. Everything else, whatever it is, is not there."""
    app = FastAPI(title="sluice explore", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    def known(given: str) -> None:
        if not secrets.compare_digest(given.encode(), secret.encode()):
            raise HTTPException(404)

    @app.get("/{given}/")
    def shown(given: str) -> Response:
        known(given)
        return HTMLResponse(session.page())

    @app.get("/{given}/style.css")
    def styled(given: str) -> Response:
        known(given)
        return Response(_style(), media_type="text/css")

    @app.post("/{given}/{what}")
    async def done(given: str, what: str, request: Request) -> Response:
        known(given)
        if what not in ("try", "undo", "write"):
            raise HTTPException(404)
        sent = await request.form(max_fields=LONGEST_BODY)  # two a column; how long it may be is limited already
        form = {name: value for name, value in sent.items() if isinstance(value, str)}
        await run_in_threadpool(session.act, what, form)
        return RedirectResponse(f"/{secret}/#preview", 303)

    return SecurityMiddleware(app, address)


@cache
def _style() -> str:
    return f"{style()}\n{files(__package__).joinpath('explorer.css').read_text(encoding='utf-8')}"


@cache
def _environment() -> Environment:
    made = page_templates(__package__)
    made.globals.update(USES=USES, VERDICTS=VERDICT_WORDS, PLAN=PLAN_WORDS)
    made.filters.update(rule_words=rule_words, figure=figure, percent=_percent)
    return made


def _percent(share: Any) -> str:
    """0.031 as '3.1 %'; what is not known as a dash."""
    return "–" if share is None or isnan(share) else f"{100 * share:.1f} %"
