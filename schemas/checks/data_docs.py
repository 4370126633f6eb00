"""The Data Docs of a checked batch: pages for the data steward, without a value of the data.

Great Expectations writes the site. Its pages load scripts, styles and pictures from elsewhere, which would tell
others when somebody reads them, and its index is empty without the scripts: so the outside references are taken out,
and the index is written here, in the words of the findings.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from schemas.checks.expectations import Clause
from schemas.contract import Contract
from sluice.verdict import Finding, decide

_OUTSIDE = re.compile(
    r"<script\b[^>]*\bsrc=[\"']https?:[^>]*>\s*</script>|<(?:link|img)\b[^>]*[\"']https?:[^>]*>"
    r"|<footer\b.*?</footer>|url\([\"']?https?:[^)]*\)",
    re.DOTALL | re.IGNORECASE,
)
_FAILURE = "The check itself failed; this says nothing about the data."
_OUTCOME = {True: "holds", False: "does not hold", None: "not known"}
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}"
)


def write_pages(context: Any, result: Any, folder: Path) -> bool:
    """Write the site of one validation; False if Great Expectations wrote no page of it.

    What an exception said is left out: it may quote a value.
    """
    for each in result.results:
        if any(isinstance(entry, dict) or entry is True for entry in (each.exception_info or {}).values()):
            failure = {"raised_exception": True, "exception_message": _FAILURE, "exception_traceback": ""}
            each.exception_info = {"check": failure}
    before = _pages(folder)  # of an earlier run of this contract, which Great Expectations removes
    store = context.validation_results_store
    for key in store.list_keys():
        store.set(key, result)
    place = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder.resolve())}
    site = {"class_name": "SiteBuilder", "show_how_to_buttons": False, "store_backend": place}
    context.add_data_docs_site("steward", {**site, "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"}})
    context.build_data_docs(site_names=["steward"])
    for page in (*folder.rglob("*.html"), *folder.rglob("*.css")):
        page.write_text(_OUTSIDE.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")
    return not set(_pages(folder)) <= set(before)


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
