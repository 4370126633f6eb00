"""A first draft of a contract, proposed from the data: kinds, roles, ranges, categories, hierarchies, with the reasons.

The draft is a document that travels: it is read, mailed and put under version control. So it holds no rare category,
no exact extreme and no count. It loads as it stands, and the data are what it says. Which variables identify a person
is not for a program to decide: each role says why it was proposed, for a person to look at.

A contract inferred from a table that has none: enough to try a masking method, never enough to release.

Kinds are those that the values show (sluice.reading.kind). No bounds are known, and no order: both are knowledge about
the variable, which a contract declares.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import pandas as pd

from schemas.contract import Contract, load_contract
from schemas.reading.column_proposal import MINIMUM_CELL, Proposal
from schemas.reading.drafted_rules import drafted_rules
from schemas.reading.interval_categories import intervals_in_order
from schemas.reading.missing_codes import doubtful_codes, far_codes, marks_of
from schemas.reading.other_forms import SAYS
from schemas.reading.overview import Overview, overview, refuse_values_as_names
from schemas.reading.proposal import Proposals, in_words, propose, worst_sets
from schemas.reading.rounded_range import rounded_range
from schemas.reading.universe import not_asked_labels
from sluice.documents.document_reading import LARGEST
from sluice.generalization.draft import draft_hierarchy
from sluice.ground import values
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.variables import NAMES, Kind, Role, Variable, as_label
from sluice.ground.visible_text import json_text, one_line, spelled_alike, unseen, visible
from sluice.reading.classification_codes import COUNTRIES
from sluice.reading.kind import ColumnSummary, summary_of
from sluice.sources.tabular_source import Descriptions, TabularSource

_MOST_CATEGORIES = 60
_FEW_CODES = 12  # whole numbers with so few distinct values may be codes
_MOST_AGES = 150  # different values: of more it is an amount
_FLAT = 6  # so few categories need no hierarchy

_STUDY = (
    "# What citations, archives and catalogues say of the study; what is not given is left out of them:",
    "# study:",
    "#   authors: [{name: Doe, given: Jane, affiliation: Institute}]  # of an organisation the name alone",
    "#   contact: {name: Data service, email: data@example.org}",
    "#   keywords: [income, health]",
    "#   funding: [Research council]",
    "#   place: [Country]",
    "#   time: 2024-01/2024-06  # of collection",
    "#   mode: Personal interviews",
    "#   sampling: Two-stage sample of households",
    "#   weights: Use them for all estimates of the population",
    "#   language: en",
    "#   access: For everybody",
)


def draft_contract(source: TabularSource, dataset: str, described: Descriptions = MappingProxyType({})) -> str:
    """YAML of a contract for this source, with comments on what a person must decide or check.

    described : what the file itself says of its columns: labels and missing codes are taken from it

    Raises DataError as the source does. Cost: one pass over the source, and the search for quasi-identifiers.
    """
    refuse_values_as_names(source)
    seen = overview(source, described)
    return contract_yaml(seen, propose(seen), dataset)


def read_draft(text: str, name: str) -> Contract:
    """The drafted contract as it will be read from a file of that name."""
    with TemporaryDirectory() as place:
        path = Path(place) / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return load_contract(path)


def contract_yaml(seen: Overview, proposed: Proposals, dataset: str) -> str:
    """The same of what was seen and proposed, or chosen by a person. Raises DataError where no file may be so large."""
    lines = [
        "# Drafted from the data. Look at every role, and take the comments out that you have read.",
        f"# Categories that fewer than {MINIMUM_CELL} records have are left out of this file, and ranges are rounded "
        "outward,",
        "# so that the draft gives no single record away.",
        *_worst(seen, proposed),
        f"dataset: {_quoted(dataset)}",
        'version: "1"',
        'description: ""',
        "records_are: records  # what a record is, as reports call it: people, stays, firms",
        f"record_key: {_listed(proposed.record_key)}  # the variables that together name one record",
        *(
            ["quasi_identifiers: none  # check: all are measured numbers, and no group is asked for; else declared"]
            if proposed.numbers_alone
            else []
        ),
        *_period(proposed),
        "# Who knows what of a person; a policy may ask what each of them finds, and what they then learn:",
        "# knowledge:",
        "#   register: []  # for instance sex, date of birth, region",
        "#   employer: []",
        *_STUDY,
        "variables:",
    ]
    for each in proposed.columns:
        lines += _variable(seen, each, changes=proposed.period is not None and proposed.period[0] == each.name)
    lines += _rules(seen, proposed)
    text = "\n".join(lines) + "\n"
    if (size := len(text.encode())) > LARGEST:
        raise DataError(
            f"a contract of {len(proposed.columns):,} columns would have {size / 1e6:.1f} MB, and {LARGEST / 1e6:g} MB "
            "at most are read. Take the columns that are to be released, such as by a query, or make several data sets"
        )
    return text


def _worst(seen: Overview, proposed: Proposals) -> Iterator[str]:
    """Which few quasi-identifiers single out most people, as comments."""
    names = [each.name for each in proposed.columns if each.role is Role.QUASI_IDENTIFIER]
    found = worst_sets(seen, names)
    if found:
        yield "# What a few quasi-identifiers together tell of people:"
        yield from (f"#   {in_words(each, names, seen.kept)}" for each in found)


def _rules(seen: Overview, proposed: Proposals) -> Iterator[str]:
    if not (found := drafted_rules(seen, proposed)):
        return
    yield "# What every record keeps. Without 'of: source' masked ones must, too, and the plan has to see to it:"
    yield "rules:"
    for name, expression in found:
        says = _quoted(expression)
        yield f"  - {{name: {_quoted(name)}, expression: {says}, says: {says}, of: source}}  # check"


def _period(proposed: Proposals) -> Iterator[str]:
    if proposed.period is not None:
        column, length = proposed.period
        yield "# The period that an edition is about; later editions have another one:"
        yield f"reference_period: {{length: {length}, column: {_quoted(column)}}}  # check"
        return
    yield "# The period that an edition is about, by a column of role other; without it editions count as received:"
    yield "# reference_period: {length: month, column: month}"


def _variable(seen: Overview, proposed: Proposal, changes: bool) -> Iterator[str]:
    """Lines of one variable. changes: whether every edition has another value of it."""
    name, column = proposed.name, seen.columns[proposed.name]
    if not column.known:
        yield f"  # {one_line(_quoted(name))} has no value and is left out: a contract asks for at least one"
        return
    kind = proposed.kind
    yield f"  - name: {_quoted(name)}"
    yield f"    kind: {kind}{_kind_remark(column, proposed)}"
    yield f"    role: {proposed.role}  # {'' if proposed.sure else 'check: '}{one_line(proposed.why)}"
    if proposed.date_formats and kind is Kind.DATE:
        first, *others = map(_quoted, proposed.date_formats)
        check = f"; check: {' or '.join(others)} reads every value, too" if others else ""
        yield f"    date_format: {first}  # as the file writes them; they are published as 2024-12-31{check}"
    if proposed.other_form:
        yield f"    # check: {SAYS[proposed.other_form]}"
    if kind.is_categorical and any(unseen(label, one_line=True) for label in column.labels):
        yield "    # check: values hold a line break or what nobody sees, which a release refuses: clean the column"
    if proposed.repeats:
        yield f"    # tells the same of every record as {_quoted(proposed.repeats)}: plans compute it, or leave it out"
    yield f"    description: {_quoted(proposed.description)}"
    if kind.is_numeric and proposed.role not in NAMES:
        unit = visible(seen.said(name).unit)
        yield f"    unit: {_quoted(unit)}" if unit else "    unit: # for instance years, euros a month"
    if proposed.universe:
        yield f"    universe: {_quoted(proposed.universe)}"
    elif told := not_asked_labels(seen, name):
        yield f"    # {_listed(told)} means not asked, which is no missing answer: say in 'universe' of whom it was"
    yield from _harmless(seen, proposed)
    if proposed.missing_codes:
        far = far_codes(column, doubtful_codes(column, seen.said(name), MINIMUM_CELL))
        strange = [*sorted({*column.marks} - {*values.MISSING_MARKS}), *far]
        guessed = seen.said(name).guessed_missing
        notes = [f"among numbers or dates {_listed(strange)} must be missing, or special"] if strange else []
        notes += [f"{_listed(guessed)} by its label; take out what is an answer"] if guessed else []
        check = f"  # check: {'; '.join(notes)}" if notes else ""
        yield f"    missing_codes: {_listed(proposed.missing_codes)}{check}"
    if column.takes_na and column.labels["NA"] >= MINIMUM_CELL:
        code = "a country, Namibia" if column.classification == COUNTRIES else "a code as the others are"
        yield f"    # check: NA is {code}; where it stands for missing it belongs into missing_codes"
    for code in proposed.doubtful_codes:
        yield f"    # check: {code} may stand for missing; then it belongs into missing_codes, with nullable: true,"
        other = "and the maximum is another; " if kind.is_numeric else ""
        yield f"    # {other}as it is, it is a value, of many records"
    if column.empty or proposed.missing_codes:
        yield "    nullable: true"
    span = {} if changes else rounded_range(proposed, column)
    for field, end in span.items():
        if field == "maximum" and _has_no_end(proposed, column):
            yield f"    # maximum: {_number(end)}  # as far as seen; with it an edition with a larger value is refused"
            continue
        remark = "" if field == "maximum" and proposed.doubtful_codes else "  # rounded outward; check"
        yield f"    {field}: {_quoted(end) if isinstance(end, str) else _number(end)}{remark}"
    if kind is Kind.DATE and not span and column.known >= MINIMUM_CELL:
        yield "    # check: the first or last date may mean missing or no end; then it belongs into missing_codes"
    if not changes:
        yield from _categories(proposed, column)
    if proposed.labels:
        yield "    labels:"
        yield from (f"      {_quoted(code)}: {_quoted(means)}" for code, means in proposed.labels.items())
    if proposed.role is Role.QUASI_IDENTIFIER and (made := hierarchy_of(proposed, column)):
        yield f"    hierarchy: {json_text(made)}  # check: groups that readers of the file know"


def _number(end: float) -> str:
    """As YAML reads it: of many digits with an exponent, and a point before it."""
    mantissa, mark, exponent = repr(end).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}" if mark else str(as_label(end))


def _harmless(seen: Overview, proposed: Proposal) -> Iterator[str]:
    """What may be known of anybody by a sensitive variable, for its owner to confirm."""
    if proposed.role is not Role.SENSITIVE:
        return
    column = seen.columns[proposed.name]
    by_universe = proposed.universe and not seen.said(proposed.name).universe  # it is exactly who has a value
    whole, why, asks = [], [], []
    if proposed.harmless:
        whole.append(f"values: {_listed([proposed.harmless])}")
        why.append("most people have it, and it denies something of them")
        asks.append("may everybody know it of a person?")
    if by_universe and (column.empty or proposed.missing_codes):
        whole.append("missing: true")
        why.append(f"no answer: {proposed.universe}")
        asks.append("is it, to be known as not asked?")
    if whole:
        yield f"    harmless: {{{', '.join(whole)}, why: {_quoted('; '.join(why))}}}  # check: {' '.join(asks)}"


def _has_no_end(proposed: Proposal, column: ColumnSummary) -> bool:
    """Whether a later edition may hold a larger value: an amount, and no age, code or share of a hundred."""
    amount = proposed.kind.is_numeric and proposed.role in (Role.OTHER, Role.SENSITIVE)
    return amount and column.distinct > _MOST_AGES and not proposed.doubtful_codes


def _kind_remark(column: ColumnSummary, proposed: Proposal) -> str:
    kind = proposed.kind
    if proposed.categories:
        return "  # by the value labels of the file; check"
    if kind in (Kind.TEXT, Kind.NOMINAL) and column.separator and not proposed.other_form:
        return f"  # check: items if a cell holds several values; then add separator: {_quoted(column.separator)}"
    if column.classification is not None:
        return f"  # codes of a classification: {column.classification}; check"
    if kind is Kind.TEXT:
        return "  # check: most values are different"
    if kind is Kind.CONTINUOUS and column.inexact:
        return (
            "  # check: values of more than 15 digits are refused; round them in the source, or text keeps each digit"
        )
    if kind is Kind.NOMINAL and column.kind is Kind.INTEGER:
        return "  # codes, by name or number; check: ordinal if they have an order, integer if they count something"
    if kind is Kind.ORDINAL and column.kind is Kind.NOMINAL:
        return "  # intervals; check their order"
    if kind is Kind.NOMINAL and (alike := spelled_alike(_frequent(proposed, column))):
        are = "1 category is spelled" if alike == 1 else f"{alike} categories are spelled"
        return f"  # check: {are} as another but for capital letters, blanks or dashes; if they are one, mend the data"
    if kind is Kind.NOMINAL:
        return "  # check: ordinal if the categories have an order; then list them in it"
    if kind is Kind.ORDINAL:
        return "  # check: nominal if these numbers are codes without an order; integer if they count something"
    if kind is Kind.INTEGER and column.distinct <= _MOST_CATEGORIES and proposed.role is not Role.WEIGHT:
        return "  # check: ordinal or nominal if these are codes"
    return ""


def declared(proposed: Proposal, column: ColumnSummary) -> Variable:
    """The variable as the draft declares it, without its hierarchy."""
    return Variable(
        name=proposed.name, kind=proposed.kind, role=proposed.role, categories=_declared_categories(proposed, column),
        **rounded_range(proposed, column),
    )  # fmt: skip


def hierarchy_of(proposed: Proposal, column: ColumnSummary) -> dict[str, Any]:
    """How a hierarchy of this variable may be written in a contract; empty where it needs none, or none can be drafted:
    cut points for numbers, periods for dates, first characters for codes, the most frequent before others for names."""
    variable = declared(proposed, column)
    labels = {label: times for label, times in column.categories.items() if label not in proposed.missing_codes}
    if variable.kind is Kind.INTEGER:
        numbers: dict[str, int] = {}
        for label, times in labels.items():
            whole = as_label(float(label.replace(",", "."))) if values.is_number(label.replace(",", ".")) else ""
            numbers[whole] = numbers.get(whole, 0) + times
        labels = numbers
    if variable.kind is Kind.NOMINAL and not variable.categories:
        return {}
    if variable.categories is not None and len(variable.categories) <= _FLAT:
        return {}
    if variable.kind is Kind.NOMINAL and (prefixes := _prefixes(variable.categories or ())):
        return {"prefixes": prefixes}
    if variable.kind is Kind.INTEGER and len(labels) <= _FLAT:
        return {}
    if variable.kind not in (Kind.INTEGER, Kind.NOMINAL, Kind.ORDINAL, Kind.DATE):
        return {}
    try:
        made = draft_hierarchy(variable, {} if variable.kind is Kind.DATE else labels, MINIMUM_CELL)
    except SluiceError:  # too few records, or too many values
        return {}
    return made.model_dump(mode="json", exclude_defaults=True)


def frequent_categories(proposed: Proposal, column: ColumnSummary, groups: int = 8) -> tuple[str, ...]:
    """The most frequent categories of a variable whose rarer ones nobody declares; at least one that is not rare is
    left out, so that it tells of none that it is rare. Empty where there are too few."""
    frequent = _frequent(proposed, column)
    variable = Variable(name=proposed.name, kind=Kind.NOMINAL, categories=tuple(frequent)) if frequent else None
    try:
        made = draft_hierarchy(variable, frequent, MINIMUM_CELL, groups) if variable else None
    except SluiceError:
        return ()
    return tuple(getattr(made, "priority", ((),))[0])


def _prefixes(codes: Iterable[str]) -> list[int]:
    """Lengths of first characters that group codes of one length, the longest first."""
    lengths = {len(code) for code in codes}
    digits = all(re.fullmatch(r"[A-Za-z]{0,2}[0-9]+", code) for code in codes)
    if len(lengths) != 1 or not digits or (length := lengths.pop()) < 2:
        return []
    return [at for at in range(length - 1, 0, -1) if len({code[:at] for code in codes}) > 1]


def _frequent(proposed: Proposal, column: ColumnSummary) -> dict[str, int]:
    return {
        label: times
        for label, times in column.categories.items()
        if times >= MINIMUM_CELL and label not in proposed.missing_codes and not unseen(label, one_line=True)
    }


def _declared_categories(proposed: Proposal, column: ColumnSummary) -> tuple[str, ...] | None:
    """All that are found or labelled, where none of the others is rare: else the data would be refused, or the rare one
    be told."""
    if proposed.kind not in (Kind.NOMINAL, Kind.BINARY, Kind.ORDINAL):
        return None
    if proposed.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.CONTRIBUTOR, Role.HOLDING):
        return None
    if proposed.categories:
        return proposed.categories
    found = {label for label in column.categories if label not in proposed.missing_codes}
    frequent = _frequent(proposed, column)
    labelled = [code for code in proposed.labels if code not in proposed.missing_codes]
    listed = {*frequent, *labelled}
    fit = frequent and found <= listed and len(listed) <= max(_MOST_CATEGORIES, len(labelled))
    if not fit or (proposed.kind is Kind.BINARY and len(listed) != 2):
        return None
    if ordered := proposed.kind is Kind.ORDINAL and intervals_in_order(listed):
        return ordered
    return tuple(sorted(listed, key=float if all(map(values.is_number, listed)) else None))


def _categories(proposed: Proposal, column: ColumnSummary) -> Iterator[str]:
    """The categories where none is rare; of whole numbers as a proposal."""
    kind, categories = proposed.kind, _declared_categories(proposed, column)
    if kind is Kind.NOMINAL and (truths := column.truth_categories):  # as they are written
        yield f"    # check: several words for one answer? kind: binary, categories: {_listed(truths)} unifies them"
    frequent = _frequent(proposed, column)
    if kind is Kind.ITEMS:
        yield "    # items: without this line all that are found are taken; or give a hierarchy of them"
    elif categories is not None and kind is Kind.BINARY:
        yield f"    categories: {_listed(categories)}"
    elif categories is not None:
        yield "    categories:"
        yield from (f"      - {_quoted(category)}" for category in categories)
    elif (
        kind is Kind.INTEGER
        and proposed.role not in (Role.WEIGHT, *NAMES)
        and 1 < len(frequent) == len(column.categories) <= _FEW_CODES
    ):
        labels = dict.fromkeys(as_label(float(label.replace(",", "."))) for label in frequent)
        yield f"    # if these are codes: categories: {_listed(sorted(labels, key=float))}, without minimum and maximum"
    elif kind in (Kind.NOMINAL, Kind.BINARY) and proposed.role not in NAMES:
        yield "    # categories: without this line all that are found are taken; too many or too rare to be listed here"
        if kind is Kind.NOMINAL and 1 < len(frequent) <= _MOST_CATEGORIES:
            yield f"    # frequent ones: {_listed(sorted(frequent))}"


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """Text as YAML takes it whatever it holds: JSON's strings are YAML's double-quoted ones."""
    return json_text(text)


def inferred_contract(
    table: pd.DataFrame,
    dataset: str,
    roles: Mapping[Role, str],
    kinds: Mapping[str, Kind] | None = None,
    marks: bool = False,
) -> Contract:
    """A contract that fits the table, with roles for the columns that the user named and `other` for the rest.

    kinds : of columns for which the user knows better; the categories of an ordinal one are in the order of their
            numbers, or of the alphabet
    marks : among words, too, NA and its like stand for missing, as `propose` reads a file
    table : raw columns as a source yields them (pandas.ArrowDtype): text, where an empty cell is '', or native values
    raises: DataError for a column without a name, or with one that is not what it looks
            like, or that cannot have the role that was named
    cost  : O(n) a column
    """
    if any(not name for name in table.columns.astype("str")):
        raise DataError(f"{dataset}: a column has no name. Is it the row numbers of the program that wrote the file?")
    for name in table.columns.astype("str"):
        if character := unseen(name, one_line=True):
            raise DataError(f"{dataset}: the name of a column holds {character}: '{one_line(name)}'. Rename it.")
    of_column = {name: role for role, name in roles.items()}
    known = kinds or {}
    variables = tuple(
        _inferred_variable(name, summary_of([table[name]]), of_column.get(name, Role.OTHER), known.get(name), marks)
        for name in table.columns.astype("str")
    )
    return Contract(dataset=one_line(dataset), version="inferred", variables=variables)


def _inferred_variable(name: str, seen: ColumnSummary, role: Role, known: Kind | None, marks: bool) -> Variable:
    kind = known or seen.kind
    if role is Role.WEIGHT and not kind.is_numeric:
        raise DataError(f"'{name}' cannot be the {role}, which is a number; its values are {kind}.")
    if kind is Kind.ORDINAL and any(unseen(category, one_line=True) for category in seen.categories):
        raise DataError(f"'{name}' has categories with characters that nobody sees or that break a line; clean it.")
    found = seen.variable(name, role, known)
    absent = marks_of(seen, 0) if marks else ()
    if not absent:
        return found
    codes, left = tuple(sorted({*found.missing_codes, *absent})), found.categories
    left = left and tuple(each for each in left if each not in absent)
    return found.model_copy(update={"missing_codes": codes, "nullable": True, "categories": left})
