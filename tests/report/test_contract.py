"""What holds for every page: what people write is text, the HTML is valid, and nothing is loaded, run or told."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import sluice.publication
import sluice.report
from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Finding
from sluice.ground.visible_text import one_line
from sluice.publication.catalogue_of_shelf import as_page
from sluice.publication.codebook import CodebookVariable, codebook_page, codebook_variables
from sluice.publication.records_file import write_parquet
from sluice.publication.tables_codebook import tables_page
from sluice.report.comparison_page import render_comparison
from sluice.report.plan_comparison import compare
from sluice.report.report_page import render
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.dimension import Dimension
from sluice.utility.utility_view import UtilityView
from tests.golden import golden
from tests.injection.corpus import UNSEEN, WRITABLE
from tests.injection.corpus import Page as AsBrowsersReadIt
from tests.publication.small_codebook import ALLOW_FOR, DONE, codebook, records
from tests.publication.small_tables import JOBS, tables_codebook
from tests.publication.test_catalogue_of_shelf import APRIL, MARCH
from tests.report.pages import (
    FAIL,
    UNKNOWN,
    Page,
    curve,
    dossier,
    finding,
    full_records,
    full_tables,
    holds_together,
    loads_nothing,
    on_tables,
    random_status,
    summary,
    variable,
)
from tests.report.test_risk_utility_map import plan
from tests.report.test_utility_page import FULL, VARIABLES
from tests.tabular.tables import business

CANARY = "geheim-4711"
ATTACK = "  ".join((*WRITABLE, *UNSEEN))
INVISIBLE = {sign for text in UNSEEN for sign in text if not sign.isprintable() and sign not in "\n\t"}


@dataclass(frozen=True)
class Rendered:
    """example : of a page that has every part; published ones are made of data and names that hold CANARY
    written  : the same where people wrote this text wherever they can
    template : that it is rendered by
    own      : how the addresses begin that it leads to
    hidden   : what it was made of and does not tell
    """

    example: Callable[[Path], str | bytes]
    written: Callable[[str, Path], str | bytes]
    template: str
    own: str = "#"
    hidden: tuple[str, ...] = (CANARY,)


def findings(text: str) -> tuple[Finding, ...]:
    more = {"advice": text, "where": (text,)}
    return finding(FAIL, rule=text, says=text, scope=text, stage=text, waiver=text, **more), finding(UNKNOWN, says=text)


def of_people(text: str) -> dict[str, object]:
    """Fields of a dossier that people write."""
    names = ("release", "name", "title", "dataset", "contract_version", "policy", "policy_version", "submitter")
    one = dict.fromkeys((*names, "evaluated_at", "approvals_needed"), text)
    return one | {"plan": (text,), "hashes": {text: text}, "versions": {text: text}, "notices": (text,)}


def records_by(text: str, _: Path) -> str:
    described = (
        variable(text, description=text, unit=text, bins=(text, f"more {text}")),
        variable(f"{text} too", description=text, kind_after=None),
    )
    return render(dossier(*findings(text), curves=(curve(),), variables=described, **of_people(text)))


def tables_by(text: str, _: Path) -> str:
    leaves = np.array([[1], [2]], dtype=np.int32)
    shown = one_line(text)  # names and codes with more are refused
    cells = aggregate([Dimension.flat(shown, [shown, f"more {shown}"])], leaves, np.arange(2), np.arange(2))
    told = summary(cells, np.zeros(3, dtype=np.uint8)).model_copy(update={"name": shown})
    return render(on_tables(told, findings=findings(text), **of_people(text)))


def utility(view: UtilityView) -> str:
    return render(dossier(finding(), variables=VARIABLES, utility=view))


def utility_by(text: str, _: Path) -> str:
    """Names of analyses, variables and categories, in every part."""

    def written(each: object) -> object:
        if isinstance(each, str) and each in ("wages", "rich", "types", "hours", "income", "f <b>", "b <i>", "f <i>"):
            return text
        if isinstance(each, dict):
            return {written(name): written(held) for name, held in each.items()}
        return [written(part) for part in each] if isinstance(each, list) else each

    return utility(UtilityView.model_validate(written(FULL.model_dump(mode="json"))))


def comparison(first: str = "wide", *more: Finding) -> str:
    """Its dossiers have a salt, by which whoever knows it tries out guesses."""
    told = (variable(f"the {first}"), variable("town", kind_after=None))
    wide = plan(first, 0.2, 0.5, *more, variables=told, report="wide.html", salt=CANARY)
    return render_comparison(compare([wide, plan("fine", 0.1, 3.0, salt=CANARY)]))


def catalogue(text: str, _: Path) -> bytes:
    gone = replace(MARCH, state="withdrawn", by=None, reason=text, files={CANARY: "a" * 64})
    now = replace(APRIL, title=text, description=text, reason=text, publisher=text, doi=f"10.1234/{text}")
    return as_page({"fair": [now, gone], f"in {text}": [replace(now, name=text, release="other-1")]})


def example_of_a_codebook(folder: Path) -> bytes:
    frame, variables = records()
    write_parquet(frame.assign(person=CANARY), folder / "own.parquet", variables)
    described = codebook_variables(folder / "own.parquet", variables, DONE, ALLOW_FOR)
    return codebook_page(codebook(folder, variables=described, license="CC-BY-4.0", doi="10.1/a", publisher="Office"))


def codebook_by(text: str, folder: Path) -> bytes:
    book = codebook(folder, title=text, description=text, publisher=text, dataset=text, allow_for=(text,))
    about = Variable(name="own", kind=Kind.NOMINAL).model_copy(update={"name": text, "description": text, "unit": text})
    own = CodebookVariable(about, (text,), 10, 0, counts={text: 10})
    return codebook_page(replace(book, variables=(*book.variables, own), not_released={text: [text]}))


def tables_codebook_by(text: str, _: Path) -> bytes:
    shown = one_line(text)  # names and codes with more are refused
    of = Dimension.flat(shown, [shown, f"more {shown}"])
    table = replace(JOBS, name=shown, dimensions=(of,), codes=tuple((code,) for code in of.codes), is_total=None,
                    status=("published", "suppressed", "published"), value=(200, None, 130))  # fmt: skip
    known = Variable(name="own", kind=Kind.NOMINAL).model_copy(update={"description": shown, "labels": {shown: shown}})
    told = dict.fromkeys(("title", "description", "publisher", "dataset"), text)
    told |= {"measure": shown, "unit": shown}
    return tables_page(
        tables_codebook(tables=(table,), meanings={shown: known}, protection=(text,), withheld=(text,), **told)
    )


def suppressed_values() -> tuple[str, ...]:
    """Of the table that `full_tables` tells of, as they would be written."""
    cells = business("s1k")
    hidden = cells.total[(random_status(cells, 1, 3) > 0) & (cells.total > 10_000)]
    return tuple(form for value in hidden.tolist() for form in (str(value), f"{value:,}"))


PAGES = {
    "records": Rendered(lambda _: render(full_records()), records_by, "records", hidden=()),
    "tables": Rendered(lambda _: render(full_tables()), tables_by, "tables", hidden=suppressed_values()),
    "utility": Rendered(lambda _: utility(FULL), utility_by, "utility", hidden=()),
    "comparison": Rendered(
        lambda _: comparison(), lambda text, _: comparison(text, *findings(text)), "comparison",
        r"wide\.html$",
    ),
    "catalogue": Rendered(
        lambda folder: catalogue("Fair", folder), catalogue, "catalogue",
        r"catalogue\.json(ld)?$|fair-[12]/|other-1/|https://doi\.org/",
    ),
    "codebook": Rendered(
        example_of_a_codebook, codebook_by, "codebook",
        r"data\.(csv|parquet)$|https://(spdx|doi)\.org/",
    ),
    "codebook of tables": Rendered(
        lambda _: tables_page(tables_codebook(license="CC-BY-4.0", doi="10.1/a", publisher="Office")),
        tables_codebook_by, "tables_codebook", r"jobs\.(csv|parquet)$|#codes-|https://(spdx|doi)\.org/", hidden=(),
    ),
}  # fmt: skip
PARTS = {"report", "macros", "first_screen", "codebook_page"}  # templates of which pages are made

every_page = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)


def text_of(made: str | bytes) -> str:
    return made if isinstance(made, str) else made.decode()


def test_no_page_is_without_a_promise() -> None:
    folders = (Path(module.__path__[0]) for module in (sluice.report, sluice.publication))
    templates = {path.name.removesuffix(".html.j2") for folder in folders for path in folder.glob("*.html.j2")}
    assert templates == PARTS | {page.template for page in PAGES.values()}


@every_page
def test_it_is_valid_and_can_be_followed_without_seeing_it(page: Rendered, tmp_path: Path) -> None:
    holds_together(text_of(page.example(tmp_path)))


@every_page
def test_it_says_what_it_says(page: Rendered, tmp_path: Path) -> None:
    """Each finding, figure and description of the example, in its order."""
    golden("\n".join(Page(text_of(page.example(tmp_path))).lines))


@every_page
def test_it_loads_nothing_and_runs_nothing(page: Rendered, tmp_path: Path) -> None:
    html = text_of(page.example(tmp_path))
    loads_nothing(html, page.own)
    assert "default-src 'none'" in html
    assert "unsafe-inline" not in html or page.template not in (
        "catalogue",
        "codebook",
        "tables_codebook",
    )  # which the public reads
    assert html.count("<style>") == html.count("</style>") == 1


@every_page
def test_what_people_write_is_text_and_can_be_seen(page: Rendered, tmp_path: Path) -> None:
    html = text_of(page.written(ATTACK, tmp_path))
    quoted = re.compile(r"href=(#|https://doi\.org/)[\w%./~-]*")  # an address, of which nothing is markup
    assert [each for each in AsBrowsersReadIt(html).injected if not quoted.fullmatch(each)] == []
    assert not INVISIBLE & set(html)
    plain, attacked = (Page(text_of(page.written(text, tmp_path))) for text in ("plain words", ATTACK))
    for one, other in zip(plain.elements, attacked.elements, strict=True):
        assert (one[0], one[1].keys()) == (other[0], other[1].keys())
    told = " ".join("".join(attacked.elements[0][2]).split())
    for text in WRITABLE:
        assert " ".join(text.split()) in told


@every_page
def test_nothing_confidential_stands_in_it(page: Rendered, tmp_path: Path) -> None:
    html = text_of(page.example(tmp_path))
    assert [each for each in page.hidden if each in html] == []


@every_page
def test_the_same_input_gives_the_same_bytes(page: Rendered, tmp_path: Path) -> None:
    assert page.example(tmp_path) == page.example(tmp_path)
