"""The codebook of a file of records: what each variable means, what masking did to it, and what was released of it.

All figures are of the released file, which its readers have. Its page is static, without scripts, and everything in it
is text.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Template
from markupsafe import Markup

from sluice.ground.page_templates import page_templates
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.publication.edition import Edition
from sluice.publication.license import license_address
from sluice.publication.measured_use import MeasuredUse
from sluice.publication.records_file import columns_with_time, read_typed
from sluice.publication.study import in_words

_MOST_VALUES = 2_000  # with more, a category is rather a name, and the list no codebook

_TAKEN_FOR_MISSING = frozenset(
    ("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
     "NaN", "None", "n/a", "nan", "null")
)  # fmt: skip
"""What pandas reads as missing unless it is told otherwise; R does so of NA."""


@dataclass(frozen=True)
class CodebookVariable:
    """One variable of the released file.

    done    : sentences on its masking; none: its values are those that were collected
    allow_for : what an analysis of it has to allow for, and how to correct for it
    valid   : records that have a value; `missing` have none
    counts  : category -> records, in the order of the categories; None where there are none, or too many to list
    lowest, highest, mean : of numbers, and of dates as text without a mean; None where there is no value
    """

    variable: Variable
    done: tuple[str, ...]
    valid: int
    missing: int
    counts: Mapping[str, int] | None = None
    lowest: float | int | str | None = None
    highest: float | int | str | None = None
    mean: float | None = None
    with_time: bool = False
    allow_for: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Codebook(Edition):
    """What is known of a published file, for people and for catalogues.

    not_released : variable -> why it was taken out, or how
    parameters : of masking steps that an analyst has to correct for, such as PRAM's matrices
    allow_for  : what an analysis of any variable has to allow for, such as that the file is a sample
    use        : what was measured of the file for its approvers, as everybody may read it
    errors     : sentences on the standard errors that a program prints of the file
    """

    records: int
    variables: tuple[CodebookVariable, ...]
    not_released: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parameters: tuple[Mapping[str, Any], ...] = ()
    allow_for: tuple[str, ...] = ()
    use: MeasuredUse = field(default_factory=MeasuredUse)
    errors: tuple[str, ...] = ()

    @property
    def taken_for_missing(self) -> tuple[str, ...]:
        """Categories that pandas or R would read as missing values from the CSV file."""
        found = (category for each in self.variables for category in each.counts or {})
        return tuple(dict.fromkeys(category for category in found if category in _TAKEN_FOR_MISSING))

    @property
    def csv(self) -> str | None:
        """The name of the CSV file, if there is one."""
        return next((name for name in self.files if name.endswith(".csv")), None)

    @property
    def weight(self) -> str | None:
        """The variable by which records are weighted."""
        return next((each.variable.name for each in self.variables if each.variable.role is Role.WEIGHT), None)


def codebook_variables(
    path: Path,
    variables: Variables,
    what_was_done: Mapping[str, Sequence[str]],
    allow_for: Mapping[str, Sequence[str]] | None = None,
) -> tuple[CodebookVariable, ...]:
    """The variables of a file that `write_parquet` wrote.

    what_was_done, allow_for : variable -> sentences on its masking, and on what an analysis has to allow for
    cost : one pass over the file, a column of it in memory at a time
    """
    found = [
        _described(variable, read_typed(path, variables, [name])[name], tuple(what_was_done.get(name, ())))
        for name, variable in variables.items()
    ]
    return tuple(replace(each, allow_for=tuple((allow_for or {}).get(each.variable.name, ()))) for each in found)


def _described(variable: Variable, column: "pd.Series[Any]", done: tuple[str, ...]) -> CodebookVariable:
    held = column.dropna()
    known = CodebookVariable(variable, done, len(held), len(column) - len(held))
    if held.empty or variable.kind in (Kind.TEXT, Kind.ITEMS):
        return known
    if variable.kind.is_categorical:
        counts = {str(name): int(count) for name, count in held.value_counts(sort=False).items()}
        return replace(known, counts=counts if len(counts) <= _MOST_VALUES else None)
    if variable.kind is Kind.DATE:
        with_time = bool(columns_with_time(column.to_frame()))
        ends = [each.isoformat() if with_time else each.date().isoformat() for each in (held.min(), held.max())]
        return replace(known, lowest=ends[0], highest=ends[1], with_time=with_time)
    whole = variable.kind is Kind.INTEGER
    lowest, highest = (int(each) if whole else float(each) for each in (held.min(), held.max()))
    return replace(known, lowest=lowest, highest=highest, mean=float(held.mean()))


def codebook_page(book: Codebook) -> bytes:
    """The page. The same codebook gives the same bytes. Nothing is loaded, and no style but its own counts."""
    parameters = [json.dumps(each, indent=1, ensure_ascii=False) for each in book.parameters]
    return page_of("codebook.html.j2", book=book, parameters=parameters)


def page_of(template: str, *, book: Edition, **content: Any) -> bytes:
    """A codebook's page of records or tables, by the name of its template."""
    css = files("sluice.publication").joinpath("codebook.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    study = in_words(book.study)
    return _template(template).render(book=book, **content, study=study, css=Markup(css), css_hash=digest).encode()


@cache
def _template(name: str) -> Template:
    environment = page_templates("sluice.publication")
    environment.filters["license_address"] = license_address
    return environment.get_template(name)
