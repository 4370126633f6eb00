"""Pages of the desk: templates in which everything is text, and what each of them has."""

from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from flows.desk.desk import Desk
from flows.desk.sign_on import BROWSER, Reader, form_token, set_cookie
from policies.decision_table import DECISIONS
from sluice.custody.states import State
from sluice.ground.page_templates import page_templates
from sluice.ground.verdict import Finding
from sluice.report.first_screen_page import first_screen_style
from sluice.report.wording import VERDICT_WORDS, figure, interval, rule_words


def page(
    request: Request, desk: Desk, template: str, reader: Reader | None = None, status: int = 200, **content: Any
) -> HTMLResponse:
    """A page for one reader; None: for whoever is not signed on."""
    token = form_token(request, desk)
    said = environment().get_template(template).render(
        reader=reader, token=token, path=request.url.path, by_account=desk.proxy is None, **content
    )  # fmt: skip
    answer = HTMLResponse(said, status)
    if browser := getattr(request.state, "browser", ""):  # drawn for this page's forms
        set_cookie(answer, desk, BROWSER, browser)
    return answer


@cache
def style() -> str:
    own = files(__package__).joinpath("desk.css").read_text(encoding="utf-8")
    return f"{own}\n{first_screen_style()}"


def question(finding: Finding) -> str:
    """What the check asks, by its declaration; empty for one that declares nothing."""
    from tasks.checks import declaration  # all rules: pages on which nothing is to be decided start without

    found = declaration(finding.rule, finding.stage)
    return found.asks or found.about if found else ""


@cache
def environment() -> Environment:
    made = page_templates(__package__)
    made.filters.update(
        words=lambda name: State(name).words if name in set(State) else str(name).replace("_", " "),
        minute=lambda at: str(at)[:16].replace("T", " "),
        verdict=lambda verdict: VERDICT_WORDS[verdict],
        rule_words=rule_words,
        decision_rule=DECISIONS.__getitem__,
        figure=figure,
        interval=interval,
        question=question,
    )
    return made
