"""The README of a published folder: what somebody reads who was handed the folder and nothing else.

Which file to open, what was done, what it supports and what not as it was measured, how to get standard errors right,
how to verify it, how to cite it, and whom to ask. Markdown, which any editor shows.
"""

import re
from collections.abc import Iterator, Sequence

from sluice.ground.visible_text import visible
from sluice.publication.codebook import Codebook
from sluice.publication.edition import Edition
from sluice.publication.license import license_address
from sluice.publication.study import in_words
from sluice.publication.tables_codebook import TablesCodebook, described_codes, losses_of
from sluice.tabular.model.dimension import Dimension

_OPENS = {
    "parquet": "Python, R, DuckDB: all types kept",
    "csv": "anything else: comma, UTF-8, an empty cell is a missing value",
    "dta": "Stata",
    "sav": "SPSS",
}
_SCRIPTS = {"read.R": "R", "read.py": "Python", "read.do": "Stata"}


def records_readme(book: Codebook, plan: Sequence[str], scripts: Sequence[str]) -> bytes:
    """Of a file of records, UTF-8.

    plan    : one sentence for each step of masking
    scripts : names of those in the folder that read the CSV file
    """
    lines = [
        f"# {_line(book.title)}",
        "",
        *([_line(book.description), ""] if book.description else []),
        f"{book.records:,} records of {len(book.variables)} variables. They were masked to protect the people in them: "
        "a single record describes nobody.",
        "",
        "## Which file to open",
        "",
        "- `codebook.html`: what each variable means, what was done to it, and what it can be used for. Read it first.",
        *(f"- `{_line(file)}`: {_OPENS.get(file.rpartition('.')[2], 'a copy')}." for file in book.files),
        *(f"- `{name}`: reads the CSV file in {_SCRIPTS[name]}, with its categories in order." for name in scripts),
        "- `codebook.xml` (DDI), `datapackage.json`, `croissant.json`: the same for programs.",
        "",
        "## What was done",
        "",
        *([f"{place}. {_line(step)}" for place, step in enumerate(plan, start=1)] or ["Nothing was changed."]),
        "",
        *_measured(book),
        *_errors(book),
        *_about(book),
    ]
    return "\n".join(lines).encode()


def _measured(book: Codebook) -> Iterator[str]:
    use = book.use
    if not (use.overall or use.supports or use.not_for):
        return
    yield from ("## What it supports, as it was measured", "")
    if use.overall:
        yield from (" ".join(map(_line, use.overall)), "")
    for title, sentences in (("It was found good for:", use.supports), ("Do not use it for:", use.not_for)):
        if sentences:
            yield from (title, "", *(f"- {_line(text)}" for text in sentences), "")
    rest = "What is not listed was not measured, or may not be told."
    yield from (f"{rest} `codebook.html` has the models, coefficient by coefficient.", "")


def _errors(book: Codebook) -> Iterator[str]:
    if book.errors:
        yield from ("## Standard errors", "")
        for text in book.errors:
            yield from (_line(text), "")


def _about(book: Edition) -> Iterator[str]:
    said = in_words(book.study)
    whom = said.pop("Contact", book.publisher)
    asked = _line(whom) if whom else "whoever gave you the folder"
    if not book.publisher:
        asked += ": no publisher is named" if not whom else ". No publisher is named"
    licence = (
        f"The licence is {_line(book.license)} ({license_address(book.license)})."
        if book.license
        else "No licence was given. Without one you may not pass the files on: ask first."
    )
    if said:
        yield from ("## The study", "", *(f"- {heading}: {_line(text)}" for heading, text in said.items()), "")
    yield from (
        "## Licence, citation and questions",
        "",
        licence,
        "",
        "`CITATION.cff` says how to cite it. Name the release when you cite it, as it stands for exactly these bytes: "
        f"`{_line(book.release)}`, published {book.published[:10]}.",
        "",
        f"Put questions to {asked}.",
        "",
        "## Is it genuine?",
        "",
        "`sha256sum --check checksums.sha256` tells whether a file was changed since. Who published and approved it is "
        "told by `sluice verify FOLDER --keys KEYS`, with the public keys of the publisher.",
        "",
    )


def tables_readme(book: TablesCodebook) -> bytes:
    """Of protected tables, UTF-8: what a row is, and of each code what it stands for and whether it is a sum."""
    told = all(table.is_total is not None for table in book.tables)
    to_add_up = (
        "Sums stand beside their parts. `is_total` is 1 for them: take the rows with 0 alone before you add up."
        if told
        else "Sums stand beside their parts: leave the codes out that are marked as sums before you add up rows."
    )
    value = "value" if any(table.others for table in book.tables) else "`value`"
    lines = [
        f"# {_line(book.title)}",
        "",
        *([_line(book.description), ""] if book.description else []),
        f"Tables of {_line(book.measure)}{f', in {_line(book.unit)}' if book.unit else ''}, protected so that nobody's "
        "contribution is known.",
        "",
        "## Which file to open",
        "",
        *(
            f"- `{_line(table.name)}.csv`, `{_line(table.name)}.parquet`: by "
            f"{', '.join(_line(each.name) for each in table.dimensions)}."
            for table in book.tables
        ),
        "- `codebook.html`: what columns and codes mean, and what is not published.",
        "- `codebook.xml` (DDI), `datapackage.json`: the same for programs.",
        "",
        f"A row is a cell. An empty {value} is suppressed: it is not 0, and `status` says why. A cell that is not "
        "listed is empty, or not published.",
        "",
        to_add_up,
        "",
        "## What is not published",
        "",
        *(f"- {_line(says)}" for table in book.tables for says in losses_of(table)),
        *(f"- {_line(text)}" for text in book.withheld),
        "",
    ]
    for dimension in book.dimensions:
        lines += [*_codes(dimension, book), ""]
    lines += ["## How they were protected", "", *(f"- {_line(step)}" for step in book.protection), ""]
    return "\n".join([*lines, *_about(book)]).encode()


def _codes(dimension: Dimension, book: TablesCodebook) -> Iterator[str]:
    known = book.meanings.get(dimension.name)
    yield from (f"## {_line(dimension.name)}", "")
    if known is not None and known.description:
        yield from (_line(known.description), "")
    yield from ("| code | meaning | is |", "|---|---|---|")
    for each in described_codes(book, dimension):
        yield f"| {_line(each.code)} | {_line(each.meaning)} | {each.kind} |"


def _line(text: str) -> str:
    """A text on one line, in which nothing is markup; lines within a word are none, and stay as they are."""
    return re.sub(r"([\\`*\[\]<>#|]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", visible(" ".join(text.split())))
