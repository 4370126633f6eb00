"""Source counts: what the source's own database can say against a release before any record is read.

The database computes a few figures in one select without groups, and the frequencies of each variable whose categories
the contract lists. They may only refuse, never pass: what they refuse, the checks of the staged records would refuse,
too, and these come all the same. So of the figures only what holds whatever the contract makes of a value is looked at:
how many records there are, how many cells are empty, and numbers beyond a bound. What a value means depends on blanks,
missing codes and spellings, which databases read in ways of their own: so the database groups and counts, and each
value is read here, by what reads those of records. How rare a combination of quasi-identifiers is refuses nothing: the
plan may recode it, and people may waive the rule that it breaks.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from schemas.contract import HASHED, Contract
from sluice.ground.errors import DataError
from sluice.ground.values import plain_array
from sluice.ground.variables import Variable, Variables
from sluice.reading.typed_column import typed_array
from sluice.sources.connections import Secret
from sluice.sources.figures_source import COLUMN, RECORDS, VALUE, Figure, FiguresSource, FrequenciesSource
from sluice.sources.permission import permitted_source
from sluice.sources.separate_reading import read_apart
from sluice.sources.sql_source import SqlSource
from tasks.release.release_definition import Definition
from tasks.release.release_documents import Documents

Figures = Mapping[str, Any]


def refuse_hopeless_source(product: Documents[Definition], secret: Secret = os.environ.get) -> None:
    """Raise DataError where the figures of a database show that its records cannot meet contract or policy.

    Of a file, and where the database cannot be asked, nothing is said here: reading it says why.

    secret : what a name of a secret in the connection stands for
    cost   : one select without groups over the contract's columns, and one with groups for each variable whose
             categories it lists; a second of CPU
    """
    source = permitted_source(product.definition.source, product.path.parent, secret)
    if not isinstance(source, SqlSource):
        return
    asked = tuple(_asked(product.contract))
    listed = _listed(product.contract)
    try:
        [found] = read_apart(FiguresSource(of=source, figures=asked), [figure.name for figure in asked])
        counted = FrequenciesSource(of=source, of_columns=tuple(listed))
        frequencies = read_apart(counted, [COLUMN, VALUE, RECORDS]) if listed else iter(())
        foreign = _foreign(listed, frequencies)
    except DataError:
        return
    against = [
        *_against(product.contract, dict(found.iloc[0])),
        *_too_few(product, int(found["records"].iloc[0])),
        *(
            f"'{name}': {records} records or more with a category that is not declared"
            for name, records in foreign.items()
        ),
    ]
    if against:
        lines = "\n".join(f"  - {line}" for line in against)
        raise DataError(f"the source was not read: its database says what stands against the release:\n{lines}")


def _asked(contract: Contract) -> Iterator[Figure]:
    yield Figure(what="records")
    for name, variable in contract.staged.items():
        yield Figure(what="missing", column=name)
        if _has_bounds(variable):
            yield Figure(what="smallest", column=name)
            yield Figure(what="largest", column=name)


def _has_bounds(variable: Variable) -> bool:
    bounded = variable.minimum is not None or variable.maximum is not None
    return bounded and variable.kind.is_numeric and variable.role not in HASHED


def _against(contract: Contract, figures: Figures) -> Iterator[str]:
    """What breaks the contract, by check and column, in sentences without a value of the data."""
    records, rows = int(figures["records"]), contract.rows
    if records < rows.minimum:
        yield f"the table has {records} records; at least {rows.minimum} are allowed"
    if rows.maximum is not None and records > rows.maximum:
        yield f"the table has {records} records; at most {rows.maximum} are allowed"
    if not records:
        return
    for name, variable in contract.staged.items():
        missing = int(figures[f"missing {name}"])
        if missing == records:
            yield f"'{name}': every value is missing; leave the variable out"
        elif missing and not variable.nullable:
            yield f"'{name}': {missing} records or more without a value"
        if variable.max_missing_share is not None and missing / records > variable.max_missing_share:
            yield (
                f"'{name}': a share of {missing / records:.4g} of the records or more has no value; "
                f"{variable.max_missing_share:g} is allowed"
            )
        if _has_bounds(variable):
            yield from _beyond(variable, figures)


def _beyond(variable: Variable, figures: Figures) -> Iterator[str]:
    """Bounds that an extreme breaks: a number of the database's own, which no missing code stands for."""
    codes = {float(code) for code in variable.missing_codes if _is_number(code)}
    for what, side, bound, sign in (
        ("smallest", "minimum", variable.minimum, 1),
        ("largest", "maximum", variable.maximum, -1),
    ):
        extreme = figures[f"{what} {variable.name}"]
        if bound is None or not isinstance(extreme, int | float) or isinstance(extreme, bool) or extreme in codes:
            continue
        if sign * float(extreme) < sign * float(bound):  # as the staged check compares: a large whole number rounded
            beyond = "below" if sign > 0 else "above"
            yield f"'{variable.name}': there are records {beyond} the {side}, {bound}"


def _listed(contract: Contract) -> Variables:
    return {name: each for name, each in contract.staged.items() if each.categories is not None}


def _foreign(listed: Variables, frequencies: Iterator[pd.DataFrame]) -> Counter[str]:
    """Of each variable the records whose value is there and is none of its categories; those without any left out."""
    foreign: Counter[str] = Counter()
    names = list(listed)
    for batch in frequencies:
        name = names[int(batch[COLUMN].iloc[0])]
        raw, anything = plain_array(batch[VALUE]), listed[name].model_copy(update={"categories": None})
        declared, there = typed_array(raw, listed[name])[0], typed_array(raw, anything)[0]
        strange = pc.and_(declared.is_null(), there.is_valid()).to_numpy(zero_copy_only=False)
        if records := int(batch[RECORDS][strange].sum()):
            foreign[name] += records
    return foreign


def _too_few(product: Documents[Definition], records: int) -> Iterator[str]:
    standard = product.policy.reference_standard
    if not standard or standard.when_fewer != "unknown" or product.definition.product != "records":
        return
    if 0 < records < standard.minimum_records:
        yield (
            f"the table has {records} records; below {standard.minimum_records} the policy's reference standard cannot "
            "be measured (minimum_records)"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
