"""The Data Docs of a checked batch: pages for the data steward, without a value of the data.

Great Expectations renders them. Its pages run scripts and load styles and pictures from elsewhere, which would tell
others when somebody reads them, and its index is empty without the scripts: so these are taken out, and the index is
written here, in the words of the findings. It writes names into its pages as they are, markup included: so it is given
stand-ins, and the names take their places, escaped, when the page is made.
"""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from schemas.checks.expectations import Clause, suite
from schemas.contract import Contract
from sluice.ground.durable import make_folder
from sluice.ground.durable import replace as replace_file
from sluice.ground.verdict import Finding, decide
from sluice.ground.visible_text import visible

_ACTIVE = re.compile(
    r"<script\b.*?</script>|<(?:link|img)\b[^>]*[\"'](?:https?:|[./]*static/)[^>]*>"
    r"|<footer\b.*?</footer>|\son\w+=\"[^\"]*\"|url\([\"']?https?:[^)]*\)",
    re.DOTALL | re.IGNORECASE,
)
_STAND_IN = re.compile(r"standin(\d{6})\.")  # letters and digits: text anywhere in a page, and in its links
_POLICY = (
    "<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
_FAILURE = "The check itself failed; this says nothing about the data."
_OUTCOME = {True: "holds", False: "does not hold", None: "not known"}
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}"
)


def write_pages(contract: Contract, clauses: Sequence[Clause], result: Any, folder: Path) -> None:
    """Write the pages of a contract's suite and of one validation by it, in place of those of an earlier run.

    result : of which no more is used than which clauses hold. What an exception said is left out: it may quote a value
    """
    stand_ins = _StandIns()
    shown = suite(
        stand_ins.of(contract.dataset), stand_ins.of(contract.version), [_with(stand_ins, c) for c in clauses]
    )
    configurations = [expectation.configuration for expectation in shown.expectations]
    for each in result.results:
        each.expectation_config = configurations[each.expectation_config.meta["clause"]]
        if any(isinstance(entry, dict) or entry is True for entry in (each.exception_info or {}).values()):
            failure = {"raised_exception": True, "exception_message": _FAILURE, "exception_traceback": ""}
            each.exception_info = {"check": failure}
    from great_expectations.render.renderer import ExpectationSuitePageRenderer, ValidationResultsPageRenderer

    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    pages = {
        folder / "expectations" / "contract.html": ExpectationSuitePageRenderer().render(shown),
        # So deep in the folders, as its links to the index and to the suite are relative.
        folder / "validations" / "contract" / "runs" / run / "batch.html": ValidationResultsPageRenderer().render(
            result
        ),
    }
    texts = {
        page: stand_ins.filled_in(_ACTIVE.sub("", _view().render(content, show_how_to_buttons=False)))
        for page, content in pages.items()
    }
    shutil.rmtree(folder / "validations", ignore_errors=True)
    for page, text in texts.items():
        _write(page, text.replace("<head>", _POLICY, 1))


class _StandIns:
    """Stand-ins for texts that people wrote."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def of(self, text: str) -> str:
        self._texts.append(text)
        return f"standin{len(self._texts) - 1:06}."

    def filled_in(self, page: str) -> str:
        """The page with each text in its place."""
        return _STAND_IN.sub(lambda found: _shown(self._texts[int(found[1])]), page)


def _with(stand_ins: _StandIns, clause: Clause) -> Clause:
    def stood_in(value: Any) -> Any:
        if isinstance(value, list):
            return [stood_in(each) for each in value]
        return stand_ins.of(value) if isinstance(value, str) else value

    arguments = {name: stood_in(value) for name, value in clause.arguments.items()}
    return replace(clause, asks=stand_ins.of(clause.asks), arguments=arguments)


@cache
def _view() -> Any:
    """Compiles the templates of the pages: once in a process."""
    from great_expectations.render.view import DefaultJinjaPageView

    return DefaultJinjaPageView()


def write_index(
    contract: Contract,
    findings: Iterable[Finding],
    clauses: Iterable[Clause],
    outcomes: Mapping[int, bool | None],
    folder: Path,
) -> None:
    """Write index.html: the verdict, each finding and each clause in words, and links to Great Expectations' pages."""
    findings = sorted(findings, key=lambda finding: -finding.verdict)
    found = _table(
        ("verdict", "rule", "of", "what was found"),
        ((finding.verdict.name, finding.rule, finding.scope, finding.says) for finding in findings),
    )
    held = _table(
        ("outcome", "rule", "the contract asks that"),
        ((_OUTCOME[outcomes.get(number)], clause.rule, clause.asks) for number, clause in enumerate(clauses)),
    )
    pages = [page.relative_to(folder) for page in reversed(_pages(folder))]
    links = "".join(f'<li><a href="{_shown(page.as_posix())}">{_shown(page.parent.name)}</a></li>' for page in pages)
    title = f"{_shown(contract.dataset)}: the batch and its contract, version {_shown(contract.version)}"
    _write(
        folder / "index.html",
        f'<!DOCTYPE html><html lang="en-GB">{_POLICY}<meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>Verdict: <strong>{decide(findings).name}</strong></p>{found}"
        f'<h2>Every expectation</h2>{held}<h2>Great Expectations</h2><p><a href="expectations/contract.html">The suite'
        f"</a>, and its results:</p><ul>{links}</ul></body></html>\n",
    )


def _write(page: Path, text: str) -> None:
    make_folder(page.parent, 0o700)
    replace_file(page, text.encode(), 0o600)


def _pages(folder: Path) -> list[Path]:
    """The page of each validation, oldest first."""
    return sorted(folder.glob("validations/**/*.html"))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{_shown(cell)}</th>' for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{_shown(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(text: str) -> str:
    return escape(visible(text))
