"""The Data Docs of a checked batch: pages for the data steward, without a value of the data.

Great Expectations renders them. Its pages load scripts, styles and pictures from elsewhere, which would tell others
when somebody reads them, and its index is empty without the scripts: so the references are taken out, and the index is
written here, in the words of the findings.
"""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from schemas.checks.expectations import Clause
from schemas.contract import Contract
from sluice.verdict import Finding, decide

_OUTSIDE = re.compile(
    r"<script\b[^>]*\bsrc=[\"']https?:[^>]*>\s*</script>|<(?:link|img)\b[^>]*[\"'](?:https?:|[./]*static/)[^>]*>"
    r"|<footer\b.*?</footer>|url\([\"']?https?:[^)]*\)",
    re.DOTALL | re.IGNORECASE,
)
_FAILURE = "The check itself failed; this says nothing about the data."
_OUTCOME = {True: "holds", False: "does not hold", None: "not known"}
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}"
)


def write_pages(suite: Any, result: Any, folder: Path) -> None:
    """Write the pages of a suite and of one validation by it, in place of those of an earlier run.

    What an exception said is left out: it may quote a value.
    """
    for each in result.results:
        if any(isinstance(entry, dict) or entry is True for entry in (each.exception_info or {}).values()):
            failure = {"raised_exception": True, "exception_message": _FAILURE, "exception_traceback": ""}
            each.exception_info = {"check": failure}
    from great_expectations.render.renderer import ExpectationSuitePageRenderer, ValidationResultsPageRenderer

    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    pages = {
        folder / "expectations" / "contract.html": ExpectationSuitePageRenderer().render(suite),
        # So deep in the folders, as its links to the index and to the suite are relative.
        folder / "validations" / "contract" / "runs" / run / "batch.html": ValidationResultsPageRenderer().render(
            result
        ),
    }
    texts = {
        page: _OUTSIDE.sub("", _view().render(content, show_how_to_buttons=False)) for page, content in pages.items()
    }
    shutil.rmtree(folder / "validations", ignore_errors=True)
    for page, text in texts.items():
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")


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
    links = "".join(f'<li><a href="{escape(page.as_posix())}">{escape(page.parent.name)}</a></li>' for page in pages)
    title = f"{escape(contract.dataset)}: the batch and its contract, version {escape(contract.version)}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"</head><body><h1>{title}</h1><p>Verdict: <strong>{decide(findings).name}</strong></p>{found}"
        f'<h2>Every expectation</h2>{held}<h2>Great Expectations</h2><p><a href="expectations/contract.html">The suite'
        f"</a>, and its results:</p><ul>{links}</ul></body></html>\n",
        encoding="utf-8",
    )


def _pages(folder: Path) -> list[Path]:
    """The page of each validation, oldest first."""
    return sorted(folder.glob("validations/**/*.html"))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
