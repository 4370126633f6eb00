"""Dossiers as tests need them, and the pages made of them, taken apart."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import numpy as np

from sluice.ground.variables import Kind, Role
from sluice.ground.verdict import Finding, Verdict
from sluice.report.dossier import Dossier, RecordsView, TablesView
from sluice.report.table_summary import TableSummary, summarise
from sluice.risk.reference.reference_attack import Curve
from sluice.tabular.audit.pattern_audit import Audit, Breach
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.utility.variable_summary import VariableSummary
from tests.tabular.tables import business

PASS, REVIEW, FAIL, UNKNOWN = Verdict
LINES = {"title", "h1", "h2", "h3", "h4", "p", "li", "tr", "dd", "caption", "figcaption", "summary"}
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Elements with their attributes and the text inside them; refuses tags that do not close in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self._said: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, "an element is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag, f"</{tag}> closes another element"
        if tag in ("td", "th", "dt", "dd", "li", "p"):
            self.handle_data(" ")
        if tag in LINES:
            self._said.append("\x1e")

    def handle_data(self, data: str) -> None:
        for index in self._open:
            self.elements[index][2].append(data)
        if not {"style", "svg"} & {self.elements[index][0] for index in self._open}:
            self._said.append(data)

    def all(self, tag: str, **attributes: str) -> list[tuple[dict[str, str | None], str]]:
        """Attributes and whitespace-normalised text of every such element."""
        return [
            (attrs, " ".join("".join(text).split()))
            for name, attrs, text in self.elements
            if name == tag and all(attrs.get(key.rstrip("_")) == value for key, value in attributes.items())
        ]

    def texts(self, tag: str, **attributes: str) -> list[str]:
        return [text for _, text in self.all(tag, **attributes)]

    @property
    def lines(self) -> list[str]:
        """What it says, beside its drawings: a heading, a paragraph or a row of a table a line."""
        return [words for line in "".join(self._said).split("\x1e") if (words := " ".join(line.split()))]

    def section(self, name: str) -> str:
        return self.texts("section", id=name)[0]


def finding(verdict: Verdict = PASS, rule: str = "k_anonymity", **given: Any) -> Finding:
    return Finding(
        **{"rule": rule, "verdict": verdict, "stage": "masked", "says": f"{rule} says {verdict.name}.", **given}
    )


def curve(measure: str = "distance", **given: Any) -> Curve:
    shares = {"grid": (0.2, 0.4, 0.8), "masked": (0.2, 0.5, 1.0), "reference": (0.1, 0.4, 1.0)}
    judged = {"statistic": 0.1, "at": 0.4, "margin": 0.05, "p_value": 0.0004, "verdict": FAIL, "binding": True}
    return Curve(**{"measure": measure, **shares, **judged, **given})


def variable(name: str = "age", **given: Any) -> VariableSummary:
    described = {"description": f"about {name}", "unit": "years", "role": Role.QUASI_IDENTIFIER}
    kinds = {"kind_before": Kind.CONTINUOUS, "kind_after": Kind.ORDINAL}
    shares = {"missing_before": 0.0, "missing_after": 0.02, "changed": 0.5, "suppressed": 0.02}
    bins = {"bins": ("20 to 30", "30 to 40"), "counts_before": (400, 600), "counts_after": (390, 590)}
    moments = {"mean_before": 31.25, "mean_after": 31.5, "deviation_before": 6.0, "deviation_after": 6.5}
    return VariableSummary(**{"name": name, **described, **kinds, **shares, **bins, **moments, **given})


BASE: dict[str, Any] = {
    "release": "survey-1",
    "name": "survey-teaching",
    "title": "Survey, teaching file",
    "dataset": "survey",
    "contract_version": "3",
    "policy": "public-use",
    "policy_version": "2",
    "submitter": "m.okafor",
    "evaluated_at": "2026-01-02T03:04:05Z",
    "plan": ("Ages were grouped into bands of ten years.",),
    "approvals_needed": "2 people must approve before it is published.",
    "records_original": 1000,
    "earlier_attempts": 0,
    "minimum_cell": 10,
    "hashes": {"data": "ab" * 32, "plan": "cd" * 32},
    "versions": {"sluice": "0.1.0", "numpy": "2.4.1"},
}


def dossier(*findings: Finding, view: RecordsView | TablesView | None = None, **given: Any) -> Dossier:
    """Of records unless a view is given; what a view of records has may be given by itself."""
    of_view = {name: given.pop(name) for name in RecordsView.model_fields if name in given}
    view = view or RecordsView(**{"records_holdout": 0, "records_released": 1000, **of_view})
    verdict = max((f.verdict for f in findings if f.binding and not f.waiver), default=Verdict.PASS)
    return Dossier(**{**BASE, "verdict": verdict, "findings": findings, "view": view, **given})


def full_records() -> Dossier:
    return dossier(
        finding(stage="contract", rule="record_key", scope="person"),
        finding(FAIL, stage="original", binding=False, observed=1, limit=5, scope="age", says="Before, it says more."),
        finding(FAIL, stage="masked", observed=2, limit=5, scope="age, sex", attempted=1000, completed=990),
        finding(UNKNOWN, rule="ambiguity", stage="reference", waiver="A. Lind until 2027-01-01: too few"),
        finding(FAIL, rule="mean", stage="utility", waiver="B. Moe until 2027-01-01: for teaching only"),
        finding(REVIEW, rule="own_check", stage="somewhere_else"),
        finding(stage="pipeline", rule="steps_completed", scope="4 steps", observed=4, limit=4),
        curves=(
            curve("distance"),
            curve("ambiguity", verdict=REVIEW, p_value=0.2),
            curve("uncertainty", binding=False),
        ),
        variables=(
            variable("age"),
            variable("sex", kind_before=Kind.NOMINAL, kind_after=Kind.NOMINAL, mean_before=None, mean_after=None),
            variable("note", kind_before=Kind.TEXT, kind_after=Kind.TEXT, bins=(), counts_before=(), counts_after=()),
            variable("person", role=Role.IDENTIFIER, kind_after=None, bins=(), counts_before=(), counts_after=()),
        ),
        earlier_attempts=3,
    )


def names(cells: Cells) -> list[str]:
    return [dimension.name for dimension in cells.dimensions]


def random_status(cells: Cells, seed: int, kinds: int = 4) -> Statuses:
    return np.random.default_rng(seed).integers(0, kinds, len(cells)).astype(np.uint8)


def flat(count: int, name: str = "d") -> Cells:
    """A table of one dimension with a contributor in each of so many codes."""
    leaves = np.arange(1, count + 1, dtype=np.int32)[:, None]
    values = np.arange(1001, count + 1001)
    return aggregate([Dimension.flat(name, [f"c{n}" for n in range(count)])], leaves, np.arange(count), values)


def summary(cells: Cells, status: Statuses, minimum_cell: int = 3, audit: Audit | None = None) -> TableSummary:
    requirements = requirements_of([MinimumFrequency(n=2)], cells.contributions)
    return summarise(cells, status, requirements, "t", names(cells), minimum_cell, audit)


def on_tables(*tables: TableSummary, findings: tuple[Finding, ...] | None = None, **given: Any) -> Dossier:
    findings = findings or (Finding(rule="p_percent", verdict=PASS, says="All is well.", stage="attack"),)
    view = TablesView(measure="turnover", unit="EUR", tables=tables)
    return dossier(*findings, view=view, **{"title": "Turnover & more", "minimum_cell": 3, **given})


def full_tables() -> Dossier:
    cells = business("s1k")
    status = random_status(cells, 1, 3)
    requirements = requirements_of([MinimumFrequency(n=3)], cells.contributions)
    found = Audit(
        False,
        (Breach(70, "outsider", "Everybody can compute a cell."),) * 30,
        np.zeros(len(cells)),
        np.zeros(len(cells)),
        1234,
        1200,
        ((70, 1.25), (71, 20.0)),
    )
    told = (["It is safe by construction."], ["In 31 cells <everybody> learns."], ["Nobody learns."])
    three = summarise(cells, status, requirements, "three", ["nace", "region", "size"], 3, found, None, *told)
    two = summarise(cells, status, requirements, "two", ["region", "nace"], 3, None)
    one = summarise(cells, np.zeros_like(status), requirements, "one", ["size"], 3, replace(found, breaches=()))
    findings = (
        Finding(
            rule="unsafe",
            verdict=Verdict.FAIL,
            says="30 cells can be computed.",
            stage="attack",
            advice="Suppress more.",
        ),
        Finding(
            rule="lost",
            verdict=Verdict.REVIEW,
            says="Much is lost.",
            stage="utility",
            observed=0.4,
            limit=0.3,
            advice="Merge categories.",
        ),
        Finding(
            rule="odd", verdict=Verdict.UNKNOWN, says="It stopped.", stage="elsewhere", advice="See what stopped it."
        ),
    )
    return on_tables(three, two, one, verdict=UNKNOWN, findings=findings)


LOADING = {"script", "link", "img", "iframe", "object", "embed", "image", "base", "audio", "video", "source", "meta"}


def holds_together(html: str) -> Page:
    """A page of valid HTML that a screen reader can follow; taken apart."""
    assert html.startswith("<!DOCTYPE html>")
    page = Page(html)
    assert page.all("html")[0][0]["lang"] == "en-GB"
    assert page.texts("title")[0]
    assert [bool(heading) for heading in page.texts("h1")] == [True]
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), "a heading skips a level"
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids)), "two elements have one id"
    inside = re.findall(r'\b(?:href|for|aria-describedby|aria-labelledby)="(#?[^"]*)"', html)
    wanted = {unescape(unquote(each)).removeprefix("#") for each in inside if each.startswith("#")}
    wanted |= {attrs["for"] or "" for attrs, _ in page.all("label") if "for" in attrs}
    assert wanted | set(re.findall(r"url\(#([^)]+)\)", html)) <= set(ids), "a link leads nowhere"
    assert all(attrs.get("scope") in ("col", "row") for attrs, _ in page.all("th"))
    labelled = {attrs.get("for") for attrs, _ in page.all("label")}
    for tag in ("input", "select", "textarea"):
        for attrs, _ in page.all(tag):
            is_named = attrs.get("id") in labelled or "aria-label" in attrs or attrs.get("type") in ("hidden", "submit")
            assert is_named or any(tag in each for each in _within_labels(html)), f"a field without a label: {attrs}"
    for attrs, _ in page.all("svg"):
        drawn = attrs.get("role") == "img" and len(attrs.get("aria-label") or "") > 30
        assert drawn or attrs.get("aria-hidden") == "true", attrs
    return page


def _within_labels(html: str) -> list[str]:
    return re.findall(r"<label>.*?</label>", html, re.DOTALL)


def loads_nothing(html: str, own: str = "#") -> None:
    """Nothing runs, and nothing is fetched; own : how the addresses begin of what it leads to, and has at hand."""
    page = Page(html)
    for tag, attrs, _ in page.elements:
        if tag in LOADING:
            allowed = tag == "meta" and attrs.get("http-equiv") in (None, "Content-Security-Policy")
            assert allowed or (tag == "link" and re.match(own, attrs.get("href") or "")), tag
        assert not [name for name in attrs if name.startswith("on")], tag
        for name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"):
            place = attrs.get(name) or "#"
            assert place.startswith("#") or re.match(own, place), f"<{tag} {name}> leads outside: {place}"
    assert not re.search(r"@import|@font-face|url\((?!#)", html)
